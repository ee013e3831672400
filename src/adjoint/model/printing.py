"""A robot as text for `print`, and as a table for notebooks: one row for each body.

Lines are drawn only where the tree branches: a body without a line before its name is the only child of the one above.
"""

from __future__ import annotations

import html as escape
from collections.abc import Iterator

import numpy as np

from .parts import Body
from .robot_data import RobotData

__all__ = ["html", "text"]

_SHOWN = 200  # this many bodies are shown, and how many more there are
_WIDTH = 120  # [characters] of a line
_WIDEST = {"body": 42, "joint": 28, "leader": 20}  # [characters]; longer names are cut in the middle
_HEADER = ["body", "joint", "moves", "limits [rad, m]", "mass [kg]", "frames"]


def text(robot: RobotData) -> str:
    """Return the tree as text, one line for each body: its joint, how it moves, limits, mass, and its frames."""
    rows = [_HEADER, *_rows(robot)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADER) - 1)]
    room = max(6, _WIDTH - sum(widths) - 2 * len(widths))
    lines = []
    for *cells, frames in rows:
        cells = [c.ljust(w) for c, w in zip(cells, widths, strict=True)]
        lines.append("  ".join([*cells, _fitting(frames, room)]).rstrip())
    return "\n".join([_title(robot), *lines, *_rest(robot)])


def html(robot: RobotData) -> str:
    """Return the tree as an HTML table, with the same rows as `text`."""
    cell = "<td style='text-align:left;white-space:pre;font-family:monospace'>{}</td>"
    rows = ["".join(cell.format(escape.escape(c)) for c in row) for row in _rows(robot)]
    head = "".join(f"<th style='text-align:left'>{h}</th>" for h in _HEADER)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    rest = "".join(f"<p>{line}</p>" for line in _rest(robot))
    return f"<p><b>{escape.escape(_title(robot))}</b></p><table><tr>{head}</tr>{body}</table>{rest}"


def _title(robot: RobotData) -> str:
    bodies, joints, frames = len(robot.body_names), len(robot.joint_names), len(robot.frame_names)
    return (
        f"{robot.name}: {_counted(bodies, 'body', 'bodies')}, {_counted(joints, 'joint')} "
        f"(nq {robot.nq}, nv {robot.nv}), {_counted(frames, 'frame')}, {robot.mass:.6g} kg moving"
    )


def _counted(n: int, one: str, several: str | None = None) -> str:
    return f"{n} {one if n == 1 else several or one + 's'}"


def _rest(robot: RobotData) -> list[str]:
    left = len(robot.body_names) - _SHOWN
    return [f"... and {_counted(left, 'more body', 'more bodies')}"] if left > 0 else []


def _rows(robot: RobotData) -> Iterator[list[str]]:
    fixed: dict[int, list[str]] = {}
    for frame in robot.frames:
        fixed.setdefault(frame.body, []).append(frame.name)
    mass = float(robot.base_inertia[0])
    base = _clipped(robot.base_name, _WIDEST["body"])
    yield [base, "", "base", "", f"{mass:.4g}" if mass else "", ", ".join(fixed.get(-1, []))]
    for branch, body in _tree(robot):
        name = branch + _clipped(body.name, max(12, _WIDEST["body"] - len(branch)))
        joint = _clipped(body.joint.name, _WIDEST["joint"])
        frames = ", ".join(fixed.get(body.index, []))
        yield [name, joint, _moves(body), _limits(robot, body), f"{body.mass:.4g}", frames]


def _tree(robot: RobotData) -> Iterator[tuple[str, Body]]:
    """Yield (what is drawn before the name, body) in depth-first order; only branchings indent."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parents.tolist()):
        children.setdefault(parent, []).append(i)
    stack = [(-1, "", "")]  # (body, drawn before it, drawn before what is below it)
    for _ in range(_SHOWN + 1):
        if not stack:
            return
        i, branch, below = stack.pop()
        if i >= 0:
            yield branch, robot.bodies[i]
        under = children.get(i, [])
        if len(under) == 1:
            stack.append((under[0], below, below))
        else:
            marks = [("└─ ", "   ")] + [("├─ ", "│  ")] * len(under)  # of the last child, and of the others
            stack += [(k, below + a, below + b) for k, (a, b) in zip(reversed(under), marks, strict=False)]


def _moves(body: Body) -> str:
    """Return the type of a body's joint, and its axis in the body's frame."""
    kind, S = body.joint.type, body.joint.S
    if S.shape[1] > 1:
        return kind
    w, v = S[:3, 0], S[3:, 0]
    if not np.any(w):
        return f"{kind} {_direction(v)}"
    pitch = float(w @ v)
    rise = f", pitch {pitch:.3g}" if abs(pitch) > 1e-12 else ""
    beside = ", off origin" if np.abs(v - pitch * w).max() > 1e-12 else ""
    return f"{kind} {_direction(w)}{rise}{beside}"


def _direction(u: np.ndarray) -> str:
    for k, name in enumerate("xyz"):
        if abs(abs(u[k]) - 1) < 1e-12:
            return ("-" if u[k] < 0 else "") + name
    return "(" + " ".join(f"{x:.3g}" for x in u) + ")"


def _limits(robot: RobotData, body: Body) -> str:
    """Return the limits of a joint of one coordinate, or which joint it mimics."""
    joint = body.joint
    if joint.mimic is not None:
        source, multiplier, offset = joint.mimic
        leader = _clipped(robot.body_joint_names[source], _WIDEST["leader"])
        return f"{multiplier:.4g} × {leader}" + (f" {offset:+.4g}" if offset else "")
    low, high = robot.lower[joint.q], robot.upper[joint.q]
    if len(low) > 1 or (np.isinf(low[0]) and np.isinf(high[0])):
        return ""
    return f"{low[0]:.4g} .. {high[0]:.4g}"


def _clipped(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width // 2]}…{name[width // 2 + 1 - width :]}"


def _fitting(frames: str, width: int) -> str:
    """Return as many of the names as fit, and how many more there are."""
    names = frames.split(", ")
    shown = len(names)
    while shown and len(_some(names, shown)) > width:
        shown -= 1
    return _some(names, shown)


def _some(names: list[str], shown: int) -> str:
    more = len(names) - shown
    return ", ".join([*names[:shown], *([f"+{more}"] if more else [])])
