"""Long sequences of edits: poses do not drift, worlds stay equal to their JSON, long histories can be copied."""

import copy
import pickle

import numpy as np
import pytest

from adjoint.lie import se3
from adjoint.world import History, World


def random_pose(rng):
    return np.asarray(se3.exp(rng.normal(size=6)))


def test_worlds_equal_their_json_after_many_motions():
    rng = np.random.default_rng(5)
    w = World().add("a", at=random_pose(rng)).add("b", at=random_pose(rng), parent="a")
    for _ in range(300):
        # The rotations of both poses enter the pose of "a": products of a few thousand rotations.
        w = w.move("b", random_pose(rng), relative_to="b")
    assert World.from_json(w.to_json()) == w
    R = w.pose("a")[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=4e-12)


def test_changes_of_parents_do_not_add_up():
    rng = np.random.default_rng(0)
    w = World().add("a", at=random_pose(rng)).add("b", at=random_pose(rng)).add("c", at=random_pose(rng))
    before = w.pose("c")
    for k in range(3000):
        w = w.attach("c", "ab"[k % 2])
    # Random rounding grows with the root of their number: √6000 · 1e-16 · a few; a systematic error would be 1e-12.
    np.testing.assert_allclose(w.pose("c"), before, atol=2e-13)


def test_poses_cannot_be_written_to():
    w = World().add("a", at=[1, 0, 0]).add("b", at=[0, 1, 0])
    for T in (w.pose("a"), w.pose("a", "b"), w.pose("b", "a")):
        with pytest.raises(ValueError, match="read-only"):
            T[0, 3] = 5.0


def test_long_histories_are_copied():
    h = History(World())
    for k in range(3000):
        h = h.do(lambda w: w, f"edit {k}")
    h = h.do(lambda w: w.add("cup"), "bring a cup").undo().undo()
    for other in (pickle.loads(pickle.dumps(h)), copy.deepcopy(h)):
        assert other.labels == h.labels and other.undone == h.undone == ["edit 2999", "bring a cup"]
        assert other.world == h.world and other.redo().redo().world == h.redo().redo().world
