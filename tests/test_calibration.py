"""Calibration: slopes are exact, a wrong arm is found to the bound of Cramér and Rao, and what is unseen is named."""

import functools
import json
import warnings

import numpy as np
import pytest
from scipy import stats
from support.robots import urdf
from support.trees import close, tree

import adjoint as aj
from adjoint.calibration import (
    Distances,
    OnPlane,
    OnSphere,
    Poses,
    Positions,
    calibrate,
    choose_poses,
    fit,
    read_measurements,
    write_measurements,
)
from adjoint.calibration.chain import distance_rows, placement, plane_rows, point_rows, pose_rows
from adjoint.calibration.measured import as_reading
from adjoint.calibration.parameters import FAMILIES, changes, chosen, first_numbers, make_chain, updated
from adjoint.calibration.robust import loss_of
from adjoint.errors import ArgumentError
from adjoint.lie import se3

ROTATION, POSITION = 1e-4, 1e-4  # [rad], [m], the noise of poses
SIGMA = np.repeat([ROTATION, POSITION], 3)
MINIMAL = ("screws", "tool")  # 4 parameters for each joint that turns, and 6: none is redundant
POINT = [0.1, 0.05, 0.2]  # [m], a point of the tool away from the last axis


@functools.cache
def arm(name: str) -> tuple[aj.Robot, str]:
    """(the model, the frame that is measured)."""
    if name == "ur5":
        return aj.load(urdf("ur5_robot")), "tool0"
    return getattr(aj.robots, name)(), "tool"


def wrong(robot: aj.Robot, seed: int = 0, size: float = 3e-3) -> aj.Robot:
    """The true robot, whose bodies and frames are some mrad and mm from where the model has them."""
    rng = np.random.default_rng(seed)
    frames = tuple(f._replace(placement=f.placement @ se3.exp(size * rng.normal(size=6))) for f in robot.frames)
    moved = robot.placements @ se3.exp(size * rng.normal(size=(len(robot.body_names), 6)))
    return robot.replace(placements=moved, frames=frames)


def poses(robot: aj.Robot, frame: str, n: int, seed: int = 1, noise=SIGMA) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = aj.random_configuration(robot, n, rng=rng)
    return q, aj.forward_kinematics(robot, q, frame) @ se3.exp(noise * rng.normal(size=(n, 6)))


def at(T: np.ndarray, point=POINT) -> np.ndarray:
    return T[..., :3, :3] @ np.array(point) + T[..., :3, 3]


def prediction_error(found, robot: aj.Robot, point=(0, 0, 0), n: int = 50) -> float:
    """The largest distance [m] between predicted and true positions of a point of the tool, at other poses."""
    q = aj.random_configuration(robot, n, rng=99)
    want = aj.forward_kinematics(robot, q, found.frame)
    return float(np.linalg.norm(at(found.predict(q), point) - at(want, point), axis=1).max())


# --- slopes -----------------------------------------------------------------------------------------------------------


def mixed_arm() -> aj.Robot:
    """Joints that turn, slide and do both, and one that follows the first; the tool is away from all axes."""
    rng = np.random.default_rng(3)
    builder = aj.Robot.builder("mixed").link("base")
    kinds = ["revolute", "prismatic", "helical", "revolute", "revolute"]
    for k, kind in enumerate(kinds):
        axis, options = rng.normal(size=3), {"pitch": 0.1} if kind == "helical" else {}
        options |= {"mimic": ("j0", -0.5, 0.2)} if k == 3 else {}
        builder.link(f"l{k}").joint(
            f"j{k}",
            kind,
            "base" if k == 0 else f"l{k - 1}",
            f"l{k}",
            se3.exp(0.5 * rng.normal(size=6)),
            axis=axis,
            **options,
        )
    return builder.frame("tool", "l4", se3.exp(0.5 * rng.normal(size=6))).build()


KINDS = {
    "pose": (pose_rows, lambda T: Poses(T)),
    "points": (point_rows, lambda T: Positions(np.stack([at(T), at(T, [0, 0, 0])], axis=1), [POINT, [0, 0, 0]])),
    "distance": (distance_rows, lambda T: Distances(np.linalg.norm(at(T), axis=1), [0.3, 0.1, 0.2], POINT)),
    "sphere": (distance_rows, lambda T: OnSphere([0.3, 0.1, 0.2], None, POINT)),
    "plane": (plane_rows, lambda T: OnPlane([0.6, 0, 0.8], 0.1, POINT)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_those_of_differences(kind):
    """Along the manifolds of all parameters, for every type of joint, far from the measurement."""
    robot, rng = mixed_arm(), np.random.default_rng(5)
    kernel, made = KINDS[kind]
    q = aj.random_configuration(robot, 3, rng=rng)
    T = aj.forward_kinematics(robot, q, "tool") @ se3.exp(0.3 * rng.normal(size=(3, 6)))
    reading = as_reading(made(T), 3, "test")
    chain = make_chain(robot, "tool", chosen(robot, "tool", FAMILIES, "test"), reading)
    numbers = first_numbers(robot, "tool", se3.exp(0.4 * rng.normal(size=6)), 0.7)
    p = 4 * 4 + 2 + 5 * (1 + 1 + 6) + 12 + (kind == "sphere")
    numbers = updated(chain, numbers, 0.1 * rng.normal(size=p))

    def residual(step):
        moved = updated(chain, numbers, step)._asdict()
        return kernel(chain, q, **reading.samples, **reading.fixed, **moved).residual

    rows = kernel(chain, q, **reading.samples, **reading.fixed, **numbers._asdict())
    assert rows.slopes.shape == (3, reading.rows, p)
    h = 1e-6 * np.eye(p)
    differences = np.stack([(residual(-d) - residual(d)) / 2e-6 for d in h], axis=-1)
    close(rows.slopes, differences, 1e-8)
    first = {name: x[0] for name, x in reading.samples.items()}
    eager = kernel.eager(chain, q[0], **first, **reading.fixed, **numbers._asdict())
    close(rows.slopes[0], eager.slopes, 1e-12)


def test_screws_stay_on_their_orbits():
    robot, rng = mixed_arm(), np.random.default_rng(6)
    reading = as_reading(Poses(np.eye(4)[None]), 1, "test")
    chain = make_chain(robot, "tool", chosen(robot, "tool", "screws", "test"), reading)
    before = first_numbers(robot, "tool", np.eye(4), 0.0)
    step = 0.01 * rng.normal(size=18)
    after = updated(chain, before, step)
    pitch = np.sum(before.screws[:, :3] * before.screws[:, 3:], axis=1)
    close(np.sum(after.screws[:, :3] * after.screws[:, 3:], axis=1), pitch, 1e-12)
    close(changes(chain, before, after), step, 2e-2)  # tilts and shifts commute to first order
    close(changes(chain, before, updated(chain, before, 1e-7 * step)), 1e-7 * step, 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_chain_is_forward_kinematics(seed):
    """Of the deepest body of random trees with joints of all types, mimics included."""
    robot = tree(seed)
    frame = max(robot.body_names, key=lambda name: len(robot.path(robot.frame(name).body)))
    reading = as_reading(Poses(np.eye(4)[None]), 1, "test")
    chain = make_chain(robot, frame, chosen(robot, frame, "placements", "test"), reading)
    q = aj.random_configuration(robot, 5, rng=seed)
    numbers = first_numbers(robot, frame, np.eye(4), 0.0)
    close(placement(chain, q, **numbers._asdict()), aj.forward_kinematics(robot, q, frame), 1e-12)


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5", "puma560", "stanford", "scara"])
def test_exact_measurements_give_the_exact_arm(name):
    model, frame = arm(name)
    robot = wrong(model, size=2e-2)
    B = se3.exp([0.3, -0.2, 2.0, 1.0, -2.0, 0.5])
    q, T = poses(robot, frame, 30, noise=0)
    found = calibrate(model, frame, q, B @ T)
    others = aj.random_configuration(model, 20, rng=7)
    close(found.predict(others), B @ aj.forward_kinematics(robot, others, frame), 1e-9)
    close(found.base @ aj.forward_kinematics(found.robot, others, frame), found.predict(others), 1e-12)
    turns = sum(bool(S[:3].any()) for S in model.screws)
    assert found.rank == 4 * turns + 2 * (model.nv - turns) + 6  # a general arm of that many joints
    assert found.unseen == () and found.warnings == ()
    assert found.robot.joint_names == model.joint_names and found.robot.frame_names == model.frame_names
    np.testing.assert_array_equal(found.robot.upper, model.upper)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "puma560"])
def test_errors_are_at_the_bound_of_cramer_and_rao(name):
    """200 calibrations from 40 noisy poses each.

    In the metric of the information, errors of an efficient estimate of r parameters have the χ² distribution of r
    degrees of freedom. Σ |Σ^(-1/2) (true - predicted)|² over the 40 poses is the square of this length.
    """
    model, frame = arm(name)
    robot = wrong(model)
    q, others = aj.random_configuration(model, 40, rng=11), aj.random_configuration(model, 1, rng=12)
    T, want = aj.forward_kinematics(robot, q, frame), aj.forward_kinematics(robot, others, frame)
    rng, squares, elsewhere, noise = np.random.default_rng(0), [], [], []
    for _ in range(200):
        measured = T @ se3.exp(SIGMA * rng.normal(size=(40, 6)))
        found = calibrate(model, frame, q, measured, estimate=MINIMAL, noise=(ROTATION, POSITION))
        squares.append(np.sum((se3.log(se3.inverse(T) @ found.predict(q)) / SIGMA) ** 2))
        e = se3.log(se3.inverse(want) @ found.predict(others))[0]
        elsewhere.append(e @ np.linalg.solve(found.prediction_covariance(others)[0], e))
        noise.append(np.sum(found.lengths**2))
    assert found.rank == 30
    for sample, freedom in ((squares, 30), (elsewhere, 6), (noise, 240 - 30)):
        low, high = stats.chi2.ppf([1e-3, 1 - 1e-3], 200 * freedom)
        assert low < np.sum(sample) < high
        assert stats.kstest(sample, stats.chi2(freedom).cdf).pvalue > 1e-3


@pytest.mark.slow
def test_standard_errors_and_estimated_noise_are_right():
    """Errors of single parameters are normal with the standard errors of the report, if the noise is estimated too."""
    model, frame = arm("puma560")
    rng, scores, noise = np.random.default_rng(2), [], []
    offsets = 1e-2 * rng.normal(size=6)
    q = aj.random_configuration(model, 40, rng=rng)
    T = aj.forward_kinematics(model, q + offsets, frame)
    sigma = np.repeat([3e-4, 1e-4], 3)
    for _ in range(100):
        found = calibrate(model, frame, q, T @ se3.exp(sigma * rng.normal(size=(40, 6))), estimate="offsets")
        scores.append((found.values - offsets) / found.standard_error)
        noise.append(found.noise**2)
    assert stats.kstest(np.ravel(scores), stats.norm.cdf).pvalue > 1e-3
    np.testing.assert_allclose(np.sqrt(np.mean(noise, axis=0)), [3e-4, 1e-4], rtol=0.02)  # 1/√(2 · 100 · 117) = 0.7 %


def test_known_covariances_weigh_samples():
    """Samples that are known to be bad have little weight, and full matrices do what standard deviations do."""
    model, frame = arm("puma560")
    robot = wrong(model)
    q, T = poses(robot, frame, 60)
    alike = calibrate(model, frame, q, T, noise=(ROTATION, POSITION))
    whole = calibrate(model, frame, q, T, noise=np.diag(SIGMA**2))
    close(whole.values, alike.values, 1e-9)
    rough = np.arange(60) < 20
    T[rough] = T[rough] @ se3.exp(1e-2 * np.random.default_rng(0).normal(size=(20, 6)))
    covariances = np.where(rough[:, None, None], 1e-4, 1.0e-8) * np.eye(6)
    found = calibrate(model, frame, q, T, noise=covariances)
    assert prediction_error(found, robot) < 5e-4 and found.warnings == ()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        spoiled = calibrate(model, frame, q, T, noise=(2e-3, 2e-3))
    assert any("larger than the noise" in str(one.message) for one in told)
    assert prediction_error(spoiled, robot) > 3 * prediction_error(found, robot)


def touching(robot: aj.Robot, frame: str, n: int, height) -> np.ndarray:
    """n configurations at which height(T) (n,) is 0, by Newton's method with differences."""
    q = aj.random_configuration(robot, 6 * n, rng=4)
    for _ in range(40):
        value = height(aj.forward_kinematics(robot, q, frame))
        steps = 1e-6 * np.eye(robot.nq)
        slope = np.stack([height(aj.forward_kinematics(robot, q + d, frame)) - value for d in steps], axis=-1) / 1e-6
        step = slope * (value / np.maximum(np.sum(slope**2, axis=1), 1e-6))[:, None]
        q = q - step * np.minimum(1, 0.5 / np.maximum(np.linalg.norm(step, axis=1), 1e-9))[:, None]
    q = q[np.abs(height(aj.forward_kinematics(robot, q, frame))) < 1e-12]
    assert len(q) >= n
    return q[:n]


CENTER = np.array([0.5, 0.3, 0.4])
TRIPOD = 0.2 * np.eye(3)  # [m], three points of the tool


def reach(T: np.ndarray) -> np.ndarray:
    return np.linalg.norm(at(T) - CENTER, axis=1)


CONTACTS = {  # what is measured at T, and a number that must be 0 at contacts
    "positions": (lambda T: Positions(at(T), POINT), None),
    "three points": (lambda T: Positions(np.stack([at(T, x) for x in TRIPOD], axis=1), TRIPOD), None),
    "distances": (lambda T: Distances(reach(T), CENTER, POINT), None),
    "plane": (lambda T: OnPlane(point=POINT), lambda T: at(T)[:, 2]),
    "sphere": (lambda T: OnSphere(CENTER, 0.3, POINT), lambda T: reach(T) - 0.3),
    "sphere of unknown radius": (lambda T: OnSphere(CENTER, None, POINT), lambda T: reach(T) - 0.3),
}


@pytest.mark.parametrize("kind", CONTACTS)
def test_other_measurements_find_the_arm_too(kind):
    """What is seen by positions, distances or contacts is found, so that others of the same kind are predicted."""
    model, frame = arm("puma560")
    robot = wrong(model)
    made, height = CONTACTS[kind]
    q = poses(robot, frame, 300, noise=0)[0] if height is None else touching(robot, frame, 300, height)
    used, others = q[:250], q[250:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = calibrate(model, frame, used, made(aj.forward_kinematics(robot, used, frame)), estimate=MINIMAL)
    assert found.unseen == (), found.unseen
    before, after = found.errors(found.residuals_before), found.errors()
    assert after < 1e-9 < 1e-3 < before
    reading = as_reading(made(aj.forward_kinematics(robot, others, frame)), 50, "test")
    rows = reading.kernel(found.problem.chain, others, **reading.samples, **reading.fixed, **found.numbers._asdict())
    assert np.abs(rows.residual).max() < 1e-8
    # Without a length that is known, nothing tells the size of the robot.
    assert any("radius" in name for name in found.gauge) == (kind == "sphere of unknown radius")


def test_gears_offsets_and_joints_that_follow():
    """Gears are a map from what encoders read to the robot's q; offsets, and factors of followers, are in the robot."""
    model, rng = mixed_arm(), np.random.default_rng(0)
    model = model.replace(lower=-np.ones(4), upper=2 * np.ones(4), velocity_limit=3.0)
    gears, offsets = 1 + 0.05 * rng.normal(size=4), 0.05 * rng.normal(size=4)
    # The follower turns with what its leader's encoder reads; in the true robot it follows the leader itself.
    factor, at_zero = 1.1 * model.mimics[3].multiplier, model.mimics[3].offset - 0.1
    own = aj.model.Mimic(0, factor / gears[0], at_zero - factor / gears[0] * offsets[0])
    true = model.replace(mimics={3: own})
    q = aj.random_configuration(model, 60, rng=rng)
    T = aj.forward_kinematics(true, gears * q + offsets, "tool")
    found = calibrate(model, "tool", q, T, estimate=("gears", "offsets"))
    close(found.gears, gears, 1e-9)
    close(found.value("offset of j1")[0], offsets[1], 1e-9)
    close(found.value("gear of j3")[0], 0.1 * model.mimics[3].multiplier, 1e-9)
    close(aj.forward_kinematics(found.robot, found.to_robot(q), "tool"), T, 1e-9)
    close(found.to_encoders(found.to_robot(q)), q, 1e-14)
    close(found.robot.upper, 2 * gears, 1e-9)
    close(found.robot.velocity_limit, 3 * gears, 1e-9)


def test_some_joints_only():
    model, frame = arm("puma560")
    q = aj.random_configuration(model, 30, rng=0)
    T = aj.forward_kinematics(model, q + 0.01 * np.eye(6)[2], frame)
    found = calibrate(model, frame, q, T, estimate={"offsets": ("joint2", "joint3"), "tool": None})
    assert found.names[:2] == ("offset of joint2", "offset of joint3") and len(found.names) == 8
    close(found.values, [0, 0.01, 0, 0, 0, 0, 0, 0], 1e-8)


@pytest.mark.slow
def test_calibration_of_placements_alone_equals_that_of_screws():
    """M_i exp(x_i) and screws with a tool are two ways to describe the same arms."""
    model, frame = arm("ur5")
    q, T = poses(wrong(model), frame, 40)
    one = calibrate(model, frame, q, T, estimate=MINIMAL)
    other = calibrate(model, frame, q, T, estimate=("placements", "tool"))
    assert one.rank == other.rank == 30 and len(other.gauge) == 42 - 30
    close(one.predict(q), other.predict(q), 1e-7)


def test_blocks_give_the_same_as_all_at_once(monkeypatch):
    model, frame = arm("ur5")
    q, T = poses(wrong(model), frame, 500)
    whole = calibrate(model, frame, q, T)
    monkeypatch.setattr(fit, "_MEMORY", 1.0)  # 64 samples
    blocks = calibrate(model, frame, q, T)
    close(blocks.values, whole.values, 1e-9)
    close(blocks.covariance, whole.covariance, 1e-7)


@pytest.mark.slow
def test_many_samples_take_little_memory():
    import tracemalloc

    model, frame = arm("ur5")
    q, T = poses(wrong(model), frame, 100_000)
    calibrate(model, frame, q[:100], T[:100])  # what is compiled and imported does not count
    tracemalloc.start()
    found = calibrate(model, frame, q, T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    slopes = 8 * 100_000 * 6 * len(found.parameters)  # [bytes] that the slopes of all samples would take
    assert peak < 0.6 * slopes  # residuals and copies of the samples grow, slopes do not
    assert prediction_error(found, wrong(model)) < 5e-5 / np.sqrt(100)


# --- what is seen -----------------------------------------------------------------------------------------------------


def test_what_no_measurement_can_tell_is_named():
    model, frame = arm("puma560")
    q, T = poses(wrong(model), frame, 60)
    found = calibrate(model, frame, q, T)
    assert "offset of joint1 - turn z of base" in found.gauge
    assert "offset of joint6 - turn z of tool" in found.gauge
    assert found.rank + len(found.gauge) == len(found.parameters) == 42
    points = calibrate(model, frame, q, T[:, :3, 3])
    assert {"turn x of tool", "turn y of tool", "turn z of tool"} <= set(points.gauge)  # a point has no orientation
    assert max(points.value("turn x of tool")) < 1e-12
    assert "turn x of tool" in str(points)


def test_what_the_samples_do_not_show_is_named_and_other_poses_show_it():
    model, frame = arm("puma560")
    robot = wrong(model)
    q = aj.random_configuration(model, 60, rng=0)
    q[:, 3] = 0.3  # the fourth joint does not move
    T = aj.forward_kinematics(robot, q, frame) @ se3.exp(SIGMA * np.random.default_rng(0).normal(size=(60, 6)))
    with pytest.warns(UserWarning, match="do not show 4 combinations .*choose_poses"):
        found = calibrate(model, frame, q, T)
    assert found.rank == 26 and all("joint4" in name for name in found.unseen)
    candidates = aj.random_configuration(model, 100, rng=1)
    more = choose_poses(model, frame, candidates, 4, known=q)
    assert more.unseen == ()
    q, T = np.concatenate([q, more.q]), np.concatenate([T, aj.forward_kinematics(robot, more.q, frame)])
    found = calibrate(model, frame, q, T)
    assert found.rank == 30 and prediction_error(found, robot) < 2e-3


def test_chosen_poses_are_better_than_random_ones():
    model, frame = arm("ur5")
    candidates = aj.random_configuration(model, 200, rng=0)
    chosen = choose_poses(model, frame, candidates, 12)
    assert len(set(chosen.rows)) == 12 and np.array_equal(chosen.q, candidates[chosen.rows])
    random = [choose_poses(model, frame, candidates[12 * k : 12 * k + 12], 12).log_det for k in range(15)]
    assert chosen.log_det > max(random)
    # No exchange of one pose for another one is better.
    other = np.delete(candidates, chosen.rows, axis=0)
    for k in range(0, 12, 4):
        kept = np.delete(chosen.q, k, axis=0)
        assert choose_poses(model, frame, np.concatenate([chosen.q[k : k + 1], other]), 1, known=kept).rows[0] == 0
    q, T = chosen.q, aj.forward_kinematics(model, chosen.q, frame)
    found = calibrate(
        model, frame, q, T @ se3.exp(SIGMA * np.random.default_rng(0).normal(size=(12, 6))), noise=[1e-3] * 2
    )
    np.testing.assert_allclose(found.standard_error, chosen.errors, rtol=1e-2, atol=1e-8)


# --- outliers ---------------------------------------------------------------------------------------------------------


def test_constants_of_losses_are_those_of_textbooks():
    assert loss_of("huber", 1).constant == pytest.approx(1.345, abs=1e-3)
    assert loss_of("tukey", 1).constant == pytest.approx(4.685, abs=1e-3)


@pytest.mark.parametrize("loss", ["huber", "tukey"])
@pytest.mark.parametrize("name", ["ur5", "puma560"])
def test_five_percent_of_outliers_are_survived_and_named(name, loss):
    model, frame = arm(name)
    robot, rng = wrong(model), np.random.default_rng(8)
    q, T = poses(robot, frame, 100)
    bad = np.sort(rng.choice(100, 5, replace=False))
    T[bad] = T[bad] @ se3.exp(0.1 * rng.normal(size=(5, 6)))  # 10 cm and 6 degrees
    found = calibrate(model, frame, q, T, loss=loss)
    assert found.outliers.tolist() == bad.tolist()
    assert f"5 outliers: samples {', '.join(map(str, bad))}" in str(found)
    np.testing.assert_allclose(found.noise, [ROTATION, POSITION], rtol=0.25)  # of 95 samples, by medians
    good = calibrate(model, frame, np.delete(q, bad, 0), np.delete(T, bad, 0))
    assert prediction_error(found, robot) < 2 * prediction_error(good, robot) + POSITION / 2
    with pytest.warns(UserWarning, match="too far off to be noise"):
        squares = calibrate(model, frame, q, T)
    assert prediction_error(squares, robot) > 10 * prediction_error(found, robot)


@pytest.mark.slow
def test_robust_losses_lose_five_percent_of_efficiency():
    model, frame = arm("puma560")
    robot = wrong(model)
    q = aj.random_configuration(model, 60, rng=11)
    T, rng, squares = aj.forward_kinematics(robot, q, frame), np.random.default_rng(0), []
    for _ in range(60):
        measured = T @ se3.exp(SIGMA * rng.normal(size=(60, 6)))
        found = calibrate(model, frame, q, measured, estimate=MINIMAL, loss="tukey")
        squares.append(np.sum((se3.log(se3.inverse(T) @ found.predict(q)) / SIGMA) ** 2))
    # 30 / 0.95 = 31.6 of infinitely many samples, and somewhat more of 60; the standard error is √(60 / 60) = 1
    assert 28 < np.mean(squares) < 36


def test_cross_validation():
    model, frame = arm("ur5")
    q, T = poses(wrong(model), frame, 40)
    found = calibrate(model, frame, q, T, folds=5)
    assert found.validation is not None
    _, seen, unseen = found.validation
    # 192 numbers and 30 parameters: √(1 - 30/192) = 0.92 of the noise is left, and √(1 + 30/192) = 1.07 predicted
    np.testing.assert_allclose(seen, 0.92 * found.noise, rtol=0.1)
    assert (seen < unseen).all() and (unseen < 1.5 * found.noise).all()
    assert "5-fold unseen" in str(found)


# --- beside Denavit-Hartenberg ----------------------------------------------------------------------------------------


def dh_least_squares(table: np.ndarray, q: np.ndarray, T: np.ndarray):
    """Calibration of a Denavit-Hartenberg table (n, 4) and a tool as it is usually done, and the poses it predicts."""
    from scipy.optimize import least_squares

    def placed(x):
        found = np.eye(4)
        for (theta, d, a, alpha), angle in zip(x[:-6].reshape(-1, 4), q.T, strict=True):
            c, s, zero, one = np.cos(angle + theta), np.sin(angle + theta), 0 * angle, 1 + 0 * angle
            ca, sa = np.cos(alpha) * one, np.sin(alpha) * one
            rows = [[c, -ca * s, sa * s, a * c], [s, ca * c, -sa * c, a * s], [zero, sa, ca, d * one]]
            found = found @ np.moveaxis(np.array([*rows, [zero, zero, zero, one]]), -1, 0)
        return found @ se3.exp(x[-6:])

    back, start = se3.inverse(T), np.append(table.ravel(), np.zeros(6))
    return least_squares(lambda x: se3.log(back @ placed(x)).ravel(), start, xtol=1e-10, ftol=1e-10, max_nfev=30)


@pytest.mark.slow
def test_nearly_parallel_axes_beside_denavit_hartenberg():
    """The third axis is tilted by 2 mrad from the second, which the model has parallel.

    No small change of a Denavit-Hartenberg table does this: the common normal jumps far away. Screws tilt by 2 mrad.
    """
    table = np.array([[0, 0.3, 0, np.pi / 2], [0, 0, 0.5, 0], [0, 0, 0.4, 0], [0, 0.1, 0, np.pi / 2], [0, 0.2, 0.1, 0]])
    model = aj.from_dh(table)
    moved = model.placements.copy()
    moved[2] = moved[2] @ se3.exp([0, 2e-3, 0, 0, 0, 0])  # about y, at right angles to both axis and link
    robot = model.replace(placements=moved)
    assert np.abs(aj.model.to_dh(robot).table[:, 1]).max() > 100  # [m]: where the common normal really is
    q, T = poses(robot, "tool", 40)
    found = calibrate(model, "tool", q, T, estimate=MINIMAL)
    assert found.errors()[0] < 1.1 * ROTATION and found.condition < 1e3
    assert np.abs(found.values).max() < 0.01  # [rad, m]
    dh = dh_least_squares(table, q, T)
    left = np.sqrt(np.mean(dh.fun.reshape(-1, 6)[:, :3] ** 2))
    jump = np.abs(dh.x[:-6] - table.ravel()).max()
    assert left > 3 * ROTATION or jump > 1.0  # [rad], [m]: it does not fit, or a length becomes metres
    assert np.linalg.cond(dh.jac) > 1e3 * found.condition


# --- files ------------------------------------------------------------------------------------------------------------


FILES = {
    "poses": Poses,
    "positions": lambda T: Positions(at(T)),
    "points": lambda T: Positions(np.stack([at(T), at(T)], axis=1), np.eye(3)[:2]),
    "distances": lambda T: Distances(at(T)[:, 0] ** 2),
    "contacts": lambda T: None,
}


@pytest.mark.parametrize("kind", FILES)
def test_files_keep_every_digit(kind, tmp_path):
    robot, frame = arm("stanford")
    q, T = poses(robot, frame, 7)
    measured = FILES[kind](T)
    if measured is not None and not isinstance(measured, Poses):
        measured[0][2] = np.nan
    write_measurements(tmp_path / "a.csv", robot, q, measured)
    back = read_measurements(tmp_path / "a.csv", robot)
    np.testing.assert_array_equal(back.q, q)
    assert type(back.measured) is type(measured)
    if measured is not None and back.measured is not None:
        np.testing.assert_array_equal(back.measured[0], measured[0])
    header = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert "q_joint1 [rad]" in header and "q_joint3 [m]" in header
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_units_and_quaternions_of_files(tmp_path):
    robot, frame = arm("stanford")
    q, T = poses(robot, frame, 7)
    pose = se3.to_xyz_quat_wxyz(T)
    names = [f"q_joint{k} [{'mm' if k == 3 else 'deg'}]" for k in range(1, 7)] + [
        "X [mm]",
        "y [mm]",
        "z",
        "qw",
        "qx",
        "qy",
        "qz",
        "note",
    ]
    factors = np.array([*np.full(2, 180 / np.pi), 1e3, *np.full(3, 180 / np.pi), 1e3, 1e3, 1, 1, 1, 1, 1])
    table = np.concatenate([q, pose], axis=1) * factors
    lines = [";".join(names)] + [";".join([*map(str, row), "ok"]) for row in table]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    back = read_measurements(tmp_path / "b.csv", robot, columns={"x": "X"})
    close(back.q, q, 1e-14)
    assert isinstance(back.measured, Poses)
    close(back.measured.T, T, 1e-14)


GOOD = "q_joint1,q_joint2,q_joint3,q_joint4,q_joint5,q_joint6,x,y,z\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column q_joint1"),
        (GOOD, "no samples"),
        (GOOD + "1,2,3,4,5,6,7,8\n", ":2: 8 cells, the header has 9"),
        (GOOD + "1,2,3,4,5,6,7,8,9\n1,2,x,4,5,6,7,8,9\n", ":3: .*'x'"),
        (GOOD.replace("joint3", "elbow"), "no column q_joint3; there are q_elbow"),
        (GOOD.replace("z", "z [inch]") + "1,2,3,4,5,6,7,8,9\n", r"unit \[inch\]; it must be \[m\] or \[mm\]"),
        (GOOD.replace("q_joint1", "q_joint1 [mm]") + "1,2,3,4,5,6,7,8,9\n", r"must be \[rad\] or \[deg\]"),
        (GOOD.replace("z", "x") + "1,2,3,4,5,6,7,8,9\n", "no column z"),
        (GOOD.replace(",z", ",z,x") + "1,2,3,4,5,6,7,8,9,1\n", "column x is there twice"),
        (GOOD.replace(",z", ",z,qw") + "1,2,3,4,5,6,7,8,9,1\n", "no column qx, qy, qz"),
        (GOOD.replace(",z", ",z,qw,qx,qy,qz") + "1,2,3,4,5,6,7,8,9,1,1,0,0\n", "quaternion of sample 0 has"),
        ("\x00\xff", "not|no column"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(text, message, tmp_path):
    (tmp_path / "c.csv").write_text(text, encoding="latin-1")
    with pytest.raises(ArgumentError, match=message):
        read_measurements(tmp_path / "c.csv", aj.robots.puma560())


def test_results_are_saved_whole(tmp_path, monkeypatch):
    model, frame = arm("puma560")
    found = calibrate(model, frame, *poses(wrong(model), frame, 30), folds=3)
    found.save(tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    np.testing.assert_array_equal(data["changes"], found.values)
    np.testing.assert_array_equal(data["placements"], found.robot.placements)
    assert data["gauge"] == list(found.gauge) and data["cross_validation"]["folds"] == 3
    found.save(tmp_path / "result.csv")
    rows = (tmp_path / "result.csv").read_text().splitlines()
    assert rows[0] == "parameter,unit,change,standard error" and len(rows) == 43
    assert float(rows[1].split(",")[2]) == found.values[0]
    monkeypatch.setattr(json, "dump", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        found.save(tmp_path / "result.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.csv", "result.json"]
    assert json.loads((tmp_path / "result.json").read_text()) == data
    with pytest.raises(ArgumentError, match=r"\.json or \.csv"):
        found.save(tmp_path / "result.txt")


@pytest.mark.slow
def test_result_is_drawn(tmp_path):
    model, frame = arm("puma560")
    q, T = poses(wrong(model), frame, 30)
    T[4, 0, 3] += 0.1  # an outlier
    found = calibrate(model, frame, q, T, loss="tukey")
    assert found.plot(tmp_path / "deep" / "plot.png").stat().st_size > 10_000


def test_result_shows_itself():
    model, frame = arm("puma560")
    q, T = poses(wrong(model), frame, 30)
    T[3, 0, 3] = np.nan
    found = calibrate(model, frame, q, T)
    assert found.dropped == 1 and len(found.residuals) == 29
    assert "29 poses (1 dropped with NaN)" in str(found) and "mrad" in str(found)
    assert repr(found).startswith("<Calibration of 'puma560' from 29 poses: rotation ")
    assert "<table>" in found._repr_html_()
    with pytest.raises(ArgumentError, match="did you mean 'offset of joint1'"):
        found.value("offset joint1")


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"robot": 3}, "calibrate needs a Robot"),
        ({"frame": "tol"}, "has no frame 'tol'; did you mean 'tool'"),
        ({"frame": "link6"}, "frame 'link6' is a body itself.*with_frame"),
        ({"q": np.zeros(6)}, r"q has shape \(6,\); \(n, 6\) is needed"),
        ({"q": np.zeros((40, 5))}, r"shape \(40, 5\)"),
        ({"q": np.zeros((39, 6))}, "measured has 40 samples, and q has 39"),
        ({"measured": np.zeros((40, 4))}, r"measured must be poses .* shape \(40, 4\)"),
        ({"measured": np.zeros(40)}, r"distances are Distances\(d, center\)"),
        ({"measured": np.ones((40, 4, 4))}, "pose 0 is not a rigid motion"),
        ({"measured": Distances(-np.ones(40))}, "distance 0 is negative"),
        ({"measured": OnPlane(normal=[0, 0, 2])}, "normal of the plane has length 2"),
        ({"measured": OnSphere(radius=-1)}, "radius must be a positive number"),
        ({"estimate": "screw"}, "estimate has 'screw'; did you mean 'screws'"),
        ({"estimate": {"offsets": ["joint7"]}}, "estimate.'offsets'. has 'joint7'"),
        ({"estimate": ()}, "nothing is estimated"),
        ({"estimate": 3}, "estimate must name some of"),
        ({"loss": "hubert"}, "loss is 'hubert'; did you mean 'huber'"),
        ({"noise": 1e-3}, r"noise must be the positive standard deviations \(rotation \[rad\], position \[m\]\)"),
        ({"noise": -np.eye(6)}, "positive definite"),
        ({"base": np.ones((4, 4))}, "base is not a rigid motion"),
        ({"folds": 1}, "folds must be 0, or from 2"),
        ({"q": np.full((40, 6), np.nan)}, "no samples; all 40 have NaN"),
    ],
)
def test_bad_arguments_are_named(options, message):
    robot, frame = arm("puma560")
    q, T = poses(robot, frame, 40)
    given = {"robot": robot, "frame": frame, "q": q, "measured": T} | options
    with pytest.raises(aj.AdjointError, match=message):
        calibrate(given.pop("robot"), given.pop("frame"), given.pop("q"), given.pop("measured"), **given)


def test_wrong_units_are_noticed():
    robot, frame = arm("ur5")
    q, T = poses(wrong(robot), frame, 40)
    with pytest.raises(ArgumentError, match="degrees"):
        calibrate(robot, frame, np.rad2deg(q), T)
    free = robot.replace(lower=-np.inf, upper=np.inf)  # nothing but the misfit tells
    with pytest.raises(ArgumentError, match="fits the measurements much better if it is in degrees"):
        calibrate(free, frame, np.rad2deg(q), T)
    with pytest.raises(ArgumentError, match="much better if they are inverted"):
        calibrate(robot, frame, q, np.linalg.inv(T))
    T[:, :3, 3] *= 1e3
    with pytest.raises(ArgumentError, match="in mm"):
        calibrate(robot, frame, q, T)


def test_too_few_samples():
    robot, frame = arm("puma560")
    q, T = poses(robot, frame, 5)
    with pytest.raises(ArgumentError, match="5 samples of 6 numbers are too few"):
        calibrate(robot, frame, q, T)
    with pytest.raises(ArgumentError, match="count is 9; there are 5 candidates"):
        choose_poses(robot, frame, q, 9)
