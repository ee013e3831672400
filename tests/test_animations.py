"""Animations of runs: what is drawn stands where the robot is, and a page holds all it needs."""

import numpy as np
import pytest
from PIL import Image, ImageSequence
from support.pages import configurations_of, data_of

import adjoint as aj
from adjoint.drawing.actors import Actor
from adjoint.drawing.scenes import scene_of, stage_of
from adjoint.drawing.skeletons import skeleton
from adjoint.errors import ArgumentError
from adjoint.simulation import animate, payload, simulate
from adjoint.simulation.run_actors import actor_of_run

PUMA = aj.robots.puma560()
START = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
TIMES = {"duration": 0.2, "dt": 0.001, "record": 10}
RUN = simulate(PUMA, q=START, **TIMES)


def actor_of(run, times) -> Actor:
    return actor_of_run(run, "some", np.asarray(times), "Run.animate")


# --- robots as points -------------------------------------------------------------------------------------------------


def test_points_of_a_puma():
    """Its shoulder is beside the column, at the height of joint 2; links have the lengths of the published table."""
    points, links, tips, base = skeleton(PUMA, START)
    lengths = {(a, b): np.linalg.norm(points[a] - points[b]) for a, b in links}
    wrist = np.hypot(0.43307, 0.02032)
    expected = {(base, 0): 0.0, (0, 1): 0.14909, (1, 2): 0.4318, (2, 3): wrist, (3, 4): 0.0, (4, 5): 0.05625}
    for link, length in expected.items():
        assert lengths[link] == pytest.approx(length, abs=1e-12)
    np.testing.assert_allclose(points[tips[0]], aj.forward_kinematics(PUMA, START, "tool")[:3, 3], atol=1e-12)


def test_lengths_of_links_do_not_change():
    q = aj.random_configuration(PUMA, 50, rng=0)
    points, links, _, _ = skeleton(PUMA, q)
    lengths = np.stack([np.linalg.norm(points[:, a] - points[:, b], axis=-1) for a, b in links])
    np.testing.assert_allclose(lengths, lengths[:, :1] * np.ones(50), atol=1e-12)


def test_a_free_robot_is_not_tied_to_its_base():
    free = aj.robots.random_tree(0, 1, ["free"])
    points, links, tips, base = skeleton(free, aj.random_configuration(free, rng=0))
    assert base is None and links == [(0, tips[0])] and np.isfinite(points).all()


@pytest.mark.parametrize("seed", range(5))
def test_trees_are_connected(seed):
    """Every point but the base is the end of one link, and links come after those that lead to them."""
    tree = aj.robots.random_tree(seed, 12)
    points, links, _, base = skeleton(tree, aj.random_configuration(tree, 3, rng=seed))
    ends = [b for _, b in links]
    assert len(ends) == len(set(ends)) and base not in ends
    assert all(a == base or a not in ends or ends.index(a) < k for k, (a, _) in enumerate(links))
    assert np.isfinite(points).all()


def test_gravity_points_down():
    """A double pendulum of the book swings in the plane of x and y, with gravity along -y: up is z in the picture."""
    swinging = aj.robots.two_link()
    run = simulate(swinging, q=[-np.pi / 2, 0.0], **TIMES)
    scene = scene_of(actor_of(run, [0.0]))
    tip = scene.points[0, 0, scene.tips[0]]
    down = swinging.gravity / np.linalg.norm(swinging.gravity)
    place = aj.forward_kinematics(swinging, run.q[0], swinging.frame_names[-1])[:3, 3]
    assert tip[2] == pytest.approx(-place @ down, abs=1e-12)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_load_waits_is_carried_and_stays():
    held = payload("tool", 2.0, com=(0, 0, 0.1), start=0.05, end=0.15)
    run = simulate(PUMA, q=START, changes=held, **TIMES)
    times = np.array([0.0, 0.05, 0.1, 0.15, 0.2])
    centers, radii = scene_of(actor_of(run, times)).balls[0]
    at = np.searchsorted(run.t, np.array([0.05, 0.05, 0.1, 0.15, 0.15]) - 1e-9)
    T = aj.forward_kinematics(PUMA, run.q[at], "tool")
    np.testing.assert_allclose(centers[0], T[:, :3, 3] + 0.1 * T[:, :3, 2], atol=1e-12)
    assert radii.shape == (1,) and radii[0] > 0


def test_loads_of_a_batch_have_their_own_sizes():
    run = simulate(PUMA, q=START, changes=payload("tool", 1.0).replace(mass=np.array([1.0, 8.0])), **TIMES)
    _, radii = actor_of(run, run.t[:1]).balls[0]
    assert radii[1] == pytest.approx(2 * radii[0])


def test_a_run_that_is_lost_stays_where_it_was():
    q = np.stack([START, np.full(6, np.nan), START + 0.1])
    run = simulate(PUMA, q=q, **TIMES)
    actor = actor_of(run, run.t)
    assert actor.q.shape[0] == 2 and np.isfinite(actor.q).all()
    with pytest.raises(ArgumentError, match="finite"):
        actor_of(run[1], run.t)


def test_the_stage_holds_the_robot():
    scene = scene_of(actor_of(RUN, RUN.t))
    floor, middle, reach = stage_of([scene])
    assert (np.abs(scene.points - middle) <= reach + 1e-12).all() and scene.points[..., 2].min() >= floor


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_page_has_the_motion(tmp_path):
    """The page has the configurations of the first 50 runs, and curves of the first."""
    many = simulate(PUMA, q=START + np.linspace(0, 0.1, 60)[:, None], **TIMES)
    page = animate({"one": RUN, "many": many}, tmp_path / "both.html", frames_per_second=50).read_text(encoding="utf-8")
    data = data_of(page)
    one, more = data["actors"]
    assert (one["name"], one["runs"], more["runs"], one["frames"]) == ("one", 1, 50, 11)
    for number, run in enumerate((RUN, many)):
        q = run.q.reshape(-1, *run.q.shape[-2:])[:50, ::2]
        np.testing.assert_allclose(configurations_of(data, number), q, atol=1e-6)
    names = [curve["name"] for curve in one["curves"]]
    assert names == ["positions", "velocities"] and one["curves"][1]["labels"] == list(PUMA.joint_names)
    np.testing.assert_allclose(one["curves"][1]["values"].reshape(11, 6), RUN.v[::2], atol=1e-6)
    assert RUN.animate(tmp_path / "one.html").stat().st_size < 200_000


@pytest.mark.slow
def test_a_gif_has_all_frames(tmp_path):
    held = simulate(PUMA, q=START + np.zeros((3, 1)), changes=payload("tool", 1.0), **TIMES)
    with Image.open(held.animate(tmp_path / "a.gif", frames_per_second=20)) as film:
        assert (len(list(ImageSequence.Iterator(film))), film.size) == (5, (500, 500))


def test_bad_input(tmp_path):
    for runs in ({}, RUN, [RUN]):
        with pytest.raises(ArgumentError, match="animate: runs must be a dictionary"):
            animate(runs, tmp_path / "a.html")
    with pytest.raises(ArgumentError, match=r"animate: runs\['a'\] must be a Run"):
        animate({"a": 1}, tmp_path / "a.html")
    with pytest.raises(ArgumentError, match=r"animate: .*\.gif or \.html"):
        animate({"a": RUN}, tmp_path / "a.mp4")
    with pytest.raises(ArgumentError, match="frames_per_second"):
        RUN.animate(tmp_path / "a.html", frames_per_second=0.0)
    assert not list(tmp_path.iterdir())
