"""Attack: exceptions from signal handlers at random moments. Later results must be right, and long work stop soon."""

import signal
import time

import common
import numpy as np

import adjoint as aj

ROBOT = aj.robots.puma560()
SOON = 10.0  # seconds within which work must stop; a loaded machine needs more than the second it usually takes


class Interrupted(Exception):
    pass


def _raise(*_):
    raise Interrupted


@aj.kernel(x=())
def endless(x):
    """Counts for so long that only a signal ends it."""
    return aj.while_loop(lambda c: c >= 0, lambda c: c + 1.0, x, max_iterations=2**50)


@aj.kernel(x=())
def long_scan(x):
    return aj.scan(lambda c, _: (np.sin(c) + 0.5, None), x, None, length=2**40)[0]


def interrupted(function, *args, after: float) -> float | None:
    """Calls the function with a signal `after` some seconds; the seconds from the signal to the exception.

    The result is None if the function returned before the signal.
    """
    signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, after)
    start = time.monotonic()
    try:
        function(*args)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        return time.monotonic() - start - after
    return None


def attempt(rng: np.random.Generator) -> None:
    function = aj.inverse_dynamics.bind(ROBOT)
    function.threads = int(rng.choice([1, 2, 8]))
    n = int(rng.choice([1000, 100_000, 1_000_000]))
    x = [rng.normal(size=(n, 6)) for _ in range(3)]
    want = function(*x)
    for _ in range(5):
        interrupted(function, *x, after=float(rng.uniform(1e-5, 0.05)))
        common.same(function(*x), want, f"inverse dynamics of {n} samples on {function.threads} threads")
    work = (endless, long_scan)[rng.integers(2)]
    args = np.zeros(int(rng.choice([1, 100]))) if rng.random() < 0.5 else 0.0
    took = interrupted(work, args, after=float(rng.uniform(0.05, 0.5)))
    if took is None or took > SOON:
        raise AssertionError(f"{work.__name__} went on for {took} s after the signal")


if __name__ == "__main__":
    common.repeat(attempt)
