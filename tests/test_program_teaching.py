"""Teach and playback, and frames that an arm points at."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.program.instructions import Assign, Move, MoveHand, Name
from adjoint.program.languages import parse, to_text
from adjoint.program.meaning import evaluate
from adjoint.program.teaching import (
    Lesson,
    declare_frames,
    lesson_from_json,
    lesson_trajectory,
    pointed_frame,
)
from adjoint.program.teaching.pointed_frames import frame_formula

Q = np.radians([[0, -45, 90, 0, 45, 0], [20, -40, 80, 0, 50, 0], [40, -50, 100, 10, 40, 0], [10, -30, 60, 0, 60, 0]])


class Nothing:
    """A scope without variables, arms and sensors."""

    def value(self, name):
        raise KeyError(name)

    def here(self, arm, joints):
        raise KeyError(arm)

    def reading(self, reading, number):
        raise KeyError(reading)


def test_edits_of_a_lesson():
    lesson = Lesson("arm").record(Q[0]).record(Q[1], stops=False).record(Q[2], width=0.02)
    assert [p.q for p in lesson.insert(1, Q[3]).points] == [tuple(Q[k]) for k in (0, 3, 1, 2)]
    assert lesson.insert(1, Q[3]).delete(1) == lesson and lesson.delete(-1).delete(-1) == Lesson("arm").record(Q[0])
    assert lesson.replace_point(0, q=Q[3]).points[0].q == tuple(Q[3])
    assert lesson.insert(3, Q[3]).points[3].q == tuple(Q[3])
    assert len(lesson.points) == 3  # edits leave the lesson alone


@given(st.lists(st.tuples(st.lists(st.floats(-3, 3), min_size=2, max_size=2), st.booleans(), st.text(max_size=5))))
def test_a_lesson_survives_json(points):
    lesson = Lesson("arm")
    for q, stops, name in points:
        lesson = lesson.record(q, stops=stops, name=name)
    assert lesson_from_json(lesson.to_json()) == lesson


def test_a_lesson_as_a_program():
    lesson = Lesson("arm").record(Q[0], width=0.05).record(Q[1], stops=False).record(Q[2], width=0.02).record(Q[3])
    program = lesson.program(speed=0.25)
    moves = [s for s in program.statements if isinstance(s, Move)]
    hands = [s for s in program.statements if isinstance(s, MoveHand)]
    assert [len(m.via) for m in moves] == [0, 1, 0] and [h.opens for h in hands] == [True, False]
    np.testing.assert_array_equal(evaluate(moves[1].to, Nothing()), Q[2])
    np.testing.assert_array_equal(evaluate(moves[1].via[0], Nothing()), Q[1])
    assert all(evaluate(m.speed, Nothing()) == 0.25 for m in moves if m.speed is not None)


def test_a_lesson_as_one_motion():
    robot = aj.robots.puma560()
    lesson = Lesson("arm").record(Q[0]).record(Q[1]).record(Q[1]).record(Q[2]).record(Q[3])
    quick, slow = lesson_trajectory(lesson, robot), lesson_trajectory(lesson, robot, speed=0.5)
    times = np.linspace(0, quick.duration, 2001)
    way = quick(times).q
    for q in Q:  # all points are passed, at most a step of the samples beside them
        assert np.abs(way - q).max(axis=1).min() < 2e-3
    np.testing.assert_allclose([way[0], way[-1]], Q[[0, 3]], atol=1e-9)
    assert slow.duration > 1.5 * quick.duration
    limits = np.where(np.isfinite(robot.velocity_limit), robot.velocity_limit, 1.0)
    assert (np.abs(quick(times).v) <= limits * (1 + 1e-3)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.record([0, np.nan]), "finite numbers"),
        (lambda x: x.record("ab"), "finite numbers"),
        (lambda x: x.record([0, 1, 2]), "has 3 numbers, and other points have 6"),
        (lambda x: x.record(Q[0], width=-1.0), "0 or more"),
        (lambda x: x.delete(5), "there is no point 5; the lesson has 1"),
        (lambda x: x.replace_point(0, speed=1), "not speed|has no speed"),
        (lambda x: x.program(speed=2), "at most 1"),
        (lambda x: Lesson().program(), "no points"),
        (lambda x: lesson_trajectory(x, aj.robots.puma560()), "two points"),
        (lambda x: lesson_from_json("[1]"), "no lesson"),
        (lambda x: lesson_from_json("{" * 10_000), "no lesson"),
        (lambda x: lesson_from_json(json.dumps({"points": [{}], "robot": ""})), "no lesson"),
    ],
)
def test_bad_lessons_are_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(Lesson("arm").record(Q[0]))


@pytest.mark.parametrize("unit", ["inch", "mm", "m"])
def test_formulas_of_poses_give_the_poses(unit):
    rng = np.random.default_rng(3)
    turns = [np.eye(3), se3.exp([0, 0, np.pi / 2, 0, 0, 0])[:3, :3], se3.exp([-np.pi / 3, 0, 0, 0, 0, 0])[:3, :3]]
    turns += [se3.exp(rng.normal(size=6))[:3, :3] for _ in range(20)]
    turns += [se3.exp([0, np.pi, 0, 0, 0, 0])[:3, :3]]
    for R in turns:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, rng.normal(size=3)
        # Twelve decimals of degrees and units are written.
        np.testing.assert_allclose(evaluate(frame_formula(T, unit=unit), Nothing()), T, atol=1e-11)


def test_pointed_frames_become_declarations():
    robot = aj.robots.puma560()
    world = aj.world.World().add_robot("puma", robot, at=[0.5, 0.0, 0.4])
    pointer = np.array([0.01, 0.0, 0.05])
    T = pointed_frame(world, "puma", Q[:3], pointer=pointer)
    tool = f"puma.{world.robots['puma'].tool}"
    tips = [(world.set_configuration("puma", q).pose(tool) @ np.append(pointer, 1))[:3] for q in Q[:3]]
    seen = [(np.linalg.inv(T) @ np.append(p, 1))[:3] for p in tips]
    np.testing.assert_allclose(seen[0], 0, atol=1e-12)
    np.testing.assert_allclose(seen[1][1:], 0, atol=1e-12)
    assert seen[1][0] > 0 and abs(seen[2][2]) < 1e-12 and seen[2][1] > 0
    program = declare_frames({"bolt": T, "bore": np.eye(4)}, unit="mm")
    assert [s.target for s in program.statements] == [Name("bolt"), Name("bore")]  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="'lisp' has no frames"):
        declare_frames({"a": T}, language="lisp")
    with pytest.raises(ArgumentError, match="no robot 'pmua'"):
        pointed_frame(world, "pmua", Q[:3])
    with pytest.raises(ArgumentError, match=r"\(3, 6\)"):
        pointed_frame(world, "puma", Q)
    with pytest.raises(ArgumentError, match="a unit in m is needed"):
        declare_frames({"a": T}, unit="deg")


@pytest.mark.parametrize("language", ["al", "val", "aml"])
def test_declarations_of_frames_are_read_again_in_every_language(language):
    """From poses to text, and back to the same poses, on the arm that needs them."""
    rng = np.random.default_rng(4)
    poses = {f"F{k}": se3.exp(np.append(rng.uniform(-1.5, 1.5, 3), rng.normal(size=3))) for k in range(5)}
    program = declare_frames(poses, language=language, unit="mm")
    text = to_text(program)
    read = parse(text, language)
    for statement, T in zip([s for s in read.statements if isinstance(s, Assign)], poses.values(), strict=True):
        value = evaluate(statement.value, Nothing())
        if language == "aml":  # an aggregate <position in inches, rotation>
            assert isinstance(value, tuple)
            found = np.eye(4)
            found[:3, 3], found[:3, :3] = np.array(value[0]) * 0.0254, value[1]
        else:
            found = value
        np.testing.assert_allclose(found, T, atol=1e-11)
