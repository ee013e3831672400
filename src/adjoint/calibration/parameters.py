"""The parameters of a calibration: which numbers of a robot are estimated, their names, and the robot they make.

A screw S = (w, v) is varied in its adjoint orbit {Ad(g) S}, whose tangent is [x, S]: of the six directions x, those
along which S does not change are left out. A revolute or helical joint keeps four, two tilts of its axis and two shifts
at right angles to it; a prismatic joint keeps the two tilts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError, nearest
from ..lie import se3
from ..model.joints import JOINTS
from ..model.parts import Mimic
from ..model.robot import Robot
from .chain import Chain, Crossing, Numbers
from .measured import Reading

__all__ = [
    "FAMILIES",
    "Parameter",
    "calibrated",
    "changes",
    "chosen",
    "first_numbers",
    "joint_factors",
    "make_chain",
    "parameter_list",
    "updated",
]

FAMILIES = ("screws", "placements", "offsets", "gears", "base", "tool")
"""What can be estimated; the first four belong to joints."""

_XYZ = "xyz"


class Parameter(NamedTuple):
    """One estimated number: what it is of `owner` (a joint, "base", "tool" or "sphere"), its unit, and its scale.

    A change by `scale` moves the tool by about the size of the robot.
    """

    what: str
    owner: str
    unit: str
    scale: float

    def __str__(self) -> str:
        return f"{self.what} of {self.owner}"


# --- the choice -------------------------------------------------------------------------------------------------------


def chosen(robot: Robot, frame: str, estimate, caller: str) -> dict[str, frozenset[str]]:
    """{family: names of the joints on the way to the frame, or of "base" or "tool"} that are estimated.

    `estimate` is one family, several, or {family: names of joints}.
    """
    families = [estimate] if isinstance(estimate, str) else estimate
    if not isinstance(families, Iterable):
        raise ArgumentError(f"{caller}: estimate must name some of {', '.join(FAMILIES)}, got {estimate!r}")
    on_way = tuple(robot.body_joint_names[i] for i in robot.path(robot.frame(frame).body))
    found = {}
    for family in families:
        if not isinstance(family, str) or family not in FAMILIES:
            raise ArgumentError(f"{caller}: estimate has {family!r}; {nearest(family, FAMILIES)}")
        every = (family,) if family in ("base", "tool") else on_way
        names = families[family] if isinstance(families, Mapping) else every
        names = every if names is None or names is True else (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in every:
                raise ArgumentError(
                    f"{caller}: estimate[{family!r}] has {name!r}, which is not on the way to frame '{frame}'; "
                    f"{nearest(name, every)}"
                )
        found[family] = frozenset(names)
    if not any(found.values()):
        raise ArgumentError(f"{caller}: nothing is estimated; estimate names some of {', '.join(FAMILIES)}")
    if found.get("tool") and frame not in [f.name for f in robot.frames]:
        raise ArgumentError(
            f"{caller}: frame '{frame}' is a body itself, so it has no placement to estimate: leave 'tool' out, or "
            f"calibrate a frame of it, robot.with_frame('tool', '{frame}')"
        )
    return found


def make_chain(robot: Robot, frame: str, families: dict[str, frozenset[str]], reading: Reading) -> Chain:
    """The structure of the way to the frame, with the chosen parameters."""
    joints = []
    for i in robot.path(robot.frame(frame).body):
        name, kind, S = robot.body_joint_names[i], robot.joint_types[i], robot.screw(i)
        single = JOINTS[kind].nv == 1
        has = {family: name in families.get(family, ()) for family in FAMILIES[:4]}
        joints.append(
            Crossing(
                kind="screw" if single else kind,
                start=robot.layout.q_start[i],
                screws=() if single else tuple(map(tuple, S.tolist())),
                tilts=(4 if S[0, :3].any() else 2) if has["screws"] and single else 0,
                placement=has["placements"],
                offset=has["offsets"] and single,
                gear=has["gears"] and single,
            )
        )
    return Chain(
        nq=robot.nq,
        joints=tuple(joints),
        base=bool(families.get("base")),
        tool=bool(families.get("tool")),
        radius=reading.radius is None,
        points=reading.points,
    )


def parameter_list(robot: Robot, frame: str, chain: Chain) -> tuple[Parameter, ...]:
    """The parameters in the order of the columns of the chain's kernels."""
    size, found = _size(robot, frame), []
    rigid = [(f"turn {a}", "rad", 1.0) for a in _XYZ] + [(f"shift {a}", "m", size) for a in _XYZ]
    for i, joint in zip(robot.path(robot.frame(frame).body), chain.joints, strict=True):
        name, S = robot.body_joint_names[i], robot.screw(i)[0]
        turns, axes = bool(S[:3].any()), [_XYZ[k] for k in _named_axes(S[None])[0]]
        tilts = [(f"tilt {x}", "rad", 1.0) for x in axes] + [(f"shift {x}", "m", size) for x in axes]
        own = tilts[: joint.tilts]
        own += [("offset", "rad" if turns else "m", 1.0 if turns else size)] * joint.offset
        own += [("gear", "1", 1.0)] * joint.gear
        found += [Parameter(what, name, unit, scale) for what, unit, scale in own + rigid * joint.placement]
    for owner in ("base", "tool"):
        found += [Parameter(what, owner, unit, scale) for what, unit, scale in rigid * getattr(chain, owner)]
    return (*found, *[Parameter("radius", "sphere", "m", size)] * chain.radius)


def _size(robot: Robot, frame: str) -> float:
    """The length [m] of the way to the frame, about the reach of the robot."""
    spot = robot.frame(frame)
    steps = [robot.placements[i][:3, 3] for i in robot.path(spot.body)] + [spot.placement[:3, 3]]
    axes = [np.linalg.norm(np.cross(S[:3], S[3:])) for i in robot.path(spot.body) for S in robot.screw(i)]
    return float(sum(map(np.linalg.norm, steps)) + max(axes, default=0.0)) or 1.0


# --- the numbers ------------------------------------------------------------------------------------------------------


def first_numbers(robot: Robot, frame: str, base: np.ndarray, radius: float) -> Numbers:
    """The model's own numbers."""
    spot = robot.frame(frame)
    path = robot.path(spot.body)
    screws = np.array([robot.screw(i)[0] for i in path]).reshape(-1, 6)
    factors = np.array([joint_factors(robot, i) for i in path]).reshape(-1, 2)
    placements = robot.placements[path].reshape(-1, 4, 4)
    gears, offsets = factors.T
    return Numbers(placements, screws, gears, offsets, base, spot.placement, radius, _directions(screws))


def joint_factors(robot: Robot, body: int) -> tuple[float, float]:
    """γ and δ in θ = γ q + δ, where q is the joint's own coordinate, or that of the joint which it follows."""
    mimic = robot.mimics.get(body, Mimic(-1))
    return mimic.multiplier, mimic.offset


def _axes(screws: np.ndarray) -> np.ndarray:
    """The directions (n, 3) of screws (n, 6): of their axes, or of their translations."""
    return np.where(screws[:, :3].any(axis=1, keepdims=True), screws[:, :3], screws[:, 3:])


def _named_axes(screws: np.ndarray) -> np.ndarray:
    """Numbers (n, 2) of the two axes x, y, z of each body that are nearest to being at right angles to its screw."""
    return np.sort(np.argsort(np.abs(_axes(screws)), axis=1, kind="stable")[:, :2], axis=1)


def _directions(screws: np.ndarray) -> np.ndarray:
    """The directions x (n, 4, 6) in which screws (n, 6) vary: tilts about two axes u, and shifts along them.

    A tilt is about the point c of the axis that is nearest to the body's origin: x = (u, c × u); a shift is (0, u).
    """
    w, c = _axes(screws), np.cross(screws[:, :3], screws[:, 3:])
    a, b = np.swapaxes(np.eye(3)[_named_axes(screws)], 0, 1)
    u = a - np.sum(a * w, axis=1, keepdims=True) * w
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    other = np.cross(w, u)
    both = np.stack([u, np.where(np.sum(other * b, axis=1, keepdims=True) < 0, -other, other)], axis=1)
    tilts = np.concatenate([both, np.cross(c[:, None], both)], axis=2)
    return np.concatenate([tilts, np.concatenate([0 * both, both], axis=2)], axis=1)


def updated(chain: Chain, numbers: Numbers, step: np.ndarray) -> Numbers:
    """The numbers after a step (p,) of the parameters, along the manifolds they live on."""
    twists, places, offsets, gears = (np.zeros_like(x) for x in (numbers.screws, numbers.screws, *numbers[2:4]))
    ends, at = [np.zeros(6), np.zeros(6)], 0

    def take(size: int) -> np.ndarray:
        nonlocal at
        at += size
        return step[at - size : at]

    for i, joint in enumerate(chain.joints):
        twists[i] = take(joint.tilts) @ numbers.tilts[i, : joint.tilts]
        offsets[i] = take(joint.offset).sum()
        gears[i] = take(joint.gear).sum()
        places[i] = take(6) if joint.placement else 0.0
    for k, has in enumerate((chain.base, chain.tool)):
        ends[k] = take(6) if has else ends[k]
    screws = _on_orbit(se3.Ad_action(se3.exp(twists), numbers.screws), numbers.screws)
    return Numbers(
        placements=numbers.placements @ se3.exp(places),
        screws=screws,
        gears=numbers.gears + gears,
        offsets=numbers.offsets + offsets,
        base=numbers.base @ se3.exp(ends[0]),
        tool=numbers.tool @ se3.exp(ends[1]),
        radius=numbers.radius + float(take(chain.radius).sum()),
        tilts=_directions(screws),
    )


def _on_orbit(screws: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Screws (n, 6) without rounding errors: of unit length, and with the pitch that they had before."""
    turns = before[:, :3].any(axis=1, keepdims=True)
    pitch = np.sum(before[:, :3] * before[:, 3:], axis=1, keepdims=True)
    size = np.linalg.norm(_axes(screws), axis=1, keepdims=True)
    w, v = np.where(turns, screws[:, :3] / size, 0.0), np.where(turns, screws[:, 3:], screws[:, 3:] / size)
    v = v + (pitch - np.sum(w * v, axis=1, keepdims=True)) * w
    return np.concatenate([w, v], axis=1)


def changes(chain: Chain, before: Numbers, after: Numbers) -> np.ndarray:
    """The values (p,) of all parameters: how far the numbers have moved from those before."""
    found, screws = [], _screw_changes(before.tilts, before.screws, after.screws)
    for i, joint in enumerate(chain.joints):
        found += [*screws[i, : joint.tilts]]
        found += [after.offsets[i] - before.offsets[i]] * joint.offset
        found += [after.gears[i] - before.gears[i]] * joint.gear
        found += [*_rigid_change(before.placements[i], after.placements[i])] if joint.placement else []
    found += [*_rigid_change(before.base, after.base)] if chain.base else []
    found += [*_rigid_change(before.tool, after.tool)] if chain.tool else []
    return np.array([*found, *[after.radius - before.radius] * chain.radius])


def _screw_changes(directions: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Tilts and shifts (n, 4) of axes: the turn from one direction to the other, and the shift at the point c."""
    w_0, w_1 = _axes(before), _axes(after)
    turn = np.cross(w_0, w_1)
    size = np.linalg.norm(turn, axis=1, keepdims=True)
    angle = np.arctan2(size, np.sum(w_0 * w_1, axis=1, keepdims=True))
    turn = turn * (angle / np.where(size > 0, size, 1.0))
    c_0, c_1 = (np.cross(S[:, :3], S[:, 3:]) for S in (before, after))
    shift = c_1 + w_1 * np.sum(w_1 * (c_0 - c_1), axis=1, keepdims=True) - c_0
    u = directions[:, 2:, 3:]
    return np.concatenate([u @ turn[:, :, None], u @ shift[:, :, None]], axis=1)[..., 0]


def _rigid_change(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    return se3.log(np.linalg.solve(before, after))


# --- the calibrated robot ---------------------------------------------------------------------------------------------


def calibrated(robot: Robot, frame: str, numbers: Numbers) -> Robot:
    """The robot with the estimated numbers.

    Joint offsets become part of the home placements, M exp(S δ), or of the offset of a joint that follows another.
    Screws have unit length, so gear factors cannot become part of them: the robot's q is γ times the q that was read.
    Limits are those of this q, and what resists a motion is seen at it.
    """
    spot = robot.frame(frame)
    path = robot.path(spot.body)
    placements, screws = robot.placements.copy(), robot.screws.copy()
    gears = np.ones(len(robot.body_names))
    for k, i in enumerate(path):
        if JOINTS[robot.joint_types[i]].nv != 1:
            placements[i] = numbers.placements[k]
            continue
        screws[robot.layout.dof_start[i]] = numbers.screws[k]
        follows = i in robot.mimics
        gears[i] = 1.0 if follows else numbers.gears[k]
        home = se3.exp(numbers.screws[k] * (0.0 if follows else numbers.offsets[k]))
        placements[i] = numbers.placements[k] @ home
    factors = {i: (numbers.gears[k], numbers.offsets[k]) for k, i in enumerate(path)}
    mimics = {
        i: Mimic(m.source, factors.get(i, m[1:])[0] / gears[m.source], factors.get(i, m[1:])[1])
        for i, m in robot.mimics.items()
    }
    frames = tuple(f._replace(placement=numbers.tool) if f.name == frame else f for f in robot.frames)
    return robot.replace(
        placements=placements, screws=screws, mimics=mimics, frames=frames, visuals=robot.visuals,
        **_seen_through(robot, gears),
    )  # fmt: skip


def _seen_through(robot: Robot, gears: np.ndarray) -> dict[str, np.ndarray]:
    """{field: limits and losses (nq,) or (nv,)} of coordinates that are `gears` (n,) times the old ones."""
    if (gears == 1).all():
        return {}
    q, v = np.ones(robot.nq), np.ones(robot.nv)
    for i, gear in enumerate(gears):
        if i not in robot.mimics:
            q[robot.layout.q_start[i]], v[robot.layout.v_start[i]] = gear, abs(gear)
    ends = np.sort([robot.lower * q, robot.upper * q], axis=0)  # a negative gear swaps them
    powers = {"velocity_limit": 1, "effort_limit": -1, "friction": -1, "damping": -2, "armature": -2}
    return {"lower": ends[0], "upper": ends[1]} | {
        field: getattr(robot, field) * v**power for field, power in powers.items()
    }
