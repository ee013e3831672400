"""Simulation: robots under control, in time."""

from .forces import Change, Force, change, force
from .runs import Run
from .running import simulate

__all__ = ["Change", "Force", "Run", "change", "force", "simulate"]
