"""Attack: forks while other threads compile and compute. The child must compile and compute too, without a deadlock."""

import os
import signal
import threading
import time

import common
import numpy as np

import adjoint as aj

PATIENCE = 60.0  # seconds that a child may take


def fresh_kernel(rng: np.random.Generator):
    """A kernel that is in no cache, because its constants are random."""
    c = rng.normal(size=50).tolist()

    @aj.kernel(x=3)
    def f(x):
        for k in c:
            x = np.sin(k * x) + np.roll(x, 1)
        return x

    return f


def child(seed: int) -> None:
    """Compiles and computes in the forked process, whose exit code is 0 if the results are right."""
    code = 1
    try:
        f, x = fresh_kernel(np.random.default_rng(seed)), np.ones((1000, 3))
        f.threads = 2
        code = 0 if np.allclose(f(x)[0], f.eager(x[0]), rtol=1e-12, atol=1e-12) else 2
    finally:
        os._exit(code)


def wait(pid: int) -> int:
    """The exit code of a child; a child that takes too long is killed, and an error raised."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"the child did not end within {PATIENCE:.0f} s")


def attempt(rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    busy = threading.Thread(target=lambda: fresh_kernel(rng)(np.ones((100, 3))))
    busy.start()
    time.sleep(float(rng.uniform(0, 0.1)))
    pid = os.fork()
    if pid == 0:
        child(seed)
    try:
        code = wait(pid)
    finally:
        busy.join()
    if code:
        raise AssertionError(f"the child ended with {code}")


if __name__ == "__main__":
    common.repeat(attempt)
