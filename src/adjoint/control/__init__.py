"""Control laws as data and functions."""

from .joint_laws import computed_torque, pd
from .laws import Control, Law, law, wrapped
from .references import PoseTarget, Target

__all__ = ["Control", "Law", "PoseTarget", "Target", "computed_torque", "law", "pd", "wrapped"]
