"""Lie groups of rigid motions: rotations `so3`, motions `se3` and inertias `inertia`.

The module `series` holds the scalar functions that their formulas share. These conventions hold in the whole library:

- Frames: `T_ab` (4, 4) and `R_ab` (3, 3) map b-coordinates to a-coordinates, so `T_ab @ T_bc` is `T_ac`.
- A twist is `V = (w, v)` (6,) and a wrench is `F = (m, f)` (6,), angular part first. Their product F·V is power [W].
- `Ad(T)` and `ad(V)` are matrices that act on twists. `coAd(T)` and `coad(V)`, written Ad* and ad* in the papers, are
  their plain transposes (not inverse transposes) and act on wrenches: if V_a = Ad(T_ab) V_b, then F_b = coAd(T_ab) F_a.
  Each of them also exists as a cheaper function `Ad_action(T, V)`, ..., which applies the matrix without forming it.
- The body twist of a moving frame is vee(T⁻¹ Ṫ) and its spatial twist is vee(Ṫ T⁻¹). `left_jacobian`, also called
  `dexp`, gives the spatial one.
- Quaternions have the scalar part first, and names say so: `quat_wxyz`. Angles are in rad, lengths in m; all units are
  SI units.
- An inertia is the array [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about the origin of a frame; see `inertia`.
- Every kernel is written for one sample and takes any leading batch axes: V (..., 6) gives exp(V) (..., 4, 4). A sample
  that is NaN or meaningless (a zero axis, a matrix that has no nearest rotation) gives NaN and leaves the others alone.
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
