"""Bounds of poses by linear programs: Taylor's example, play in holes, regions, and random deviations within them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.assembly_features import SQUARE, block, peg

from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import se3, so3
from adjoint.world.features import Feature, feature_frame
from adjoint.world.parts import cuboid
from adjoint.world.relations import (
    Tolerance,
    against,
    fit_clearance,
    fits,
    fixed_at,
    in_,
    on,
    placements,
    pose_bounds,
    solve_relations,
)


def bench() -> dict:
    return {"peg": peg(), "block": block()}


def seated():
    """The peg in the hole, on its floor: one spin is left."""
    return placements(bench(), "peg", [fits("peg.shaft", "block.hole"), against("peg.tip", "block.floor")])


def test_taylors_bound():
    """W8: tip = dx + L dθ with |dx| <= 0.5 mm, |dθ| <= 0.01, L = 100 mm is within ±1.5 mm; the same by hand."""
    held = placements({"tool": [Feature("grip", "face", np.eye(4))]}, "tool", fixed_at("tool.grip", np.eye(4)))
    loose = Tolerance(position=[0.0005, 0, 0], angle=[0, 0, 0.01])
    tip = pose_bounds(held, {"tool.grip": loose}, frame=[0, 0.1, 0])
    np.testing.assert_allclose(tip.upper, [0, 0, 0.01, 0.0015, 0, 0], atol=1e-12)
    np.testing.assert_allclose(tip.lower, -tip.upper, atol=1e-12)
    ends = [linprog(sign * np.array([1, 0.1]), bounds=[(-0.0005, 0.0005), (-0.01, 0.01)]).fun for sign in (1, -1)]
    np.testing.assert_allclose([tip.lower[3], -tip.upper[3]], ends, atol=1e-12)
    assert tip.remainder[1] >= 0.5 * 0.01**2 * 0.1


def test_a_peg_tilts_in_a_loose_hole():
    """A clearance c over the engaged length l lets the peg shift by c and tilt by 2 c / l."""
    found = seated()
    bounds = pose_bounds(found, limits={0: (0, 0)})
    c, l = 0.0005, 0.03
    assert fit_clearance(peg()[1], block()[2]) == pytest.approx(c)
    np.testing.assert_allclose(bounds.upper, [2 * c / l, 2 * c / l, 0, c, c, 0], atol=1e-12)
    np.testing.assert_allclose(bounds.lower, -bounds.upper, atol=1e-12)
    # The tip of a lever above the hole moves more.
    lever = pose_bounds(found, limits={0: (0, 0)}, frame=[0, 0, 0.1])
    assert lever.upper[3] == pytest.approx(c + 2 * c / l * (0.1 - l))
    tight = pose_bounds(found, play=False, limits={0: (0, 0)})
    assert np.abs(tight.upper).max() < 1e-12


def test_what_nothing_limits_has_no_bound():
    bounds = pose_bounds(seated())
    assert bounds.upper[2] == np.inf and bounds.lower[2] == -np.inf
    assert bounds.freedom_upper[0] == np.inf and np.isinf(bounds.remainder).all()
    assert np.isfinite(bounds.upper[[0, 1, 3, 4, 5]]).all()


@pytest.mark.slow
def test_a_polygon_around_the_circle_is_on_the_safe_side():
    """With few sides the bounds are wider, and never narrower than the true clearance in any direction."""
    c, found = 0.0005, seated()
    for sides in (3, 4, 5, 16, 64):
        for angle in (0.0, 0.3, 1.0):
            turned = se3.from_rotation_translation(so3.rotation_z(angle), [0, 0, 0])
            bounds = pose_bounds(found, sides=sides, frame=turned, limits={0: (0, 0)})
            assert bounds.upper[3] >= c - 1e-12
            assert bounds.upper[3] <= c / np.cos(np.pi / sides) + 1e-12


def test_a_ball_in_a_wider_socket():
    socket = Feature("socket", "socket", np.eye(4), radius=0.0205)
    found = placements({"peg": peg()}, "peg", fits("peg.ball", socket))
    bounds = pose_bounds(found, frame="peg.ball", limits={0: (0, 0), 1: (0, 0), 2: (0, 0)})
    np.testing.assert_allclose(bounds.upper[3:], 0.0005, atol=1e-12)


def test_a_face_on_a_region_and_a_part_in_a_box():
    """The middle of a face is inside of the outline; a small cube moves in its box by the difference of their sizes."""
    found = placements(bench(), "peg", on("peg.bottom", "block.top"))
    bounds = pose_bounds(found, limits={2: (0, 0)})
    np.testing.assert_allclose(bounds.upper, [0, 0, 0, 0.05, 0.05, 0], atol=1e-12)
    room = {"crate": cuboid(0.2, 0.2, 0.1), "cup": cuboid(0.1, 0.05, 0.04)}
    within = placements(room, "cup", [in_("cup", "crate"), fixed_at("cup", np.eye(4), relative_to="crate")])
    assert np.abs(pose_bounds(within).upper).max() < 1e-12
    free = placements(room, "cup", in_("cup", "crate"), starts=8)
    bounds = pose_bounds(free[0])
    corners = free.T_world_part[:3, :3] @ room["cup"].mesh.vertices.T
    room_left = np.array([0.1, 0.1, 0.05]) - np.abs(corners).max(axis=1)
    along_world = se3.from_rotation_translation(free.T_world_part[:3, :3].T, [0, 0, 0])
    shift = pose_bounds(free[0], frame=along_world, limits=dict.fromkeys(range(3, 6), (0, 0)))
    middle = free.T_world_part[:3, 3]
    np.testing.assert_allclose(shift.upper[3:] + middle, room_left, atol=1e-9)
    assert np.isfinite(bounds.upper).all()  # walls stop turns, too


def perturbed(feature: Feature, eta: np.ndarray) -> Feature:
    """The feature with its frame turned by eta[:3] and moved by eta[3:], along its own axes."""
    T = feature.T_part_feature @ se3.from_rotation_translation(so3.exp(eta[:3]), eta[3:])
    return Feature(feature.name, feature.kind, T, feature.radius, feature.length, feature.outline)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_deviations_stay_inside(seed):
    """Monte Carlo: features are moved within their tolerances; solved poses are within the bounds and remainder."""
    rng = np.random.default_rng(seed)
    faces = {
        name: Feature(name, "face", se3.random(rng=rng, scale=0.05) @ np.eye(4), outline=0.02 * SQUARE)
        for name in ("f1", "f2", "g1", "g2")
    }
    # Second frames such that both relations hold at one pose.
    T = se3.random(rng=rng, scale=0.1)
    M = np.diag([-1.0, 1, -1, 1])
    for k in "12":
        faces[f"g{k}"] = Feature(f"g{k}", "face", T @ faces[f"f{k}"].T_part_feature @ M)
    relations = [against("a.f1", "b.g1"), against("a.f2", "b.g2")]

    def solved(moves):
        features = {name: perturbed(face, moves.get(name, np.zeros(6))) for name, face in faces.items()}
        world = {"a": [features["f1"], features["f2"]], "b": [features["g1"], features["g2"]]}
        return placements(world, "a", relations, near=T, starts=1)

    nominal = solved({})
    # Angles of two pairs of faces cannot differ freely: only shifts may.
    tolerances = {"a.f1": Tolerance(position=1e-4), "b.g2": Tolerance(position=[2e-4, 0, 0])}
    limits = dict.fromkeys(range(nominal.dof), (0, 0))
    bounds = pose_bounds(nominal, tolerances, limits=limits, frame="a.f1")
    T0 = nominal.T_world_part
    for _ in range(10):
        moves = {
            "f1": np.array([0, 0, 0, *rng.uniform(-1e-4, 1e-4, 3)]),
            "g2": np.array([0, 0, 0, rng.uniform(-2e-4, 2e-4), 0, 0]),
        }
        found = solved(moves).nearest(T0)
        own = perturbed(faces["f1"], moves["f1"]).T_part_feature
        V = se3.log(np.linalg.inv(bounds.T_world_frame) @ found @ own)
        slack = np.repeat(bounds.remainder, 3) + 1e-7
        assert (bounds.lower - slack <= V).all() and (bounds.upper + slack >= V).all()


@pytest.mark.slow
def test_random_play_stays_inside():
    """Random pegs whose ends are in the circle of the clearance: poses are within the bounds and the remainder."""
    rng = np.random.default_rng(0)
    found = seated()
    bounds = pose_bounds(found, limits={0: (-0.1, 0.1)}, frame=[0, 0, 0.08])
    c, l = 0.0005, 0.03
    for _ in range(200):
        ends = rng.uniform(-c, c, (2, 2))
        ends /= np.maximum(np.linalg.norm(ends, axis=1) / c, 1)[:, None]
        z = np.array([*(ends[1] - ends[0]), l])
        z /= np.linalg.norm(z)
        x = np.cross([0, 1, 0], z)
        x /= np.linalg.norm(x)
        R = np.column_stack([x, np.cross(z, x), z]) @ so3.rotation_z(rng.uniform(-0.1, 0.1))
        T = se3.from_rotation_translation(R, [*ends[0], 0.02])
        V = se3.log(np.linalg.inv(bounds.T_world_frame) @ T @ se3.from_rotation_translation(np.eye(3), [0, 0, 0.08]))
        slack = np.repeat(bounds.remainder, 3)
        assert (bounds.lower - slack <= V).all() and (bounds.upper + slack >= V).all()
    # The bounds are not idle: some peg comes near to each of them.
    assert bounds.upper[3] == pytest.approx(c + 2 * c / l * (0.08 - l), rel=0.02)


@pytest.mark.slow
def test_tolerances_add_up_along_a_stack():
    """Three cubes on each other, with ±0.1 mm for three of their faces: the last is within ±0.3 mm."""
    cube = [Feature("top", "face", feature_frame([0, 0, 0.1], [0, 0, 1])),
            Feature("bottom", "face", feature_frame([0, 0, 0], [0, 0, -1]))]  # fmt: skip
    names = ["a", "b", "c"]
    relations = [against("a.bottom", Feature("floor", "face", feature_frame([0, 0, 0], [0, 0, 1])))]
    relations += [against("b.bottom", "a.top"), against("c.bottom", "b.top")]
    stack = solve_relations(dict.fromkeys(names, cube), names, relations)
    along_x = Tolerance(position=[1e-4, 0, 0])  # the x axis of a face is its normal
    loose = dict.fromkeys(["a.top", "b.top", "c.bottom"], along_x)
    bounds = pose_bounds(stack, loose, part="c", frame=[0.3, 0.2, 0.1])
    assert bounds.upper[5] == pytest.approx(3e-4) and bounds.lower[5] == pytest.approx(-3e-4)


def test_bad_input():
    found = seated()
    with pytest.raises(ArgumentError, match=r"no relation names feature 'peg\.shift'; did you mean 'peg\.shaft'"):
        pose_bounds(found, {"peg.shift": Tolerance(1e-3)})
    with pytest.raises(ArgumentError, match="must be a Tolerance"):
        pose_bounds(found, {"peg.shaft": 0.1})
    with pytest.raises(ArgumentError, match="0 or more"):
        Tolerance(position=-1e-3)
    with pytest.raises(ArgumentError, match="finite"):
        Tolerance(angle=np.nan)
    with pytest.raises(ArgumentError, match="must be placements"):
        pose_bounds(np.eye(4))
    with pytest.raises(ArgumentError, match="names freedom 3"):
        pose_bounds(found, limits={3: (0, 1)})
    with pytest.raises(ArgumentError, match="wrong order"):
        pose_bounds(found, limits={0: (1, 0)})
    with pytest.raises(ArgumentError, match="is not placed"):
        pose_bounds(found, part="block")
    with pytest.raises(ArgumentError, match="sides must be 3"):
        pose_bounds(found, sides=2)
    far = placements(
        bench(), "peg", fits("peg.shaft", "block.hole"), near=se3.from_rotation_translation(np.eye(3), [0, 0, 1])
    )
    with pytest.raises(ArgumentError, match="not in the hole at the nominal pose"):
        pose_bounds(far)
    with pytest.raises(SolveError, match="too thick"):
        fit_clearance(peg()[1], block()[4])
    with pytest.raises(ArgumentError, match="two features"):
        fit_clearance(0.01, block()[4])
