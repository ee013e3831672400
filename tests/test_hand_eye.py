"""Hand-eye calibration: OpenCV's closed forms, maximum likelihood at the bound of Cramér and Rao, missing motions."""

import warnings

import numpy as np
import pytest
from scipy import stats
from support.arm_views import X, Z, rotation_and_position, stations, views
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint.calibration import choose_poses, write_measurements
from adjoint.calibration.measured import as_reading
from adjoint.calibration.parameters import chosen, first_numbers, make_chain, updated
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.vision.arm_cameras import (
    calibrate_arm_camera,
    calibrate_camera_beside_arm,
    eye_to_hand,
    hand_eye,
    hand_eye_closed_form,
    robot_world,
)
from adjoint.vision.arm_cameras.closed_forms import METHODS
from adjoint.vision.arm_cameras.pixel_samples import pixel_reading, pixel_rows
from adjoint.vision.cameras import pixel_of_point

NOISE = (2e-3, 1e-3)  # [rad], [m]

# (rotation vector [rad], position [m]) of OpenCV 4.14.0 for `stations(noise=NOISE)`, and, "beside", with beside=True
# and inverse gripper poses: calibrateHandEye, and calibrateRobotWorldHandEye of "shah" and "li".
OPENCV = {
    ("tsai", "in hand"): [
        0.300360022533,
        -0.199175391287,
        1.20030935937,
        0.0308695597267,
        -0.0494821368823,
        0.109506256137,
    ],
    ("park", "in hand"): [
        0.300429095237,
        -0.199347343969,
        1.20031724607,
        0.0308573992345,
        -0.0494697788442,
        0.109500889466,
    ],
    ("horaud", "in hand"): [
        0.300417268387,
        -0.199308787441,
        1.20027271838,
        0.0308632895305,
        -0.0494725176068,
        0.109503002345,
    ],
    ("andreff", "in hand"): [
        0.300143124207,
        -0.19932768112,
        1.20045103303,
        0.0308512506088,
        -0.04941836575,
        0.109414478719,
    ],
    ("daniilidis", "in hand"): [
        0.299938999355,
        -0.199240691688,
        1.20070388751,
        0.0307546146126,
        -0.0494322831481,
        0.109558133611,
    ],
    ("shah", "in hand"): [
        0.300417268748,
        -0.199308788652,
        1.20027271794,
        0.0309351050275,
        -0.0495975722619,
        0.10938279443,
    ],
    ("li", "in hand"): [
        0.300275618786,
        -0.199455037329,
        1.20024848263,
        0.0308728807765,
        -0.0496062629783,
        0.109406808569,
    ],
    ("tsai", "beside"): [
        0.300072825972,
        -0.200457224842,
        1.19957407114,
        0.0293294933141,
        -0.0503376701896,
        0.111296497967,
    ],
    ("park", "beside"): [
        0.300141813825,
        -0.200241808078,
        1.19953993676,
        0.0292711215997,
        -0.0503654915185,
        0.111352396221,
    ],
    ("horaud", "beside"): [
        0.300154757973,
        -0.200264581712,
        1.19958380282,
        0.0292755183824,
        -0.0503667373811,
        0.111343507972,
    ],
    ("andreff", "beside"): [
        0.300354591805,
        -0.200222865775,
        1.19953576504,
        0.0295723844802,
        -0.0502574556793,
        0.111667907577,
    ],
    ("daniilidis", "beside"): [
        0.300501358993,
        -0.200326649503,
        1.19952259905,
        0.0292369836835,
        -0.0504571492947,
        0.111299506922,
    ],
    ("shah", "beside"): [
        0.30015475857,
        -0.200264579785,
        1.19958380311,
        0.0293515415346,
        -0.0502851707748,
        0.111137003203,
    ],
    ("li", "beside"): [
        0.300260570544,
        -0.200402091334,
        1.19955079138,
        0.0294342286649,
        -0.0501871430358,
        0.111218099239,
    ],
}


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_closed_forms_are_exact_without_noise(method):
    for turn in (0.05, 0.3, 0.8):
        G, C = stations(turn=turn)
        close(hand_eye_closed_form(G, C, method=method), X, 1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_closed_forms_take_batches(method):
    """Results of a batch are those of its problems, one by one."""
    G, C = stations(noise=NOISE, shape=(2, 3))
    found = hand_eye_closed_form(np.broadcast_to(G, C.shape), C, method=method)
    assert found.shape == (2, 3, 4, 4)
    close(found[1, 2], hand_eye_closed_form(G, C[1, 2], method=method), 1e-12)


@pytest.mark.parametrize(("method", "eye"), OPENCV)
def test_closed_forms_are_those_of_opencv(method, eye):
    """Numbers that OpenCV 4.14.0 printed with 12 digits."""
    G, C = stations(noise=NOISE, beside=eye == "beside")
    found = hand_eye_closed_form(se3.inverse(G) if eye == "beside" else G, C, method=method)
    close(np.concatenate([so3.log(found[:3, :3]), found[:3, 3]]), OPENCV[method, eye], 1e-11)


@pytest.mark.parametrize("method", ["tsai", "park", "horaud", "andreff", "daniilidis"])
def test_closed_forms_are_those_of_the_installed_opencv(method):
    """OpenCV 5 has no `calibrateHandEye`; the numbers above stand for it there."""
    import cv2

    theirs = getattr(cv2, "calibrateHandEye", None)
    if theirs is None:
        pytest.skip("this OpenCV has no calibrateHandEye; recorded numbers of OpenCV 4 are compared above")
    for turn in (0.1, 0.6):
        G, C = stations(turn=turn, noise=NOISE, seed=7)
        way = getattr(cv2, f"CALIB_HAND_EYE_{method.upper()}")
        R, t = theirs(G[:, :3, :3], G[:, :3, 3], C[:, :3, :3], C[:, :3, 3], method=way)
        close(hand_eye_closed_form(G, C, method=method), se3.from_rotation_translation(R, t[:, 0]), 1e-10)


# --- maximum likelihood from poses ------------------------------------------------------------------------------------


def test_exact_poses_give_exact_results():
    G, C = stations(6)
    found = hand_eye(G, C)
    close(found.T_gripper_camera, X, 1e-9)
    close(found.T_base_target, Z, 1e-9)
    G, C = stations(6, beside=True)
    beside = eye_to_hand(G, C)
    close(beside.T_base_camera, X, 1e-9)
    close(beside.T_gripper_target, Z, 1e-9)
    world = robot_world(G, se3.inverse(Z) @ G @ X)
    close(world.T_gripper_camera, X, 1e-9)
    close(world.T_base_target, Z, 1e-9)


def test_other_frames_give_the_same_camera():
    """Another base frame, gripper frame or target frame moves the results with it: the errors are on the group."""
    G, C = stations(noise=NOISE)
    H, K = se3.random(rng=1), se3.random(rng=2)
    plain = hand_eye(G, C, noise=NOISE)
    close(hand_eye(H @ G, C, noise=NOISE).T_base_target, H @ plain.T_base_target, 1e-7)
    close(hand_eye(G @ K, C, noise=NOISE).T_gripper_camera, se3.inverse(K) @ plain.T_gripper_camera, 1e-7)
    turned = se3.from_rotation_translation(K[:3, :3], np.zeros(3))  # isotropic noise stays so about the same point
    close(hand_eye(G, C @ turned, noise=NOISE).T_gripper_camera, plain.T_gripper_camera, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("arm_noise", [None, (1e-3, 5e-4)])
def test_likelihood_is_at_the_bound_and_below_all_closed_forms(arm_noise):
    """Over 70 repeats, ξᵀ C⁻¹ ξ has the χ² distribution, and errors are below those of every closed form."""
    repeats, n = 70, 12
    G, C = stations(n, noise=NOISE, shape=(repeats,), turn=0.35)
    rng = np.random.default_rng(8)
    read = np.broadcast_to(G, C.shape)
    if arm_noise is not None:  # what the arm reports differs from where it was
        read = G @ se3.exp(np.repeat(arm_noise, 3) * rng.normal(size=(repeats, n, 6)))
    total, errors = 0.0, []
    for k in range(repeats):
        found = hand_eye(read[k], C[k], noise=NOISE, arm_noise=arm_noise)
        e = np.concatenate(
            [se3.log(se3.inverse(A) @ B) for A, B in ((X, found.T_gripper_camera), (Z, found.T_base_target))]
        )
        total += e @ np.linalg.solve(found.covariance, e)
        errors.append(e[:6])
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 12 * repeats)
    assert low < total < high
    ours = rotation_and_position(np.array(errors))
    others = {
        m: rotation_and_position(se3.log(se3.inverse(X) @ hand_eye_closed_form(read, C, method=m))) for m in METHODS
    }
    assert all((ours < 1.0 * other).all() for other in others.values()), (ours, others)
    best = np.min([*others.values()], axis=0)
    assert (ours / best < 0.9).all()  # measured: 0.77 of the rotation's and 0.78 of the position's error


def test_unknown_noise_is_estimated():
    G, C = stations(200, noise=NOISE)
    found = hand_eye(G, C)
    close(found.noise, NOISE, 0.1)
    assert not found.missing and "standard errors" in str(found) and "200 stations" in repr(found)


def test_wrong_stations_are_named():
    G, C = stations(15, noise=NOISE)
    C[[3, 9]] = C[[3, 9]] @ se3.exp(0.3 * np.ones(6))
    found = hand_eye(G, C, noise=NOISE, loss="tukey")
    assert found.outliers.tolist() == [3, 9]
    e = se3.log(se3.inverse(X) @ found.T_gripper_camera)
    assert e @ np.linalg.solve(found.covariance[:6, :6], e) < stats.chi2.ppf(1 - 1e-6, 6)


AXES = {"z": [0, 0, 1.0], "(0.00, 0.60, 0.80)": [0, 0.6, 0.8]}


@pytest.mark.parametrize("axis", AXES)
def test_turns_about_one_axis_are_named(axis):
    """The position along the axis is not seen; all the rest is."""
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(10, 1)) * np.array(AXES[axis])
    G = se3.from_rotation_translation(so3.exp(turns), rng.normal([0.5, 0, 0.5], 0.1, (10, 3)))
    C = se3.inverse(G @ X) @ Z @ se3.exp(1e-3 * rng.normal(size=(10, 6)))
    with pytest.warns(UserWarning, match="all turns of the gripper are about one axis"):
        found = hand_eye(G, C, noise=(1e-3, 1e-3))
    assert len(found.missing) == 1
    assert found.missing[0].startswith(f"the position of the camera along {axis} of the gripper")
    turn = so3.log(X[:3, :3].T @ found.T_gripper_camera[:3, :3])
    assert turn @ np.linalg.solve(found.covariance[:3, :3], turn) < stats.chi2.ppf(1 - 1e-6, 3)
    e, n = found.T_gripper_camera[:3, 3] - X[:3, 3], np.array(AXES[axis])
    assert np.linalg.norm(e - n * (n @ e)) < 5e-3  # across the axis
    with pytest.warns(UserWarning, match="position of the camera along .* of the base: all turns of the base"):
        assert eye_to_hand(se3.inverse(G), C, noise=(1e-3, 1e-3)).missing


def test_shifts_alone_show_no_position():
    rng = np.random.default_rng(0)
    G = se3.from_rotation_translation(np.eye(3), rng.normal(size=(8, 3)))
    with pytest.warns(UserWarning, match="the position of the camera in the gripper: the gripper never turns"):
        found = hand_eye(G, se3.inverse(G @ X) @ Z, noise=(1e-3, 1e-3))
    close(found.T_gripper_camera[:3, :3], X[:3, :3], 1e-6)  # rotations are seen


def test_bad_poses_are_named():
    G, C = stations(6)
    bad = C.copy()
    bad[2, 0, 0] += 0.1
    for error, call in (
        ("2 stations are too few", lambda: hand_eye(G[:2], C[:2])),
        ("pose 2 of 'T_camera_target' is not a rigid motion", lambda: hand_eye(G, bad)),
        ("6 poses T_base_gripper and 5", lambda: hand_eye(G, C[:5])),
        (r"'T_base_gripper' has shape \(6, 3, 3\)", lambda: eye_to_hand(G[:, :3, :3], C)),
        ("method is 'parks'", lambda: hand_eye_closed_form(G, C, method="parks")),
        ("hand_eye: noise must be", lambda: hand_eye(G, C, noise=(0, 1e-3))),
        ("hand_eye: loss is 'cauchy'", lambda: hand_eye(G, C, loss="cauchy")),
        ("'arm_noise' needs 'noise'", lambda: hand_eye(G, C, arm_noise=(1e-3, 1e-3))),
        ("'arm_noise' must be", lambda: hand_eye(G, C, noise=NOISE, arm_noise=1e-3)),
        ("robot_world: 1 stations", lambda: robot_world(G[:1], C[:1])),
    ):
        with pytest.raises(ArgumentError, match=error):
            call()
    C[1] = np.nan  # a station without a target is left out
    assert len(hand_eye(G, C).residuals) == 5


# --- pixels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eye_in_hand", [True, False])
def test_slopes_of_pixels_are_those_of_differences(eye_in_hand):
    """Along the manifolds of all parameters, with a lens that distorts."""
    v, rng = views(3), np.random.default_rng(1)
    T_a, T_b = v.T_gripper_camera, v.T_base_target
    robot = v.model.with_frame("seen", "tool", T_a if eye_in_hand else se3.exp(0.1 * rng.normal(size=6)))
    reading = pixel_reading(np.zeros((3, 1, 2)), v.points[:1], v.camera, eye_in_hand)
    reading = as_reading(reading, 3, "test")
    chain = make_chain(
        robot, "seen", chosen(robot, "seen", ("screws", "offsets", "gears", "base", "tool"), "test"), reading
    )
    far = se3.from_rotation_translation(np.eye(3), [0, 0, 3.0])  # in front of a camera beside the arm
    numbers = first_numbers(robot, "seen", se3.inverse(T_b) if eye_in_hand else far, 0.0)

    def residual(step):
        moved = updated(chain, numbers, step)._asdict()
        return pixel_rows(chain, v.q, **reading.samples, **reading.fixed, **moved).residual

    rows = pixel_rows(chain, v.q, **reading.samples, **reading.fixed, **numbers._asdict())
    p = rows.slopes.shape[-1]
    assert p == 6 * 4 + 6 + 6 + 12
    h = 1e-6 * np.eye(p)
    differences = np.stack([(residual(-d) - residual(d)) / 2e-6 for d in h], axis=-1)
    close(rows.slopes, differences, 1e-7)


def test_hand_eye_from_pixels_is_exact_without_noise():
    v = views(8)
    found = calibrate_arm_camera(v.model, "tool", v.q, v.pixels, v.points, v.camera, estimate=("base", "tool"))
    close(found.T_gripper_camera, v.T_gripper_camera, 1e-8)
    close(found.T_base_target, v.T_base_target, 1e-8)
    close(found.camera_at(v.q), aj.forward_kinematics(v.model, v.q, "tool") @ v.T_gripper_camera, 1e-8)
    assert "camera" in [f.name for f in found.robot.frames] and not found.missing
    close(aj.forward_kinematics(found.robot, v.q, "camera"), found.camera_at(v.q), 1e-8)


def target_poses(v, pixels) -> np.ndarray:
    """T_camera_target (n, 4, 4) as OpenCV finds them, view by view."""
    import cv2

    found = []
    for u in pixels:
        there = np.isfinite(u).all(axis=-1)
        _, w, t = cv2.solvePnP(v.points[there], u[there], v.camera.matrix, v.camera.distortion)
        found.append(se3.from_rotation_translation(so3.exp(w[:, 0]), t[:, 0]))
    return np.array(found)


@pytest.mark.slow
def test_pixels_are_at_the_bound_and_below_closed_forms():
    """A perfect arm and noise of 0.3 pixels: χ² over 15 repeats, and errors beside those of closed forms."""
    v, rng, repeats = views(12), np.random.default_rng(3), 15
    G, total, ours, theirs = aj.forward_kinematics(v.model, v.q, "tool"), 0.0, [], []
    for _ in range(repeats):
        pixels = v.pixels + 0.3 * rng.normal(size=v.pixels.shape)
        found = calibrate_arm_camera(
            v.model, "tool", v.q, pixels, v.points, v.camera, estimate=("base", "tool"), noise=0.3
        )
        ours.append(se3.log(se3.inverse(v.T_gripper_camera) @ found.T_gripper_camera))
        C = found.calibration.covariance[6:, 6:]
        total += ours[-1] @ np.linalg.solve(C, ours[-1])
        T = target_poses(v, pixels)
        theirs.append(
            [se3.log(se3.inverse(v.T_gripper_camera) @ hand_eye_closed_form(G, T, method=m)) for m in METHODS]
        )
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 6 * repeats)
    assert low < total < high
    mine = rotation_and_position(np.array(ours))
    best = np.min([rotation_and_position(x) for x in np.swapaxes(theirs, 0, 1)], axis=0)
    assert (mine < 0.8 * best).all(), mine / best


def error_of(v, other, frame: str, found) -> np.ndarray:
    """Root mean squares [rad, m] of the camera's pose in the target's frame, at views that were not measured."""
    want = se3.inverse(v.T_base_target) @ aj.forward_kinematics(v.true, other.q, frame) @ v.T_gripper_camera
    return rotation_and_position(se3.log(se3.inverse(want) @ found(other.q)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma", "ur5"])
def test_camera_and_arm_together(name):
    """An arm with errors of 3 mrad and 3 mm: only the joint calibration reaches the noise, below all closed forms."""
    model, frame = (aj.robots.puma560(), "tool") if name == "puma" else (aj.load(urdf("ur5_robot")), "tool0")
    v, rng = views(30, wrong=3e-3, model=model, frame=frame), np.random.default_rng(3)
    other = views(40, model=model, frame=frame, seed=11)
    pixels = v.pixels + 0.3 * rng.normal(size=v.pixels.shape)
    found = calibrate_arm_camera(model, frame, v.q, pixels, v.points, v.camera, noise=0.3).calibration
    close(found.errors(), [0.3], 0.05)
    joint = error_of(v, other, frame, found.predict)
    expected = np.diagonal(found.prediction_covariance(other.q), 0, 1, 2).reshape(-1, 2, 3)
    assert (joint < 2 * np.sqrt(np.mean(expected.sum(axis=-1), axis=0))).all()
    assert (joint < (4e-4, 2e-4)).all()  # 0.4 mrad and 0.2 mm
    G, T = aj.forward_kinematics(model, v.q, frame), target_poses(v, pixels)
    for method in METHODS:
        camera = hand_eye_closed_form(G, T, method=method)
        base = se3.inverse(se3.project(np.mean(G @ camera @ T, axis=0)))
        closed = error_of(v, other, frame, lambda q, B=base, X=camera: B @ aj.forward_kinematics(model, q, frame) @ X)
        assert (joint < 0.1 * closed).all()  # measured: 0.04 of the best closed form's rotation, 0.016 of its position
    assert found.rank == 30
    if name == "puma":
        assert "offset of joint1 - turn z of base" in found.gauge


@pytest.mark.slow
def test_joint_calibration_is_at_the_bound():
    """The predicted poses of the camera in the target's frame, over 12 repeats: χ² of the seen combinations."""
    v, rng, total = views(20, wrong=2e-3), np.random.default_rng(3), 0.0
    want = se3.inverse(v.T_base_target) @ aj.forward_kinematics(v.true, v.q[0], "tool") @ v.T_gripper_camera
    for _ in range(12):
        pixels = v.pixels + 0.3 * rng.normal(size=v.pixels.shape)
        found = calibrate_arm_camera(v.model, "tool", v.q, pixels, v.points, v.camera, noise=0.3).calibration
        e = se3.log(se3.inverse(want) @ found.predict(v.q[0]))
        total += e @ np.linalg.solve(found.prediction_covariance(v.q[0]), e)
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 6 * 12)
    assert low < total < high


def beside(n=12, seed=4):
    """A camera beside a PUMA that holds a board: q, pixels without noise, points, T_base_camera, T_gripper_target."""
    robot, rng, camera = aj.robots.puma560(), np.random.default_rng(seed), views(1).camera
    q = np.array([0.1, -0.8, 2.4, 0.2, 0.5, 0.0]) + 0.25 * rng.normal(size=(n, 6))
    Y = se3.exp(np.array([0.2, -0.1, 0.3, 0.02, 0.03, 0.05]))
    G = aj.forward_kinematics(robot, q, "tool")
    middle = (G @ Y)[:, :3, 3].mean(axis=0)
    T = se3.from_rotation_translation((G @ Y)[0, :3, :3], middle) @ se3.exp([0.1, 0.2, 0, 0, 0, 0])
    T = T @ se3.from_rotation_translation(np.eye(3), [0, 0, -0.9])
    points = views(1).points
    places = se3.act((se3.inverse(T) @ G @ Y)[:, None], points)
    return robot, q, pixel_of_point(places, np.eye(4), camera.matrix, camera.distortion), points, camera, T, Y


def test_a_camera_beside_the_arm():
    robot, q, pixels, points, camera, T, Y = beside()
    found = calibrate_camera_beside_arm(robot, "tool", q, pixels, points, camera, estimate=("base", "tool"))
    close(found.T_base_camera, T, 1e-8)
    close(found.T_gripper_target, Y, 1e-8)
    close(found.camera.T_world_camera, T, 1e-8)
    assert "CameraBesideArm" in repr(found) and "pixels" in str(found)


def test_pixels_that_are_missing_or_wrong():
    v, rng = views(10), np.random.default_rng(0)
    pixels = v.pixels + 0.2 * rng.normal(size=v.pixels.shape)
    pixels[2, 5:] = np.nan
    pixels[3, 3:] = np.nan  # too few points for a first guess, but not for the fit
    pixels[4, 7] += 40
    found = calibrate_arm_camera(
        v.model, "tool", v.q, pixels, v.points, v.camera, estimate=("base", "tool"), noise=0.2, loss="tukey"
    )
    missing = int(np.isnan(pixels[..., 0]).sum())
    assert found.calibration.dropped == missing
    kept = np.flatnonzero(np.isfinite(pixels[..., 0]).ravel())
    assert kept[found.calibration.outliers].tolist() == [4 * 42 + 7]
    e = se3.log(se3.inverse(v.T_gripper_camera) @ found.T_gripper_camera)
    assert e @ np.linalg.solve(found.calibration.covariance[6:, 6:], e) < stats.chi2.ppf(1 - 1e-5, 6)


def test_views_about_one_axis_are_named():
    """Only the last joint turns, about its own axis: the position along it is not seen."""
    v = views(1)
    q = v.q[0] + np.outer(np.linspace(-0.8, 0.8, 8), [0, 0, 0, 0, 0, 1.0])
    T = aj.forward_kinematics(v.model, q, "tool") @ v.T_gripper_camera
    places = se3.act(v.T_base_target, v.points)
    pixels = pixel_of_point(places, T[:, None], v.camera.matrix, v.camera.distortion)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = calibrate_arm_camera(
            v.model, "tool", q, pixels, v.points, v.camera, estimate=("base", "tool"), noise=0.3
        )
    assert [str(w.message) for w in told] == [f"calibrate_arm_camera: not seen: {text}" for text in found.missing]
    assert found.missing[0].startswith("the position of the camera along z of the tool: all turns of the tool are")
    # the tool itself stays where it is, so the rotation about z is not seen either
    assert found.missing[1].startswith("the rotation of the camera about z of the tool")


def test_bad_views_are_named():
    v = views(4)
    for error, change in (
        (r"'pixels' has shape \(4, 41, 2\)", {"pixels": v.pixels[:, 1:]}),
        ("'target_points' has shape", {"target_points": v.points[:, :2]}),
        ("'camera' must be a Camera", {"camera": v.camera.matrix}),
        ("no frame 'hand'", {"frame": "hand"}),
        ("views show the target well enough", {"pixels": np.full_like(v.pixels, np.nan)}),
        ("calibrate_arm_camera: estimate has 'lens'", {"estimate": "lens"}),
        ("the first guess must be a rigid motion", {"T_gripper_camera": np.zeros((4, 4))}),
    ):
        given = {
            "robot": v.model, "frame": "tool", "q": v.q, "pixels": v.pixels, "target_points": v.points,
            "camera": v.camera, "estimate": ("base", "tool"),
        } | change  # fmt: skip
        with pytest.raises(aj.AdjointError, match=error):
            calibrate_arm_camera(**given)


def test_pixels_are_neither_written_nor_chosen(tmp_path):
    v = views(3)
    reading = pixel_reading(v.pixels, v.points, v.camera, True)
    with pytest.raises(ArgumentError, match="pixels are not written"):
        write_measurements(tmp_path / "pixels.csv", v.model, v.q, reading)
    with pytest.raises(ArgumentError, match="cannot be chosen"):
        choose_poses(v.model, "tool", v.q, 2, measured=reading)


def test_a_first_guess_helps_where_there_is_none():
    v = views(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = calibrate_arm_camera(
            v.model, "tool", v.q, v.pixels, v.points, v.camera, estimate="base", T_gripper_camera=v.T_gripper_camera
        )
    close(found.T_base_target, v.T_base_target, 1e-8)


def test_what_is_not_seen_has_infinite_errors():
    """The gripper turns about z: only the camera's position along z is free, and that of the target in the base."""
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(10, 1)) * np.array([0, 0, 1.0])
    G = se3.from_rotation_translation(so3.exp(turns), rng.normal([0.5, 0, 0.5], 0.1, (10, 3)))
    C = se3.inverse(G @ X) @ Z @ se3.exp(1e-3 * rng.normal(size=(10, 6)))
    with pytest.warns(UserWarning, match="position of the camera along z"):
        found = hand_eye(G, C, noise=(1e-3, 1e-3))
    lost = np.isinf(found.standard_error)
    free = X[:3, :3].T @ [0, 0, 1]  # seen from the camera, in whose frame the twist is
    np.testing.assert_array_equal(lost[:6], [False] * 3 + list(np.abs(free) > 1e-3))
    assert lost[9:].any() and not lost[6:9].any() and "inf" in str(found)


@pytest.mark.parametrize("turn", [[0, 0, 0], [0, 0, 1.0]], ids=["shifts", "one axis"])
def test_closed_forms_of_motions_that_show_too_little_are_nan(turn):
    rng = np.random.default_rng(1)
    G = se3.from_rotation_translation(so3.exp(rng.normal(size=(8, 1)) * np.array(turn)), rng.normal(size=(8, 3)))
    both = np.stack([G, stations(8)[0]])
    for method in METHODS:
        found = hand_eye_closed_form(both, se3.inverse(both @ X) @ Z, method=method)
        assert np.isnan(found[0]).all()
        np.testing.assert_allclose(found[1], X, atol=1e-9)


@pytest.mark.parametrize(("wrong", "says"), [("inverted", "inverted"), ("millimetres", "in mm; they must be in m")])
def test_poses_that_are_inverted_or_in_millimetres_are_found_out(wrong, says):
    G, X, Z = se3.random(12, rng=0), se3.random(rng=1), se3.random(rng=2)
    C = se3.inverse(G @ X) @ Z @ se3.exp(1e-3 * np.random.default_rng(3).normal(size=(12, 6)))
    if wrong == "inverted":
        C = se3.inverse(C)
    else:
        C[:, :3, 3] *= 1e3
    with pytest.raises(ArgumentError, match=says):
        hand_eye(G, C)
