"""Labels of lines: which edges of a drawing are convex, concave or occluding, by constraints of its junctions.

Each line has one label from end to end, and each junction allows only the labels of its dictionary. Filtering removes
what has no support at a neighbour (Waltz 1975); a search then finds all labelings. A drawing without one shows
nothing that could be built of trihedral solids.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from ...model.input_checks import count, one_of, truth
from .junction_labels import junction_dictionary
from .line_drawings import Drawing, Junction, drawing_junctions, line_regions

__all__ = ["LineLabels", "explain_labels", "label_lines", "labels_fit"]

_LABELS = ("+", "-", ">", "<")
_TRIED = 20_000  # choices at junctions, without finding a labeling
_WHY_NOT = {
    "end": "one line ends there",
    "alone": "no line ends there",
    "K": "four lines meet there, two of which are straight",
    "X": "two straight lines cross there",
    "peak": "four or more lines meet there, all on one side",
    "multi": "four or more lines meet there",
}


class LineLabels(NamedTuple):
    """All ways to label a drawing: `labels` has one text for each line in each of them.

    - "+" is a convex edge, and "-" a concave one. ">" is an occluding edge with its arrow from the first vertex of
      the line to the second, "<" the other way round: what hides is to the right of the arrow.
    - `junctions` are those of the drawing.
    - `complete` is False if there are more labelings than the limit.
    - `filtered` has, for each line, the labels that filtering alone has left.
    - `conflict` names vertices if there is no labeling: their junctions exclude each other, and without any one of
      them the others would not.
    """

    drawing: Drawing
    junctions: tuple[Junction, ...]
    labels: tuple[tuple[str, ...], ...]
    complete: bool
    filtered: tuple[str, ...]
    conflict: tuple[int, ...]

    def __repr__(self) -> str:
        if self.conflict:
            vertices = ", ".join(map(str, self.conflict))
            if len(self.conflict) == 1:
                return f"<LineLabels: impossible; nothing fits the junction at vertex {vertices}>"
            return f"<LineLabels: impossible; the junctions at vertices {vertices} exclude each other>"
        return f"<LineLabels: {len(self.labels)}{'' if self.complete else ' or more'} labelings of {self.drawing!r}>"


class _Problem(NamedTuple):
    """For each junction its lines and the tuples of labels (numbers in `_LABELS`) that it allows."""

    lines: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[tuple[int, ...], ...], ...]
    at: tuple[tuple[int, ...], ...]  # the junctions of each line


def label_lines(
    drawing: Drawing,
    *,
    background: bool = False,
    known: Mapping[int, str] | None = None,
    limit: int = 1000,
    straight: float = 1e-3,
) -> LineLabels:
    """All ways to label the lines of a `drawing` of trihedral solids, as `LineLabels`.

        >>> cube = Drawing(
        ...     [[2, 0], [4, 1], [4, 3], [2, 4], [0, 3], [0, 1], [2, 2]],
        ...     [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [6, 1], [6, 3], [6, 5]],
        ... )
        >>> label_lines(cube, background=True).labels
        (('>', '>', '>', '>', '>', '>', '+', '+', '+'),)

    - `background`: True says that nothing in the drawing touches the background, so that its outline occludes it: a
      block in the air. On the ground, the lower part of the outline may be concave.
    - `known` {line: label} are labels that are known, such as {3: "-"}.
    - `limit` is the number of labelings that are looked for at most.
    - `straight` [rad] is that of `drawing_junctions`.

    Junctions that no trihedral corner shows in a general view, such as four lines that meet, are an `ArgumentError`. A
    `SolveError` says if the search takes too long. A drawing that can be labelled need not be possible:
    `realize_drawing` asks whether planes fit.
    """
    junctions = drawing_junctions(drawing, straight=straight)
    limit = count(limit, "label_lines: limit")
    masks = _masks(drawing, truth(background, "label_lines: background"), known)
    problem = _problem(drawing, junctions)
    everywhere = range(len(junctions))
    filtered = _propagated(problem, masks, list(problem.allowed), everywhere)
    found = list(islice(_solutions(problem, masks, limit=limit + 1), limit + 1))
    conflict = () if found else _conflict(problem, masks)
    left = filtered[0] if filtered else [0] * len(masks)
    return LineLabels(
        drawing, junctions, tuple(tuple(_LABELS[k] for k in one) for one in found[:limit]), len(found) <= limit,
        tuple("".join(_LABELS[k] for k in range(4) if mask >> k & 1) for mask in left), conflict,
    )  # fmt: skip


def labels_fit(drawing: Drawing, labels, *, straight: float = 1e-3) -> bool:
    """Whether `labels`, one for each line, are allowed at every junction of a `drawing`.

    >>> triangle = Drawing([[0, 0], [4, 0], [2, 3]], [[0, 1], [1, 2], [2, 0]])
    >>> labels_fit(triangle, [">", ">", ">"]), labels_fit(triangle, ["+", ">", ">"])
    (True, False)
    """
    junctions = drawing_junctions(drawing, straight=straight)
    given = tuple(labels) if np.iterable(labels) else ()
    if len(given) != len(drawing.lines):
        raise ArgumentError(f"labels_fit: there are {len(given)} labels for {len(drawing.lines)} lines")
    for label in given:
        one_of(label, _LABELS, "labels_fit: a label")
    problem = _problem(drawing, junctions)
    numbers = [_LABELS.index(label) for label in given]
    return all(
        tuple(numbers[line] for line in lines) in allowed
        for lines, allowed in zip(problem.lines, problem.allowed, strict=True)
    )


# --- the constraint problem -------------------------------------------------------------------------------------------


def _problem(drawing: Drawing, junctions: tuple[Junction, ...]) -> _Problem:
    dictionary, allowed = junction_dictionary(), []
    for vertex, kind, lines in junctions:
        if kind in _WHY_NOT:
            raise ArgumentError(
                f"label_lines: vertex {vertex} is no junction of trihedral solids in a general view: {_WHY_NOT[kind]}"
            )
        forward = [drawing.lines[line, 0] == vertex for line in lines]
        if kind == "straight":  # the same line goes on
            rows = {(x, x) for x in ("+", "-")} | {("out", "in"), ("in", "out")}
        else:
            rows = dictionary[kind]
        allowed.append(tuple(sorted(tuple(map(_number, row, forward)) for row in rows)))
    at: list[list[int]] = [[] for _ in drawing.lines]
    for k, junction in enumerate(junctions):
        for line in junction.lines:
            at[line].append(k)
    return _Problem(tuple(j.lines for j in junctions), tuple(allowed), tuple(map(tuple, at)))


def _number(label: str, forward: bool) -> int:
    """The number in `_LABELS` of a label at a junction, from which the line runs forward or to which it comes."""
    return _LABELS.index(label) if label in _LABELS else 2 if (label == "out") == forward else 3


def _masks(drawing: Drawing, background: bool, known: Mapping[int, str] | None) -> list[int]:
    """For each line, a number whose bit k says that label k is possible."""
    if known is not None and not isinstance(known, Mapping):
        raise ArgumentError("label_lines: known must be a dict {line: label}")
    masks = [15] * len(drawing.lines)
    if background:
        for line, (left, right) in enumerate(line_regions(drawing).tolist()):
            masks[line] &= 15 if 0 not in (left, right) or left == right else 4 if left == 0 else 8
    for line, label in (known or {}).items():
        one_of(label, _LABELS, f"label_lines: the label of line {line}")
        if not 0 <= count(line, "label_lines: a line in 'known'") < len(masks):
            raise ArgumentError(f"label_lines: there is no line {line}; lines are 0 to {len(masks) - 1}")
        masks[line] &= 1 << _LABELS.index(label)
    return masks


def _propagated(problem: _Problem, masks: list[int], allowed: list, queue) -> tuple[list[int], list] | None:
    """Labels of lines and tuples of junctions that have support at all neighbours, or None if there are none."""
    masks, allowed, waiting = list(masks), list(allowed), list(queue)
    queued = set(waiting)
    while waiting:
        k = waiting.pop()
        queued.discard(k)
        lines = problem.lines[k]
        rows = [row for row in allowed[k] if all(masks[line] >> x & 1 for line, x in zip(lines, row, strict=True))]
        if not rows:
            return None
        allowed[k] = rows
        for place, line in enumerate(lines):
            mask = 0
            for row in rows:
                mask |= 1 << row[place]
            if mask != masks[line]:
                masks[line] = mask
                new = [j for j in problem.at[line] if j != k and j not in queued]
                waiting += new
                queued.update(new)
    return masks, allowed


def _solutions(problem: _Problem, masks: list[int], used=None, limit: int = 1):
    """All labelings, one by one, or at least `limit` of them if there are more.

    Junctions that share no line with a choice are independent of each other: parts of the drawing are labelled each
    by itself, so that one without a labeling is found at once, and the labelings of all are put together.
    """
    used = range(len(problem.lines)) if used is None else used
    allowed = [rows if k in used else () for k, rows in enumerate(problem.allowed)]
    part = problem._replace(at=tuple(tuple(k for k in some if k in used) for some in problem.at))
    state = _propagated(part, masks, allowed, used)
    if state is None:
        return
    choices = []
    for junctions in _parts(part, *state):
        lines = sorted({line for k in junctions for line in part.lines[k]})
        some = [tuple(one[line] for line in lines) for one in islice(_search(part, state, junctions), limit)]
        if not some:
            return
        choices.append([dict(zip(lines, one, strict=True)) for one in some])
    for chosen in product(*choices):
        whole = list(state[0])
        for one in chosen:
            for line, mask in one.items():
                whole[line] = mask
        yield tuple(mask.bit_length() - 1 for mask in whole)


def _parts(problem: _Problem, masks: list[int], allowed: list) -> list[list[int]]:
    """Groups of junctions with a choice that lines with a choice connect."""
    left = {k for k, rows in enumerate(allowed) if len(rows) > 1}
    found = []
    while left:
        group = [left.pop()]
        for k in group:
            lines = [line for line in problem.lines[k] if masks[line] & (masks[line] - 1)]
            new = {j for line in lines for j in problem.at[line]} & left
            left -= new
            group += sorted(new)
        found.append(sorted(group))
    return sorted(found)


def _search(problem: _Problem, state, junctions: list[int]):
    """Masks of lines of all labelings of a part: a junction with the fewest tuples is decided, and others filtered."""
    open_ends, tried = [state], 0
    while open_ends:
        masks, allowed = open_ends.pop()
        undecided = [(len(allowed[k]), k) for k in junctions if len(allowed[k]) > 1]
        if not undecided:
            yield masks
            tried = 0
            continue
        tried += 1
        if tried > _TRIED:  # whether there is a labeling is NP-complete
            raise SolveError(
                f"label_lines: no labeling was found in {_TRIED} trials; 'known' labels of lines would help"
            )
        _, k = min(undecided)
        for row in reversed(allowed[k]):
            rest = list(allowed)
            rest[k] = [row]
            found = _propagated(problem, masks, rest, [k])
            open_ends += [] if found is None else [found]


def _conflict(problem: _Problem, masks: list[int]) -> tuple[int, ...]:
    """Junctions that exclude each other, none of which can be left out."""
    needed = list(range(len(problem.lines)))
    for size in (8, 1):  # leave out eight at a time first
        k = 0
        while k < len(needed):
            fewer = needed[:k] + needed[k + size :]
            if next(_solutions(problem, masks, set(fewer)), None) is None:
                needed = fewer
            else:
                k += size
    return tuple(needed)


# --- words ------------------------------------------------------------------------------------------------------------

_CORNERS = {
    ("fork", "+++"): "a corner of a solid with three faces in sight",
    ("fork", "---"): "an inner corner, as of a room",
    ("fork", "-oi"): "a place where two solids touch: a concave line between two outlines",
    ("arrow", "i+o"): "a corner of a solid with two faces in sight",
    ("arrow", "+-+"): "a notch: a concave line between two convex ones",
    ("arrow", "-+-"): "the foot of a convex edge, which stands on a face",
    ("L", "io"): "an outline that turns, around one face in sight",
    ("L", "oi"): "an outline that turns, around one face in sight",
    ("L", "+i"): "a convex line that ends at an outline",
    ("L", "o+"): "a convex line that ends at an outline",
    ("L", "-o"): "the foot of an outline, which stands on a face",
    ("L", "i-"): "the foot of an outline, which stands on a face",
}


def explain_labels(drawing: Drawing, labels, *, straight: float = 1e-3) -> str:
    """The labels of a `drawing` in words: what each line is, and what each junction shows.

    >>> triangle = Drawing([[0, 0], [4, 0], [2, 3]], [[0, 1], [1, 2], [2, 0]])
    >>> print(explain_labels(triangle, [">", ">", ">"]))
    line 0, from vertex 0 to 1, occludes what is to its left
    line 1, from vertex 1 to 2, occludes what is to its left
    line 2, from vertex 2 to 0, occludes what is to its left
    vertex 0 (L): an outline that turns, around one face in sight
    vertex 1 (L): an outline that turns, around one face in sight
    vertex 2 (L): an outline that turns, around one face in sight
    """
    fits = labels_fit(drawing, labels, straight=straight)
    given = tuple(labels)
    words = {"+": "is a convex edge", "-": "is a concave edge", ">": "occludes what is to its left"}
    words["<"] = "occludes what is to its right"
    text = [
        f"line {k}, from vertex {a} to {b}, {words[given[k]]}" for k, (a, b) in enumerate(drawing.lines.tolist())
    ]  # fmt: skip
    for vertex, kind, lines in drawing_junctions(drawing, straight=straight):
        seen = "".join(_short(given[line], drawing.lines[line, 0] == vertex) for line in lines)
        if kind == "T":
            what = f"line {lines[1]} passes behind the edge of lines {lines[0]} and {lines[2]}"
        elif kind == "straight":
            what = "one line goes on"
        else:
            turned = [seen[k:] + seen[:k] for k in range(3 if kind == "fork" else 1)]
            what = next((_CORNERS[kind, one] for one in turned if (kind, one) in _CORNERS), "no corner of solids")
        text.append(f"vertex {vertex} ({kind}): {what}")
    return "\n".join(text if fits else [*text, "these labels do not fit: not all junctions are in the dictionary"])


def _short(label: str, forward: bool) -> str:
    return label if label in "+-" else "o" if (label == ">") == forward else "i"


def __dir__() -> list[str]:
    return __all__
