"""Trajectories in files: exact round trips, whole files or none, and hostile files refused."""

import io
import os
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.files import whole_file
from adjoint.lie import se3
from adjoint.model.catalog import random_tree
from adjoint.trajectory import Trajectory, quintic

SUFFIXES = [".npz", ".json", ".csv"]


def example() -> Trajectory:
    """Numbers of all sizes: large, small, negative zero, and the smallest there is."""
    rng = np.random.default_rng(0)
    c = rng.normal(size=(3, 2, 6)) * 10.0 ** rng.integers(-300, 300, (3, 2, 6))
    c[0, 0, :3] = -0.0, 5e-324, 0.1
    return Trajectory([0.0, 0.1, 1 / 3, 1.0], c)


def assert_same(found: Trajectory, expected: Trajectory):
    for name in ("knots", "coefficients", "anchors"):
        x, y = getattr(found, name), getattr(expected, name)
        assert (x is None) == (y is None)
        if x is not None:
            assert x.shape == y.shape
            assert x.tobytes() == y.tobytes()  # -0.0 is not 0.0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trips_are_exact(tmp_path, suffix):
    path = tmp_path / "new folder" / f"a{suffix}"
    assert example().save(path) == path
    assert_same(Trajectory.load(path), example())
    assert_same(Trajectory.load(str(path)), example())
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_batches_are_kept(tmp_path, suffix):
    x = quintic(np.zeros((2, 3, 2)), np.random.default_rng(1).normal(size=(2, 3, 2)), [1.0, 2.0, 3.0])
    shared = Trajectory(np.array([0.0, 1.0]), x.coefficients)
    cut = x.followed_by(x.reversed()).cut(np.array([0.5, 2.5, 0.1]))  # with pieces that last no time in some
    for k, each in enumerate((x, shared, cut, x[:0], shared[:, :0])):
        assert_same(Trajectory.load(each.save(tmp_path / f"{k}{suffix}")), each)


def test_a_table_holds_no_batch(tmp_path):
    x = quintic(np.zeros((2, 1)), np.ones((2, 1)), 1.0)
    with pytest.raises(ArgumentError, match=r"this is a batch \(2,\); .npz holds it"):
        x.save(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_joints_of_several_degrees_of_freedom_are_kept(tmp_path, suffix):
    robot = random_tree(0, 4, ["free", "spherical", "revolute", "planar"])
    q = aj.random_configuration(robot, 2, rng=0)
    x = quintic(q[0], q[1], 1.0, robot=robot)
    path = x.save(tmp_path / f"a{suffix}")
    found = Trajectory.load(path, robot)
    assert_same(found, x)
    assert_array_equal(found(0.3).q, x(0.3).q)
    with pytest.raises(ArgumentError, match="give the robot"):
        Trajectory.load(path)


def test_a_robot_with_other_joints_is_refused(tmp_path):
    path = example().save(tmp_path / "a.npz")
    with pytest.raises(ArgumentError, match=r"a\.npz: .*'puma560' has 6 degrees of freedom, the trajectory has 2"):
        Trajectory.load(path, aj.robots.puma560())
    with pytest.raises(ArgumentError, match="has no anchors"):
        Trajectory.load(quintic([0.0] * 3, [1.0] * 3, 1.0).save(path), random_tree(0, 1, ["spherical"]))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = example().save(tmp_path / "a.npz")
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        quintic([0.0], [1.0], 1.0).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_threads_write_files_of_their_own(tmp_path):
    names, here = [], threading.Barrier(4)

    def write():
        with whole_file(tmp_path / "a") as unfinished:
            names.append(unfinished)
            unfinished.write_text("whole")
            here.wait()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 4
    assert [p.read_text() for p in tmp_path.iterdir()] == ["whole"]


def test_folders_are_no_files_to_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path, Path("."), Path("/")):
        with pytest.raises(ArgumentError, match="is a folder; the name of a file is needed"), whole_file(path):
            raise AssertionError("nothing is written")
    assert list(tmp_path.iterdir()) == []


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["a.txt", "a", "a.npy", "a.json.gz", 3, None])
def test_other_endings_are_refused(path):
    with pytest.raises(ArgumentError, match=r"must end in \.npz, \.json or \.csv|must be a str"):
        example().save(path)
    with pytest.raises(ArgumentError, match=r"must end in \.npz, \.json or \.csv|must be a str"):
        Trajectory.load(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with pytest.raises(ArgumentError, match="there is no such file"):
        Trajectory.load(path)
    path.mkdir()
    with pytest.raises(ArgumentError, match="it is no file"):
        Trajectory.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files on this system")
def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(ArgumentError, match="it is no file"):
        Trajectory.load(tmp_path / "a.json")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_truncated_and_damaged_files_are_refused(tmp_path, suffix):
    path = example().save(tmp_path / f"a{suffix}")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in (0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:size])
        with pytest.raises(ArgumentError, match=r"a\.(npz|json|csv)"):
            Trajectory.load(path)
    for _ in range(200):  # any byte may be wrong: the file is read or refused, and nothing else happens
        bad = bytearray(whole)
        bad[rng.integers(len(bad))] = rng.integers(256)
        path.write_bytes(bad)
        try:
            Trajectory.load(path)
        except ArgumentError as error:
            assert path.name in str(error)


class Evil:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def archive(path, compression=zipfile.ZIP_STORED, **members):
    """A .npz file of arrays, or of the bytes of members."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, member in members.items():
            if not isinstance(member, bytes):
                stream = io.BytesIO()
                np.save(stream, member, allow_pickle=True)
                member = stream.getvalue()
            file.writestr(f"{name}.npy", member)
    return path


def header(shape, descr="<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


KNOTS, C = np.array([0.0, 1.0]), np.zeros((1, 2, 4))
ARCHIVES = {
    "pickled objects": ({"knots": np.array([Evil()], object), "coefficients": C}, "dtype object"),
    "a bare pickle": ({"knots": pickle.dumps(Evil()), "coefficients": C}, "not an archive of arrays"),
    "missing": ({"knots": KNOTS}, "coefficients missing"),
    "nothing": ({}, "knots and coefficients missing"),
    "whole numbers": ({"knots": np.array([0, 1]), "coefficients": C}, "must be float64"),
    "short numbers": ({"knots": KNOTS.astype("f4"), "coefficients": C}, "must be float64"),
    "text": ({"knots": np.array(["0", "1"]), "coefficients": C}, "must be float64"),
    "fields": ({"knots": np.zeros(2, [("a", "f8")]), "coefficients": C}, "must be float64"),
    "a huge shape": ({"knots": header((2**40, 2**40)), "coefficients": C}, "but 0 bytes"),
    "a negative shape": ({"knots": header((-1, -2)) + bytes(16), "coefficients": C}, "16 bytes of numbers"),
    "too many numbers": ({"knots": header((2,)) + bytes(24), "coefficients": C}, "but 24 bytes"),
    "wrong shapes": ({"knots": KNOTS, "coefficients": C[0]}, "do not fit"),
    "NaN": ({"knots": KNOTS, "coefficients": C + np.nan}, "is nan"),
    "infinity": ({"knots": KNOTS + np.inf, "coefficients": C}, r"knots\[0\] is inf"),
    "decreasing knots": ({"knots": -KNOTS, "coefficients": C}, "must not decrease"),
    "anchors without a robot": ({"knots": KNOTS, "coefficients": C, "anchors": np.zeros((1, 2))}, "robot"),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_hostile_archives_are_refused(tmp_path, case):
    members, message = ARCHIVES[case]
    with pytest.raises(ArgumentError, match=message) as error:
        Trajectory.load(archive(tmp_path / "a.npz", **members))
    assert "a.npz" in str(error.value)
    assert len(str(error.value)) < 400


def test_bombs_are_refused(tmp_path):
    """A file of some kilobytes that would unpack to a gigabyte is refused before anything is unpacked."""
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("knots.npy", "w") as member:
        member.write(header((2**22,)))
        for _ in range(32):
            member.write(bytes(2**20))
    with pytest.raises(ArgumentError, match="'knots' is compressed"):
        Trajectory.load(path)


def test_foreign_archives_are_read_if_they_fit(tmp_path):
    """Big-endian numbers, columns first, and members that we do not know."""
    x = example()
    path = archive(tmp_path / "a.npz", knots=x.knots.astype(">f8"), coefficients=np.asfortranarray(x.coefficients),
                   notes=np.array([Evil()], object))  # fmt: skip
    assert_same(Trajectory.load(path), x)


TEXTS = {
    "no object": ("[1, 2]", "must be an object"),
    "a shape with numbers": ('{"knots": {"shape": [9]}, "coefficients": [[[1]]]}', "shape of an empty array"),
    "a bad shape": ('{"knots": {"shape": [0, -1]}, "coefficients": [[[1]]]}', "not a file of a trajectory"),
    "no json": ("knots: 1", "not a file of a trajectory"),
    "NaN": ('{"knots": [0, NaN], "coefficients": [[[1]]]}', "NaN is no number"),
    "infinity": ('{"knots": [0, -Infinity], "coefficients": [[[1]]]}', "-Infinity is no number"),
    "overflow": ('{"knots": [0, 1e999], "coefficients": [[[1]]]}', r"knots\[1\] is inf"),
    "long number": ('{"knots": [0, %s], "coefficients": [[[1]]]}' % ("9" * 400), "lists of numbers"),
    "very long number": ('{"knots": [0, %s], "coefficients": [[[1]]]}' % ("9" * 9999), "not a file of a trajectory"),
    "text": ('{"knots": ["0", "1"], "coefficients": [[[1]]]}', "'knots' must be lists of numbers"),
    "truth": ('{"knots": [0, 1], "coefficients": [[[true]]]}', "'coefficients' must be lists of numbers"),
    "a number": ('{"knots": 1, "coefficients": [[[1]]]}', "'knots' must be lists of numbers"),
    "nothing": ('{"knots": null, "coefficients": [[[1]]]}', "'knots' must be lists of numbers"),
    "ragged": ('{"knots": [0, [1]], "coefficients": [[[1]]]}', "not a file of a trajectory"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "deep lists": ('{"knots": ' + "[" * 70 + "1" + "]" * 70 + ', "coefficients": [[[1]]]}', "a.json"),
    "missing": ('{"knots": [0, 1]}', "coefficients missing"),
    "decreasing": ('{"knots": [0, 2, 1], "coefficients": [[[1]], [[1]]]}', "must not decrease"),
    "shapes": ('{"knots": [0, 1], "coefficients": [[1]]}', "do not fit"),
    "latin": (b'{"knots": "\xff"}', "not a file of a trajectory"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_hostile_texts_are_refused(tmp_path, case):
    text, message = TEXTS[case]
    path = tmp_path / "a.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ArgumentError, match=message) as error:
        Trajectory.load(path)
    assert "a.json" in str(error.value)


TABLES = {
    "nothing": ("", "its columns must be"),
    "a header": ("start,stop,c_0_0\n", "each piece must start"),
    "other names": ("time,q\n0,1\n", "its columns must be"),
    "a column is missing": ("start,stop,c_0_0,c_1_1\n0,1,2,3\n", "its columns must be"),
    "many columns": ("start,stop,c_999999_999999\n0,1,2\n", "its columns must be"),
    "no number": ("start,stop,c_0_0\n0,1,x\n", "not a file of a trajectory"),
    "empty cells": ("start,stop,c_0_0\n0,1,\n", "not a file of a trajectory"),
    "too few cells": ("start,stop,c_0_0\n0,1\n", "a.csv:2: 2 cells, the header has 3"),
    "NaN": ("start,stop,c_0_0\n0,1,nan\n", "is nan"),
    "a gap": ("start,stop,c_0_0\n0,1,2\n1.5,2,2\n", "each piece must start where"),
    "backward": ("start,stop,c_0_0\n0,-1,2\n", "must not decrease"),
}


@pytest.mark.parametrize("case", TABLES)
def test_hostile_tables_are_refused(tmp_path, case):
    text, message = TABLES[case]
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ArgumentError, match=message) as error:
        Trajectory.load(tmp_path / "a.csv")
    assert "a.csv" in str(error.value)


def test_texts_of_absurd_size_are_refused(tmp_path):
    """They are not read: this one is a hole of two gigabytes."""
    for name in ("a.json", "a.csv"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**31)
        with pytest.raises(ArgumentError, match="too large"):
            Trajectory.load(tmp_path / name)


def test_files_that_others_write_are_read(tmp_path):
    """A line from 1 to 2 within 2 s, as someone would write it by hand."""
    (tmp_path / "a.json").write_text('{"knots": [0, 2], "coefficients": [[[1, 0.5]]], "author": "me"}')
    (tmp_path / "a.csv").write_text("start,stop,c_0_0,c_0_1\n0,2,1,0.5\n\n")
    for name in ("a.json", "a.csv"):
        assert_array_equal(Trajectory.load(tmp_path / name)([0.0, 2.0]).q, [[1.0], [2.0]])


# --- motions of a frame -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".json", ".csv"])
def test_motions_of_a_frame_come_back_to_the_last_bit(tmp_path, suffix):
    T = se3.exp([0.1, 0.2, 0.5, 0.3, 0.1, 0])
    for path in (
        aj.trajectory.line(np.eye(4), T, profile=quintic([0.0], [1.0], 2.0)),
        aj.trajectory.paul_lines([np.eye(4), T, T @ T], [1.0, 2.0], blend=0.1),
    ):
        again = aj.trajectory.PoseTrajectory.load(path.save(tmp_path / f"path{suffix}"))
        t = np.linspace(0, path.duration, 101)
        for found, expected in zip(again(t), path(t), strict=True):
            assert np.array_equal(found, expected)


def test_files_of_joints_are_no_motions_of_a_frame(tmp_path):
    joints = quintic([0.0, 1.0], [1.0, 0.0], 2.0).save(tmp_path / "joints.npz")
    with pytest.raises(ArgumentError, match="no motion of a frame"):
        aj.trajectory.PoseTrajectory.load(joints)
    frame = aj.trajectory.line(np.eye(4), se3.exp([0, 0, 0, 0.3, 0, 0]), 1.0)
    with pytest.raises(ArgumentError, match="anchors belong to joints"):
        Trajectory.load(frame.save(tmp_path / "frame.npz"))
    rows = np.array(frame.variables.rows)
    rows[..., 0] = -1.0  # the first pose mirrors
    np.savez(tmp_path / "bad.npz", knots=frame.knots, coefficients=frame.variables.coefficients, anchors=rows)
    with pytest.raises(ArgumentError, match=r"anchors.* is not a rigid motion"):
        aj.trajectory.PoseTrajectory.load(tmp_path / "bad.npz")
