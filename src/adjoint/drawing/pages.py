"""The page that shows robots and their motions: one HTML file with all numbers, which needs nothing else.

Its script is in six files, in this order: `page_kinematics.js` places bodies and finds configurations,
`page_renderer.js` draws with WebGL 2, `page_scene.js` has what is drawn, `page_panel.js` the sliders and plots,
`page_listing.js` a text whose lines light up, and `page_controls.js` the time and the mouse. All arrays are in one
block of bytes, compressed; the rest is JSON, in which an array is {"type", "at", "size"}.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import ArgumentError
from ..lie import so3
from ..model.input_checks import one_of
from ..model.joints import FRAMES
from ..model.robot import Robot
from .actors import ENDLESS, Actor
from .axes import upright
from .listings import Listing
from .props import Prop
from .robot_shapes import Shape, shapes
from .simplification import shares, simplified
from .style import CURVES
from .triangles import Mesh

__all__ = ["ARRANGEMENTS", "MOST_NUMBERS", "MOST_RUNS", "page_text"]

MOST_RUNS = 2000
MOST_NUMBERS = 6_000_000
"""A page shows at most so many runs, and so many coordinates of configurations in all."""
ARRANGEMENTS = ("together", "side by side")

_FLOATS = 200_000  # so many coordinates of an actor are float32; more are of 16 bits
_MOST_TRIANGLES = 1_000_000  # of all robots; the shapes of many robots are made simpler
_TOGETHER = 50  # more runs stand side by side, unless told otherwise
_HERE = Path(__file__).parent
_SCRIPTS = ("page_kinematics.js", "page_renderer.js", "page_scene.js", "page_panel.js", "page_listing.js",
            "page_controls.js")  # fmt: skip
_KINDS = {"planar": 1, "spherical": 2, "free": 3}  # 0 is a screw


class _Arrays:
    """The arrays of a page, one after the other, each at a multiple of 8 bytes."""

    def __init__(self):
        self.parts: list[bytes] = []
        self.length = 0

    def __call__(self, values, dtype: str = "f8") -> dict:
        """Keep an array; what the page knows it by."""
        array = np.ascontiguousarray(values, np.dtype(dtype).newbyteorder("<"))
        data = array.tobytes()
        known = {"type": dtype, "at": self.length, "size": array.size}
        self.parts.append(data + bytes(-len(data) % 8))
        self.length += len(self.parts[-1])
        return known

    def text(self) -> str:
        return b64encode(zlib.compress(b"".join(self.parts), 9)).decode()


def page_text(
    title: str, actors: Sequence[Actor], props: Sequence[Prop] = (), *, meshes: bool = True,
    arrange: str | None = None, listing: Listing | None = None,
) -> str:  # fmt: skip
    """The text of a page that shows these actors, all in one place if there are `props`; see `adjoint.viewer.page`."""
    runs = sum(len(actor.q) for actor in actors)
    if runs > MOST_RUNS:
        raise ArgumentError(f"page: {runs} runs are more than the {MOST_RUNS} that a page shows; give a part of them")
    if (size := sum(actor.q.size for actor in actors)) > MOST_NUMBERS:
        raise ArgumentError(
            f"page: {size:,} numbers are more than the {MOST_NUMBERS:,} that a page holds; "
            "lower frames_per_second, or give fewer runs"
        )
    if arrange is None and props:
        arrange = ARRANGEMENTS[0]
    if arrange is None:
        arrange = ARRANGEMENTS[runs > _TOGETHER or (len(actors) > 1 and all(len(x.t) == 1 for x in actors))]
    one_of(arrange, ARRANGEMENTS, "page: arrange")
    times = [actor.t for actor in actors] + [prop.t for prop in props if prop.t is not None]
    arrays, robots = _Arrays(), list(dict.fromkeys((actor.robot, actor.hand) for actor in actors))
    data = {
        "title": title, "colors": CURVES, "arrange": arrange,
        "start": min(float(t[0]) for t in times), "end": max(float(t[-1]) for t in times),
        "robots": [_robot(robot, meshes, hand, runs, arrays) for robot, hand in robots],
        "actors": [
            _actor(actor, robots.index((actor.robot, actor.hand)), k, len(actors), arrays)
            for k, actor in enumerate(actors)
        ],
        "props": [_prop(prop, arrays) for prop in props], "listing": None if listing is None else _listing(listing),
    }  # fmt: skip
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", r"\u003c")  # no name ends the script
    script = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    page = (_HERE / "page.html").read_text(encoding="utf-8")
    for mark, value in (("SCRIPT", script), ("ARRAYS", arrays.text()), ("DATA", text)):  # DATA has names of others
        page = page.replace(f"/*{mark}*/", value)
    return page


def _listing(listing: Listing) -> dict:
    """A text and its events; those that change nothing are left out."""
    notes = listing.note or ("",) * len(listing.t)
    rows = [(float(t), int(k), note) for t, k, note in zip(listing.t, listing.line, notes, strict=True)]
    kept = [row for before, row in zip([None, *rows], rows, strict=False) if before is None or before[1:] != row[1:]]
    t, line, note = zip(*kept, strict=True) if kept else ((), (), ())
    return {"title": listing.title, "text": listing.text, "t": t, "line": line, "note": note}


# --- robots -----------------------------------------------------------------------------------------------------------


def _robot(robot: Robot, meshes: bool, hand: bool, runs: int, arrays: _Arrays) -> dict:
    """What the page knows of a robot: its joints, its frames, its masses, its shapes, and whether it needs a plinth."""
    n = len(robot.body_names)
    mimics = [robot.mimics[i][1:] if i in robot.mimics else (1.0, 0.0) for i in range(n)]
    frames = [robot.frame(name) for name in robot.frame_names]
    up = np.eye(4)
    up[:3, :3] = upright(robot)
    return {
        "name": robot.name, "bodies": robot.body_names, "joints": robot.body_joint_names, "types": robot.joint_types,
        "parents": robot.parents.tolist(), "nq": robot.nq, "qStart": robot.layout.q_start, "mimics": mimics,
        "kinds": [_KINDS.get(kind, 0) for kind in robot.joint_types],
        "placements": arrays(robot.placements[:, :3]), "screws": arrays([robot.screw(i)[0] for i in range(n)]),
        "jointFrames": arrays([_joint_frame(robot, i)[:3] for i in range(n)]), "up": arrays(up[:3]),
        "lower": [_bound(x) for x in robot.lower], "upper": [_bound(x) for x in robot.upper],
        "coordinates": _coordinates(robot), "masses": arrays(robot.inertias[:, :4]),
        "frames": [{"name": f.name, "body": f.body} for f in frames],
        "framePlacements": arrays([f.placement[:3] for f in frames]), "tips": _tips(robot),
        "parts": [_part(shape, arrays) for shape in _detailed(robot, meshes, hand, runs)],
        "plinth": not (meshes and robot.visuals),
    }  # fmt: skip


def _joint_frame(robot: Robot, body: int) -> np.ndarray:
    """The frame Q (4, 4) of a joint of several degrees of freedom in its body."""
    kind = robot.joint_types[body]
    return FRAMES[kind](robot.screw(body)) if kind in FRAMES else np.eye(4)


def _bound(x: float) -> float | None:
    return float(x) if abs(x) < ENDLESS else None


def _coordinates(robot: Robot) -> list[dict]:
    """The sliders of a robot: for each joint that is no mimic, its name, its place in q, and what its numbers are."""
    found = []
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics:
            turns = bool(robot.screw(i)[0, :3].any())
            units = {"planar": "llt", "spherical": "rrr", "free": "lllrrr"}.get(kind, "t" if turns else "l")
            found.append({"joint": robot.body_joint_names[i], "at": robot.layout.q_start[i], "units": units})
    return found


def _tips(robot: Robot) -> list[int]:
    """The numbers of the frames at the ends of branches, by which they can be dragged; the last is the tool.

    Joints that move together, by mimics, are those of grippers: the body that carries them is the end.
    """
    n, parents = len(robot.body_names), robot.parents.tolist()
    beyond = set(robot.mimics) | {mimic.source for mimic in robot.mimics.values()}
    for i in range(n):  # parents come before their children
        if parents[i] in beyond:
            beyond.add(i)
    arms = [i for i in range(n) if i not in beyond] or list(range(n))
    inner = {parents[i] for i in arms}
    return [_tip(robot, body) for body in arms if body not in inner]


def _tip(robot: Robot, body: int) -> int:
    """The number of the frame of a body that is called a tool, or else is farthest from its joint."""
    n = len(robot.body_names)
    further = [k for k, frame in enumerate(robot.frames) if frame.body == body]
    named = [k for k in further if any(word in robot.frames[k].name.lower() for word in ("tool", "tcp"))]
    far = max(further, key=lambda k: float(np.linalg.norm(robot.frames[k].placement[:3, 3])), default=-1)
    k = named[-1] if named else far
    return body + 1 if k < 0 else n + 1 + k


# --- shapes -----------------------------------------------------------------------------------------------------------


def _detailed(robot: Robot, meshes: bool, hand: bool, runs: int) -> list[Shape]:
    """The shapes of a robot, with no more triangles than so many robots can have together."""
    found = [shape for shape in shapes(robot, meshes=meshes, hand=hand) if len(shape.mesh.faces)]
    most = shares([len(shape.mesh.faces) for shape in found], _MOST_TRIANGLES // runs)
    return [shape._replace(mesh=simplified(shape.mesh, max(12, k))) for shape, k in zip(found, most, strict=True)]


def _part(shape: Shape, arrays: _Arrays) -> dict:
    return {"body": shape.body, **_solid(shape.mesh, shape.color, arrays)}


def _prop(prop: Prop, arrays: _Arrays) -> dict:
    """A thing beside the robots: its mesh, and its poses as positions and quaternions."""
    poses = np.concatenate([prop.poses[:, :3, 3], so3.to_quat_wxyz(prop.poses[:, :3, :3])], axis=1)
    return {
        "name": prop.name, "actor": prop.actor, "body": prop.body, "poses": arrays(poses, "f4"),
        "t": arrays(np.zeros(1) if prop.t is None else prop.t), **_solid(prop.mesh, prop.color, arrays),
    }  # fmt: skip


def _solid(mesh: Mesh, color: Sequence[float], arrays: _Arrays) -> dict:
    """A mesh and its color: its vertices are multiples of `step` from `low`, in 16 bits."""
    mesh = Mesh(np.asarray(mesh.vertices, float), mesh.faces)
    low, step = _range(mesh.vertices)
    return {
        "color": [round(float(x), 4) for x in color],
        "vertices": arrays(np.rint((mesh.vertices - low) / step), "u2"), "low": low.tolist(), "step": step.tolist(),
        "faces": arrays(mesh.faces, "u2" if len(mesh.vertices) <= 65536 else "u4"),
    }  # fmt: skip


def _range(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest value of each column of rows (k, m), and the step that reaches the highest in 65535 of them."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    step = (high - low) / 65535
    return low, np.where(step > 0, step, 1.0)


# --- motions ----------------------------------------------------------------------------------------------------------


def _drawable(values: np.ndarray) -> np.ndarray:
    """The numbers that a curve shows: those too large for float32 become NaN, and are left out."""
    return np.where(np.abs(values) < 1e38, values, np.nan)


def _actor(actor: Actor, robot: int, number: int, count: int, arrays: _Arrays) -> dict:
    """What the page knows of an actor; times are float64, configurations float32, or many of them 16 bits."""
    runs, frames, _ = actor.q.shape
    color = CURVES[number % len(CURVES)] if actor.color is None and count > 1 and frames > 1 else actor.color
    known = {
        "name": actor.name, "unit": actor.unit, "robot": robot, "color": color, "runs": runs, "frames": frames,
        "t": arrays(actor.t),
        "balls": [{"centers": arrays(x.centers, "f4"), "radii": arrays(x.radii, "f4")} for x in actor.balls],
        "curves": [
            {"name": x.name, "unit": x.unit, "labels": x.labels, "values": arrays(_drawable(x.values), "f4")}
            for x in actor.curves
        ],
    }  # fmt: skip
    if actor.q.size <= _FLOATS:
        return known | {"q": arrays(actor.q, "f4")}
    low, step = _range(actor.q.reshape(-1, actor.q.shape[-1]))
    return known | {"q": arrays(np.rint((actor.q - low) / step), "u2"), "low": low.tolist(), "step": step.tolist()}
