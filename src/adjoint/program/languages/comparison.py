"""Robot languages of the 1970s and 1980s side by side, and which of them run here."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LANGUAGE_TABLE", "RobotLanguage"]


class RobotLanguage(NamedTuple):
    """A robot language as Table 9.11 of Fu, Gonzalez & Lee (1987) describes it, with its errors corrected.

    >>> [x.name for x in LANGUAGE_TABLE if x.runs_as]
    ['AL', 'AML', 'AUTOPASS', 'VAL']
    """

    name: str
    maker: str
    robot: str
    """robots that it controlled"""
    level: str
    """"robot": each statement is an action of an arm; "object": statements are about parts; "mixed": both"""
    basis: str
    """the language, or the idea, that it was made from"""
    translation: str
    """"compiler", "interpreter" or "both\""""
    geometry: str
    """its type of data for places"""
    motion: str
    """what a motion is specified by"""
    control: str
    """whose control structures it has"""
    sensing: str
    parallel: str
    """how it says that things happen at the same time"""
    several_robots: bool
    runs_as: str = ""
    """the name under which `parse` reads it here, or "" if it does not run"""
    erratum: str = ""
    """what the printed table says otherwise"""


LANGUAGE_TABLE: tuple[RobotLanguage, ...] = (
    RobotLanguage(
        "AL", "Stanford", "PUMA, Stanford arm", "mixed", "Concurrent Pascal", "both", "frame", "frame", "Pascal",
        "position, force", "COBEGIN, semaphores", True, "al",
    ),
    RobotLanguage(
        "AML", "IBM", "IBM arm", "robot", "Lisp, APL, Pascal", "interpreter", "aggregate", "joints", "Pascal",
        "position, force", "none", False, "aml",
        "The printed row of the basis has merged two columns; AML's is Lisp, APL and Pascal. It gives AML position "
        "sensing alone, though Table 9.6 shows its monitors of force sensors.",
    ),
    RobotLanguage(
        "AUTOPASS", "IBM", "IBM", "object", "PL/I", "both", "model", "implicit", "PL/I", "force, tactile",
        "IN PARALLEL", False, "autopass",
        "Its basis, PL/I, has slipped into the column of AML.",
    ),
    RobotLanguage(
        "HELP", "General Electric", "Allegro", "robot", "Pascal", "interpreter", "none", "joints", "Pascal",
        "force, vision", "semaphores", True,
    ),
    RobotLanguage(
        "JARS", "JPL", "PUMA, Stanford arm", "robot", "Pascal", "compiler", "frame", "joints, frame", "Pascal",
        "proximity, vision", "none", False,
    ),
    RobotLanguage(
        "MAPLE", "IBM", "IBM", "robot", "PL/I", "interpreter", "none", "translation, rotation", "PL/I",
        "force, proximity", "IN PARALLEL", True,
    ),
    RobotLanguage(
        "MCL", "McDonnell Douglas", "Cincinnati Milacron T-3", "robot", "APT", "compiler", "frame",
        "translation, rotation", "if-then-else, while-do", "position", "INPAR", True,
    ),
    RobotLanguage(
        "PAL", "Purdue", "Stanford arm", "robot", "transforms", "interpreter", "frame", "frame", "if-then-else",
        "force", "none", False,
    ),
    RobotLanguage(
        "RAIL", "Automatix", "Cartesian arm of its own", "robot", "Pascal", "interpreter", "frame", "joints, frame",
        "Pascal", "force, vision", "none", False,
    ),
    RobotLanguage(
        "RPL", "SRI", "PUMA", "robot", "Fortran, Lisp", "both", "none", "joints", "Fortran", "position, vision",
        "none", False,
    ),
    RobotLanguage(
        "VAL", "Unimation", "PUMA", "robot", "Basic", "interpreter", "frame", "joints, frame", "if-then",
        "position, force", "semaphores", False, "val",
        "The printed maker is Unimate, which is the name of robots; the company is Unimation.",
    ),
)  # fmt: skip
"""The languages of Table 9.11 in its order, with the errors of the printed table corrected."""
