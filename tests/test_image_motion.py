"""Motion: differences of frames, accumulated differences, and references from which moving objects have gone."""

import numpy as np
import pytest
import skimage.data
import skimage.morphology

from adjoint.errors import ArgumentError
from adjoint.vision.segmentation.motion import (
    accumulate_differences,
    difference_image,
    settle_reference,
    start_differences,
    stationary_reference,
)

RNG = np.random.default_rng(2)


def frame(k: int, dtype=np.uint8, lightness: int = 100) -> np.ndarray:
    """Frame k = 1, 2, ... of Fig. 8.21: 6 rows and 8 columns in rows 10 to 15, one pixel to the right in each."""
    f = np.full((20, 30), 20, dtype)
    f[10:16, 4 + k : 12 + k] = lightness
    return f


def digits(counts: np.ndarray) -> str:
    """A row of counts as hexadecimal digits, and dots for 0."""
    return "".join(f"{n:X}" if n else "." for n in counts).strip(".")


# --- two frames -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.uint16, np.int16, np.int64, np.float32, np.float64])
def test_differences_do_not_wrap(dtype):
    low, high = (0, 1) if dtype is bool else (-100, 100) if dtype in (np.int8,) else (0, 250)
    f, g = RNG.integers(low, high + 1, (2, 30, 20)).astype(dtype)
    for t in (0, 0.5, 20, 199.5):
        assert np.array_equal(difference_image(f, g, t), np.abs(f.astype(float) - g.astype(float)) > t)
        assert np.array_equal(difference_image(f, g, t), difference_image(g, f, t))
    wide = np.array([[-32768, 32767]], np.int16)
    assert difference_image(wide, wide[:, ::-1].copy(), 65534).all()


@pytest.mark.parametrize("connectivity", [4, 8])
def test_small_regions_are_left_out(connectivity):
    f = np.zeros((60, 70), np.uint8)
    g = np.where(RNG.random(f.shape) < 0.3, 200, 0).astype(np.uint8)
    want = skimage.morphology.remove_small_objects(g > 100, max_size=5, connectivity=1 if connectivity == 4 else 2)
    assert np.array_equal(difference_image(f, g, 100, smallest=6, connectivity=connectivity), want)
    assert not difference_image(f, f, 0, smallest=3).any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: difference_image(f, f[1:], 5), "shape"),
        (lambda f: difference_image(f, f.astype(float), 5), "dtype"),
        (lambda f: difference_image(f, f, -1), "threshold"),
        (lambda f: difference_image(f, f, np.nan), "threshold"),
        (lambda f: difference_image(f, f, 5, smallest=-1), "smallest"),
        (lambda f: difference_image(f, f, 5, connectivity=5), "connectivity"),
        (lambda f: difference_image(f[None], f, 5), "image"),
        (lambda f: start_differences(np.zeros((0, 3))), "no pixels"),
        (lambda f: accumulate_differences(start_differences(f), f[1:], 5), "shape"),
        (lambda f: accumulate_differences(f, f, 5), "start_differences"),
        (lambda f: accumulate_differences(start_differences(f), f, "a"), "threshold"),
        (lambda f: settle_reference(start_differences(f), f, objects="red"), "objects"),
        (lambda f: settle_reference(start_differences(f), f, patience=-1), "patience"),
        (lambda f: settle_reference(None, f), "start_differences"),
        (lambda f: stationary_reference([], 5), "no frames"),
        (lambda f: stationary_reference([f, f[1:]], 5), "shape"),
    ],
)
def test_bad_frames_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(frame(1))


# --- accumulated differences ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float64])
def test_the_figures_of_accumulated_differences(dtype):
    """Fig. 8.21, where (f) to (i) belong to frames 2, 3, 4 and 11; the print repeats one panel."""
    want = {2: "1.......1", 3: "21......21", 4: "321.....321", 11: "A98765438887654321"}
    state = start_differences(frame(1, dtype))
    for k in range(2, 12):
        state = accumulate_differences(state, frame(k, dtype), 30)
        if k in want:
            for row in state.absolute[10:16]:
                assert digits(row) == want[k]
    assert state.frames == 10
    assert digits(state.positive[12]) == "A9876543"
    assert digits(state.negative[12]) == "8887654321"
    assert np.flatnonzero(state.positive[12])[0] == 5
    assert np.flatnonzero(state.negative[12])[0] == 13
    assert not state.absolute[:10].any()
    assert not state.absolute[16:].any()
    assert "10 frames" in repr(state)


def test_dark_objects_swap_the_signs():
    state = dark = start_differences(frame(1))
    dark = start_differences(255 - frame(1))
    for k in range(2, 9):
        state, dark = accumulate_differences(state, frame(k), 30), accumulate_differences(dark, 255 - frame(k), 30)
    assert np.array_equal(state.positive, dark.negative)
    assert np.array_equal(state.negative, dark.positive)


def test_laws_of_accumulated_differences():
    """Absolute is the sum of both signs; all count frames; order does not matter; and states are values."""
    frames = RNG.integers(0, 256, (6, 15, 20), dtype=np.uint8)
    states = [start_differences(frames[0])]
    for f in frames[1:]:
        states.append(accumulate_differences(states[-1], f, 40))
    last = states[-1]
    d = frames[0].astype(int) - frames[1:]
    assert np.array_equal(last.positive, (d > 40).sum(axis=0))
    assert np.array_equal(last.negative, (d < -40).sum(axis=0))
    assert np.array_equal(last.absolute, last.positive + last.negative)
    assert [s.frames for s in states] == list(range(6))
    assert not states[0].absolute.any()
    other = start_differences(frames[0])
    for f in frames[:0:-1]:
        other = accumulate_differences(other, f, 40)
    assert np.array_equal(other.absolute, last.absolute)


def test_the_positive_differences_end_as_the_silhouette():
    """Fig. 8.22: a 20 × 20 object that moves to the lower right; the growth of the PADI ends when it has left."""
    extent = []
    frames = np.zeros((30, 80, 80), np.uint8)
    for k in range(30):
        frames[k, 5 + k : 25 + k, 5 + k : 25 + k] = 200
    state = start_differences(frames[0])
    for f in frames:
        state = accumulate_differences(state, f, 50)
        extent.append((state.positive > 0).sum())
    assert extent[20] == extent[29] == 400 > extent[19]
    assert np.array_equal(state.positive > 0, frames[0] > 0)


# --- references -------------------------------------------------------------------------------------------------------


def scene(k: int, background: np.ndarray, noise: float, rng, objects) -> np.ndarray:
    """Frame k: objects (row, column, rows, columns, speed down, speed right, level) over a background, and noise."""
    f = background.astype(float).copy()
    for r, c, h, w, dr, dc, level in objects:
        top, left = int(r + k * dr), int(c + k * dc)
        f[max(top, 0) : max(top + h, 0), max(left, 0) : max(left + w, 0)] = level
    return np.clip(f + rng.normal(0, noise, f.shape) if noise else f, 0, 255).astype(np.uint8)


def test_two_objects_leave_the_reference():
    """Over a real background; noise below the threshold; the result is a frame without them, to the noise."""
    background = skimage.data.camera()[200:360, 100:340] // 2
    objects = [(20, 10, 25, 30, 0, 3, 220), (100, 200, 30, 20, -1, -2, 240)]
    rng = np.random.default_rng(0)
    frames = [scene(k, background, 3.0, rng, objects) for k in range(40)]
    found = stationary_reference(iter(frames), 40, patience=3, smallest=20)
    assert found.dtype == np.uint8
    off = np.abs(found.astype(int) - background)
    assert (np.abs(frames[0].astype(int) - background) > 40).sum() > 1000
    assert (off > 15).mean() < 1e-3
    median = np.median(frames, axis=0)  # another way, which needs all frames
    assert (np.abs(found - median) > 15).mean() < 0.02


def test_dark_objects_leave_the_reference():
    background = np.full((60, 90), 200, np.uint8)
    frames = [scene(k, background, 0, None, [(20, 5, 15, 12, 0, 2, 30)]) for k in range(20)]
    assert np.array_equal(stationary_reference(frames, 50, objects="dark"), background)
    assert np.array_equal(stationary_reference(frames, 50), frames[0])  # none is light


def test_an_object_that_stays_in_its_place_remains():
    background = np.full((40, 60), 30, np.uint8)
    frames = [scene(k, background, 0, None, [(10, 5, 10, 20, 0, 0.5, 200)]) for k in range(20)]
    assert np.array_equal(stationary_reference(frames, 50, patience=4), frames[0])


def test_another_object_passes_through_the_place_of_the_first():
    """Both are equally light, so the second one hides for a while that the first one has left."""
    background = np.full((40, 120), 30, np.uint8)
    objects = [(10, 60, 10, 12, 0, 2, 200), (10, 20, 10, 30, 0, 2, 200)]
    frames = [scene(k, background, 0, None, objects) for k in range(30)]
    state = start_differences(frames[0])
    for f in frames[1:]:
        before = state.reference
        state = settle_reference(accumulate_differences(state, f, 50), f)
        assert (state.reference <= before).all()  # nothing light comes into the reference
    assert np.array_equal(state.reference, background)


def test_counters_begin_again_where_the_reference_is_new():
    background = np.full((30, 60), 30, np.uint8)
    frames = [scene(k, background, 0, None, [(10, 5, 10, 10, 0, 2, 200)]) for k in range(20)]
    state, seen = start_differences(frames[0]), False
    for f in frames[1:]:
        state = settle_reference(accumulate_differences(state, f, 50), f)
        if (state.reference == 30).all() and not seen:
            seen = True
            assert not state.positive.any()
            assert not state.absolute[10:20, 5:15].any()
            assert state.negative.any()
    assert seen
    assert not state.positive.any()


def test_noise_beside_an_object_does_not_keep_it():
    """A pixel that differs once, beside the place of an object, is not part of that place."""
    background = np.full((30, 60), 60, np.uint8)
    frames = [scene(k, background, 0, None, [(10, 5, 10, 10, 0, 2, 200)]) for k in range(30)]
    for k, f in enumerate(frames):
        f[9, 5 + k % 10] = 0 if k < 8 else 60
    found = stationary_reference(frames, 50)
    assert np.abs(found.astype(int) - background).max() <= 60
    assert np.array_equal(found[10:], background[10:])
