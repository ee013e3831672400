"""`run_cell`: calibrate, look, plan, act, watch and recover; `CellRun` is the whole story."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from ...program.execution import Session
from ...program.running.backends import Backend
from ...program.running.looking import camera_shot
from ...program.running.sessions import backend_of
from ...randomness import Rng, generator
from ...vision.cameras import Camera
from ...world.state import World, settle
from ..limits import check_kind
from ..refining import NotSeen, TaskPlan, TaskRun, execute_task, manipulation_domain, plan_task
from ..refining.goal_facts import goal_condition, goal_text, kept_goal
from ..refining.manipulation import part_kinds
from ..refining.perceptions import with_joints
from .block_search import Sightings, believed_world, see_blocks
from .camera_setting import CellCalibration, calibrate_cell
from .cell_scenes import CAMERA, ROBOT, CellScene
from .motion_recheck import CellContact, recheck

__all__ = ["CellLook", "CellRun", "run_cell"]

_LOOKS = 3  # images of the cell at most, until all blocks are seen
_STILL = 3e-3, 0.05  # [m], [rad] a block that is seen so near to where it is believed has not moved


class CellLook(NamedTuple):
    """One look of the camera: the `image`, what was `seen` in it, and the world `believed` and `actual` then."""

    image: np.ndarray
    seen: Sightings
    believed: World
    actual: World


@dataclass(frozen=True, eq=False, repr=False)
class CellRun:
    """What happened in a cell, from the calibration to the goal; it is true if the goal was `reached`.

    - `calibration` (None if the camera was known), the `camera` as the program knows it, `looks` (the first is that
      before planning), `plan`, and `run` (None if there was no plan).
    - `reason` tells why the goal was not reached. `contacts` are collisions that a second look at all motions found,
      among the blocks as they were; `dropped` are blocks that nothing holds at the end.
    - `seconds` {"calibrate", "look", "plan", "run": s}: the time that it took to compute.
    """

    scene: CellScene
    goal: Any
    calibration: CellCalibration | None
    looks: tuple[CellLook, ...]
    plan: TaskPlan | None
    run: TaskRun | None
    reason: str
    camera: Camera
    contacts: tuple[CellContact, ...] = ()
    dropped: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the goal was reached, as far as the camera tells."""
        return self.run is not None and self.run.reached

    def __bool__(self) -> bool:
        return self.reached

    @property
    def story(self) -> str:
        """The events of the run, a line for each; or the reason why there is none."""
        return self.run.story if self.run is not None else self.reason

    def __repr__(self) -> str:
        return f"<CellRun {goal_text(self.goal)}: {'reached' if self.reached else self.reason}>"


def run_cell(
    scene: CellScene, goal, *, camera: Camera | None = None, backend: str | Backend = "kinematic",
    disturb: Callable[[int, World], World] | None = None, photos: int = 16, noise: float = 0.01, rng: Rng = 0,
    max_steps: int = 40,
) -> CellRun:  # fmt: skip
    """Reach a goal in a cell: calibrate the camera, look, plan, and act; look again before each action, and recover.

        run_cell(random_cell(rng=3), "(and (on red green) (on green blue))", backend="dynamic").story

    - `goal` is that of `plan_task` about the blocks, which are named after their colours, and "table": a condition of
      PDDL, facts, or relations such as `on("red.bottom", "green.top")`.
    - `camera` is the camera as it is known; without it, `calibrate_cell` finds it from so many `photos`.
    - `backend` is that of `adjoint.program.run`. `DynamicBackend(payload_known=False)` has computed torque that knows
      nothing of the masses of blocks.
    - `disturb(step, world)` gives the world as it is before each step: someone may have moved a block.
    - `noise` is the standard deviation of every pixel of a look, where 1 is white. Photos of the board have that of
      `calibrate_cell`.

    The program knows the arm, the table, and shapes and colours of blocks; all else it has from images.
    """
    check_kind("run_cell", scene, CellScene, "the first argument")
    goal = kept_goal(goal)
    _check_goal(scene, goal)
    backend = backend_of(backend, Session.backends)
    count(max_steps, "run_cell: max_steps")
    if disturb is not None and not callable(disturb):
        raise ArgumentError(f"run_cell: 'disturb' must be a function of the step and the world, got {disturb!r:.60}")
    rng, clock = generator(rng, "run_cell"), _Clock()
    calibration = None
    if camera is None:
        calibration = calibrate_cell(scene, photos=photos, rng=rng)
        camera = calibration.camera
    clock.lap("calibrate")
    eyes = _Eyes(scene, camera, noise, rng)
    start = eyes.first()
    clock.lap("look")
    if missing := eyes.looks[0].seen.missing:
        reason = f"the camera does not see {', '.join(missing)}"
        return CellRun(scene, goal, calibration, tuple(eyes.looks), None, None, reason, camera, seconds=clock.laps)
    plan = plan_task(start, goal, movable=list(scene.blocks))
    clock.lap("plan")
    if not plan.solved:
        return CellRun(scene, goal, calibration, tuple(eyes.looks), plan, None, plan.reason, camera, seconds=clock.laps)
    run = execute_task(
        start, plan, actual=scene.world, backend=backend, look=eyes.look, disturb=disturb, max_steps=max_steps
    )
    clock.lap("run")
    lost = eyes.looks[-1].seen.missing
    reason = run.reason + (f"; the camera does not see {', '.join(lost)}" if lost and run.reason else "")
    befores = [look.actual for look in eyes.looks[1:]]
    return CellRun(
        scene, goal, calibration, tuple(eyes.looks), plan, run, reason, camera,
        recheck(run, befores, ROBOT), _dropped(run.actual, scene), clock.laps,
    )  # fmt: skip


def _check_goal(scene: CellScene, goal) -> None:
    """Raise an error if this is no goal of the cell: nothing need be calibrated to tell that."""
    world = scene.told
    for name, part in scene.blocks.items():  # where they are does not matter
        world = world.add(name, part)
    kinds = part_kinds(world, list(scene.blocks))
    goal_condition(world, goal, manipulation_domain(world, movable=list(scene.blocks)), kinds)


class _Clock:
    """Laps {name: s} of a computation."""

    def __init__(self):
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self._last = now - self._last, now


class _Eyes:
    """The camera of the program, and all that it has seen."""

    def __init__(self, scene: CellScene, camera: Camera, noise: float, rng: np.random.Generator):
        self.scene, self.camera, self.noise, self.rng = scene, camera, noise, rng
        self.looks: list[CellLook] = []

    def first(self) -> World:
        """The world as the first image shows it; if a block is not seen, further images are taken."""
        for _ in range(_LOOKS):
            image = self._image(self.scene.world)
            seen = see_blocks(image, self.camera, self.scene.blocks)
            if not seen.missing:
                break
        believed = believed_world(self.scene.told, seen, self.scene.blocks)
        self.looks.append(CellLook(image, seen, believed, self.scene.world))
        return believed

    def look(self, believed: World, actual: World) -> World:
        """The world that is believed after a look: what is hidden stays, what is in the hand is felt."""
        felt = _felt(believed, actual)
        image = self._image(actual)
        free = {name: part for name, part in self.scene.blocks.items() if name not in felt.holding(ROBOT)}
        seen = see_blocks(image, self.camera, free, believed=felt)
        found = updated(felt, seen)
        self.looks.append(CellLook(image, seen, found, actual))
        if seen.missing:
            raise NotSeen(found, seen.lost, hidden=set(seen.missing) - set(seen.lost))
        return found

    def _image(self, world: World) -> np.ndarray:
        return camera_shot(world, CAMERA, noise=self.noise, rng=self.rng).image


def _felt(believed: World, actual: World) -> World:
    """Joints are measured, and the hand tells whether it holds something; what it has lost lies where that was."""
    believed = with_joints(believed, actual)
    for name in set(believed.holding(ROBOT)) - set(actual.holding(ROBOT)):
        believed = believed.release(name)
    return believed


def updated(world: World, seen: Sightings) -> World:
    """The world with blocks where they were seen, from below, each on what it was seen on.

    A block that was seen where it is believed stays there, also if what carries it was seen elsewhere.
    """
    moved: dict[str, np.ndarray] = {}
    for name, T in sorted(seen.poses.items(), key=lambda item: item[1][2, 3]):
        below = seen.below[name]
        if below in moved or _has_moved(T, world.pose(name)) or world.frames[name].parent != below:
            moved[name] = T
    for name in moved:
        world = world.detach(name)
    for name, T in moved.items():
        world = world.move(name, T)
    for name in moved:
        world = world.attach(name, seen.below[name], "conditional")
    return world


def _has_moved(T: np.ndarray, U: np.ndarray) -> bool:
    return bool(np.linalg.norm((T - U)[:3, 3]) > _STILL[0] or np.abs(T - U)[:3, :3].max() > _STILL[1])


def _dropped(actual: World, scene: CellScene) -> tuple[str, ...]:
    """The blocks that hang on nothing, or that gravity does not hold where they are."""
    loose = {name for name in scene.blocks if name in actual.frames and actual.frames[name].parent == "world"}
    return tuple(sorted(loose | set(settle(actual).fell)))
