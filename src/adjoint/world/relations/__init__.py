"""Relations between features of parts, and all placements that they allow.

| file | contents |
|---|---|
| `relation_makers` | `Relation` and its makers: `against`, `fits`, `coplanar`, `aligned`, `on`, `in_`, ... |
| `book_poses` | the poses of one relation in closed form, (10.9-1): `against_pose`, `fits_pose`, ... |
| `sources` | where names such as "peg.bottom" are looked up: a world, or a mapping of features |
| `constraint_rows` | the equations of each relation |
| `row_kernels` | one equation as a row of numbers, its slope, and the descent over rows, as kernels |
| `relation_systems` | the equations of all relations, well scaled |
| `walks` | solutions from many starts, and walks along them |
| `freedoms` | `Freedom`: what motions are left, in a form to read |
| `families` | `Family`: a connected set of placements |
| `conflicts` | `Conflict`, `ContradictionError`: which relations contradict each other |
| `solving` | `placements`, `solve_relations` |
| `play` | fits with clearance as inequalities, `fit_clearance` |
| `tolerances` | `Tolerance`, `pose_bounds`: linear bounds of poses |
"""

from .book_poses import against_pose as against_pose
from .book_poses import coplanar_pose as coplanar_pose
from .book_poses import fits_pose as fits_pose
from .book_poses import socket_pose as socket_pose
from .conflicts import Conflict as Conflict
from .conflicts import ContradictionError as ContradictionError
from .families import Family as Family
from .freedoms import Freedom as Freedom
from .play import fit_clearance as fit_clearance
from .relation_makers import Relation as Relation
from .relation_makers import against as against
from .relation_makers import aligned as aligned
from .relation_makers import at_angle as at_angle
from .relation_makers import at_distance as at_distance
from .relation_makers import centred as centred
from .relation_makers import coincident as coincident
from .relation_makers import coplanar as coplanar
from .relation_makers import fits as fits
from .relation_makers import fixed_at as fixed_at
from .relation_makers import in_ as in_
from .relation_makers import on as on
from .relation_makers import parallel as parallel
from .relation_makers import perpendicular as perpendicular
from .solving import Placements as Placements
from .solving import placements as placements
from .solving import solve_relations as solve_relations
from .tolerances import PoseBounds as PoseBounds
from .tolerances import Tolerance as Tolerance
from .tolerances import pose_bounds as pose_bounds

__all__ = [
    "Conflict",
    "ContradictionError",
    "Family",
    "Freedom",
    "Placements",
    "PoseBounds",
    "Relation",
    "Tolerance",
    "against",
    "against_pose",
    "aligned",
    "at_angle",
    "at_distance",
    "centred",
    "coincident",
    "coplanar",
    "coplanar_pose",
    "fit_clearance",
    "fits",
    "fits_pose",
    "fixed_at",
    "in_",
    "on",
    "parallel",
    "perpendicular",
    "placements",
    "pose_bounds",
    "socket_pose",
    "solve_relations",
]


def __dir__() -> list[str]:
    return __all__
