"""The configuration space: all joints of a robot together."""

import numpy as np
import pytest
from support.laws import check

from adjoint.dynamics import gravity_torque
from adjoint.errors import AdjointError, ArgumentError
from adjoint.kinematics import forward_kinematics
from adjoint.lie import se3, so3
from adjoint.model import JOINTS, Robot, difference, distance, integrate, interpolate, neutral, random_configuration
from adjoint.robots import random_tree

LIMITS = {
    "revolute": (-1.0, 2.0), "continuous": (-np.inf, np.inf), "prismatic": (0.5, np.inf), "helical": (-np.inf, 3.0),
    "screw": (0.0, 0.0), "planar": ((-1, 2, -np.inf), (1, 3, 0.5)),
}  # fmt: skip


def zoo() -> Robot:
    """A chain of one joint of every type, each with its own limits, and three mimics between and behind them."""
    b = Robot.builder("zoo").link("link 0")
    for k, kind in enumerate(JOINTS):
        lower, upper = LIMITS.get(kind, (-np.inf, np.inf))
        options = {"screw": np.array([0, 0, 1, 0.1, 0.2, 0.3])} if kind == "screw" else {}
        b.link(f"link {k + 1}").joint(kind, kind, f"link {k}", f"link {k + 1}", lower=lower, upper=upper, **options)
        if kind in ("continuous", "planar", "free"):
            mimic = {"continuous": ("revolute", 2.0, 0.1), "planar": ("free mimic", -1.0, 0.0)}
            b.link(f"{kind} follower")
            b.joint(
                f"{kind} mimic", "revolute", f"link {k + 1}", f"{kind} follower",
                mimic=mimic.get(kind, ("prismatic", 0.5, 0.2)), lower=-9, upper=9,
            )  # fmt: skip
    return b.build()


ROBOT = zoo()
EMPTY = Robot.builder("empty").link("base").build()


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_mimics_have_no_coordinates():
    assert ROBOT.nq == sum(row.nq for row in JOINTS.values()) == 19
    assert ROBOT.nv == sum(row.nv for row in JOINTS.values()) == 17
    assert ROBOT.joint_names == tuple(JOINTS)
    assert len(ROBOT.bodies) == len(JOINTS) + 3 and ROBOT.n_dofs == 20


def test_neutral():
    q = neutral(ROBOT)
    assert q.tolist() == [0] * 8 + [1, 0, 0, 0] + [0, 0, 0, 1, 0, 0, 0]
    assert neutral(EMPTY).shape == (0,)


# --- random -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, expected", [((), ()), (4, (4,)), ((2, 3), (2, 3)), (0, (0,)), ((2, 0), (2, 0)), (np.int64(3), (3,))]
)
def test_random_shapes(shape, expected):
    assert random_configuration(ROBOT, shape, rng=1).shape == (*expected, 19)
    assert random_configuration(EMPTY, shape, rng=1).shape == (*expected, 0)


def test_random_is_inside_the_limits():
    """Half-open ranges too; unlimited angles are in one turn; what has no room stays where it must."""
    q = random_configuration(ROBOT, 2000, rng=0)
    assert np.all(q >= ROBOT.lower) and np.all(q <= ROBOT.upper)
    low, high = q.min(axis=0), q.max(axis=0)
    # revolute, continuous, prismatic, helical, screw, then planar x, y, angle
    np.testing.assert_allclose(low[:8], [-1, -np.pi, 0.5, 3 - 2 * np.pi, 0, -1, 2, 0.5 - 2 * np.pi], rtol=0, atol=0.03)
    np.testing.assert_allclose(high[:8], [2, np.pi, 2.5, 3, 0, 1, 3, 0.5], rtol=0, atol=0.03)
    check(np.linalg.norm(q[:, 8:12], axis=1), np.ones(2000))
    check(np.linalg.norm(q[:, 15:], axis=1), np.ones(2000))


def test_random_orientations_are_uniform():
    """Mean of a rotation matrix is 0 and that of squared entries 1/3, to 5 standard errors (below 0.6 / √n each)."""
    n = 4000
    R = so3.from_quat_wxyz(random_configuration(ROBOT, n, rng=5)[:, 8:12])
    np.testing.assert_allclose(R.mean(axis=0), np.zeros((3, 3)), rtol=0, atol=5 * 0.6 / np.sqrt(n))
    np.testing.assert_allclose((R**2).mean(axis=0), np.full((3, 3), 1 / 3), rtol=0, atol=5 * 0.6 / np.sqrt(n))


def test_seeds():
    a, b = random_configuration(ROBOT, 3, rng=7), random_configuration(ROBOT, 3, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, random_configuration(ROBOT, 3, rng=8))
    assert not np.array_equal(random_configuration(ROBOT), random_configuration(ROBOT))
    rng = np.random.default_rng(7)
    assert not np.array_equal(random_configuration(ROBOT, rng=rng), random_configuration(ROBOT, rng=rng))


def test_reversed_limits_are_an_error():
    lower = ROBOT.lower.copy()
    lower[0] = 5.0
    with pytest.raises(AdjointError, match=r"'zoo' has lower limit 5 above upper 2 at q\[0\]; see check\(robot\)"):
        random_configuration(ROBOT.replace(lower=lower), rng=0)


def test_random_over_the_widest_range():
    wide = ROBOT.replace(
        lower=np.where(np.isfinite(ROBOT.lower), -1e308, ROBOT.lower),
        upper=np.where(np.isfinite(ROBOT.upper), 1.7e308, ROBOT.upper),
    )
    q = random_configuration(wide, 100, rng=0)
    assert np.all(np.isfinite(q)) and np.all(q >= wide.lower) and np.all(q <= wide.upper)
    assert np.abs(q).max() > 1e307


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: neutral(None), "neutral needs a Robot, got None"),
        (lambda: random_configuration("zoo"), "random_configuration needs a Robot, got 'zoo'"),
        (
            lambda: random_configuration(ROBOT, rng="seed"),
            "rng must be a numpy.random.Generator, a seed or None, got 'seed'",
        ),
        (lambda: random_configuration(ROBOT, 2.0, rng=0), "shape is 2.0; it must be a whole number, 0 or more"),
        (lambda: random_configuration(ROBOT, np.random.default_rng(0)), r"by keyword: .*\(robot, shape, rng=...\)"),
        (lambda: random_configuration(ROBOT, np.random.default_rng(0), 3), "takes its randomness by keyword"),
        (lambda: random_configuration(ROBOT, 0, 3), "takes its randomness by keyword"),
        (lambda: random_configuration(ROBOT, (2, -1), rng=0), r"shape is \(2, -1\); it must be"),
    ],
)
def test_what_random_cannot_use(call, says):
    with pytest.raises(AdjointError, match=says):
        call()


# --- moving -----------------------------------------------------------------------------------------------------------


def close(q, other):
    """The same configurations, quaternions up to sign."""
    q, other = np.array(q), np.array(other)
    for part in (slice(8, 12), slice(15, 19)):
        sign = np.sign(np.sum(q[..., part] * other[..., part], axis=-1, keepdims=True))
        other[..., part] *= sign
    check(q, other)


def nearby(rng, shape=()):
    """Two configurations, less than half a turn apart where that matters."""
    q = random_configuration(ROBOT, shape, rng=rng)
    return q, integrate(ROBOT, q, rng.uniform(-1, 1, (*shape, 17)))


def test_difference_and_integrate_are_inverse(rng):
    q, v = random_configuration(ROBOT, 6, rng=rng), rng.uniform(-1, 1, (6, 17))
    check(difference(ROBOT, q, integrate(ROBOT, q, v)), v)
    q_0, q_1 = nearby(rng, (6,))
    close(integrate(ROBOT, q_0, difference(ROBOT, q_0, q_1)), q_1)
    check(difference(ROBOT, q_0, q_0), np.zeros((6, 17)))


def test_time_scales_velocity(rng):
    q, v = random_configuration(ROBOT, rng=rng), rng.uniform(-1, 1, 17)
    check(integrate(ROBOT, q, v, 0.25), integrate(ROBOT, q, 0.25 * v), units=10)
    close(integrate(ROBOT, integrate(ROBOT, q, v, 0.25), v, 0.5), integrate(ROBOT, q, v, 0.75))


def test_joints_move_apart_from_each_other(rng):
    """Each joint's coordinates move by its own velocity only, in the order of the robot."""
    q, v = random_configuration(ROBOT, rng=rng), rng.uniform(-1, 1, 17)
    bodies = [b for b in ROBOT.bodies if b.joint.mimic is None]
    for body in bodies:
        alone = np.zeros(17)
        alone[body.joint.v] = v[body.joint.v]
        moved = integrate(ROBOT, q, alone)
        check(moved[body.joint.q], integrate(ROBOT, q, v)[body.joint.q], units=0)
        others = np.delete(np.arange(19), body.joint.q)
        check(moved[others], q[others], units=2)
    assert [b.joint.v.stop for b in bodies][-1] == 17


def test_angles_do_not_wrap():
    q_0, q_1 = neutral(ROBOT), neutral(ROBOT)
    q_1[:2] = 7.0, -9.0
    check(difference(ROBOT, q_0, q_1)[:2], [7.0, -9.0])
    check(integrate(ROBOT, q_0, 10 * np.eye(17)[0])[0], 10.0)


def test_interpolate(rng):
    q_0, q_1 = nearby(rng, (5,))
    close(interpolate(ROBOT, q_0, q_1, 0.0), q_0)
    close(interpolate(ROBOT, q_0, q_1, 1.0), q_1)
    middle = interpolate(ROBOT, q_0, q_1, 0.5)
    check(middle[:, :5], (q_0 + q_1)[:, :5] / 2)
    check(distance(ROBOT, q_0, middle), distance(ROBOT, q_0, q_1) / 2)
    check(distance(ROBOT, middle, q_1), distance(ROBOT, q_0, q_1) / 2)
    # the free joint's pose goes along a screw, as se3.interpolate does
    poses = [se3.from_xyz_quat_wxyz(q[:, 12:]) for q in (q_0, q_1, middle)]
    check(poses[2], se3.interpolate(poses[0], poses[1], 0.5))
    s = np.linspace(0, 1, 4)[:, None]
    assert interpolate(ROBOT, q_0, q_1, s).shape == (4, 5, 19)


def test_distance_is_a_distance(rng):
    q_0, q_1 = nearby(rng, (8,))
    d = distance(ROBOT, q_0, q_1)
    check(d, distance(ROBOT, q_1, q_0))
    check(d, np.linalg.norm(difference(ROBOT, q_0, q_1), axis=-1))
    assert np.all(d > 0)
    # The quaternion of a pose holds it to one rounding error, a rotation by twice as much.
    np.testing.assert_allclose(distance(ROBOT, q_0, q_0), np.zeros(8), rtol=0, atol=1e-15)


def test_quaternion_signs_mean_nothing(rng):
    q_0, q_1 = nearby(rng)
    flipped = q_1.copy()
    flipped[8:12] *= -1
    flipped[15:] *= -1
    check(difference(ROBOT, q_0, flipped), difference(ROBOT, q_0, q_1), units=10)


# --- batches and machine code -----------------------------------------------------------------------------------------


def test_batches_broadcast(rng):
    q, v = random_configuration(ROBOT, (2, 1), rng=rng), rng.uniform(-1, 1, (3, 17))
    moved = integrate(ROBOT, q, v)
    assert moved.shape == (2, 3, 19)
    check(moved[1, 2], integrate(ROBOT, q[1, 0], v[2]), units=0)
    assert difference(ROBOT, q, moved).shape == (2, 3, 17)
    assert distance(ROBOT, q, moved).shape == (2, 3)
    assert integrate(ROBOT, q, v, np.ones((4, 1, 1))).shape == (4, 2, 3, 19)


def test_eager_is_compiled(rng):
    q, v = random_configuration(ROBOT, rng=rng), rng.uniform(-1, 1, 17)
    end = integrate(ROBOT, q, v)
    check(end, integrate.eager(ROBOT, q, v))
    check(difference(ROBOT, q, end), difference.eager(ROBOT, q, end))
    check(interpolate(ROBOT, q, end, 0.3), interpolate.eager(ROBOT, q, end, 0.3))
    check(distance(ROBOT, q, end), distance.eager(ROBOT, q, end))


def test_a_robot_that_cannot_move():
    assert integrate.eager(EMPTY, np.zeros(0), np.zeros(0)).shape == (0,)
    assert difference.eager(EMPTY, np.zeros(0), np.zeros(0)).shape == (0,)


def test_derivatives_are_finite_where_nothing_moves():
    """At v = 0, and between equal configurations, where formulas divide by angles and by lengths."""
    q, zero = neutral(ROBOT), np.zeros(17)
    assert np.all(np.isfinite(integrate.jacobian("q", "v").eager(ROBOT, q, zero)[0]))
    assert np.all(np.isfinite(difference.jacobian("q_1").eager(ROBOT, q, q)))
    check(distance.jacobian("q_1").eager(ROBOT, q, q), np.zeros(19), units=0)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda q, v: integrate(ROBOT, q[:18], v), r"'q'.*18"),
        (lambda q, v: integrate(ROBOT, q, v[:16]), r"'v'.*16"),
        (lambda q, v: difference(ROBOT, q, v), r"'q_1'.*17"),
        (lambda q, v: integrate("zoo", q, v), "static.*robot is a str"),
        (lambda q, v: integrate(ROBOT, q, v.astype(complex)), "complex"),
    ],
)
def test_wrong_arguments(call, says):
    with pytest.raises(AdjointError, match=says):
        call(neutral(ROBOT), np.zeros(17))


# --- what is no configuration -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_zero_quaternion_is_told_eagerly_and_nan_compiled(kind):
    robot = random_tree(0, 1, [kind])
    zero, good, v = np.zeros(robot.nq), neutral(robot), np.ones(robot.nv)
    calls = [
        (gravity_torque, (zero,)), (forward_kinematics, (zero,)), (integrate, (zero, v)),
        (difference, (good, zero)), (difference, (zero, good)), (interpolate, (zero, good, 0.5)),
    ]  # fmt: skip
    for function, args in calls:
        with pytest.raises(ArgumentError, match=r"is not a configuration: q = adjoint.neutral\(robot\) is one"):
            function.eager(robot, *args)
        with np.errstate(all="ignore"):
            assert np.isnan(function(robot, *args)).any()
    batch = np.stack([good, zero, good])
    assert np.isfinite(forward_kinematics(robot, batch)[[0, 2]]).all()  # NaN stays in its own sample


@pytest.mark.parametrize("length", [1e-300, 1e-200, 1e200, 1e307])
def test_quaternions_of_any_length_are_normalised(length):
    robot, rng = random_tree(1, 3, ["spherical", "revolute", "free"]), np.random.default_rng(0)
    q, v = random_configuration(robot, 5, rng=rng), rng.normal(size=(5, robot.nv))
    stretched = q.copy()
    for i, kind in enumerate(robot.joint_types):
        if kind != "revolute":
            stop = robot.layout.q_start[i] + JOINTS[kind].nq
            stretched[:, stop - 4 : stop] *= length
    assert np.abs(integrate(robot, stretched, v) - integrate(robot, q, v)).max() < 1e-14
    assert np.abs(difference(robot, q, stretched)).max() < 1e-14
    assert np.abs(forward_kinematics(robot, stretched) - forward_kinematics(robot, q)).max() < 1e-13
