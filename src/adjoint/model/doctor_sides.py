"""The rule of the model doctor about symmetry: the left side of a robot should be the mirror image of the right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from ..lie import inertia as inertias
from .doctor_limits import RATES
from .doctor_model import Model, is_moderate, link_finding
from .parts import Finding, Joint, Link
from .robot import Robot

__all__ = ["mirror_images"]

# Words for the sides of a robot. Legs in front, rear, hind, back and middle have two letters, such as FL or LF.
_SIDES = {"left": "right", "l": "r", "fl": "fr", "rl": "rr", "hl": "hr", "bl": "br", "ml": "mr", "lf": "rf", "lh": "rh",
          "lb": "rb", "lm": "rm"}  # fmt: skip
_OTHER = _SIDES | {right: left for left, right in _SIDES.items()}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # LAnkle_pitch has the words L, Ankle and pitch


def _pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names (left, right) that differ in a word for the side, or in the first letter (LARM, RARM)."""
    known = dict.fromkeys(names)
    for name in known:
        first = "rR"["lL".index(name[0])] + name[1:] if name[:1] in ("l", "L") else name
        for other in (_WORD.sub(_swap, name), re.sub("(?i)left", _swap, name), first):
            if other in known and next((a for a, b in zip(name, other, strict=False) if a != b), "") in ("l", "L"):
                yield name, other
                break


def _swap(word: re.Match) -> str:
    """Return the word for the other side, in the same case; a word that names no side stays."""
    text = str(word[0])
    other = _OTHER.get(text.lower())
    if other is None:
        return text
    return other.upper() if text.isupper() else other.capitalize() if text[:1].isupper() else other


def mirror_images(model: Model) -> Iterator[Finding]:
    """Yield findings about links and joints of the left side that are not mirror images of those of the right."""
    links = {l.name: k for k, l in enumerate(model.links)}
    pairs = [(links[a], links[b]) for a, b in _pairs(links)]
    plane = _mirror_plane(model, pairs)
    for a, b in pairs:
        left, right = model.links[a], model.links[b]
        parts = list(_inertia_differences(left, right, _mirror_axes(model.home[a], model.home[b], *plane)))
        if parts:
            message = f"is not the mirror image of '{right.name}': {'; '.join(parts)}"
            yield link_finding("note", "sides-differ", left, message)
    joints = {j.joint.name: j.joint for j in model.robot.bodies if j.joint.mimic is None}
    for a, b in _pairs(joints):
        parts = list(_limit_differences(model.robot, joints[a], joints[b]))
        if parts:
            yield model.joint("note", "sides-differ", a, f"is not like '{b}': {'; '.join(parts)}")


def _mirror_plane(model: Model, pairs: list[tuple[int, int]]) -> tuple[int, float]:
    """Return (axis, offset) of the plane between the sides, which is usually y = 0.

    The plane is at right angles to the coordinate axis along which the pairs of links are farthest apart.
    """
    if not pairs:
        return 1, 0.0
    left = np.array([model.home[a][:3, 3] for a, _ in pairs])
    right = np.array([model.home[b][:3, 3] for _, b in pairs])
    axis = int(np.argmax(np.abs(left - right).sum(axis=0)))
    return axis, float(np.median((left + right)[:, axis] / 2))


def _mirror_axes(left: np.ndarray, right: np.ndarray, axis: int, offset: float) -> np.ndarray | None:
    """Return the signs (3,) that turn coordinates in the right link's frame into those in the left link's.

    The result is None if the two frames are not mirror images of each other.
    """
    flip = np.ones(3)
    flip[axis] = -1
    apart = left[:3, 3] - (flip * right[:3, 3] + 2 * offset * (flip < 0))
    turn = left[:3, :3].T @ (flip[:, None] * right[:3, :3])
    signs = np.sign(np.diag(turn))
    mirrored = np.linalg.norm(apart) < 2e-3 and np.abs(turn - np.diag(signs)).max() < 1e-2
    return signs if mirrored else None


def _inertia_differences(left: Link, right: Link, signs: np.ndarray | None) -> Iterator[str]:
    """Yield descriptions of how masses, centres of mass and principal moments of two links differ."""
    masses = [0.0 if l.inertia is None else float(l.inertia[0]) for l in (left, right)]
    if _differ(*masses):
        yield f"mass {masses[0]:.4g}, {masses[1]:.4g} kg"
    if min(masses) <= 0 or not all(is_moderate(l.inertia) for l in (left, right)):  # type: ignore[arg-type]
        return
    a, b = (inertias.central.eager(l.inertia) for l in (left, right))
    mirrored = None if signs is None else signs * b.com
    far = [float(np.linalg.norm(x.com)) for x in (a, b)]
    if mirrored is not None and np.linalg.norm(a.com - mirrored) > max(2e-3, 0.02 * max(far)):
        if np.allclose(a.com, b.com, rtol=0, atol=1e-6):
            yield f"both have com {_vector(a.com)} m; mirrored, the left one would have {_vector(mirrored)} m"
        else:
            yield f"com {_vector(a.com)} m; that of the right one, mirrored, is {_vector(mirrored)} m"
    elif mirrored is None and abs(far[0] - far[1]) > max(2e-3, 0.02 * max(far)):
        yield f"com {far[0]:.4g}, {far[1]:.4g} m from the origin"
    moments = [np.linalg.eigvalsh(x.inertia) for x in (a, b)]
    if np.abs(moments[0] - moments[1]).max() > 0.02 * max(np.abs(moments).max(), 1e-12):
        yield f"principal moments {_vector(moments[0])}, {_vector(moments[1])} kg m²"


def _limit_differences(robot: Robot, left: Joint, right: Joint) -> Iterator[str]:
    """Yield descriptions of how types, limits and losses of two joints differ."""
    if left.type != right.type:
        yield f"{left.type}, {right.type}"
        return
    a, b = (np.array([robot.lower[j.q], robot.upper[j.q]]) for j in (left, right))
    same = np.allclose(a, b, rtol=0.01, atol=0.01) or np.allclose(a, -b[::-1], rtol=0.01, atol=0.01)
    if not same:
        yield f"limits {a[0, 0]:.4g} .. {a[1, 0]:.4g}, {b[0, 0]:.4g} .. {b[1, 0]:.4g}"
    for field, name in RATES.items():
        x, y = (getattr(robot, field)[j.v] for j in (left, right))
        if len(x) and _differ(x[0], y[0]):
            yield f"{name} {x[0]:.4g}, {y[0]:.4g}"


def _differ(a: float, b: float) -> bool:
    """Return whether two numbers differ by more than 2 %."""
    return not np.isclose(a, b, rtol=0.02, atol=0)


def _vector(x: np.ndarray) -> str:
    return "(" + " ".join(f"{v:.3g}" for v in x) + ")"
