"""The model doctor: what is wrong with a model, doubtful, or good to know; with the numbers, and what would be valid.

`check` adds to what the loaders noted (`robot.findings`) what only the whole robot shows: inertias no body can have,
joints that move nothing, wrong units, limits, names, and a left side that is not the mirror image of the right.
Thresholds are such that sound models stay silent: they were set on the robots of example-robot-data.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import ModelError, shortened
from ..lazy import cached_property
from ..lie import inertia as inertias
from ..lie import se3
from .configuration import neutral
from .input_checks import truth
from .needs import need_robot
from .parts import Finding, Joint, JointSpec, Link
from .robot import Robot

__all__ = ["Report", "check"]

LEVELS = ("error", "warning", "note")
_SHOWN = 5  # findings of one kind in the text
_FAR = 50.0  # [m], longer than any link
_MOST = 1e60  # numbers whose products, as the rules form them, are numbers too
_HUMAN_SIZE, _HUMAN_MASS = (1e-4, 1e3), (1e-7, 1e7)  # [m] and [kg]: of a mite, and of a mountain of machinery


@dataclass(frozen=True, repr=False)
class Report(Sequence):
    """What `check` found: a sequence of `Finding`s, worst first, then by place in the file; true if there are any.

    Errors are impossible (negative mass), warnings are most likely mistakes, notes are good to know. `print` shows it
    in groups, and cuts long ones; `for finding in report` gives all.
    """

    robot: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> list[Finding]:
        """The findings that cannot be true of any robot."""
        return [f for f in self if f.level == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are most likely mistakes."""
        return [f for f in self if f.level == "warning"]

    @property
    def notes(self) -> list[Finding]:
        """The findings that are good to know."""
        return [f for f in self if f.level == "note"]

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, i):  # type: ignore[override]
        return self.findings[i]

    def __str__(self) -> str:
        return shortened("\n".join([_summary(self), *_lines(self)]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = [[f.level, f.code, f.element, f.message, _place(f)] for f in self]
        rows = ["".join(f"<td style='text-align:left'>{html.escape(str(x))}</td>" for x in row) for row in cells]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p><b>{html.escape(_summary(self))}</b></p>" + (f"<table>{body}</table>" if rows else "")


def check(robot: Robot, *, strict: bool = False) -> Report:
    """A `Report` on the model of `robot`; with `strict`, `ModelError` if it has errors or warnings (notes are fine).

    A finding has a `level`, a `code` for its kind, the `element` it is about, a `message`, and `where` in the file that
    is. Beside those of the loaders there are

    - errors, which no robot can have: negative-mass, impossible-inertia, limits-reversed, negative-damping and so on;
    - warnings, most likely mistakes: impossible-inertia, inertia-without-mass, idle-joint, com-far-away,
      inertia-too-large, placement-far-away, too-heavy, out-of-scale, gravity, limits-in-degrees, limits-in-mm,
      no-range, zero-effort-limit, zero-velocity-limit, mimic-out-of-limits, blanks-in-names;
    - notes: inexact-inertia, point-masses, no-masses, neutral-out-of-limits, endless-limits, sides-differ,
      shared-names.

    The report is a sequence of findings, and has lists of them: `report.errors`, `report.warnings`, `report.notes`.
    `check` looks at one body after the other, about 1 ms for each.
    """
    need_robot(robot, "check")
    rules = (_masses, _sizes, _units, _idle, _ranges, _rates, _followers, _mirrors, _names)
    with np.errstate(all="ignore"):  # numbers near the largest overflow
        model = _Model.of(robot)
        found = [*robot.findings, *(finding for rule in rules for finding in rule(model))]
    report = Report(robot.name, tuple(sorted(found, key=_rank)))
    serious = Report(robot.name, (*report.errors, *report.warnings))
    if truth(strict, "check: strict") and serious:
        raise ModelError(str(serious))
    return report


def _rank(finding: Finding) -> tuple:
    where = finding.where
    place = (where is None, where.file if where else "", (where.line if where else None) or 0)
    return LEVELS.index(finding.level), *place


def _summary(report: Report) -> str:
    counts = [sum(f.level == level for f in report) for level in LEVELS]
    parts = [f"{n} {level}{'s' * (n > 1)}" for n, level in zip(counts, LEVELS, strict=True) if n]
    files = {f.where.file for f in report if f.where}
    return f"{report.robot}: {', '.join(parts) or 'no findings'}" + (f" in {files.pop()}" if len(files) == 1 else "")


def _place(finding: Finding) -> str:
    """file:line without the folders, which the summary tells."""
    where = finding.where
    return str(where._replace(file=PurePath(where.file).name)) if where else ""


def _lines(report: Report) -> Iterator[str]:
    """Findings of one level and code together, the first few of them in full."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in report:
        groups.setdefault((finding.level, finding.code), []).append(finding)
    for (level, code), group in groups.items():
        yield f"{level}: {code}" + (f" ({len(group)} times)" if len(group) > 1 else "")
        for f in group[:_SHOWN]:
            yield "  " + ": ".join(filter(None, [_place(f), f.element, f.message]))
        if len(group) > _SHOWN:
            yield f"  ... and {len(group) - _SHOWN} more: {_list(f.element for f in group[_SHOWN:])}"


def _list(names: Iterable[str], most: int = 4) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


# --- the robot as its model states it ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Model:
    """A robot with what several rules ask for: lists run over `links`, positions are those of the neutral robot."""

    robot: Robot
    links: Sequence[Link]
    home: list[np.ndarray]  # placements (4, 4) of the links in the base
    reach: list[float]  # of a link: distance [m] to the farthest link at most two joints away
    size: float  # of the robot [m]: diagonal of the box around all links
    specs: dict[str, JointSpec]  # of joints, by name

    @classmethod
    def of(cls, robot: Robot) -> _Model:
        names = enumerate(robot.body_names)
        links = robot.links or [Link(name, i, np.eye(4), robot.inertias[i]) for i, name in names]
        bodies = {-1: np.eye(4)}
        for body in robot.bodies:
            bodies[body.index] = bodies[body.parent] @ body.M
        home = [bodies[l.body] @ l.placement for l in links]
        points = np.array([np.zeros(3), *(T[:3, 3] for T in home)])
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        return cls(robot, links, home, _reaches(robot, links, points[1:]), size, {s.name: s for s in robot.specs})

    @cached_property
    def solid(self) -> list[tuple[Link, inertias.Central, float]]:
        """(link, its inertia, reach) of the links with mass."""
        return [
            (link, inertias.central.eager(link.inertia), reach)
            for link, reach in zip(self.links, self.reach, strict=True)
            if link.inertia is not None and link.inertia[0] > 0 and _is_moderate(link.inertia)
        ]

    def joint(self, level: str, code: str, name: str, message: str) -> Finding:
        """A finding about a joint."""
        spec = self.specs.get(name)
        return Finding(level, code, f"joint '{name}'", message, spec.where if spec else None)


def _is_moderate(inertia: np.ndarray) -> bool:
    """Whether the rules can compute with an inertia (10,): finite numbers, none of them absurd."""
    return bool(np.all(np.abs(inertia) < _MOST)) and not 0 < abs(inertia[0]) < 1 / _MOST


def _link(level: str, code: str, link: Link, message: str) -> Finding:
    return Finding(level, code, f"link '{link.name}'", message, link.where)


def _reaches(robot: Robot, links: Sequence[Link], points: np.ndarray) -> list[float]:
    near = {i: {i} for i in range(-1, len(robot.body_names))}  # bodies at most one joint away
    for i, parent in enumerate(robot.parents.tolist()):
        near[i].add(parent)
        near[parent].add(i)
    on = {i: [] for i in near}
    for link, point in zip(links, points, strict=True):
        on[link.body].append(point)
    found = []
    for link, point in zip(links, points, strict=True):
        bodies = set().union(*(near[k] for k in near[link.body]))
        around = np.array([point, *(p for k in bodies for p in on[k])])
        found.append(float(np.linalg.norm(around - point, axis=1).max()))
    return found


# --- masses and inertias ----------------------------------------------------------------------------------------------


def _masses(model: _Model) -> Iterator[Finding]:
    """Inertias no body can have, and point masses."""
    for link in model.links:
        if link.inertia is None:
            continue
        mass, rest = link.inertia[0], link.inertia[1:]
        if not np.all(np.isfinite(link.inertia)):
            yield _link("error", "not-finite", link, "its inertia contains NaN or infinity")
        elif not _is_moderate(link.inertia):
            largest = np.abs(link.inertia).max()
            message = f"mass {mass:.3g} kg and numbers up to {largest:.3g}: no body has such an inertia"
            yield _link("error", "impossible-inertia", link, message)
        elif mass < 0:
            yield _link("error", "negative-mass", link, f"mass {mass:g} kg; it must be positive, or 0 for a mere frame")
        elif mass == 0 and np.any(rest):
            yield _link(
                "warning", "inertia-without-mass", link, f"mass 0, yet inertia up to {np.abs(rest).max():.3g} kg m²"
            )
        elif mass > 0:
            yield from _impossible(link)
    points = [l for l, c, _ in model.solid if np.abs(c.inertia).max() < 1e-10 * c.mass]  # gyration below 10 µm
    if points:
        what = f"links with mass but no rotational inertia: {_list(l.name for l in points)} ({len(points)})"
        yield Finding("note", "point-masses", f"robot '{model.robot.name}'", what, points[0].where)


def _impossible(link: Link) -> Iterator[Finding]:
    for why in inertias.faults(link.inertia):
        moments = np.linalg.eigvalsh(inertias.central.eager(link.inertia).inertia)
        if moments[0] < -0.01 * moments[2]:
            yield _link("error", "impossible-inertia", link, why)
        elif inertias.faults(link.inertia, tolerance=0.01):
            yield _link("warning", "impossible-inertia", link, why)
        else:
            yield _link("note", "inexact-inertia", link, f"{why}, by less than 1 %: too few digits?")


def _idle(model: _Model) -> Iterator[Finding]:
    """Joints that move no inertia, or a negative one: the mass matrix is not positive definite."""
    robot = model.robot
    if len(robot.body_names) and not np.any(robot.inertias):
        yield Finding("note", "no-masses", f"robot '{robot.name}'", "no body has mass: good for kinematics only")
        return
    for i in sorted([*_idle_alone(robot), *_idle_leaders(robot)]):
        message = (
            "moves no inertia, or a negative one: the mass matrix at the neutral configuration is not positive "
            "definite; give the links it moves mass and rotational inertia, or the joint an armature"
        )
        yield model.joint("warning", "idle-joint", robot.body_joint_names[i], message)


def _idle_alone(robot: Robot) -> Iterator[int]:
    """Bodies with D = Sᵀ I_A S singular, I_A the articulated inertia; those in mimics are taken as locked."""
    locked = {*robot.mimics, *(m.source for m in robot.mimics.values())}
    I_A = [inertias.matrix.eager(I) for I in robot.inertias]
    for body in reversed(robot.bodies):
        S, A = body.joint.S, I_A[body.index]
        if body.index not in locked:
            D = S.T @ A @ S + np.diag(robot.armature[body.joint.v])
            if not np.isfinite(D).all():
                pass  # absurd numbers, which other rules tell of
            elif np.linalg.eigvalsh(D)[0] <= 1e-12 * np.abs(A).max() * np.abs(S).max() ** 2:
                yield body.index
            else:
                A = A - A @ S @ np.linalg.solve(D, S.T @ A)
        if body.parent >= 0:
            X = se3.Ad.eager(se3.inverse.eager(body.M))
            I_A[body.parent] = I_A[body.parent] + X.T @ A @ X


def _idle_leaders(robot: Robot) -> Iterator[int]:
    """Bodies whose joint others mimic, and the sum of Vᵀ I V over all bodies is 0 when only they and these move."""
    for source in {m.source for m in robot.mimics.values()}:
        rates = {source: 1.0} | {i: m.multiplier for i, m in robot.mimics.items() if m.source == source}
        V = {-1: np.zeros(6)}
        total = robot.armature[robot.bodies[source].joint.v][0]
        for body in robot.bodies:
            V[body.index] = se3.Ad_inv_action.eager(body.M, V[body.parent]) + body.joint.S[:, 0] * rates.get(
                body.index, 0.0
            )
            total += 2 * inertias.energy.eager(body.inertia, V[body.index])
        if total <= 0:
            yield source


# --- sizes and units --------------------------------------------------------------------------------------------------


def _sizes(model: _Model) -> Iterator[Finding]:
    """Centres of mass and radii of gyration that do not fit between the neighbours of a link."""
    heavy = model.robot.mass * model.size**2  # [kg m²]
    for link, c, reach in model.solid:
        far = float(np.linalg.norm(c.com))
        if far > 5 * reach > 0:
            message = f"its com is {far:.3g} m from its origin, its neighbours at most {reach:.3g} m"
            yield _link("warning", "com-far-away", link, message + (": is it in mm?" if far > 50 * reach else ""))
        largest = max(0.0, float(np.linalg.eigvalsh(c.inertia)[2]))
        gyration = np.sqrt(largest / c.mass)
        size = f"inertia {largest:.3g} kg m² for {c.mass:.3g} kg is a radius of gyration of {gyration:.3g} m"
        if gyration > 3 * reach > 0 and largest > 1e-6 * heavy:  # tiny ones are placeholders, and harmless
            message = f"{size}, its neighbours are at most {reach:.3g} m away" + _unit_guess(gyration / reach)
            yield _link("warning", "inertia-too-large", link, message)
        elif gyration > _FAR:
            yield _link("warning", "inertia-too-large", link, f"{size}: is it in kg mm² or g mm²?")


def _unit_guess(ratio: float) -> str:
    """Which unit a radius of gyration so much above the link's size may be in: numbers in kg mm² give 1000 times it."""
    if ratio < 20:
        return ""
    return ": is it in kg cm²?" if ratio < 200 else ": is it in kg mm² or g mm²?"


def _units(model: _Model) -> Iterator[Finding]:
    """Lengths in mm, masses in g, angles in degrees, gravity in mm/s²."""
    robot = model.robot
    placements = {s.name: s.placement for s in robot.specs} or {b.joint.name: b.M for b in robot.bodies}
    for name, placement in placements.items():
        far = float(np.linalg.norm(placement[:3, 3]))
        if far > _FAR:
            yield model.joint("warning", "placement-far-away", name, f"is {far:.4g} m from its parent: mm?")
    extents = [2 * np.linalg.norm(c.com) + 2 * np.sqrt(np.abs(c.inertia).max() / c.mass) for _, c, _ in model.solid]
    size = max([model.size, *extents])
    if size > 0 and robot.mass > 2000 * size * size * size:
        message = f"{robot.mass:.4g} kg within {size:.3g} m: heavier than any robot; are masses in g?"
        yield Finding("warning", "too-heavy", f"robot '{robot.name}'", message)
    for what, value, unit, (low, high) in (
        ("it is", model.size, "m across", _HUMAN_SIZE), ("its mass is", robot.mass, "kg", _HUMAN_MASS)
    ):  # fmt: skip
        if value > 0 and not low < value < high:
            message = f"{what} {value:.3g} {unit}; robots are between {low:g} and {high:g}: is this in SI units?"
            yield Finding("warning", "out-of-scale", f"robot '{robot.name}'", message)
    if np.linalg.norm(robot.gravity) > 100:
        message = f"gravity {np.linalg.norm(robot.gravity):.4g} m/s²: is it in mm/s²? The Earth's is 9.81"
        yield Finding("warning", "gravity", f"robot '{robot.name}'", message)


# --- limits -----------------------------------------------------------------------------------------------------------


def _ranges(model: _Model) -> Iterator[Finding]:
    """Position limits."""
    robot, home = model.robot, neutral(model.robot)
    for body in robot.bodies:
        if body.joint.mimic is not None:
            continue
        for k in range(body.joint.q.start, body.joint.q.stop):
            low, high, at = robot.lower[k], robot.upper[k], home[k]
            for level, code, message in _range_faults(body.joint.type, low, high, at, model.size):
                yield model.joint(level, code, body.joint.name, message)


def _range_faults(kind: str, low: float, high: float, home: float, size: float) -> Iterator[tuple[str, str, str]]:
    largest = max((abs(x) for x in (low, high) if np.isfinite(x)), default=0.0)
    if low > high:
        yield "error", "limits-reversed", f"lower limit {low:g} above upper limit {high:g}"
    elif low == high:
        yield "warning", "no-range", f"limits {low:g} and {high:g} leave nothing to move; such a joint is fixed"
    elif not low <= home <= high:
        yield "note", "neutral-out-of-limits", f"the neutral {home:g} is outside {low:.4g} .. {high:.4g}"
    if kind in ("revolute", "continuous", "helical") and largest > 4 * np.pi:
        limits = f"limits {low:g} .. {high:g} rad"
        if largest > 720:
            yield "note", "endless-limits", f"{limits} mean none; such a joint is continuous"
        else:
            yield "warning", "limits-in-degrees", f"{limits} are {largest / 2 / np.pi:.3g} turns: degrees?"
    if kind == "prismatic" and _FAR < largest < 1e5 and 0 < 20 * size < largest:
        yield "warning", "limits-in-mm", f"limits {low:g} .. {high:g} m of a robot of {size:.3g} m: mm?"


_RATES = {
    "velocity_limit": "velocity limit", "effort_limit": "effort limit", "damping": "damping", "friction": "friction",
    "armature": "armature",
}  # fmt: skip


def _rates(model: _Model) -> Iterator[Finding]:
    """Velocity and effort limits, and losses: none is negative, and limits are not 0."""
    for body in model.robot.bodies:
        if body.joint.mimic is not None:
            continue
        for field, name in _RATES.items():
            value, code = getattr(model.robot, field)[body.joint.v].min(initial=np.inf), name.replace(" ", "-")
            if value < 0:
                yield model.joint(
                    "error", f"negative-{code}", body.joint.name, f"{name} {value:g}; it must not be negative"
                )
            elif value == 0 and "limit" in name:
                yield model.joint("warning", f"zero-{code}", body.joint.name, f"{name} 0: it could never move")


def _followers(model: _Model) -> Iterator[Finding]:
    """Mimics that are led out of their own limits."""
    robot = model.robot
    for i, mimic in robot.mimics.items():
        name, source = robot.body_joint_names[i], robot.bodies[mimic.source].joint
        spec = model.specs.get(name)
        led = np.array([robot.lower[source.q.start], robot.upper[source.q.start]])
        if spec is None or not np.all(np.isfinite(led)):
            continue
        low, high = sorted(mimic.multiplier * led + mimic.offset)
        slack = 1e-3 * (high - low)  # rounded digits
        if low < np.min(spec.lower) - slack or high > np.max(spec.upper) + slack:
            message = (
                f"'{source.name}' leads it through {low:.4g} .. {high:.4g}, its own limits are "
                f"{np.min(spec.lower):.4g} .. {np.max(spec.upper):.4g}"
            )
            yield model.joint("warning", "mimic-out-of-limits", name, message)


# --- left and right ---------------------------------------------------------------------------------------------------

# Words for the sides of a robot; front, rear, hind, back and middle legs have two letters, in either order.
_SIDES = {"left": "right", "l": "r", "fl": "fr", "rl": "rr", "hl": "hr", "bl": "br", "ml": "mr", "lf": "rf", "lh": "rh",
          "lb": "rb", "lm": "rm"}  # fmt: skip
_OTHER = _SIDES | {right: left for left, right in _SIDES.items()}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # LAnkle_pitch: L, Ankle, pitch


def _pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(left, right) names: swapping words for sides, or the first letter (LARM, RARM), makes one of the other."""
    known = dict.fromkeys(names)
    for name in known:
        first = "rR"["lL".index(name[0])] + name[1:] if name[:1] in ("l", "L") else name
        for other in (_WORD.sub(_swap, name), re.sub("(?i)left", _swap, name), first):
            if other in known and next((a for a, b in zip(name, other, strict=False) if a != b), "") in ("l", "L"):
                yield name, other
                break


def _swap(word: re.Match) -> str:
    text = str(word[0])
    other = _OTHER.get(text.lower())
    if other is None:
        return text
    return other.upper() if text.isupper() else other.capitalize() if text[:1].isupper() else other


def _mirrors(model: _Model) -> Iterator[Finding]:
    """Links and joints of the left side that are not mirror images of those of the right."""
    links = {l.name: k for k, l in enumerate(model.links)}
    pairs = [(links[a], links[b]) for a, b in _pairs(links)]
    plane = _mirror_plane(model, pairs)
    for a, b in pairs:
        left, right = model.links[a], model.links[b]
        parts = list(_inertia_differences(left, right, _mirror_axes(model.home[a], model.home[b], *plane)))
        if parts:
            message = f"is not the mirror image of '{right.name}': {'; '.join(parts)}"
            yield _link("note", "sides-differ", left, message)
    joints = {j.joint.name: j.joint for j in model.robot.bodies if j.joint.mimic is None}
    for a, b in _pairs(joints):
        parts = list(_limit_differences(model.robot, joints[a], joints[b]))
        if parts:
            yield model.joint("note", "sides-differ", a, f"is not like '{b}': {'; '.join(parts)}")


def _mirror_plane(model: _Model, pairs: list[tuple[int, int]]) -> tuple[int, float]:
    """(axis, offset) of the plane between the sides: across the axis that parts them most, usually y = 0."""
    if not pairs:
        return 1, 0.0
    left = np.array([model.home[a][:3, 3] for a, _ in pairs])
    right = np.array([model.home[b][:3, 3] for _, b in pairs])
    axis = int(np.argmax(np.abs(left - right).sum(axis=0)))
    return axis, float(np.median((left + right)[:, axis] / 2))


def _mirror_axes(left: np.ndarray, right: np.ndarray, axis: int, offset: float) -> np.ndarray | None:
    """Signs (3,) that turn coordinates in the right link into the left's; None if the frames are no mirror images."""
    flip = np.ones(3)
    flip[axis] = -1
    apart = left[:3, 3] - (flip * right[:3, 3] + 2 * offset * (flip < 0))
    turn = left[:3, :3].T @ (flip[:, None] * right[:3, :3])
    signs = np.sign(np.diag(turn))
    mirrored = np.linalg.norm(apart) < 2e-3 and np.abs(turn - np.diag(signs)).max() < 1e-2
    return signs if mirrored else None


def _inertia_differences(left: Link, right: Link, signs: np.ndarray | None) -> Iterator[str]:
    masses = [0.0 if l.inertia is None else float(l.inertia[0]) for l in (left, right)]
    if _differ(*masses):
        yield f"mass {masses[0]:.4g}, {masses[1]:.4g} kg"
    if min(masses) <= 0 or not all(_is_moderate(l.inertia) for l in (left, right)):  # type: ignore[arg-type]
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
    if left.type != right.type:
        yield f"{left.type}, {right.type}"
        return
    a, b = (np.array([robot.lower[j.q], robot.upper[j.q]]) for j in (left, right))
    same = np.allclose(a, b, rtol=0.01, atol=0.01) or np.allclose(a, -b[::-1], rtol=0.01, atol=0.01)
    if not same:
        yield f"limits {a[0, 0]:.4g} .. {a[1, 0]:.4g}, {b[0, 0]:.4g} .. {b[1, 0]:.4g}"
    for field, name in _RATES.items():
        x, y = (getattr(robot, field)[j.v] for j in (left, right))
        if len(x) and _differ(x[0], y[0]):
            yield f"{name} {x[0]:.4g}, {y[0]:.4g}"


def _differ(a: float, b: float) -> bool:
    """By more than 2 %."""
    return not np.isclose(a, b, rtol=0.02, atol=0)


def _vector(x: np.ndarray) -> str:
    return "(" + " ".join(f"{v:.3g}" for v in x) + ")"


# --- names ------------------------------------------------------------------------------------------------------------


def _names(model: _Model) -> Iterator[Finding]:
    """Names that trouble people or programs, and links nothing uses."""
    robot = model.robot
    element = f"robot '{robot.name}'"
    names = [*(l.name for l in model.links), *robot.body_joint_names, *model.specs]
    both = sorted({l.name for l in model.links} & {*robot.body_joint_names, *model.specs})
    if both:
        yield Finding("note", "shared-names", element, f"joints with the name of a link: {_list(both)} ({len(both)})")
    odd = sorted({n for n in names if not n.strip() or n != n.strip() or re.search(r"\s", n)})
    if odd:
        yield Finding(
            "warning", "blanks-in-names", element, f"{_list(map(repr, odd))}: many programs split names at blanks"
        )
