"""Robots made from robots: with more frames, loads, another place, or locked joints; `Robot` has these as methods."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from .input_checks import motions, numbers
from .joints import JOINTS
from .needs import need_numbers
from .parts import Frame, Link
from .whole_arrays import moved_inertias

if TYPE_CHECKING:
    from .robot import Robot

__all__ = ["locked", "mounted", "with_frame", "with_payload"]


def with_frame(robot: Robot, name: str, frame: str, placement=None) -> Robot:
    """Return the robot with one more frame; see `Robot.with_frame`."""
    spot = robot.frame(frame)
    T = np.eye(4) if placement is None else motions(placement, (4, 4), f"with_frame: placement of '{name}'")
    return robot.replace(frames=(*robot.frames, Frame(name, spot.body, spot.placement @ T)))


def mounted(robot: Robot, placement) -> Robot:
    """Return the robot that stands at `placement` (4, 4) in its base frame; see `Robot.mounted`."""
    need_numbers(robot, "mounted")
    P = motions(placement, (4, 4), "mounted: placement")
    at_base = robot.parents < 0
    return robot.replace(
        placements=np.where(at_base[:, None, None], P @ robot.placements, robot.placements),
        base_inertia=moved_inertias(P[None], robot.base_inertia[None])[0],
        frames=tuple(f._replace(placement=P @ f.placement) if f.body < 0 else f for f in robot.frames),
        visuals=tuple(
            shape._replace(placement=P @ shape.placement) if shape.frame == robot.base_name else shape
            for shape in robot.visuals
        ),
        links=tuple(link._replace(placement=P @ link.placement) if link.body < 0 else link for link in robot.links),
        specs=robot.specs,
        findings=robot.findings,
    )


def with_payload(robot: Robot, frame: str, inertia) -> Robot:
    """Return the robot with a load of `inertia` (10,), given in `frame`; see `Robot.with_payload`."""
    spot = robot.frame(frame)
    load = numbers(inertia, (10,), f"with_payload: inertia at '{frame}'")
    added = moved_inertias(spot.placement[None], load[None])[0]
    total = np.concatenate([robot.inertias, robot.base_inertia[None]])  # the base is last, as index -1
    total[spot.body] += added
    stated = (Link(f"{frame}.payload", spot.body, spot.placement, load),) if robot.links else ()
    return robot.replace(
        inertias=total[:-1],
        base_inertia=total[-1],
        links=robot.links + stated,
        specs=robot.specs,
        findings=robot.findings,
    )


# --- locked joints ----------------------------------------------------------------------------------------------------


class _Merged(NamedTuple):
    """The bodies that the n old bodies and, last, the base become parts of when some joints are locked."""

    kept: list[int]  # the old numbers of the bodies that stay
    body: np.ndarray  # (n + 1,) for each old body the number of the new body that it is part of; -1 is the base
    at: np.ndarray  # (n + 1, 4, 4) the placement of each old body in this new body


def locked(robot: Robot, values: Mapping[str, object]) -> Robot:
    """Return the robot with some joints locked, {joint name: its q}; see `Robot.locked`."""
    held = _held(robot, values)
    merged = _merged(robot, held)
    n, kept = len(robot.body_names), merged.kept
    total = np.zeros((len(kept) + 1, 10))
    np.add.at(total, merged.body, moved_inertias(merged.at, np.concatenate([robot.inertias, robot.base_inertia[None]])))
    now_frames = [Frame(robot.body_names[i], int(merged.body[i]), merged.at[i]) for i in range(n) if i in held]
    frames = [
        f._replace(body=int(merged.body[f.body]), placement=merged.at[f.body] @ f.placement) for f in robot.frames
    ]
    names = {robot.body_joint_names[i] for i in held}
    return robot.replace(
        body_names=tuple(robot.body_names[i] for i in kept),
        body_joint_names=tuple(robot.body_joint_names[i] for i in kept),
        joint_types=tuple(robot.joint_types[i] for i in kept),
        parents=merged.body[robot.parents[kept]],
        placements=merged.at[robot.parents[kept]] @ robot.placements[kept],
        screws=np.concatenate([np.zeros((0, 6)), *(robot.screw(i) for i in kept)]),
        inertias=total[:-1],
        base_inertia=total[-1],
        mimics={int(merged.body[i]): m._replace(source=int(merged.body[m.source]))
                for i, m in robot.mimics.items() if i not in held},
        **_limits(robot, kept),
        frames=(*now_frames, *frames),
        links=tuple(l._replace(body=int(merged.body[l.body]), placement=merged.at[l.body] @ l.placement)
                    for l in robot.links),
        specs=tuple(s for s in robot.specs if s.name not in names),
        findings=robot.findings,
    )  # fmt: skip


def _held(robot: Robot, values: Mapping[str, object]) -> dict[int, np.ndarray]:
    """Return {number of a body: q (nq,) of its joint} for the locked joints and those that follow them."""
    if not isinstance(values, Mapping):
        raise ArgumentError(f"locked: give {{joint name: value}}, got {values!r}")
    held: dict[int, np.ndarray] = {}
    for name, value in values.items():
        joint = robot.joint(name)
        i = robot.body_joint_names.index(name)
        if joint.mimic is not None:
            leader = robot.body_joint_names[joint.mimic.source]
            raise ArgumentError(f"locked: joint '{name}' follows joint '{leader}'; lock that one")
        given = [value] if JOINTS[joint.type].nq == 1 and not isinstance(value, Sized) else value
        held[i] = _on_manifold(joint.type, numbers(given, (JOINTS[joint.type].nq,), f"locked: joint '{name}'"), name)
    for i, (source, multiplier, offset) in robot.mimics.items():
        if source in held:
            held[i] = multiplier * held[source] + offset
    return held


def _on_manifold(kind: str, q: np.ndarray, name: str) -> np.ndarray:
    """Return the q of a joint; its quaternion, the last four numbers, is scaled to unit length if it is almost that."""
    if not JOINTS[kind].has_quaternion:
        return q
    size = float(np.linalg.norm(q[-4:]))
    if abs(size - 1) > 1e-6:
        raise ArgumentError(f"locked: the quaternion of joint '{name}' has length {size:g}; it must be 1")
    return np.concatenate([q[:-4], q[-4:] / size])


def _merged(robot: Robot, held: dict[int, np.ndarray]) -> _Merged:
    """Return what the bodies become parts of if the joints of the bodies in `held` are locked."""
    n, kept = len(robot.body_names), []
    body, at = np.full(n + 1, -1), np.tile(np.eye(4), (n + 1, 1, 1))
    for i, parent in enumerate(robot.parents.tolist()):
        if i not in held:
            body[i] = len(kept)
            kept.append(i)
            continue
        with eagerly():
            J = JOINTS[robot.joint_types[i]].placement(held[i], robot.screw(i))
        body[i], at[i] = body[parent], at[parent] @ robot.placements[i] @ J
    return _Merged(kept, body, at)


def _limits(robot: Robot, kept: list[int]) -> dict[str, np.ndarray]:
    """Return {field: limits or losses} of the joints that stay, in the order of q and v."""
    joints = [robot.bodies[i].joint for i in kept if i not in robot.mimics]
    none: list[np.ndarray] = [np.zeros(0, int)]
    q, v = (np.concatenate(none + [np.r_[getattr(j, part)] for j in joints]) for part in ("q", "v"))
    rates = ("velocity_limit", "effort_limit", "damping", "friction", "armature")
    return {f: getattr(robot, f)[q] for f in ("lower", "upper")} | {f: getattr(robot, f)[v] for f in rates}
