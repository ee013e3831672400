"""Random numbers inside kernels: L'Ecuyer's generator MRG32k3a, whose state is six whole numbers, as floats.

All arithmetic of the generator is exact in float64 (not in float32): products stay below 2⁵³. So machine code, NumPy
and exported C give the same numbers, and each lane of a batch has its own. Reference: P. L'Ecuyer, "Good parameters and
implementations for combined multiple recursive random number generators", Operations Research 47 (1999), 159-164.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..randomness import Rng, batch_shape, generator, rng_by_keyword

__all__ = ["Drawn", "normals", "random_state", "uniform"]

_M_1, _M_2 = 4294967087.0, 4294944443.0  # 2³² - 209, 2³² - 22853
_A_12, _A_13 = 1403580.0, 810728.0  # x_n = (a_12 x_{n-2} - a_13 x_{n-3}) mod m_1
_A_21, _A_23 = 527612.0, 1370589.0  # y_n = (a_21 y_{n-1} - a_23 y_{n-3}) mod m_2
_SPACING = 2.328306549295728e-10  # 1 / (m_1 + 1)


class Drawn(NamedTuple):
    """Random `values`, and the `state` (6,) of the generator after them."""

    values: Any
    state: Any


@rng_by_keyword
def random_state(shape: int | tuple[int, ...] = (), *, rng: Rng = None) -> np.ndarray:
    """States (*shape, 6) of generators to start with; one (6,) by default.

    `rng` is a generator of NumPy, a seed, or None for other states at each call. The starts are drawn from a cycle of
    2¹⁹¹ states, so that the numbers of a billion lanes, a billion from each, overlap with a probability below 10⁻²⁰.

        >>> u, state = uniform(random_state(1000, rng=7))                   # one number for each of 1000 lanes
    """
    rng, shape = generator(rng, "random_state"), batch_shape(shape, "random_state")
    first, second = (rng.integers(1, int(m), (*shape, 3)) for m in (_M_1, _M_2))
    return np.concatenate([first, second], axis=-1).astype(float)


@kernel(state=6)
def uniform(state) -> Drawn:
    """A random number, uniform between 0 and 1, and the next state (6,).

    The number is one of 2³² - 209 multiples of 2.3e-10, and never 0 nor 1; see `random_state`.

        >>> u, state = uniform(np.full(6, 12345.0))
        >>> float(u)
        0.12701112204657714
    """
    x = _remainder(_A_12 * state[1] - _A_13 * state[0], _M_1)
    y = _remainder(_A_21 * state[5] - _A_23 * state[3], _M_2)
    z = x - y
    u = np.where(z > 0, z, z + _M_1) * _SPACING
    return Drawn(u, np.stack([state[1], state[2], x, state[4], state[5], y]))


def _remainder(x, m: float):
    """x mod m. If the quotient was rounded to the next whole number, the remainder is off by m, which is corrected."""
    found = x - m * np.floor(x / m)
    return np.where(found < 0, found + m, np.where(found < m, found, found - m))


_MOST = 10_000  # numbers that are drawn at once, each by operations of its own


@kernel(state=6, n=static)
def normals(state, n: int) -> Drawn:
    """Independent random numbers (n,) of mean 0 and variance 1, normally distributed, and the next state (6,).

    Two uniform numbers u, w give two of them by the transform of Box and Muller, √(-2 ln u) (cos 2πw, sin 2πw). They
    stay below 6.66 in size, which a normal number exceeds with probability 2.7e-11.

        >>> x, state = normals(random_state(rng=7), 3)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= _MOST:
        raise ArgumentError(f"normals: n is {n!r}; it must be a whole number from 1 to {_MOST}")
    found: list = []
    while len(found) < n:
        u, state = uniform(state)
        w, state = uniform(state)
        size, angle = np.sqrt(-2 * np.log(u)), 2 * np.pi * w
        found += [size * np.cos(angle), size * np.sin(angle)]
    return Drawn(np.stack(found[:n]), state)
