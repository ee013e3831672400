"""`dropped`: a free part falls on what is below it, and comes to rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...kinematics.jacobians import frame_twist
from ...lie import inertia as inertias
from ...lie import se3
from ...model.robot import Robot
from ...sensing.scene import Solid
from ...sensing.scene.scene_checks import array, number
from ...simulation import Force, Run, force, simulate
from ..parts.moments import inertia_of as inertia_of_moments
from ..parts.moments import mesh_moments
from ..state import World
from ..state.attachment_edits import holder_of
from ..state.frame_tree import known_frame, subtree
from ..state.part_contents import inertia_of, solids_of, surface_of
from ..state.placements import inverted
from ..state.support import support_fault
from .falling_points import contact_points, corner_points
from .touch_surfaces import surface_of_solid

__all__ = ["Dropped", "dropped"]

_SINK = 1e-4  # how deep the part would sink if one point carried it [m]
_DT = 1e-4
_SLOW = 0.01, 0.1  # below these speeds [m/s, rad/s] a part rests
_TURN = 0.1  # rolling resistance is smoothed over these speeds [rad/s]
_LOSSES = ("friction", "rolling", "damping")
_MOST = 8  # solids that a part can land on


class Dropped(NamedTuple):
    """A part that fell: see `dropped`."""

    world: World
    """the world in which the part is where it came to rest"""
    run: Run
    """the simulation: q (N, 7) is (x, y, z, quaternion wxyz) of the part's frame in the world"""
    rested: bool
    """whether the part rests at the end"""
    onto: str | None
    """what it rests on, to which it is attached conditionally; None if it moves, or stands on several things"""

    @property
    def poses(self) -> np.ndarray:
        """The poses (N, 4, 4) of the part's frame in the world at the times `run.t`."""
        return np.asarray(se3.from_xyz_quat_wxyz(self.run.q))


def dropped(
    world: World, name: str, *, duration: float = 2.0, twist=None, friction: float = 0.5, rolling: float = 5e-4,
    damping: float = 5.0,
) -> Dropped:  # fmt: skip
    """Let a free part fall under the world's gravity, until it rests on other parts.

        >>> from adjoint.sensing import Box, Plane
        >>> w = World().add("floor", Plane()).add("block", Box([0.1, 0.1, 0.04]), at=[0, 0, 0.1])
        >>> down = dropped(w, "block", duration=1.0)
        >>> down.rested, down.onto, round(float(down.world.pose("block")[2, 3]), 3)
        (True, 'floor', 0.02)

    The part, with all that it carries, is a free rigid body for `aj.simulate` with the mass of its density (solids of a
    scene count as water). It starts at rest, or with the `twist` (ω, v) (6,) in its own frame. Contact is compliant, as
    in `aj.simulation.contact`: corners of the part, or balls for round ones, touch the surfaces of other parts, and
    corners of other parts touch its own; `friction` is Coulomb's coefficient, `rolling` [m] the arm of rolling
    resistance, and `damping` [s/m] that of Hunt and Crossley. The part sinks in by less than 0.1 mm when it rests. A
    round rim has 24 corners. The eight nearest solids that it may fall on count; robots do not. `duration` is in s.
    """
    who = "dropped"
    if not isinstance(world, World):
        raise ArgumentError(f"{who}: 'world' must be a World, got {type(world).__name__}")
    known_frame(world, name, who)
    if name in world.robots or holder_of(world, name) is not None:
        what = "is a robot" if name in world.robots else f"is held by '{holder_of(world, name)[0]}'; release it first"  # type: ignore[index]
        raise ArgumentError(f"{who}: '{name}' {what}")
    seconds = number(duration, "duration", who, least=0, above=True)
    start = np.zeros(6) if twist is None else array(twist, (6,), "twist", who)
    if world.frames[name].parent != "world":
        world = world.detach(name)
    own = subtree(world, name)
    body = _body(world, name, own, who)
    touch = _touch(world, name, own, body.mass, (friction, rolling, damping), who)
    q = np.asarray(se3.to_xyz_quat_wxyz(world.pose(name)))
    steps = max(1, round(seconds / _DT))
    run = simulate(body, q=q, v=start, duration=steps * _DT, dt=_DT, record=max(1, min(100, steps)), forces=touch)
    if not bool(run.finite):
        raise ArgumentError(f"{who}: the simulation of '{name}' went wrong; is the part inside of another?")
    rested = _rests(run)
    T = np.asarray(se3.from_xyz_quat_wxyz(run.q[-1]))
    there = world.move(name, T)
    onto = _carrier(there, name, own, friction) if rested else None
    found = there.attach(name, onto, "conditional", friction=friction) if onto is not None else there
    return Dropped(found, run, rested, onto)


def _rests(run: Run) -> bool:
    """Whether the last tenth of the run was slow."""
    late = run.v[-max(2, len(run.t) // 10) :]
    turning, going = np.linalg.norm(late[:, :3], axis=1).max(), np.linalg.norm(late[:, 3:], axis=1).max()
    return bool(going < _SLOW[0] and turning < _SLOW[1])


def _carrier(world: World, name: str, own: list[str], friction: float) -> str | None:
    """The part that gravity holds the fallen part on."""
    for other in world.parts:
        if other not in own:
            trial = world.changed(frames=world.frames | {name: _on(world, name, other, friction)})
            if support_fault(trial, name) is None:
                return other
    return None


def _on(world: World, name: str, other: str, friction: float):
    T = inverted(world.pose(other)) @ world.pose(name)
    return type(world.frames[name])(other, T, "conditional", friction)


# --- the body ---------------------------------------------------------------------------------------------------------


def _body(world: World, name: str, own: list[str], caller: str) -> Robot:
    """The part as a robot of one free body."""
    total = np.zeros(10)
    for below in own:
        if below in world.parts:
            part = world.parts[below]
            load = inertia_of(part)
            if load is None:
                surface = surface_of(part)
                if surface is None:
                    raise ArgumentError(f"{caller}: '{below}' is a half-space, which cannot fall")
                load = 1e3 * inertia_of_moments(mesh_moments(*surface))
            T = inverted(world.pose(name)) @ world.pose(below)
            total = total + np.asarray(inertias.transform.eager(T, load))
    if not total[0] > 0:
        raise ArgumentError(f"{caller}: '{name}' has no part with a volume, so that it has no weight")
    made = Robot.builder("falling").link("ground").link("part", inertia=total).joint("free", "free", "ground", "part")
    return made.build().replace(gravity=world.gravity)


def _touch(world: World, name: str, own: list[str], mass: float, losses: tuple, caller: str) -> Force:
    """The force of all contacts on the part."""
    T = inverted(world.pose(name))
    mine = [
        s.at(T @ world.pose(k) @ s.T_world_solid) for k in own if k in world.parts for s in solids_of(world.parts[k])
    ]
    points, radii = contact_points(mine)
    others = _below(world, world.pose(name), mine, own)
    corners = corner_points(others)
    numbers: dict[str, np.ndarray] = {"points": points, "radii": radii, "corners": corners}
    kinds = {}
    for group, solids in (("other", others), ("own", mine if len(corners) else [])):
        found = []
        for k, solid in enumerate(solids):
            surface = surface_of_solid(solid)
            numbers |= {f"{group}{k}_{key}": x for key, x in surface.numbers.items()}
            found.append((surface.distance, tuple(surface.numbers)))
        kinds[group] = tuple(found)
    g = float(np.linalg.norm(world.gravity))
    return force(
        _contacts, frame="part", name="dropped", others=kinds["other"], own=kinds["own"],
        stiffness=mass * max(g, 1.0) / _SINK, slip=2e-3, **numbers,
        **{key: number(x, key, caller, least=0) for key, x in zip(_LOSSES, losses, strict=True)},
    )  # fmt: skip


def _below(world: World, T: np.ndarray, mine: list[Solid], own: list[str]) -> list[Solid]:
    """The solids that a part can fall on: those below it, the nearest first; planes always count."""
    reach = max(np.abs(np.concatenate([s.hull[0], s.hull[0]])).max() + s.hull[1] + np.abs(s.T_world_solid[:3, 3]).max()
                for s in mine if s.hull is not None)  # fmt: skip
    size = float(np.linalg.norm(world.gravity))
    down = world.gravity / size if size > 0 else np.array([0.0, 0, -1.0])
    found = []
    for solid in world.scene(own, robots=False):
        if solid.hull is None:
            found.append((0.0, solid))
            continue
        corners = solid.hull[0] @ solid.T_world_solid[:3, :3].T + solid.T_world_solid[:3, 3] - T[:3, 3]
        radius = solid.hull[1]
        across = corners - (corners @ down)[:, None] * down
        # The box of the solid in the directions across gravity, as seen from the part.
        low, high = across.min(axis=0) - radius, across.max(axis=0) + radius
        aside = float(np.linalg.norm(np.maximum(np.maximum(low, -high), 0.0)))
        if aside <= 2 * reach and (corners @ down).max() + radius >= -reach:
            found.append((aside + 1e-3 * float(np.abs(corners @ down).min()), solid))
    return [solid for _, solid in sorted(found, key=lambda x: x[0])[:_MOST]]


# --- contact ----------------------------------------------------------------------------------------------------------


def _contacts(robot, p, t, q, v):
    """The wrench of all contacts on the part, seen from its frame."""
    T, V = forward_kinematics(robot, q, "part"), frame_twist(robot, q, v, "part", "body")
    R, at = T[:3, :3], T[:3, 3]
    moment, total, load = np.zeros(3), np.zeros(3), 0.0
    for i in range(np.shape(p.points)[0]):
        x = R @ p.points[i] + at
        for k, (distance, names) in enumerate(p.others):
            gap, normal = distance(_numbers(p, "other", k, names), x)
            n = R.T @ normal
            arm = p.points[i] - p.radii[i] * n
            F, pressing = _pressed(p, p.radii[i] - gap, n, V[3:] + np.cross(V[:3], arm))
            moment, total, load = moment + np.cross(arm, F), total + F, load + pressing
    for j in range(np.shape(p.corners)[0]):
        x = R.T @ (p.corners[j] - at)
        for k, (distance, names) in enumerate(p.own):
            gap, n = distance(_numbers(p, "own", k, names), x)
            F, pressing = _pressed(p, -gap, -n, V[3:] + np.cross(V[:3], x))
            moment, total, load = moment + np.cross(x, F), total + F, load + pressing
    turning = V[:3] / np.sqrt(np.dot(V[:3], V[:3]) + _TURN**2)
    return np.concatenate([moment - p.rolling * load * turning, total])


def _numbers(p, group: str, k: int, names: tuple[str, ...]) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(p, f"{group}{k}_{name}") for name in names})


def _pressed(p, depth, n, rate):
    """The force on a point that moves with `rate`, and its part along n, out of the other solid: Hunt & Crossley."""
    closing = -np.dot(n, rate)
    pressing = p.stiffness * np.maximum(depth, 0.0) * np.maximum(1 + p.damping * closing, 0.0)
    sliding = rate + closing * n
    return pressing * (n - p.friction * sliding / np.sqrt(np.dot(sliding, sliding) + p.slip**2)), pressing
