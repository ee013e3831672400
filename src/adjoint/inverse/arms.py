"""Arms: how the inverse kinematics of a robot's frame is solved, found once from its numbers.

With six joints an arm is solved by a plan of a family (`families`), or by elimination if it is of general geometry
(`general`). Others are made arms with six joints: of seven joints one is locked, unless the arm has an arm angle
(`arm_angle`); to fewer than six, joints are added at the end that a reachable pose leaves at zero.

Real arms are not ideal: after calibration, axes that should meet pass at a small distance. Such an arm is solved as the
ideal arm that is nearest to it, and Newton's method makes the answers those of the arm itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile import scan
from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..model.needs import need_numbers
from ..model.once import once_a_robot
from ..model.robot import Robot
from .arm_angle import solve_arm_angle
from .axes import Axis, meeting_point, relation
from .chains import Answer, Chain, at_base, chain_of, in_units, with_lock
from .families import Plan, common_point, plans, solve
from .general import ROOTS, Elimination, elimination, solve_general
from .ideal import difference_of, idealised, through
from .newton import distinct, refined
from .subproblems import perpendicular
from .trials import ENOUGH, all_places, different_places, fixed_rng, recovers

__all__ = ["ARM_ANGLE", "Arm", "answers", "arm_of", "parameter_name"]

EXACT = 1e-12  # [rad, sizes of the arm] axes that miss being parallel or meeting by less are ideal
NEAR = 2e-3  # axes that miss by less are solved as ideal ones, and the answers refined
_QUARTIC = 1e-4  # [rad] starts of the refinement of roots of a quartic are apart by more
ARM_ANGLE = "arm angle"


class Arm(NamedTuple):
    """How a frame is solved.

    `axes` are those of the ideal arm, with the joints that were added at the end; `lock` is the place of the joint that
    the redundancy parameter holds; `kept` are the branches of the method that differ in the robot's own joints.
    """

    chain: Chain
    axes: tuple[Axis, ...]
    method: Plan | Elimination | str
    lock: int | None
    kept: tuple[int, ...]
    refine: bool
    apart: float = 0.0  # [rad] starts of the refinement are apart by more

    @property
    def is_redundant(self) -> bool:
        """Whether poses leave a parameter free."""
        return self.lock is not None or self.method == ARM_ANGLE


def answers(arm: Arm, T, redundancy=None) -> list[Answer]:
    """The answers for a pose T (4, 4), and the redundancy parameter if the arm is redundant: one for each branch."""
    T = in_units(arm.chain, T)
    found = [_of_robot(arm, a) for a in _joint_answers(arm, at_base(arm.chain, T), redundancy)]
    found = [found[k] for k in arm.kept]
    if not arm.refine:
        return found
    # An arm with fewer joints has exact answers at few poses: elsewhere the steps lead to the least error.
    most = 100 if arm.chain.count < ENOUGH else 30

    def better(_, q):
        here = refined(arm.chain, T, q, True, most, _held(arm))
        return 0.0, np.concatenate([here.q, np.stack([here.error2])])

    _, rows = scan(better, 0.0, np.stack([np.stack(q) for q, _ in found]))
    return distinct(rows, arm.chain)


def _held(arm: Arm) -> int | None:
    """The coordinate that refinement does not move: the locked one, or the third one of an arm with an arm angle.

    So the arm angle changes by no more than the order of the errors of the arm.
    """
    if arm.method == ARM_ANGLE:
        return arm.chain.gears[2].coordinate
    return None if arm.lock is None else arm.chain.gears[arm.lock].coordinate


def _joint_answers(arm: Arm, T, redundancy) -> list[Answer]:
    """The answers of the method, for T' (4, 4)."""
    if arm.method == ARM_ANGLE:
        return solve_arm_angle(arm.axes, T, redundancy, arm.apart)
    axes: Sequence[Axis] = arm.axes
    how = arm.method
    value = None
    if arm.lock is not None:
        value = arm.chain.gears[arm.lock].follow(redundancy)
        axes, T = with_lock(axes, T, arm.lock, value)
    if isinstance(how, Elimination):
        found = solve_general(how, axes, T)
    else:
        assert isinstance(how, Plan)
        found = solve(how._replace(apart=arm.apart), axes, T)
    if arm.lock is None:
        return found
    return [Answer((*q[: arm.lock], value, *q[arm.lock :]), exact) for q, exact in found]


def _of_robot(arm: Arm, answer: Answer) -> Answer:
    """The answer in the coordinates of the robot: without added joints and joints that follow others."""
    q: dict[int, Any] = {}
    for x, gear in zip(answer.q, arm.chain.gears, strict=False):
        if gear.coordinate not in q:
            q[gear.coordinate] = gear.lead(x)
    return Answer(tuple(q[i] for i in range(arm.chain.count)), answer.exact)


# --- how an arm is solved ---------------------------------------------------------------------------------------------


@once_a_robot
def arm_of(robot: Robot, frame: str) -> Arm:
    """How the inverse kinematics of `frame` is solved; an `ArgumentError` says why it is not."""
    need_numbers(robot, "inverse_kinematics")
    with eagerly():  # on numbers, even while a kernel is traced
        chain = chain_of(robot, frame)
        found = _found(chain)
    n = len(chain.axes)
    if n == 0:
        raise ArgumentError(f"inverse_kinematics: no joint of robot '{robot.name}' moves frame '{frame}'")
    if found is None:
        raise ArgumentError(
            f"inverse_kinematics: robot '{robot.name}' has {n} joints on the way to frame '{frame}' "
            f"({''.join(a.kind for a in chain.axes)}: R revolute, P prismatic), for which no closed form is known; "
            "`find_configuration` takes all robots"
        )
    return found


def _found(chain: Chain) -> Arm | None:
    n = len(chain.axes)
    if not 0 < n <= ENOUGH + (1 if chain.is_plain else 0):
        return None
    find = _with_fewer if n < ENOUGH or not chain.is_plain else _with_six if n == ENOUGH else _with_seven
    return next((arm for other in _orders(chain) if (arm := find(other)) is not None), None)


def _orders(chain: Chain) -> Iterator[Chain]:
    """The chain, and chains that move the same: a slide along a revolute axis may come before it or after it."""
    yield chain
    for i, (a, b) in enumerate(itertools.pairwise(chain.axes)):
        if {a.kind, b.kind} == {"R", "P"} and relation(a, b, EXACT) == "parallel":
            order = list(range(len(chain.axes)))
            order[i], order[i + 1] = i + 1, i
            axes, gears, names = (tuple(x[k] for k in order) for x in (chain.axes, chain.gears, chain.names))
            yield chain._replace(axes=axes, gears=gears, names=names)


def _with_six(chain: Chain) -> Arm | None:
    for tolerance in (EXACT, NEAR):
        for plan in plans(chain.axes, tolerance):
            axes = idealised(chain.axes, plan, tolerance)
            if recovers(axes, plan):
                return _arm(chain, axes, plan, None, all_places(plan, axes))
    if any(a.kind == "P" for a in chain.axes) or (how := elimination(chain.axes)) is None:
        return None
    return Arm(chain, chain.axes, how, None, tuple(range(ROOTS)), False)


def _with_seven(chain: Chain) -> Arm | None:
    axes = chain.axes
    for tolerance in (EXACT, NEAR):
        s, w = common_point(axes[:3], tolerance), common_point(axes[4:], tolerance)
        if s is not None and w is not None and axes[3].kind == "R":
            ideal = (*through(axes[:3], s), axes[3], *through(axes[4:], w))
            return _arm(chain, ideal, ARM_ANGLE, None, tuple(range(8)))
        # A lock in the middle moves the axes beyond it, so that a nearly ideal arm is solved with one at an end.
        locks = (6, 0, 2, 4, 1, 5, 3) if tolerance == EXACT else (6, 0)
        quartic = None
        for arm in (arm for lock in locks for arm in _locked(chain, lock, tolerance)):
            if not arm.method.quartic:  # type: ignore[union-attr]
                return arm
            quartic = quartic or arm
        if quartic is not None:
            return quartic
    for lock, six in ((6, axes[:6]), (0, axes[1:])):
        if all(a.kind == "R" for a in six) and (how := elimination(six)) is not None:
            return Arm(chain, axes, how, lock, tuple(range(ROOTS)), False)
    return None


def _locked(chain: Chain, lock: int, tolerance: float) -> Iterator[Arm]:
    """The arms with the joint at `lock` locked, whose plan holds wherever it is locked."""
    rng = fixed_rng()
    at = [with_lock(chain.axes, np.eye(4), lock, x)[0] for x in rng.uniform(-2, 2, 2)]
    common = [plan for plan in plans(at[0], tolerance) if plan in plans(at[1], tolerance)]
    for plan in common:
        axes = chain.axes
        if lock in (0, len(axes) - 1):
            six = idealised(with_lock(axes, np.eye(4), lock, 0.0)[0], plan, tolerance)
            axes = (*six[:lock], axes[lock], *six[lock:])
        if all(recovers(with_lock(axes, np.eye(4), lock, x)[0], plan) for x in rng.uniform(-2, 2, 2)):
            yield _arm(chain, axes, plan, lock, all_places(plan, at[0]))


def _with_fewer(chain: Chain) -> Arm | None:
    """The arm with joints added at its end: reachable poses leave them at 0."""
    n = len(chain.axes)
    for tolerance in (EXACT, NEAR):
        for added in _added_joints(chain):
            axes = (*chain.axes, *added)
            for plan in plans(axes, tolerance):
                ideal = idealised(axes, plan, tolerance)
                if recovers(ideal, plan, n):
                    apart = _starts_apart(plan, difference_of(axes, ideal))
                    return Arm(chain, ideal, plan, None, different_places(chain, ideal, plan), True, apart)
    if any(a.kind == "P" for a in chain.axes) or not chain.is_plain:
        return None
    turned = np.linalg.qr(fixed_rng().normal(size=(3, 3)))[0]  # in no relation to the arm
    axes = (*chain.axes, *(Axis("R", d, chain.home[:3, 3]) for d in turned))[:ENOUGH]
    how = elimination(axes)
    return None if how is None else Arm(chain, axes, how, None, tuple(range(ROOTS)), True)


def _added_joints(chain: Chain) -> Iterator[list[Axis]]:
    """Joints to add, the best first: rotations about the tool's origin or about points of the last axes, and slides."""
    tool, turning = chain.home[:3, 3], [a for a in chain.axes if a.kind == "R"]
    k = (turning or chain.axes)[-1].direction
    m = perpendicular(k)
    directions = (m, np.cross(k, m), k)
    points = [tool]
    if turning:
        points.insert(0, turning[-1].point + ((tool - turning[-1].point) @ k) * k)
    if len(turning) > 1 and relation(turning[-2], turning[-1], NEAR) == "meeting":
        points.insert(0, meeting_point(turning[-1], turning[-2]))
    slides = [Axis("P", d, np.zeros(3)) for d in directions]
    missing = ENOUGH - len(chain.axes)
    if missing == 0:
        yield []
    for x in points:
        turns = [Axis("R", d, x) for d in directions]
        if missing <= 3:
            for chosen in itertools.permutations(turns, missing):
                yield list(chosen)
        if 1 <= missing - 1 <= 3:
            for slide in slides:
                yield [slide, *turns[: missing - 1]]
        if missing >= 3:
            yield [*turns[: missing - 3], *slides]
        if missing == 5:
            yield [*slides[:2], *turns]


def _arm(chain: Chain, axes: Sequence[Axis], method: Plan | str, lock: int | None, kept: tuple[int, ...]) -> Arm:
    """The arm that is solved as `axes`, its answers refined if these are not its own, or are roots of a quartic."""
    off = difference_of(chain.axes, axes)
    refine = off > EXACT / 4 or (isinstance(method, Plan) and method.quartic)
    return Arm(chain, tuple(axes), method, lock, kept, refine, _starts_apart(method, off))


def _starts_apart(method: Plan | str, off: float) -> float:
    """How far starts of the refinement are apart [rad]: errors ε of the axes move double roots by the order of √ε."""
    if off > EXACT / 4:
        return min(0.1, 2 * off**0.5)
    return _QUARTIC if isinstance(method, Plan) and method.quartic else 0.0


def parameter_name(arm: Arm) -> str:
    """What the redundancy parameter of an arm is."""
    if arm.lock is None:
        return "the arm angle [rad]"
    return f"the coordinate of joint '{arm.chain.names[arm.lock]}' [{'rad' if arm.axes[arm.lock].kind == 'R' else 'm'}]"
