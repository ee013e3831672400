"""Motion from differences: of two frames, of a sequence against a reference, and references without what moves.

Fu, Gonzalez & Lee (1987), §8.2.4, after Jain (1981). Frames are taken by a camera at rest, under the same light.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...display import shapes
from ...errors import ArgumentError
from ...model.input_checks import count, one_of, positive
from ..image_checks import gray
from ..images.neighbourhoods import structure

__all__ = [
    "AccumulatedDifferences",
    "accumulate_differences",
    "difference_image",
    "settle_reference",
    "start_differences",
    "stationary_reference",
]

_LARGEST = np.iinfo(np.uint32).max


def _signed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """first - second, of a type that holds it."""
    kinds = {1: np.int16, 2: np.int32, 4: np.int64}
    kind = np.dtype(kinds.get(first.dtype.itemsize, np.int64)) if first.dtype.kind in "iub" else first.dtype
    with np.errstate(invalid="ignore"):  # a pixel that is infinite in both differs by NaN, which is no change
        return np.subtract(first, second, dtype=kind)


def _limit(threshold, f: np.ndarray, caller: str):
    """The threshold; for whole numbers rounded down, since d > t is then the same and is compared faster."""
    t = positive(threshold, f"{caller}: threshold", or_zero=True)
    return int(t) if f.dtype.kind in "iub" else t


def _pair(reference: np.ndarray, frame, caller: str) -> np.ndarray:
    f = gray(frame, caller)
    if f.shape != reference.shape or f.dtype != reference.dtype:
        raise ArgumentError(
            f"{caller}: the frame has shape {f.shape} and dtype {f.dtype}; those of the first, {reference.shape} and "
            f"{reference.dtype}, are needed"
        )
    return f


def difference_image(first, second, threshold, *, smallest: int = 1, connectivity: int | str = 8) -> np.ndarray:
    """Where two frames differ, (rows, columns) bool: where |f₁ - f₂| > `threshold`.

    Connected regions of fewer than `smallest` pixels are left out, as noise; `connectivity` is 4 or 8.

        >>> difference_image(np.array([[9, 9, 9]], np.uint8), np.array([[9, 30, 8]], np.uint8), 5)
        array([[False,  True, False]])

    Fu, Gonzalez & Lee (1987), (8.2-25).
    """
    f = gray(first, "difference_image")
    g = _pair(f, second, "difference_image")
    t, least = _limit(threshold, f, "difference_image"), count(smallest, "difference_image: smallest")
    near = structure(connectivity, "difference_image")
    changed = np.abs(_signed(f, g)) > t
    return changed if least <= 1 else _large(changed, near, least)


def _large(found: np.ndarray, near: np.ndarray, least: int) -> np.ndarray:
    """The connected regions with at least so many pixels."""
    from scipy import ndimage  # slow to load

    labels = np.asarray(ndimage.label(found, near)[0], np.int32)  # type: ignore[index]
    keep = np.bincount(labels.ravel()) >= least
    keep[0] = False
    return keep[labels]


@dataclass(frozen=True, eq=False)
class AccumulatedDifferences:
    """What has changed since a reference: counts (rows, columns) uint32 of the frames that differed from it.

    `absolute` counts all differences (AADI), `positive` those where the reference was lighter (PADI), `negative` those
    where it was darker (NADI). `runs` (2, rows, columns) counts the last frames without a break that differed with
    either sign; `frames` is how many frames have been compared.

    `start_differences` makes one, and `accumulate_differences` a new one for each frame.
    """

    reference: np.ndarray
    absolute: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    runs: np.ndarray
    frames: int = 0

    def __repr__(self) -> str:
        return f"<AccumulatedDifferences of {self.frames} frames: {shapes(reference=self.reference)}>"


def start_differences(reference) -> AccumulatedDifferences:
    """No differences yet from a `reference`, the first frame (rows, columns) of a sequence.

        >>> start_differences(np.zeros((2, 3), np.uint8)).frames
        0

    Fu, Gonzalez & Lee (1987), §8.2.4.
    """
    f = gray(reference, "start_differences")
    none = np.zeros((5, *f.shape), np.uint32)
    return AccumulatedDifferences(f, none[0], none[1], none[2], none[3:])


def accumulate_differences(state: AccumulatedDifferences, frame, threshold) -> AccumulatedDifferences:
    """The differences with one more frame: each counter grows by one where the frame differs from the reference.

    With d = reference - frame, `absolute` grows where |d| > `threshold`, `positive` where d > `threshold`, `negative`
    where d < -`threshold`. For an object lighter than its background, `positive` covers its place in the reference, and
    grows no more when the object has left it; `negative` covers where it went.

        >>> state = start_differences(np.array([[9, 0, 0, 0]], np.uint8))
        >>> for frame in ([[0, 9, 0, 0]], [[0, 0, 9, 0]], [[0, 0, 0, 9]]):
        ...     state = accumulate_differences(state, np.array(frame, np.uint8), 5)
        >>> state.absolute, state.positive, state.negative
        (array([[3, 1, 1, 1]], dtype=uint32), array([[3, 0, 0, 0]], dtype=uint32), array([[0, 1, 1, 1]], dtype=uint32))

    Fu, Gonzalez & Lee (1987), §8.2.4, Figs. 8.21 and 8.22.
    """
    f = _pair(_state(state, "accumulate_differences").reference, frame, "accumulate_differences")
    t = _limit(threshold, f, "accumulate_differences")
    if state.frames == _LARGEST:
        raise ArgumentError(f"accumulate_differences: {_LARGEST} frames have been counted, and the counters are full")
    d = _signed(state.reference, f)
    signs = np.stack([d > t, d < -t])
    return AccumulatedDifferences(
        state.reference,
        state.absolute + (signs[0] | signs[1]),
        state.positive + signs[0],
        state.negative + signs[1],
        (state.runs + np.uint32(1)) * signs,
        state.frames + 1,
    )


def _state(state, caller: str) -> AccumulatedDifferences:
    if not isinstance(state, AccumulatedDifferences):
        raise ArgumentError(
            f"{caller}: the first argument must come from start_differences, got {type(state).__name__}"
        )
    return state


def settle_reference(
    state: AccumulatedDifferences, frame, *, objects: str = "light", patience: int = 3, smallest: int = 1
) -> AccumulatedDifferences:
    """The differences with a better reference, if an object of the first frame has left its place there.

    `frame` is the frame that was accumulated last. For light objects, their places in the reference are where the frame
    is darker than the reference ("dark": lighter). A connected region of such pixels grows while an object leaves its
    place. When all of it has differed in each of the last `patience` frames, so that it has stopped to grow, the
    background that is now seen there is copied into the reference, and the counters there begin again. Regions of fewer
    than `smallest` pixels are left alone.

    What moves by less than one pixel in `patience` frames looks as if it stood still.

        >>> state = start_differences(np.array([[1, 9, 9, 1, 1, 1, 1]], np.uint8))
        >>> for k in range(1, 6):
        ...     frame = np.ones((1, 7), np.uint8)
        ...     frame[:, 1 + k : 3 + k] = 9
        ...     state = settle_reference(accumulate_differences(state, frame, 5), frame, patience=2)
        >>> state.reference
        array([[1, 1, 1, 1, 1, 1, 1]], dtype=uint8)

    Fu, Gonzalez & Lee (1987), §8.2.4, Fig. 8.25.
    """
    from scipy import ndimage  # slow to load

    f = _pair(_state(state, "settle_reference").reference, frame, "settle_reference")
    one_of(objects, ("light", "dark"), "settle_reference: objects")
    wait, least = count(patience, "settle_reference: patience"), count(smallest, "settle_reference: smallest")
    runs = state.runs[0 if objects == "light" else 1]
    differs = runs > 0
    labels = np.asarray(ndimage.label(differs, np.ones((3, 3)))[0], np.int32)  # type: ignore[index]
    names = labels[differs]
    sizes = np.bincount(names, minlength=1)
    shortest = np.full(sizes.size, _LARGEST, np.uint32)
    np.minimum.at(shortest, names, runs[differs])
    settled = (shortest >= max(wait, 1)) & (sizes >= max(least, 1))
    if not settled.any():
        return state
    place = settled[labels] & differs
    fresh = np.where(place, np.uint32(0), np.stack([state.absolute, state.positive, state.negative, *state.runs]))
    reference = np.where(place, f, state.reference)
    return replace(state, reference=reference, absolute=fresh[0], positive=fresh[1], negative=fresh[2], runs=fresh[3:])


def stationary_reference(
    frames: Iterable, threshold, *, objects: str = "light", patience: int = 3, smallest: int = 1
) -> np.ndarray:
    """The first frame of a sequence without the objects that move away from their place in it, with its dtype.

    `frames` are images (rows, columns) of one shape, read one by one. It is `accumulate_differences` and
    `settle_reference` for each frame; the options are theirs.

        >>> frames = np.full((8, 3, 9), 20, np.uint8)
        >>> for k in range(8):
        ...     frames[k, 1, k : k + 2] = 200
        >>> bool((stationary_reference(frames, 50) == 20).all())
        True

    Fu, Gonzalez & Lee (1987), §8.2.4.
    """
    state = None
    for frame in frames:
        if state is None:
            state = start_differences(frame)
            continue
        state = accumulate_differences(state, frame, threshold)
        state = settle_reference(state, frame, objects=objects, patience=patience, smallest=smallest)
    if state is None:
        raise ArgumentError("stationary_reference: there are no frames")
    return state.reference
