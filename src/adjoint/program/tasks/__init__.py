"""Tasks: from statements about parts to motions, by relations, grasps and motion plans of the world.

| file | contents |
|---|---|
| `task_planning` | `task_steps`: how a robot does what a statement says; `state_holds` |
| `task_edits` | what changes in the world between motions, as frozen edits |
| `feature_names` | from names of a task to places of a world |
| `task_goals` | relations of a task as relations of the world, and the poses that fulfil them |
| `placing` | `Place`: pick, carry and place in four phases |
| `operating` | `Operate`: a tool turns a screw until its torque is reached |
| `tool_motions` | free and straight motions of a tool, sampled at every tick |
"""

from .feature_names import FACE_NUMBERS as FACE_NUMBERS
from .operating import SCREW_PITCH as SCREW_PITCH
from .operating import SCREW_SPEED as SCREW_SPEED
from .operating import SCREW_STIFFNESS as SCREW_STIFFNESS
from .task_edits import CarryPart as CarryPart
from .task_edits import FastenPart as FastenPart
from .task_edits import PutPart as PutPart
from .task_edits import TakePart as TakePart
from .task_edits import TaskPhase as TaskPhase
from .task_planning import state_holds as state_holds
from .task_planning import task_steps as task_steps

__all__ = [
    "FACE_NUMBERS", "SCREW_PITCH", "SCREW_SPEED", "SCREW_STIFFNESS", "CarryPart", "FastenPart", "PutPart", "TakePart",
    "TaskPhase", "state_holds", "task_steps",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
