"""A robot as text for `print`, and as a table for notebooks."""

from __future__ import annotations

import html as escape
from collections.abc import Iterator

import numpy as np

from .model import Body, Robot

__all__ = ["html", "text"]

_SHOWN = 200  # bodies; the rest of longer robots is summed up


def text(robot: Robot) -> str:
    """The tree, one line for each body: its joint, axis, limits, mass, and the frames fixed to it."""
    rows = [_cells(robot, prefix, body) for prefix, body in _tree(robot)]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(len(_HEADER))]
    widths = [max(w, len(h)) for w, h in zip(widths, _HEADER, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [_HEADER, *rows]]
    left = len(robot.body_names) - len(rows)
    more = [f"... and {left} more bodies"] if left else []
    return "\n".join([_title(robot), *lines, *more])


def html(robot: Robot) -> str:
    """The same as an HTML table."""
    rows = [_cells(robot, prefix, body) for prefix, body in _tree(robot)]
    cell = "<td style='text-align:left;white-space:pre;font-family:monospace'>{}</td>"
    body = "".join("<tr>" + "".join(cell.format(escape.escape(c)) for c in row) + "</tr>" for row in rows)
    head = "".join(f"<th style='text-align:left'>{h}</th>" for h in _HEADER)
    left = len(robot.body_names) - len(rows)
    more = f"<p>... and {left} more bodies</p>" if left else ""
    return f"<p><b>{escape.escape(_title(robot))}</b></p><table><tr>{head}</tr>{body}</table>{more}"


_HEADER = ["body", "joint", "type", "moves", "limits", "mass [kg]", "frames"]


def _title(robot: Robot) -> str:
    frames = len(robot.frame_names)
    return (
        f"{robot.name}: {len(robot.body_names)} bodies, {len(robot.joint_names)} joints "
        f"(nq {robot.nq}, nv {robot.nv}), {frames} frames, {robot.mass:.6g} kg, base '{robot.base_name}'"
    )


def _tree(robot: Robot) -> Iterator[tuple[str, Body]]:
    """(branches drawn before the name, body), in tree order; bodies of a robot are in depth-first order."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parents[: 20 * _SHOWN]):
        children.setdefault(int(parent), []).append(i)
    stack = [(i, "", i == children[-1][-1]) for i in reversed(children.get(-1, []))]
    for _ in range(_SHOWN):
        if not stack:
            return
        i, indent, last = stack.pop()
        yield indent + ("└─ " if last else "├─ "), robot.bodies[i]
        below = children.get(i, [])
        # A chain does not walk to the right: only branchings indent.
        deeper = indent + ("   " if last else "│  ") if len(below) > 1 or not last else indent
        stack += [(k, deeper, k == below[-1]) for k in reversed(below)]


def _cells(robot: Robot, prefix: str, body: Body) -> list[str]:
    joint = body.joint
    fixed = [f.name for f in robot.frames if f.body == body.index]
    shown = ", ".join(fixed[:3]) + (f", +{len(fixed) - 3}" if len(fixed) > 3 else "")
    return [prefix + body.name, joint.name, joint.type, _moves(robot, body), _range(robot, body), f"{body.mass:.4g}", shown]


def _moves(robot: Robot, body: Body) -> str:
    joint = body.joint
    if joint.mimic is not None:
        m = joint.mimic
        return f"{m.multiplier:g} × {robot.body_joint_names[m.source]}" + (f" {m.offset:+g}" if m.offset else "")
    if joint.S.shape[1] > 1:
        return f"{joint.S.shape[1]} dof"
    w, v = joint.S[:3, 0], joint.S[3:, 0]
    if not np.any(w):
        return "along " + _axis(v)
    return "about " + _axis(w) + (" off origin" if np.any(np.abs(v - w * (w @ v)) > 1e-12) else "")


def _axis(u: np.ndarray) -> str:
    for k, name in enumerate("xyz"):
        if abs(abs(u[k]) - 1) < 1e-12:
            return ("-" if u[k] < 0 else "") + name
    return "(" + " ".join(f"{x:.3g}" for x in u) + ")"


def _range(robot: Robot, body: Body) -> str:
    q = body.joint.q
    if body.joint.mimic is not None or body.joint.S.shape[1] > 1:
        return ""
    low, high = robot.lower[q][0], robot.upper[q][0]
    return "" if np.isinf(low) and np.isinf(high) else f"{low:.4g} .. {high:.4g}"
