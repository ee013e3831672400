"""Lie groups of rigid motions: `so3`, `se3`, `inertia`, and the safe scalar functions behind them, `series`.

Conventions, used by the whole library:

- Frames: `T_ab` (4, 4) and `R_ab` (3, 3) map b-coordinates to a-coordinates, so `T_ab @ T_bc` reads itself.
- Twist `V = (w, v)` (6,), wrench `F = (m, f)` (6,): angular part first. Their pairing F·V is power.
- `Ad(T)`, `ad(V)` act on twists; `coAd`, `coad`, the papers' Ad*, ad*, on wrenches. A star is the plain transpose (not
  the inverse transpose): F_b = coAd(T_ab) F_a where V_a = Ad(T_ab) V_b. Each has a matrix and a cheap `*_action` form.
- Body twist of a moving frame: vee(T⁻¹ Ṫ); spatial twist: vee(Ṫ T⁻¹). `dexp` = `left_jacobian` gives the spatial one.
- Quaternions are scalar-first, and names say so: `quat_wxyz`. Angles in rad, lengths in m, SI units throughout.
- Inertias are [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about the frame origin; see `inertia`.
- Every function is written for one sample and, as a kernel, takes any leading batch axes: V (..., 6) -> T (..., 4, 4).
  NaN or a meaningless input (a zero axis, a matrix without nearest rotation) yields NaN in its own sample only.
"""

from . import inertia as inertia
from . import se3 as se3
from . import series as series
from . import so3 as so3

__all__ = [
    "inertia",
    "se3",
    "series",
    "so3",
]


def __dir__() -> list[str]:
    return __all__
