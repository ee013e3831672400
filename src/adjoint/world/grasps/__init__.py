"""Grasps: where a gripper can hold a part, which of them a robot can use, and plans that pick and place.

| file | contents |
|---|---|
| `grasp_results` | `Grasp`, `Grasps`: ranked grasps, and the reasons of those that were pruned |
| `candidates` | `grasp_candidates`: pairs of parallel faces and antipodal points of a part |
| `grasp_search` | `find_grasps`: pruned by neighbours, reach and the arm, at pick and place, and ranked |
| `picking` | `plan_pick`, `plan_pick_and_place`: all motions, with one grasp for pick and place |
| `pick_plans` | `PickAndPlace`, `PickPhase`: what they found |
| `graspable`, `face_pairs`, `antipodal` | a part as grasps see it, and where fingers can stand on it |
| `separations`, `hand_checks` | distances of convex solids for many poses at once, and what hands meet |
| `arm_checks`, `straight_moves` | configurations of the arm, and straight motions of the hand |
| `place_goals` | goals of a part as poses, and how it is put down |
"""

from .candidates import grasp_candidates as grasp_candidates
from .grasp_results import Grasp as Grasp
from .grasp_results import Grasps as Grasps
from .grasp_search import find_grasps as find_grasps
from .pick_plans import PickAndPlace as PickAndPlace
from .pick_plans import PickPhase as PickPhase
from .picking import plan_pick as plan_pick
from .picking import plan_pick_and_place as plan_pick_and_place

__all__ = [
    "Grasp",
    "Grasps",
    "PickAndPlace",
    "PickPhase",
    "find_grasps",
    "grasp_candidates",
    "plan_pick",
    "plan_pick_and_place",
]


def __dir__() -> list[str]:
    return __all__
