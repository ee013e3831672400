"""Worlds, motion plans and runs of programs to look at: their robots become `Actor`s, and their parts `Prop`s."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..drawing.actors import Actor, frame_times
from ..drawing.listings import Listing
from ..drawing.props import Prop
from ..drawing.triangles import Mesh
from ..errors import ArgumentError
from ..model.parts import Visual
from ..model.robot import Robot
from ..planning.refining import TaskPlan, TaskRun, joined_run
from ..program.running.program_runs import ProgramRun
from ..sensing.scene import Scene, Solid
from ..world.grasps.pick_plans import PickAndPlace
from ..world.motion.plan_results import MotionPlan
from ..world.state import World
from ..world.state.part_contents import surface_of
from ..world.views.following import Followed
from ..world.views.world_drawing import world_props
from .programs_shown import kept_ticks, listing_of, program_actors, program_props
from .showing import motion_curves

__all__ = ["Shown", "shown_world"]


class Shown(NamedTuple):
    """What a page or a viewer draws: robots, and things beside them."""

    title: str
    actors: list[Actor]
    props: list[Prop]
    listing: Listing | None = None


def shown_world(thing: Any, rate: float, curves: bool, caller: str) -> Shown | None:
    """What a world, a scene, a plan, or the run of a program or a task shows, `rate` frames a second; else None."""
    match thing:
        case World():
            return _world(thing, None, caller)
        case Followed():
            return _world(thing.start, thing, caller)
        case Scene():
            return Shown("scene", [_nobody()], _solids(thing))
        case MotionPlan():
            return _plan(thing, rate, curves, caller)
        case PickAndPlace():
            return _pick(thing, rate, caller)
        case ProgramRun():
            return _program(thing, rate, curves)
        case TaskRun():
            return _program(joined_run(thing), rate, curves) if thing.runs else _world(thing.actual, None, caller)
        case TaskPlan():
            raise ArgumentError(f"{caller}: a TaskPlan has not been run; show execute_task(world, plan)")
    return None


def _world(world: World, way: Followed | None, caller: str) -> Shown:
    names = list(world.robots)
    actors = []
    for name in names:
        robot, q = _placed(world, name), world.robots[name].q[None, None]
        hand = world.robots[name].gripper is None  # else its gripper is shown
        if way is not None and way.robot == name:
            actors.append(Actor(name, robot, way.t, way.q[None], hand=hand))
        else:
            actors.append(Actor(name, robot, np.zeros(1), q, hand=hand))
    return Shown("world", actors or [_nobody()], world_props(world, actors=names))


def _placed(world: World, name: str) -> Robot:
    """A robot of a world whose base frame is that of the world."""
    return world.robots[name].robot.mounted(world.pose(name)).replace(gravity=world.gravity)


def _nobody() -> Actor:
    """A page needs an actor, even if nobody acts: a robot without joints, of a point that nobody sees."""
    robot = Robot.builder("nobody", base="fixed").link("world").build()
    point = Visual("world", np.eye(4), "sphere", (1e-9,), color=(1.0, 1.0, 1.0, 0.0))
    return Actor("", robot.replace(visuals=(point,)), np.zeros(1), np.zeros((1, 1, 0)))


def _plan(plan: MotionPlan, rate: float, curves: bool, caller: str) -> Shown:
    """The robot along the trajectory, or along the waypoints, among the obstacles of the plan's model."""
    if not plan.solved:
        raise ArgumentError(f"{caller}: the plan has no motion to show; {plan.reason}")
    model = plan.model
    robot = model.robot.mounted(model.T_world_base)
    if plan.trajectory is None:
        q = plan.samples()
        actor = Actor("plan", robot, np.linspace(0.0, 0.1 * len(q), len(q)), q[None])
    else:
        times = frame_times(0.0, float(plan.trajectory.duration), rate, caller)
        sample = plan.trajectory(times)
        actor = Actor("plan", robot, times, sample.q[None])
        if curves:
            actor = actor._replace(curves=motion_curves(robot, *sample[:3]))
    props = _solids(model.obstacles)
    for frame, solid in model.carried:
        at = model.robot.frame(frame)
        held = _drawn(solid, at.placement @ solid.T_world_solid)
        props += [prop._replace(actor=0, body=at.body) for prop in held]
    return Shown(model.robot.name, [actor], props)


def _pick(plan: PickAndPlace, rate: float, caller: str) -> Shown:
    """The robot through all phases; the part rests, is carried, and rests again; fingers open and close."""
    if not plan.solved:
        raise ArgumentError(f"{caller}: the plan has no motion to show; {plan.reason}")
    start, ends = plan.start, np.append(plan.times[:-1], plan.duration)
    times = np.unique(np.concatenate([frame_times(0.0, plan.duration, rate, caller), plan.times]))
    shown = _world(start, None, caller)
    which = list(start.robots).index(plan.robot)
    shown.actors[which] = shown.actors[which]._replace(t=times, q=plan.configuration_at(times)[None])
    worlds = [phase.before for phase in plan.phases] + [plan.end]
    hands = [{x.name: x for x in world_props(w, actors=list(start.robots))} for w in worlds]
    props = []
    for prop in shown.props:
        if prop.name == plan.part:
            poses = np.stack([plan.world_at(t).pose(plan.part) for t in times])
            prop = prop._replace(poses=poses, t=times, actor=None, body=-1)
        elif prop.name in hands[0] and prop.actor is not None:
            prop = prop._replace(poses=np.concatenate([hand[prop.name].poses for hand in hands]), t=ends)
        props.append(prop)
    return Shown(start.robots[plan.robot].robot.name, shown.actors, props)


def _program(run: ProgramRun, rate: float, curves: bool) -> Shown:
    """The robots of a world while a program runs, what they move, and the text of the program."""
    kept = kept_ticks(run, rate)
    actors = program_actors(run, _placed, kept, curves) or [_nobody()]
    return Shown(run.program.name or "program", actors, program_props(run, kept), listing_of(run))


def _solids(scene: Scene) -> list[Prop]:
    return [prop for solid in scene for prop in _drawn(solid, solid.T_world_solid)]


def _drawn(solid: Solid, T: np.ndarray) -> list[Prop]:
    """A solid at the pose T (4, 4), or nothing for a half-space: pages have a floor of their own."""
    surface = surface_of(solid)
    if surface is None:
        return []
    mesh = Mesh(surface[0].astype(np.float32), np.asarray(surface[1], np.int32))
    red, green, blue = (float(x) for x in solid.colour)
    return [Prop(solid.name, mesh, (red, green, blue, 1.0), T[None])]
