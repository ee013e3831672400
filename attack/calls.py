"""Attack: random calls of kernels. Layouts, dtypes, keywords, `out`, threads and batch shapes must not change a bit."""

import common
import numpy as np

import adjoint as aj

ROBOT = aj.robots.puma560()
KERNELS = [
    (aj.inverse_dynamics.bind(ROBOT), ("q", "v", "a")),
    (aj.forward_dynamics.bind(ROBOT), ("q", "v", "tau")),
    (aj.mass_matrix.bind(ROBOT), ("q",)),
    (aj.jacobian.bind(ROBOT, frame="tool"), ("q",)),
]


def laid_out(x: np.ndarray, rng: np.random.Generator):
    """The same numbers in an array of other strides, order, alignment or byte order, or in a list."""
    kind = rng.integers(7)
    if kind == 0:
        return np.asfortranarray(x)
    if kind == 1:
        wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan)
        wide[..., ::2] = x
        return wide[..., ::2]
    if kind == 2:
        return x[..., ::-1].copy()[..., ::-1]
    if kind == 3:
        raw = np.zeros(x.nbytes + 1, np.uint8)[1:]
        shifted = raw.view(np.float64).reshape(x.shape)
        shifted[...] = x
        return shifted
    if kind == 4:
        return x.tolist()
    if kind == 5:
        return np.ascontiguousarray(x).astype(">f8")
    return x


def attempt(rng: np.random.Generator) -> None:
    function, names = KERNELS[rng.integers(len(KERNELS))]
    batch = tuple(rng.integers(1, 7, size=rng.integers(0, 4)).tolist()) if rng.random() < 0.8 else (60_000,)
    x = [rng.normal(size=(*batch, 6)) for _ in names]
    flat = [a.reshape(-1, 6) for a in x]
    some = rng.integers(len(flat[0]), size=3)
    one_by_one = [function(*(a[k] for a in flat)) for k in some]
    given = [laid_out(a, rng) for a in x]
    cut = int(rng.integers(len(names) + 1))
    options: dict = dict(zip(names[cut:], given[cut:], strict=True))
    want = function(*x)
    if rng.random() < 0.3:
        target = laid_out(np.full(want.shape, np.nan), rng)
        if isinstance(target, np.ndarray) and target.dtype.isnative:
            options["out"] = target
    function.threads = int(rng.choice([1, 2, 8]))
    got = function(*given[:cut], **options)
    common.same(got, want, f"{function.__name__} of a batch {batch}")
    for k, row in zip(some, one_by_one, strict=True):
        common.same(want.reshape(-1, *row.shape)[k], row, f"{function.__name__} of sample {k} alone")


if __name__ == "__main__":
    common.repeat(attempt)
