"""Recordings in files: what is written is read, in one piece or many, and what is wrong is named with its line."""

import sys

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from support.trees import tree

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.identification import Samples, identify, read_samples, stream_samples, write_samples
from adjoint.identification.data import pick

ROBOT = aj.robots.planar(2).replace(damping=[0.1, 0.2])
HEADER = "q_joint1,q_joint2,v_joint1,v_joint2,a_joint1,a_joint2,tau_joint1,tau_joint2"


def samples(robot=ROBOT, n: int = 50, time: bool = True) -> Samples:
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(2, n, robot.nv))
    q = aj.random_configuration(robot, n, rng=rng)
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
    write_samples(path, ROBOT, (pick(whole, slice(k, k + 20)) for k in (0, 20, 40)))
    pieces = list(stream_samples(path, ROBOT, rows=15))
    assert max(len(piece.q) for piece in pieces) <= 15
    same(read_samples(path, ROBOT), whole)
    np.testing.assert_array_equal(np.concatenate([piece.q for piece in pieces]), whole.q)


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
        (f"{HEADER}\n1,2,3\n", "x.csv:2: 3 cells, the header has 8: the row is cut off"),
        (f"{HEADER}\n1;2;3;4;5;6;7;8\n", "x.csv:2: 1 cells, the header has 8: are they separated by another mark?"),
        (f"{HEADER}\n0,5,2,3,4,5,6,7,8\n", "x.csv:2: 9 cells, the header has 8 .decimal commas need"),
        (f'{HEADER},x,y\n1,2,3,4,5,6,7,8,"a,b"\n', "x.csv:2: 9 cells, the header has 10"),
        (f"{HEADER}\n\n\n", "x.csv: no samples"),
        (f"{HEADER},q_joint2\n1,2,3,4,5,6,7,8,9\n", "x.csv: column q_joint2 is there twice"),
        (HEADER.replace("q_joint2", "q_jonit2") + "\n", "x.csv: no column q_joint2; did you mean 'q_jonit2'"),
        ("q_joint1,q_joint2,tau_joint1,tau_joint2,t\n", "no column time, which is needed where v or a is missing"),
        (HEADER.replace("v_joint2", "v2") + "\n", "x.csv: no column v_joint2"),
        (f"{HEADER}\n", "x.csv: no samples"),
        ("0.1,0.2,0.3\n1,2,3\n", "x.csv: its first line has numbers; it must name the columns: q_joint1, q_joint2"),
        (f"{HEADER}\n".replace(",", ";") + "1,2;3;4;5;6;7;8,5;9;1\n", "x.csv:2: 9 cells, the header has 8"),
        (f"{HEADER}\n".replace(",", ";") + "1.2,5;3;4;5;6;7;8,5;9\n", "x.csv:2: could not convert"),
        ("", "x.csv: no column q_joint1, q_joint2, tau_joint1, tau_joint2, time.*; it has no others"),
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
    with pytest.raises(ArgumentError, match="rows must be 1 or more"):
        next(stream_samples(tmp_path / "x.csv", ROBOT, rows=0))
    write_samples(tmp_path / "x.csv", ROBOT, samples())
    with pytest.raises(ArgumentError, match="'q_join1' is none of ours; did you mean 'q_joint1'"):
        read_samples(tmp_path / "x.csv", ROBOT, columns={"q_join1": "x"})
    with pytest.raises(ArgumentError, match="column q_joint1 is there twice, or meant twice by `columns`"):
        read_samples(tmp_path / "x.csv", ROBOT, columns={"q_joint2": "q_joint1"})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ArgumentError, match=r"CSV files need nothing.* needs pyarrow: pip install 'adjoint\[data\]'"):
        write_samples(tmp_path / "x.parquet", ROBOT, samples())


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_that_are_no_recordings_are_named(suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    for junk in (b"\x89PNG\x00\xff\xfe\x00", b"\x00" * 100, f"{HEADER}\n1,2,3,4,5,6,7,\u00e4\n".encode("latin-1")):
        path.write_bytes(junk)
        with pytest.raises(ArgumentError, match=f"x{suffix}: "):
            read_samples(path, ROBOT)


@pytest.mark.parametrize("column", [["one"] * 3, [[1.0]] * 3])
def test_parquet_columns_that_are_no_numbers_are_named(column, tmp_path):
    table = {name: [1.0] * 3 for name in HEADER.split(",")} | {"q_joint1": column}
    parquet.write_table(pyarrow.table(table), tmp_path / "x.parquet")
    with pytest.raises(ArgumentError, match=r"x.parquet: not a file of numbers"):
        read_samples(tmp_path / "x.parquet", ROBOT)


def broken(pieces, then: Exception):
    yield from pieces
    raise then


WHOLE = samples()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("pieces", "error", "message"),
    [
        (
            lambda: [WHOLE, WHOLE._replace(v=None)],
            ArgumentError,
            "a piece has q, a, tau, time; the first one had q, v, a",
        ),
        (lambda: [WHOLE, WHOLE._replace(v=None, slide=WHOLE.v)], ArgumentError, "a piece has q, a, tau, time, slide"),
        (
            lambda: WHOLE._replace(v=WHOLE.v[:, :1], a=np.zeros((50, 3))),
            ArgumentError,
            r"v has shape \(50, 1\), it needs",
        ),
        (lambda: WHOLE._replace(tau=WHOLE.tau[:-1]), ArgumentError, r"tau has shape \(49, 2\), it needs \(50, 2\)"),
        (lambda: WHOLE._replace(tau=[["a", "b"]]), ArgumentError, "tau must be numbers"),
        (lambda: samples(aj.robots.planar(3)), ArgumentError, r"q has shape \(50, 3\), it needs \(50, 2\)"),
        (lambda: [1, 2], ArgumentError, "expected Samples.*got int"),
        (lambda: 5, ArgumentError, "expected Samples.*got int"),
        (lambda: [], ArgumentError, "no samples to write"),
        (lambda: broken([WHOLE], KeyError("sensor")), KeyError, "sensor"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(pieces, error, message, suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    write_samples(path, ROBOT, WHOLE)
    with pytest.raises(error, match=message):
        write_samples(path, ROBOT, pieces())
    same(read_samples(path, ROBOT), WHOLE)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_may_be_written_from_itself(suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    write_samples(path, ROBOT, WHOLE)
    write_samples(path, ROBOT, (s._replace(tau=2 * s.tau) for s in stream_samples(path, ROBOT, rows=7)))
    same(read_samples(path, ROBOT), WHOLE._replace(tau=2 * WHOLE.tau))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_decimal_commas(separator, tmp_path):
    rows = ["1,5", "2", "3", "4,25", "5", "6", "7", "8"], ["-1,5e-3", "", "3", "4", "5", "6", "7", "8"]
    text = "\n".join(separator.join(row) for row in (HEADER.split(","), *rows))
    (tmp_path / "x.csv").write_text(text)
    found = read_samples(tmp_path / "x.csv", ROBOT)
    np.testing.assert_array_equal(found.q, [[1.5, 2], [-0.0015, np.nan]])
    assert found.v[0, 1] == 4.25
    (tmp_path / "y.csv").write_text(text.replace(",", "."))  # the fast way
    same(read_samples(tmp_path / "y.csv", ROBOT), found)


def test_thousands_are_no_decimals(tmp_path):
    (tmp_path / "x.csv").write_text(f'{HEADER}\n"1,234",2,3,4,5,6,7,8\n')
    with pytest.raises(ArgumentError, match="could not convert string to float: '1,234'"):
        read_samples(tmp_path / "x.csv", ROBOT)


def test_a_rate_is_the_time_of_files_without(tmp_path):
    names = "q_joint1,q_joint2,tau_joint1,tau_joint2"
    (tmp_path / "x.csv").write_text(names + "\n" + "1,2,3,4\n" * 7)
    with pytest.raises(ArgumentError, match=r"no column time, .* or rate=... \[Hz\]"):
        read_samples(tmp_path / "x.csv", ROBOT)
    found = read_samples(tmp_path / "x.csv", ROBOT, rate=100.0)
    np.testing.assert_allclose(found.time, np.arange(7) / 100)
    pieces = list(stream_samples(tmp_path / "x.csv", ROBOT, rate=100.0, rows=3))
    np.testing.assert_allclose(np.concatenate([piece.time for piece in pieces]), found.time)
    for rate in (0, "fast", np.nan):
        with pytest.raises(ArgumentError, match="rate"):
            read_samples(tmp_path / "x.csv", ROBOT, rate=rate)
    (tmp_path / "x.csv").write_text(f"{names},time\n1,2,3,4,5\n")
    with pytest.raises(ArgumentError, match="`rate` is for files that have none"):
        read_samples(tmp_path / "x.csv", ROBOT, rate=100.0)


def test_damaged_parquet_files_are_named(tmp_path):
    path, rng = tmp_path / "x.parquet", np.random.default_rng(0)
    write_samples(path, ROBOT, samples())
    good = path.read_bytes()
    for k in range(60):
        bad = bytearray(good)
        if k % 2:
            del bad[rng.integers(len(bad)) :]
        for _ in range(4):
            bad[rng.integers(len(bad))] = rng.integers(256)
        path.write_bytes(bad)
        try:
            read_samples(path, ROBOT)
        except ArgumentError as error:
            assert "x.parquet" in str(error)


def test_paths_are_paths():
    for path in (3, None, b"x.csv", ["x.csv"]):
        with pytest.raises(ArgumentError, match="path must be a str or os"):
            read_samples(path, ROBOT)
