"""The robot that stands for one with many bodies while an algorithm is traced: its sweeps are loops.

A body is not a number here, but the current row of a loop (`Body`), or the root that the loops leave out (`Root`).
`robot.inertias[i]`, `robot.screw(i)` and what sweeps give, `x[i]`, take them as they take the numbers of bodies. So a
step of an algorithm that asks a robot for nothing else need not know which kind it runs on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import each_row, map_leaves, scan
from ..compile.graph.loops import Sequence
from ..errors import ArgumentError
from ..lazy import cached_property
from ..lie import se3, so3
from ..model.joints import JOINTS, standard_screws
from ..model.robot import Robot
from .rows import Plan

__all__ = [
    "BodyParts", "ColumnParts", "Each", "JointColumns", "JointParts", "JointValues", "PerBody", "PlacementParts",
    "RolledRobot", "joint_values", "row_shape",
]  # fmt: skip


class Each:
    """x[i] = f(i): a value for each body, computed where it is asked for."""

    def __init__(self, f: Callable):
        self._f = f

    def __getitem__(self, i):
        return self._f(i)


class PerBody:
    """A value for each body: that of the root, if the loops leave it out, and rows of the others."""

    def __init__(self, root, rows):
        self.root, self.rows = root, rows

    def __getitem__(self, i):
        return self.root if isinstance(i, Root) else i.row(self.rows)

    def __contains__(self, i) -> bool:
        return True


class JointValues(PerBody):
    """Numbers of the joints, as q, v or tau: (k,) of each; rows of single numbers where all joints have one."""

    def __getitem__(self, i):
        found = super().__getitem__(i)
        return found if np.ndim(found) else np.stack([found])


class JointColumns(PerBody):
    """Columns (..., k) of a map from v, of each joint."""


class JointParts(NamedTuple):
    """A result for the degrees of freedom of the root, and for those of all other bodies."""

    root: np.ndarray
    bodies: np.ndarray


class ColumnParts(NamedTuple):
    """Columns (m, k) of a matrix for the degrees of freedom of the root, and for those of all other bodies."""

    root: np.ndarray
    bodies: np.ndarray


class BodyParts(NamedTuple):
    """Vectors (k,), one for the root, if the loops leave it out, and one for each other body."""

    root: np.ndarray
    bodies: np.ndarray


class PlacementParts(NamedTuple):
    """Matrices, one for the root, if the loops leave it out, and one for each other body."""

    root: np.ndarray
    bodies: np.ndarray


def full(upper):
    """A placement (4, 4) of its upper rows (12,)."""
    T = upper.reshape(3, 4)
    return se3.from_rotation_translation(T[:, :3], T[:, 3])


def _split(x, parts: dict[str, int]) -> dict[str, Any]:
    """The numbers of a row by name."""
    return dict(zip(parts, np.split(x, np.cumsum(list(parts.values())))[:-1], strict=True))


# --- bodies -----------------------------------------------------------------------------------------------------------


class Root:
    """The root that the loops leave out: its numbers, and which of them are known when the code is made."""

    def __init__(self, plan: Plan, numbers: dict[str, Any]):
        self.kinds, self.nv = [(1.0, plan.root)], plan.nv
        self.placement, self.inertia = full(numbers["placement"]), numbers["inertia"]
        self.known = {"screws"} if plan.root_is_standard else set()
        self.screws = standard_screws(plan.root) if plan.root_is_standard else numbers["screws"].reshape(-1, 6)
        none = np.zeros(plan.nv)
        self.armature = numbers["armature"] if plan.root_rotors else none
        self.known |= set() if plan.root_rotors else {"armature"}
        self.damping, self.friction = (numbers[name] if plan.resists else none for name in ("damping", "friction"))

    def moved(self, q):
        """f (4, 4) = M J(q)."""
        ((_, kind),) = self.kinds
        return se3.compose(self.placement, JOINTS[kind].placement(q, self.screws, "screws" not in self.known))


class Body:
    """The body whose row a loop has come to."""

    def __init__(self, robot: RolledRobot, at):
        self._robot, self._at = robot, at
        self._plan = robot.plan
        self.nv = robot.plan.width

    def row(self, rows):
        """The body's row of sequences."""
        return self._at.row(rows)

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        return _split(self.row(self._robot.numbers["bodies"]), self._plan.parts)

    @property
    def known(self) -> set[str]:
        """Fields whose numbers are known when the code is made."""
        return ({"screws"} if not self._plan.slides else set()) | ({"armature"} if not self._plan.rotors else set())

    @property
    def kinds(self) -> list[tuple]:
        """(1 or 0, type): whether the joint is of this type, for all types of several degrees of freedom there are."""
        return list(zip(self._numbers["kind"], self._plan.kinds, strict=True))

    @property
    def route(self):
        """Whether the root carries it; for each slot, whether it is carried from there; whether it is kept there."""
        route, slots = self._numbers["route"], self._plan.slots
        return route[0], route[1 : 1 + slots], route[1 + slots :]

    @property
    def placement(self):
        """M (4, 4)."""
        return full(self.row(self._robot.numbers["placements"]))

    @property
    def inertia(self):
        """(10,)."""
        return self._numbers["inertia"]

    @property
    def screws(self):
        """S (width, 6), one screw per row: (0, 0, t, 0, 0, d), or those of the joint's type."""
        turn, slide = self._numbers["screw"] if self._plan.slides else (1.0, 0.0)
        S = np.stack([0.0, 0.0, turn, 0.0, 0.0, slide])[None]
        if not self._plan.kinds:
            return S
        rows = np.concatenate([S, np.zeros((self.nv - 1, 6))])
        for mask, kind in self.kinds:
            own = standard_screws(kind)
            rows = rows + mask * np.concatenate([own, np.zeros((self.nv - len(own), 6))])
        return rows

    @property
    def armature(self):
        """(width,)."""
        return self._numbers["armature"] if self._plan.rotors else np.zeros(self.nv)

    @property
    def damping(self):
        """(width,)."""
        return self._resists[: self.nv]

    @property
    def friction(self):
        """(width,), dry."""
        return self._resists[self.nv :]

    @property
    def _resists(self):
        return self.row(self._robot.numbers["resists"]) if self._plan.resists else np.zeros(2 * self.nv)

    def motion(self, q):
        """How the joint has moved: cos and sin of its angle, how far it slid if any does; or J's upper rows (12,)."""
        if not self._plan.slides:
            return np.stack([np.cos(q[0]), np.sin(q[0])])
        turn, slide = self._numbers["screw"] * q[0]
        if not self._plan.kinds:
            return np.stack([np.cos(turn), np.sin(turn), slide])
        none = 0.0 * slide
        J = se3.from_rotation_translation(so3.rotation_z(turn), np.stack([none, none, slide]))
        for mask, kind in self.kinds:
            joint = JOINTS[kind]
            own = np.where(mask > 0, q[: joint.nq], np.array(joint.neutral))
            J = np.where(mask > 0, joint.placement(own, standard_screws(kind)), J)
        return J[:3].reshape(12)

    def moved(self, motion):
        """f (4, 4) = M J of the joint's motion."""
        M = self.placement
        if self._plan.kinds:
            return se3.compose(M, full(motion))
        x, y, z = M[:3, :3].T
        cos, sin, *slid = motion
        R = np.stack([cos * x + sin * y, cos * y - sin * x, z], axis=1)
        return se3.from_rotation_translation(R, M[:3, 3] + slid[0] * z if slid else M[:3, 3])


# --- the robot --------------------------------------------------------------------------------------------------------


class RolledRobot(Robot):
    """Stands for a robot with many bodies. `numbers` are its rows by name: placements, bodies, root, and so on."""

    __hash__ = None  # type: ignore[assignment]  # no cache may keep it
    runs_inline = True  # in the kernel that is traced: no code is made for it alone

    def __init__(self, plan: Plan, numbers: dict[str, Any]):
        own = _split(numbers["root"], plan.root_parts) if "root" in numbers else {"gravity": np.zeros(3)}
        fields = ("damping", "friction", "armature")
        vars(self).update(
            plan=plan,
            numbers=numbers,
            name="of many bodies",
            mimics={},
            gravity=own["gravity"],
            root=Root(plan, own) if plan.root else None,
            inertias=Each(lambda i: i.inertia),
            placements=Each(lambda i: i.placement),
            varying=frozenset({"inertias", "placements", "screws", "gravity", *fields}),
            **{name: Each(lambda i, name=name: getattr(i, name)) for name in fields},
        )

    def __eq__(self, other) -> bool:
        return self is other

    def __repr__(self) -> str:
        return "<a robot of many bodies>"

    def __getattr__(self, name: str):
        raise ArgumentError(
            f"a robot of many bodies has no '{name}': an algorithm that asks for it cannot run as loops"
        )

    @property
    def mass(self):  # type: ignore[override]
        """Of all bodies [kg]."""
        return self.total(lambda i: i.inertia[0], 0.0)

    def body_frame(self, i):
        """The frame of body i in that of its joint (4, 4); None if they are one."""
        return None if isinstance(i, Root) else full(i.row(self.numbers["frames"]))

    def screw(self, i) -> np.ndarray:  # type: ignore[override]
        """S_iᵀ (k, 6)."""
        return i.screws

    def _rows(self) -> each_row:
        return each_row(self.numbers["placements"])

    # --- sweeps ---------------------------------------------------------------------------------------------------

    def joint_placements(self, q: JointValues) -> PerBody | Each:
        """f_i (4, 4): first a loop for the sines and cosines, which wait for nobody."""
        motions = self.each(lambda i: i.motion(q[i]), beyond_root=True).rows
        root = None if self.root is None else self.root.moved(q.root)
        return Each(lambda i: root if isinstance(i, Root) else i.moved(i.row(motions)))

    def each(self, f: Callable, beyond_root: bool = False) -> PerBody:
        """f(i) of all bodies."""
        _, rows = scan(lambda carry, at: (carry, f(Body(self, at))), 0.0, self._rows())
        return PerBody(None if self.root is None or beyond_root else f(self.root), rows)

    def total(self, f: Callable, zero):
        """The sum of f(i) over all bodies."""
        start = zero if self.root is None else zero + f(self.root)
        return scan(lambda carry, at: (carry + f(Body(self, at)), None), start, self._rows())[0]

    def outward(self, step: Callable, base) -> PerBody:
        """y of all bodies, of `x, y = step(i, x of what carries it)`; the base's x is `base`."""
        start, plan, first = base, self.plan, None
        if self.root is not None:
            start, first = step(self.root, base)

        def go(carry, at):
            x, slots = carry
            i, kept = Body(self, at), ()
            if plan.branched:
                from_root, taken, kept = i.route
                for k, slot in enumerate(slots):
                    x = _where(taken[k], slot, x)
                x = _where(from_root, start, x)
            x, y = step(i, x)
            return (x, [_where(kept[k], x, slot) for k, slot in enumerate(slots)]), y

        return PerBody(first, scan(go, (start, [start] * plan.slots), self._rows())[1])

    def inward(self, step: Callable, zero) -> tuple[Any, PerBody]:
        """What the base is passed, and y of all bodies, of `passed, y = step(i, sum of what i is passed)`."""
        total, rows = self._inward(step, zero)
        if self.root is None:
            return total, PerBody(None, rows)
        passed, first = step(self.root, total)
        return passed, PerBody(first, rows)

    def _inward(self, step: Callable, zero) -> tuple:
        """What the root is passed, or the base if there is none, and stacked y."""
        plan = self.plan
        if not plan.branched:
            return scan(lambda total, at: step(Body(self, at), total), zero, self._rows(), reverse=True)

        def go(carry, at):
            passed, slots, root = carry
            i = Body(self, at)
            to_root, taken, kept = i.route
            for k, slot in enumerate(slots):
                passed = _plus(passed, _where(kept[k], slot, zero))
            slots = [_where(kept[k], zero, slot) for k, slot in enumerate(slots)]
            passed, y = step(i, passed)
            root = _plus(root, _where(to_root, passed, zero))
            slots = [_plus(slot, _where(taken[k], passed, zero)) for k, slot in enumerate(slots)]
            elsewhere = to_root + sum(taken[k] for k in range(plan.slots))
            return (_where(elsewhere, zero, passed), slots, root), y

        (_, _, root), rows = scan(go, (zero, [zero] * plan.slots, zero), self._rows(), reverse=True)
        return root, rows


def _where(mask, x, y):
    return map_leaves(lambda a, b: np.where(mask > 0, a, b), x, y)


def _plus(x, y):
    return map_leaves(lambda a, b: a + b, x, y)


def row_shape(rows) -> tuple[int, ...]:
    """The shape of one of these rows."""
    return rows.row_shape if isinstance(rows, Sequence) else np.shape(rows)[1:]


def joint_values(robot: RolledRobot, own: PerBody) -> JointValues:
    """Numbers of the joints, of (k,) of each body: (1,) is a number."""
    if robot.plan.width > 1:
        return JointValues(own.root, own.rows)
    rows = own.rows
    return JointValues(own.root, Sequence(rows.node, ()) if isinstance(rows, Sequence) else rows[:, 0])
