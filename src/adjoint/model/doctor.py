"""The model doctor: `check` finds what is wrong with a model, what is doubtful, and what is good to know.

The loaders have noted what a file leaves out or what they did not understand (`robot.findings`). `check` adds what only
the whole robot shows: inertias that no body can have, joints that move nothing, wrong units, limits, names, and a left
side that is not the mirror image of the right. Each rule is a function of a `Model` that yields findings; a finding has
the numbers, and what would be valid. The thresholds were set on the robots of example-robot-data, so that sound models
have no findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..errors import ModelError
from .doctor_inertias import idle_joints, masses, sizes
from .doctor_limits import followers, position_limits, rates
from .doctor_model import FAR, Model
from .doctor_report import LEVELS, Report, listed
from .doctor_sides import mirror_images
from .input_checks import truth
from .needs import need_robot
from .parts import Finding
from .robot import Robot

__all__ = ["Report", "check"]

_ROBOT_SIZES, _ROBOT_MASSES = (1e-4, 1e3), (1e-7, 1e7)  # [m] and [kg], from a mite to a mountain of machinery


def check(robot: Robot, *, strict: bool = False) -> Report:
    """Return a `Report` on the model of `robot`: what is wrong with it, what is doubtful, and what is good to know.

        print(check(load("robot.urdf")))
        check(robot, strict=True)           # ModelError if there are errors or warnings; notes are fine

    The report is a sequence of findings, and has lists of them: `report.errors`, `report.warnings`, `report.notes`. A
    `Finding` has a `level`, a `code` for its kind, the `element` it is about, a `message`, and `where` this element is
    in the file. Beside the findings of the loaders there are

    - errors, which no robot can have: not-finite, negative-mass, impossible-inertia, limits-reversed, and
      negative-damping, negative-friction, negative-armature, negative-velocity-limit, negative-effort-limit;
    - warnings, most likely mistakes: impossible-inertia, inertia-without-mass, idle-joint, com-far-away,
      inertia-too-large, placement-far-away, too-heavy, out-of-scale, gravity, limits-in-degrees, limits-in-mm,
      no-range, zero-effort-limit, zero-velocity-limit, mimic-out-of-limits, blanks-in-names;
    - notes: inexact-inertia, point-masses, no-masses, neutral-out-of-limits, endless-limits, sides-differ,
      shared-names.

    `check` looks at one body after the other, which takes about 1 ms for each.
    """
    need_robot(robot, "check")
    rules = (masses, sizes, _units, idle_joints, position_limits, rates, followers, mirror_images, _names)
    with np.errstate(all="ignore"):  # numbers near the largest float overflow here
        model = Model.of(robot)
        found = [*robot.findings, *(finding for rule in rules for finding in rule(model))]
    report = Report(robot.name, tuple(sorted(found, key=_rank)))
    serious = Report(robot.name, (*report.errors, *report.warnings))
    if truth(strict, "check: strict") and serious:
        raise ModelError(str(serious))
    return report


def _rank(finding: Finding) -> tuple:
    """Return what findings are sorted by: the level, then file and line; those without a place come last."""
    where = finding.where
    place = (where is None, where.file if where else "", (where.line if where else None) or 0)
    return LEVELS.index(finding.level), *place


def _units(model: Model) -> Iterator[Finding]:
    """Yield findings about lengths that may be in mm, masses in g, and gravity in mm/s²."""
    robot = model.robot
    placements = {s.name: s.placement for s in robot.specs} or {b.joint.name: b.M for b in robot.bodies}
    for name, placement in placements.items():
        far = float(np.linalg.norm(placement[:3, 3]))
        if far > FAR:
            yield model.joint("warning", "placement-far-away", name, f"is {far:.4g} m from its parent: mm?")
    extents = [2 * np.linalg.norm(c.com) + 2 * np.sqrt(np.abs(c.inertia).max() / c.mass) for _, c, _ in model.solid]
    size = max([model.size, *extents])
    if size > 0 and robot.mass > 2000 * size * size * size:
        message = f"{robot.mass:.4g} kg within {size:.3g} m: heavier than any robot; are masses in g?"
        yield Finding("warning", "too-heavy", f"robot '{robot.name}'", message)
    for what, value, unit, (low, high) in (
        ("it is", model.size, "m across", _ROBOT_SIZES), ("its mass is", robot.mass, "kg", _ROBOT_MASSES)
    ):  # fmt: skip
        if value > 0 and not low < value < high:
            message = f"{what} {value:.3g} {unit}; robots are between {low:g} and {high:g}: is this in SI units?"
            yield Finding("warning", "out-of-scale", f"robot '{robot.name}'", message)
    if np.linalg.norm(robot.gravity) > 100:
        message = f"gravity {np.linalg.norm(robot.gravity):.4g} m/s²: is it in mm/s²? The Earth's is 9.81"
        yield Finding("warning", "gravity", f"robot '{robot.name}'", message)


def _names(model: Model) -> Iterator[Finding]:
    """Yield findings about names that trouble people or programs."""
    robot = model.robot
    element = f"robot '{robot.name}'"
    names = [*(l.name for l in model.links), *robot.body_joint_names, *model.specs]
    both = sorted({l.name for l in model.links} & {*robot.body_joint_names, *model.specs})
    if both:
        yield Finding("note", "shared-names", element, f"joints with the name of a link: {listed(both)} ({len(both)})")
    odd = sorted({n for n in names if not n.strip() or n != n.strip() or re.search(r"\s", n)})
    if odd:
        yield Finding(
            "warning", "blanks-in-names", element, f"{listed(map(repr, odd))}: many programs split names at blanks"
        )
