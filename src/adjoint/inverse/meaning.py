"""What the branches of an arm mean: which root of which joint, and the textbook's indicators ARM, ELBOW and WRIST."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from .arms import ARM_ANGLE, Arm, answers, arm_of, parameter_name
from .axes import act, meeting_point, relation, spin
from .families import Plan
from .general import Elimination
from .newton import pose_and_twists
from .subproblems import across
from .textbook import sign

__all__ = ["Branch", "Branches", "Indicators", "branches", "indicators"]

_CLOSE = 1e-6


class Branch(NamedTuple):
    """One branch: the root, counted from 0, that each joint takes of the equation it is solved from.

    Joints that are not named have one root. `arm` is "RIGHT" or "LEFT" and `elbow` is "ABOVE" or "BELOW" for arms built
    like a PUMA, else None. (The textbook's WRIST depends on the pose too: `indicators` computes it.)
    """

    roots: dict[str, int]
    arm: str | None = None
    elbow: str | None = None


class Branches(NamedTuple):
    """What the solutions of `inverse_kinematics` are: how they are found, the redundancy parameter, and each branch."""

    method: str
    redundancy: str | None
    branches: tuple[Branch, ...]

    def __str__(self) -> str:
        lines = [self.method, *([f"redundancy: {self.redundancy}"] if self.redundancy else [])]
        if not any(branch.roots for branch in self.branches) and len(self.branches) > 1:
            return "\n".join([*lines, f"{len(self.branches)} places for solutions, exact ones first"])
        for k, branch in enumerate(self.branches):
            named = " ".join(x for x in (branch.arm, branch.elbow) if x)
            roots = ", ".join(f"{joint} root {root}" for joint, root in branch.roots.items())
            lines.append(f"{k:3d}  {named + ': ' if named else ''}{roots or 'the only one'}")
        return "\n".join(lines)


def branches(robot: Robot, frame: str) -> Branches:
    """Return what the solutions of `inverse_kinematics(robot, T, frame)` mean, in their order.

        >>> print(branches(robot, "tool"))
        three meeting axes from 'joint4': position first, then orientation
          0  LEFT ABOVE: joint3 root 0, joint2 root 0, joint5 root 0
          ...

    Two branches that differ in the root of one joint become equal where the arm is singular in this joint.
    """
    need_robot(robot, "branches")
    return _branches(robot, frame)


@once_a_robot
def _branches(robot: Robot, frame: str) -> Branches:
    arm = arm_of(robot, frame)
    found = [Branch({}) for _ in arm.kept] if isinstance(arm.method, Elimination) else _labelled(arm)
    if _is_puma(arm):
        found = _with_indicators(robot, frame, arm, found)
    return Branches(_method(arm), parameter_name(arm) if arm.is_redundant else None, tuple(found))


def _method(arm: Arm) -> str:
    """How an arm is solved, in words."""
    how, name = arm.method, (lambda i: f"'{arm.chain.names[i]}'" if i < len(arm.chain.names) else "an added joint")
    if isinstance(how, Elimination):
        text = "general geometry: elimination, up to 16 solutions in no order"
    elif not isinstance(how, Plan):
        text = "spherical shoulder and wrist: the elbow first, then both"
    elif how.family == "sliding":
        text = "three slides: orientation first, then position"
    else:
        places = [i for i in range(len(arm.chain.axes) + 6) if i != arm.lock]
        kind = "meeting axes" if how.family == "spherical" else "parallel axes"
        rest = "position first, then orientation" if how.family == "spherical" else "the others first, then these"
        text = f"three {kind} from {name(places[how.start])}: {rest}"
    return text + ("; refined by Newton's method" if arm.refine else "")


def _order(arm: Arm) -> list[int]:
    """The places of the joints in the order in which they are solved."""
    n = len(arm.chain.axes)
    if arm.method == ARM_ANGLE:
        return [3, 1, 0, 2, 5, 4, 6]
    how = arm.method
    assert isinstance(how, Plan)
    triple = [how.start + 1, how.start, how.start + 2]
    others = [i for i in range(6) if i not in triple]
    if how.family == "spherical":
        order = [*(others if how.backward or how.start in (0, 1) else others[::-1]), *triple]
    else:
        order = [*others, *triple]
    places = [i for i in range(n + 6) if i != arm.lock]
    return [places[i] for i in order if places[i] < n]


def _sample(arm: Arm) -> list[tuple] | None:
    """Answers at a pose where the most branches are exact, of 100 random ones."""
    rng, best, most = np.random.default_rng(15), None, 0
    arm = arm._replace(refine=False)  # refined answers of different branches may be the same
    for _ in range(100):
        T, parameter = _pose(arm, rng)
        with eagerly(), np.errstate(all="ignore"):
            found = answers(arm, T, parameter)
        count = sum(bool(a.exact) for a in found)
        if count > most:
            best, most = [tuple(float(x) for x in a.q) for a in found], count
        if most == len(found):
            break
    return best


def _pose(arm: Arm, rng: np.random.Generator) -> tuple[np.ndarray, float | None]:
    """A random pose (4, 4) of the arm, and its redundancy parameter if it has one."""
    q = rng.uniform(-2.5, 2.5, arm.chain.count)
    R, p, _ = pose_and_twists(arm.chain.axes, [g.follow(q[g.coordinate]) for g in arm.chain.gears])
    T = np.vstack([np.column_stack([R, p]), [0, 0, 0, 1]]) @ arm.chain.home
    T[:3, 3] *= arm.chain.size
    if not arm.is_redundant:
        return T, None
    return T, 0.3 if arm.lock is None else float(q[arm.chain.gears[arm.lock].coordinate])


def _labelled(arm: Arm) -> list[Branch]:
    """The branches with the roots of their joints: the joints' different values at a pose, in the order of solving."""
    found = _sample(arm)
    if found is None:
        return [Branch({}) for _ in arm.kept]
    labels: list[dict[str, int]] = [{} for _ in found]
    for place in _order(arm):
        coordinate, name = arm.chain.gears[place].coordinate, arm.chain.names[place]
        groups: dict[tuple, list[float]] = {}
        for label in labels:
            groups.setdefault(tuple(label.items()), [])
        keys = [tuple(label.items()) for label in labels]
        roots = []
        for key, q in zip(keys, found, strict=True):
            known = groups[key]
            same = [k for k, x in enumerate(known) if abs(np.angle(np.exp(1j * (x - q[coordinate])))) < _CLOSE]
            if not same:
                known.append(q[coordinate])
            roots.append(same[0] if same else len(known) - 1)
        if any(len(known) > 1 for known in groups.values()):
            for label, root in zip(labels, roots, strict=True):
                label[name] = root
    return [Branch(label) for label in labels]


# --- the indicators of the textbook -----------------------------------------------------------------------------------


class Indicators(NamedTuple):
    """`arm` +1 RIGHT or -1 LEFT, `elbow` +1 ABOVE or -1 BELOW, `wrist` +1 DOWN or -1 UP."""

    arm: Any
    elbow: Any
    wrist: Any


def _is_puma(arm: Arm) -> bool:
    """Whether an arm is built like a PUMA: axes 1 and 2 meet at a right angle, 2 and 3 are parallel, 4 to 6 meet."""
    a = arm.axes
    return (
        isinstance(arm.method, Plan)
        and (arm.method.family, arm.method.start) == ("spherical", 3)
        and arm.chain.count == len(arm.chain.axes) == 6
        and [x.kind for x in a] == ["R"] * 6
        and relation(a[0], a[1], 1e-9) == "meeting"
        and bool(abs(a[0].direction @ a[1].direction) < 1e-9)
        and relation(a[1], a[2], 1e-9) == "parallel"
    )


@kernel(robot=static, q="nq", frame=static)
def indicators(robot: Robot, q, frame: str) -> Indicators:
    """The textbook's indicators ARM, ELBOW and WRIST of a configuration q (nq,) of an arm that is built like a PUMA.

        >>> indicators(robot, np.radians([30, -45, 120, 20, 40, -60]), "tool")
        Indicators(arm=np.float64(-1.0), elbow=np.float64(1.0), wrist=np.float64(1.0))

    They are the decision equations (2.3-76) to (2.3-83) of Fu, Gonzalez & Lee (1987), written for any base, with the
    wrist's centre w, the axes z_0, z_1, z_4 of joints 1, 2 and 5, the shoulder c, and the upper arm l from c to the
    elbow e: ARM = sign(-(w - c) · (z_1 × z_0)), ELBOW = ARM sign(-(w - e) · (z_1 × l)), WRIST = sign(s · z_4), or
    sign(n · z_4) if that is 0, with the hand's sliding vector s and normal n. The sign of 0 is +1.
    """
    arm = arm_of(robot, frame)
    if not _is_puma(arm):
        raise ArgumentError(
            f"indicators: robot '{robot.name}', frame '{frame}', is not built like a PUMA (axes 1 and 2 meeting at a "
            "right angle, 2 and 3 parallel, a spherical wrist); `branches` tells what its solutions are"
        )
    axes = arm.axes
    at = [(np.cos(q[i]), np.sin(q[i])) for i in arm.chain.places]

    def placed(x, last: int, move=act):
        for i in reversed(range(last)):
            x = move(axes[i], at[i], x)
        return x

    c = meeting_point(axes[0], axes[1])
    z0, z1, z4 = axes[0].direction, placed(axes[1].direction, 1, spin), placed(axes[4].direction, 4, spin)
    w, e = placed(meeting_point(axes[3], axes[4]), 3), placed(axes[2].point, 2)
    upper = across(z1, e - c)
    which = sign(-((w - c) @ np.cross(z1, z0)))
    bent = which * sign(-((w - e) @ np.cross(z1, upper)))
    n, s = (placed(arm.chain.home[:3, k], 6, spin) for k in (0, 1))
    slide = s @ z4
    return Indicators(which, bent, sign(np.where(np.abs(slide) > 1e-9, slide, n @ z4)))


def _with_indicators(robot: Robot, frame: str, arm: Arm, found: list[Branch]) -> list[Branch]:
    """The branches with ARM and ELBOW, which are the same at all poses."""
    q = _sample(arm)
    if q is None:
        return found
    rest = np.zeros(robot.nq)
    named = []
    for branch, own in zip(found, q, strict=True):
        rest[list(arm.chain.places)] = own
        told = indicators.eager(robot, rest, frame)
        side, bent = ("RIGHT" if told.arm > 0 else "LEFT"), ("ABOVE" if told.elbow > 0 else "BELOW")
        named.append(branch._replace(arm=side, elbow=bent))
    return named
