"""How results show themselves: a line each, and tables for notebooks in which every text is escaped."""

import numpy as np
import pytest

import adjoint as aj
from adjoint import polymer
from adjoint.display import html_table, shapes
from adjoint.identification import Samples

T = np.linspace(0, 3, 61)
W = np.array([2.0, 3.0])
ROBOT = aj.robots.two_link().replace(name="<b>two & more</b>")


def recording() -> Samples:
    q, v, a = np.sin(np.outer(T, W)), np.cos(np.outer(T, W)) * W, -np.sin(np.outer(T, W)) * W**2
    return Samples(q, v, a, aj.inverse_dynamics(ROBOT, q, v, a), T)


def test_samples():
    assert repr(recording()) == (
        "<Samples: 61 states over 3 s at 20 Hz; q, v, a and tau (61, 2), time (61,) in SI units>"
    )
    assert repr(Samples([[0.0]], None, None, None)) == "<Samples: 1 states; q (1, 1) in SI units>"
    assert "Samples: 0 states" in repr(Samples(None, None, None, None))
    assert "q (no array)" in repr(Samples([[1], [2, 3]], None, None, None, ["a", "b"]))
    assert recording()._replace(slide=None) is not None and len(recording()) == 6  # it is a NamedTuple still


def test_identification_and_base_parameters():
    found = aj.identify(ROBOT, recording(), joints=(), noise=np.full(2, 1e-3))
    text = repr(found)
    assert f"{found.base.rank} base parameters from 61 samples, least R² 1.0000, condition " in text
    assert repr(found.base) == f"<BaseParameters of '{ROBOT.name}': {found.base.rank} of 20 parameters>"
    with_terms = aj.base_parameters(ROBOT, ("damping",))
    assert repr(with_terms).endswith("of 22 parameters, with damping>")
    for shown in (found._repr_html_(), with_terms._repr_html_()):
        assert "&lt;b&gt;two &amp; more&lt;/b&gt;" in shown and "<b>two" not in shown
        assert shown.count("<tr>") > found.base.rank


def test_excitation_and_motion():
    planned = aj.identification.excitation(ROBOT, 5.0, harmonics=2, joints=(), rounds=0)
    assert "5 s, 2 harmonics, condition " in repr(planned) and "uses position " in repr(planned)
    motion = aj.spline_motion(ROBOT, np.zeros(2), np.ones(2), 1.0)
    assert repr(motion).startswith(f"<Motion of '{ROBOT.name}': 1 s, effort ")
    assert motion._repr_html_().count("<tr>") == 3 and "&lt;b&gt;" in motion._repr_html_()


def test_polymer_and_its_trajectory():
    made = polymer.polypeptide("GAG")
    assert f"{len(made.atoms)} atoms in " in repr(made) and f"{made.masses.sum():.6g} Da, " in repr(made)
    q = np.tile(made.q, (3, 1))
    run = polymer.Trajectory(np.array([0.0, 0.5]), np.stack([q, q]), np.zeros((2, 3, made.robot.nv)))
    assert repr(run) == f"<Trajectory: 2 states of 3 replicas, t = 0 to 0.5; {shapes(q=run.q, v=run.v)}>"
    single = polymer.Trajectory(run.t, run.q[:, 0], run.v[:, 0])
    assert "2 states, t = 0 to 0.5" in repr(single)


def test_shapes_and_tables():
    assert shapes(a=np.zeros((2, 3)), b=[[1, 2, 3]] * 2, c=4.0, d=None) == "a and b (2, 3), c ()"
    assert shapes(a=[[1], [2, 3]]) == "a (no array)"
    table = html_table("<t>", ["<h>"], [("<c>", 1.23456789)] * 300, ["<n>"])
    assert "<c>" not in table and "<n>" not in table and "1.2346" in table and "... and 100 more" in table


@pytest.mark.parametrize("result", [Samples, polymer.Trajectory])
def test_a_repr_is_short(result):
    many = [np.zeros((1000, 30)) for _ in result._fields]
    if result is polymer.Trajectory:
        many[0] = np.arange(1000.0)
    assert len(repr(result(*many))) < 200
