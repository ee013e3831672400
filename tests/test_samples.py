"""Recordings in files: what is written is read, in one piece or many, and what is wrong is named with its line."""

import sys

import numpy as np
import pytest
from trees import tree

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.identification import Samples, identify, read_samples, stream_samples, write_samples

ROBOT = aj.robots.planar(2).replace(damping=[0.1, 0.2])
HEADER = "q_joint1,q_joint2,v_joint1,v_joint2,a_joint1,a_joint2,tau_joint1,tau_joint2"


def samples(robot=ROBOT, n: int = 50, time: bool = True) -> Samples:
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(2, n, robot.nv))
    q = aj.random_configuration(robot, rng, n)
    return Samples(q, v, a, rng.normal(size=(n, robot.nv)), np.arange(n) * 0.01 if time else None)


def same(one: Samples, other: Samples):
    for x, y in zip(one, other, strict=True):
        if x is None:
            assert y is None
        else:
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("robot", [ROBOT, tree(2, 5)], ids=["planar", "tree"])
def test_files_keep_every_bit(robot, suffix, tmp_path):
    for time in (True, False):
        whole = samples(robot, time=time)
        write_samples(tmp_path / f"x{suffix}", robot, whole)
        same(read_samples(tmp_path / f"x{suffix}", robot), whole)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_pieces_are_written_and_read(suffix, tmp_path):
    path, whole = tmp_path / f"x{suffix}", samples()
    write_samples(path, ROBOT, (Samples(*(x[k : k + 20] for x in whole)) for k in (0, 20, 40)))  # type: ignore[index]
    pieces = list(stream_samples(path, ROBOT, rows=15))
    assert max(len(piece.q) for piece in pieces) <= 15
    same(Samples(*map(np.concatenate, zip(*pieces, strict=True))), whole)


def test_identification_from_a_file(tmp_path):
    s = samples(n=300)._replace(time=None)
    s = s._replace(tau=aj.inverse_dynamics(ROBOT, *s[:3]) + 0.01 * s.tau)
    write_samples(tmp_path / "x.csv", ROBOT, s)
    np.testing.assert_allclose(
        identify(ROBOT, tmp_path / "x.csv").estimate, identify(ROBOT, s).estimate, rtol=0, atol=1e-12
    )


def test_velocities_may_be_missing(tmp_path):
    (tmp_path / "x.csv").write_text("tau_joint1,tau_joint2,q_joint1,note,q_joint2,time\n1,2,3,start,4,0\n5,6,7,,8,1\n")
    found = read_samples(tmp_path / "x.csv", ROBOT)
    assert found.v is None and found.a is None
    np.testing.assert_array_equal(found.q, [[3, 4], [7, 8]])
    np.testing.assert_array_equal(found.time, [0, 1])
    write_samples(tmp_path / "y.csv", ROBOT, found)
    same(read_samples(tmp_path / "y.csv", ROBOT), found)


def test_other_names_and_empty_cells(tmp_path):
    text = HEADER.replace("q_joint1", "base angle").replace("tau_joint2", "torque/2")
    (tmp_path / "x.csv").write_text(f"\ufeff{text}\n1,2,3,4,5,6,7,8\n\n1,2,,4,5,6,7,8\n", encoding="utf-8")
    found = read_samples(tmp_path / "x.csv", ROBOT, columns={"q_joint1": "base angle", "tau_joint2": "torque/2"})
    np.testing.assert_array_equal(found.v, [[3, 4], [np.nan, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\n1,2,3,4,5,6,7,8\n1,2,3,four,5,6,7,8\n", "x.csv:3: could not convert string to float: 'four'"),
        (f"{HEADER}\n1,2,3\n", "x.csv:2: 3 cells, the header has 8"),
        (HEADER.replace("q_joint2", "q2") + "\n", "x.csv: no column q_joint2; it has q_joint1, q2, "),
        (HEADER.replace("v_joint2", "v2") + "\n", "x.csv: no column v_joint2"),
        (f"{HEADER}\n", "x.csv: no samples"),
        ("", "x.csv: no column q_joint1, q_joint2; it has none"),
    ],
)
def test_bad_files_are_explained(text, message, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ArgumentError, match=message):
        read_samples(tmp_path / "x.csv", ROBOT)


def test_bad_requests_are_explained(tmp_path, monkeypatch):
    with pytest.raises(ArgumentError, match=r"x.txt must end in .csv or .parquet"):
        read_samples(tmp_path / "x.txt", ROBOT)
    with pytest.raises(FileNotFoundError, match=r"none.csv"):
        read_samples(tmp_path / "none.csv", ROBOT)
    with pytest.raises(ArgumentError, match="nq 2, nv 2, which the samples do not fit: q \\(50, 3\\)"):
        write_samples(tmp_path / "x.csv", ROBOT, samples(aj.robots.planar(3)))
    write_samples(tmp_path / "x.csv", ROBOT, samples())
    with pytest.raises(ArgumentError, match="q_elbow is none of ours, which are q_joint1"):
        read_samples(tmp_path / "x.csv", ROBOT, columns={"q_elbow": "x"})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ArgumentError, match=r"need pyarrow: pip install adjoint\[data\], or use .csv"):
        write_samples(tmp_path / "x.parquet", ROBOT, samples())
