"""Junk for every argument of every public function: an `AdjointError`, or a result; never another exception."""

import warnings

import numpy as np
import pytest
from support.junk_recipes import control_recipes, plot_recipes, simulation_recipes

import adjoint as aj
from adjoint.errors import AdjointError, ArgumentError, MissingPackageError, shortened
from adjoint.identification import Samples
from adjoint.model.input_checks import positive, truth


def two_links() -> aj.Robot:
    builder = aj.Robot.builder("two", base="fixed")
    inertia = [1.0, 0.5, 0, 0, 1, 0, 0, 1, 0, 1]
    builder.link("base").link("a", inertia).link("b", inertia)
    home = np.eye(4)
    home[:3, 3] = 1.0, 0.0, 0.1
    builder.joint("j1", "revolute", "base", "a", axis=(0, 1, 0))
    builder.joint("j2", "revolute", "a", "b", home, axis=(0, 1, 0))
    return builder.build()


ROBOT = two_links()
Q, V, A = np.array([0.3, 0.4]), np.array([0.1, -0.2]), np.array([0.5, 0.6])
T = np.linspace(0, 3, 60)
W = np.array([2.0, 3.0])
MOVED = np.sin(np.outer(T, W)), np.cos(np.outer(T, W)) * W, -np.sin(np.outer(T, W)) * W**2


@aj.kernel(x=2)
def squares(x):
    """x² of each number."""
    return x * x


def recipes() -> dict[str, tuple[tuple, dict]]:
    """{name: arguments with which the function works}."""
    samples = aj.identification.Samples(*MOVED, aj.inverse_dynamics(ROBOT, *MOVED), T)
    around = {"applied_wrenches": np.zeros((1, 6)), "frames": ("a",), "base_twist": np.zeros(6)}
    found = {
        **{name: ((ROBOT, Q), {}) for name in (
            "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum_matrix", "christoffel", "curvature",
            "fixman_blocks", "fixman_logdet", "gravity_torque", "mass_matrix", "mass_matrix_derivative",
            "mass_matrix_factors", "mass_matrix_inverse", "mass_matrix_logdet", "mass_matrix_logdet_gradient",
            "potential_energy", "ricci_curvature", "scalar_curvature",
        )},
        **{name: ((ROBOT, Q, V), {}) for name in (
            "bias_force", "centroidal_momentum", "coriolis_matrix", "difference", "distance", "energy_regressor",
            "fixman_solve", "kinetic_energy", "mass_matrix_product", "mass_matrix_sqrt_solve", "momentum",
            "solve_mass_matrix", "solve_mass_matrix_parallel",
        )},
        **{name: ((ROBOT, Q, V, A), {}) for name in (
            "forward_dynamics_derivatives", "forward_dynamics_second_derivatives", "inverse_dynamics_derivatives",
            "inverse_dynamics_second_derivatives", "regressor", "sectional_curvature",
        )},
        **{name: ((ROBOT, Q, V, A, Q), {}) for name in (
            "covariant_derivative", "forward_dynamics_hessian", "inverse_dynamics_hessian",
        )},
        **dict.fromkeys(("forward_dynamics", "inverse_dynamics"), ((ROBOT, Q, V, A), around)),
        **{name: ((ROBOT, Q, "b"), {}) for name in (
            "jacobian", "kinematic_hessian", "manipulability", "singular_directions",
        )},
        "base_parameters": ((ROBOT, ("damping",)), {}),
        "cache_info": ((), {}),
        "calibrate": ((ROBOT, "b", MOVED[0], aj.forward_kinematics(ROBOT, MOVED[0], "b")), {"estimate": ("offsets",)}),
        "check": ((ROBOT,), {"strict": False}),
        "check_grads": ((squares, Q), {}),
        "equations_of_motion": ((ROBOT,), {
            "names": ("x", "y"), "symbols": True, "form": "expanded", "most_terms": 100,
        }),
        "excitation": ((ROBOT, 5.0), {
            "harmonics": 2, "joints": (), "acceleration_limit": 100.0, "torque_limit": 1e4, "rounds": 0, "rng": 0,
        }),
        "find_configuration": ((ROBOT, {"b": aj.forward_kinematics(ROBOT, Q, "b")}), {
            "start": Q, "rng": 0, "limits": False, "objectives": (), "tolerance": 1e-6, "seeds": 3, "iterations": 20,
        }),
        "forward_kinematics": ((ROBOT, Q, "b", "a"), {}),
        "frame_acceleration": ((ROBOT, Q, V, A, "b"), {}),
        "frame_twist": ((ROBOT, Q, V, "b"), {}),
        "from_dh": (([[1.0, 0, 0, 0], [1, 0, 0, 0]],), {}),
        "from_screws": ((np.eye(6)[[2]], np.eye(4)), {}),
        "geodesic": ((ROBOT, Q, V, 1.0, 3), {}),
        "geodesic_between": ((ROBOT, Q, A, 3), {}),
        "identify": ((ROBOT, samples), {"joints": (), "noise": np.ones(2), "prior": 1.0, "check": False}),
        "integrate": ((ROBOT, Q, V, 1.0), {}),
        "interpolate": ((ROBOT, Q, V, 0.5), {}),
        "inverse_kinematics": ((ROBOT, aj.forward_kinematics(ROBOT, Q, "b"), "b"), {}),
        "is_flat": ((ROBOT,), {}),
        "jacobian_rate": ((ROBOT, Q, V, "b"), {}),
        "kernel": ((np.sin,), {}),
        "linearize": ((ROBOT, Q, V, A), {"dt": 0.01}),
        "load": (("no file.urdf",), {"base": "fixed", "package_dirs": (), "gravity": (0, 0, 0)}),
        "neutral": ((ROBOT,), {}),
        "operational_space": ((ROBOT, Q, V, "b"), {"part": "translation"}),
        "optimal_motion": ((ROBOT, Q, A, 1.0), {"max_iterations": 1, "segments": 2, "starts": 1, "path": ()}),
        "parallel_transport": ((ROBOT, Q, V, A, 1.0, 3), {}),
        "random_configuration": ((ROBOT, 3), {"rng": 0}),
        "random_velocity": ((ROBOT, Q), {"rng": 0, "kT": 1.0}),
        "row_at": ((np.eye(3), 1.0), {}),
        "Samples": ((Q, V, A, A), {}),
        "spline_motion": ((ROBOT, Q, A, 1.0), {"cost": "effort", "weights": np.ones(2)}),
        "static_torque": ((ROBOT, Q, np.zeros(6), "b"), {}),
        "to_urdf": ((ROBOT, None), {}),
    }  # fmt: skip
    return found | trajectories() | control_recipes(ROBOT) | simulation_recipes(ROBOT) | plot_recipes(ROBOT)


def trajectories() -> dict[str, tuple[tuple, dict]]:
    """The same for functions that make trajectories."""
    knots, times = np.array([Q, V, A, Q]), np.array([0.4, 1.0, 0.4])
    ends = {"start_velocity": V, "start_acceleration": A, "goal_velocity": 0.0, "goal_acceleration": 0.0}
    rates = {"velocity": 1.0, "acceleration": [2.0, 3.0]}
    near = np.array([[0.3, 0.4], [0.35, 0.45], [0.4, 0.5]])
    poses = aj.forward_kinematics(ROBOT, near, "b")
    home = np.array([0.5, -0.8, 2.1, 0.3, 0.7, -1.0])
    along = aj.forward_kinematics(aj.robots.puma560(), home + np.array([[0.0], [0.02]]), "tool")
    reachable = aj.trajectory.screw_motion(*along, 1.0)
    grid = {"grid": 10, "start_speed": 0.0, "goal_speed": 0.0, "parameters": [0.0, 0.3, 0.6, 1.0]}
    return {
        "arc": ((poses[0], poses[1, :3, 3] + [0.1, 0, 0], poses[2], 1.0), {}),
        "b_spline": ((knots, 2.0), {"degree": 3}),
        "bounded_deviation": ((ROBOT, poses[0], poses[0], "b"), {
            "position": 0.1, "angle": 1.0, "start": Q, "levels": 2,
        }),
        "circle": ((poses[0], [1.0, 0, 0], [0, 0, 1.0], 1.0, 2.0), {"turned": True}),
        "cubic": ((Q, A, 2.0), {"start_velocity": V, "goal_velocity": 1.0, "robot": ROBOT}),
        "degree_seven": ((knots, times), ends),
        "five_cubic": ((knots, np.ones(5)), ends),
        "four_three_four": ((knots, times), ends),
        "free_end_spline": ((knots, np.ones(5)), {**ends, "robot": ROBOT}),
        "jerk_limited": ((Q, A), {**rates, "jerk": 10.0, "start_velocity": 0.1, "minimum_duration": 2.0}),
        "joint_motion": ((aj.robots.puma560(), reachable, "tool"), {"start": home, "tolerance": 1e-3, "samples": 4}),
        "line": ((poses[0], poses[1], 1.0), {}),
        "linear_blends": ((knots, [0.0, 1, 2, 3]), {"blend": 0.1}),
        "lines": ((poses, [1.0, 1.0]), {"blend": 0.1}),
        "minimum_time_spline": ((knots,), {**rates, "jerk": 10.0, "free_ends": True}),
        "normalised_coefficients": ((aj.trajectory.cubic(Q, A, 1.0),), {}),
        "paul_lines": ((poses, [1.0, 1.0]), {"blend": 0.1}),
        "phase_plane": ((knots,), {**rates, **grid}),
        "pick_and_place": ((ROBOT, poses[0], poses[2], "b"), {"lift": 0.0, "times": times, "start": Q}),
        "pose_spline": ((poses, [0.0, 1.0, 2.0]), {"start_twist": np.zeros(6), "goal_twist": np.zeros(6)}),
        "quintic": ((Q, A, 2.0), {**ends, "robot": ROBOT}),
        "segment_durations": ((poses,), {"speed": 1.0, "turn_speed": 2.0}),
        "s_curve": ((Q, A), {**rates, "jerk": 10.0, "duration": 5.0, "robot": ROBOT}),
        "screw_motion": ((poses[0], poses[1], 1.0), {}),
        "septic": ((Q, A, 2.0), {**ends, "start_jerk": 1.0, "goal_jerk": V}),
        "smoothing_spline": ((knots, [0.0, 1, 2, 3]), {"tolerance": 0.01, "weights": np.ones(4)}),
        "spline": ((knots, [0.0, 1, 2, 3]), {"degree": 3, "ends": "clamped", "start_velocity": V, "robot": ROBOT}),
        "three_five_three": ((knots, times), ends),
        "time_optimal": ((knots,), {**rates, **grid}),
        "trapezoidal": ((Q, A), {**rates, "duration": 5.0, "robot": ROBOT}),
        "withdrawn": ((poses[0], 0.1, 0.2), {}),
    }  # fmt: skip


# Classes, marks, and functions without arguments or with the caller's own functions as arguments; `view` starts a
# server, and tests/test_viewer.py gives it junk.
LEFT_OUT = ("Kernel", "Robot", "clear_cache", "forget", "scan", "static", "view", "while_loop")
FUNCTIONS = {name: getattr(aj, name) for name in aj.__all__ if name not in LEFT_OUT and not name.endswith("Error")} | {
    name: getattr(getattr(aj, topic), name)
    for topic, names in {
        "dynamics": "forward_dynamics_hessian forward_dynamics_second_derivatives inverse_dynamics_hessian "
        "inverse_dynamics_second_derivatives mass_matrix_logdet_gradient random_velocity solve_mass_matrix_parallel",
        "equations": "equations_of_motion",
        "fixman": "fixman_blocks fixman_logdet fixman_solve",
        "geometry": "covariant_derivative geodesic geodesic_between is_flat mass_matrix_derivative parallel_transport "
        "ricci_curvature scalar_curvature sectional_curvature",
        "identification": "Samples excitation",
        "kinematics": "kinematic_hessian singular_directions",
        "trajectory": "arc b_spline bounded_deviation circle cubic degree_seven five_cubic four_three_four "
        "free_end_spline jerk_limited joint_motion line linear_blends lines minimum_time_spline "
        "normalised_coefficients paul_lines phase_plane pick_and_place pose_spline quintic s_curve screw_motion "
        "segment_durations septic smoothing_spline spline three_five_three time_optimal trapezoidal withdrawn",
    }.items()
    for name in names.split()
}
# Results, states and targets are records. The others take functions of the caller, or are formulas in NumPy for laws.
RECORDS = ("Change", "Decoupling", "Force", "Law", "OptimalMotion", "Run", "Sensor", "Surface")
FORMULAS = ("curve_torque", "curve_voltage", "joint_torque", "joint_voltage", "recursive_least_squares", "servo_gains")
LEFT_OUT_TOO = ("decoupling_law", "force_convergence", "servo_design", *FORMULAS)
FUNCTIONS |= {
    name: getattr(topic, name)
    for topic in (aj.control, aj.simulation)
    for name in topic.__all__
    if name not in (*RECORDS, *LEFT_OUT_TOO) and not hasattr(getattr(topic, name), "_fields")
} | {f"servo_design.{name}": getattr(aj.control.servo_design, name) for name in aj.control.servo_design.__all__}


JUNK = [
    None, "junk", b"x", 1 + 2j, float("nan"), 1e300, -1, 10**400, object(), [[1], [2, 3]], {"a": 1},
    np.zeros((2, 3, 4)), np.array([object(), 1], dtype=object), np.full(2, np.inf), np.full(2, 1e300),
    np.array(["2020", "2021"], "M8[D]"),
    np.ma.masked_array([1.0, 2.0], [True, False]), "x" * 70_000, ("a", 1), "a\0b", "\udc80", two_links,
]  # fmt: skip


@pytest.fixture(scope="module")
def known():
    return recipes()


def test_every_recipe_is_tried(known):
    assert known.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_junk_is_an_error_of_ours(name, known, tmp_path, monkeypatch):
    """One argument after the other is replaced by junk."""
    monkeypatch.chdir(tmp_path)
    assert name in known, "give arguments with which it works in `recipes`, or leave it out in LEFT_OUT"
    args, named = known[name]
    function = FUNCTIONS[name]
    calls = [((*args[:k], bad, *args[k + 1 :]), named) for k in range(len(args)) for bad in JUNK]
    calls += [(args, {**named, key: bad}) for key in named for bad in JUNK]
    for given, options in calls:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                function(*given, **options)
            except AdjointError as error:
                assert 0 < len(str(error)) < 3000


@pytest.mark.parametrize("lift", [3, None, [1], object(), ("inertias", 2), "masses", float("nan")])
def test_junk_to_lift(lift):
    with pytest.raises(ArgumentError, match=r"lift|there is no"):
        aj.mass_matrix.bind(ROBOT, lift=lift)


def test_functions_of_loops_must_be_functions():
    for call in (
        lambda: aj.scan(None, 0.0, np.zeros(3)),
        lambda: aj.while_loop(None, abs, 0.0, max_iterations=3),
        lambda: aj.while_loop(bool, 3, 0.0, max_iterations=3),
    ):
        with pytest.raises(ArgumentError, match="must be a function"):
            call()
    with pytest.raises(AdjointError, match=r"pair \(carry, y\)"):
        aj.scan(lambda c, x: c, 0.0, np.zeros(3))


@pytest.mark.parametrize("value", [None, "a", -1, 0, np.nan, np.inf, 10**400, 1j, [1.0], True])
def test_positive_numbers(value):
    with pytest.raises(ArgumentError, match="the dose must be a positive number"):
        positive(value, "the dose")
    assert positive(np.float32(2), "x") == 2.0 and positive(0, "x", or_zero=True) == 0.0
    with pytest.raises(ArgumentError, match="True or False"):
        truth("yes", "x")


def builder_joint(**changes) -> aj.Robot:
    given = {"name": "j", "type": "revolute", "parent": "a", "child": "b", "placement": np.eye(4), "axis": (0, 0, 1)}
    given |= {"lower": -1.0, "upper": 1.0, "mimic": None} | changes
    return aj.Robot.builder("x").link("a").link("b").joint(**given).build()


def methods() -> dict:
    """{name: (function of one value that may be junk, a good value)}: what robots, builders and results offer."""
    fields = ("name", "parents", "placements", "inertias", "mimics", "lower", "gravity", "frames", "joint_types")
    base, planned = (
        aj.base_parameters(ROBOT),
        aj.identification.excitation(ROBOT, 5.0, harmonics=2, joints=(), rounds=0),
    )
    equations = aj.equations.equations_of_motion(ROBOT)
    return {
        **{f"replace {k}": (lambda x, k=k: ROBOT.replace(**{k: x}), getattr(ROBOT, k)) for k in fields},
        **{f"joint {k}": (lambda x, k=k: builder_joint(**{k: x}), "j") for k in ("name", "type", "parent", "axis")},
        "locked": (ROBOT.locked, {"j1": 0.1}),
        "frame": (ROBOT.frame, "a"),
        "joint": (ROBOT.joint, "j1"),
        "reframed": (ROBOT.reframed, "joint"),
        "with_payload": (lambda x: ROBOT.with_payload("a", x), ROBOT.inertias[0]),
        "base of a builder": (lambda x: aj.Robot.builder("x", base=x).link("a").build(), "free"),
        "place": (base.place, "Iyy_b"),
        "to_base": (base.to_base, np.zeros(20)),
        "motion at": (planned.at, [0.1]),
        "motion samples": (planned.samples, 100.0),
        "formulas at": (lambda x: equations.at(x, V, A), Q),
        "random_tree": (lambda x: aj.robots.random_tree(0, 2, x), ["revolute"]),
        "loop": (lambda x: aj.dynamics.Loop("a", "b", x), "weld"),
        "axis of a loop": (lambda x: aj.dynamics.Loop("a", "b", "hinge", x), (0, 0, 1)),
        "source": (squares.source, "c"),
        "resample": (lambda x: aj.identification.resample(ROBOT, Samples(*MOVED, MOVED[0], T), x), 100.0),
    }  # fmt: skip


@pytest.fixture(scope="module")
def offered():
    return methods()


@pytest.mark.parametrize("bad", JUNK, ids=range(len(JUNK)))
def test_junk_to_what_robots_and_results_offer(bad, offered):
    for name, (function, _) in offered.items():
        with np.errstate(all="ignore"):
            try:
                function(bad)
            except AdjointError as error:
                assert 0 < len(str(error)) < 3000, name


def test_what_robots_and_results_offer_takes_what_is_good(offered):
    for name, (function, good) in offered.items():
        if not name.startswith("joint "):
            function(good)
    assert builder_joint().nv == 1


# --- messages ---------------------------------------------------------------------------------------------------------


def test_messages_do_not_repeat_long_names():
    name, words = "n" * 70_000, "a word " * 10_000
    error = MissingPackageError(f"robot '{name}' has no joint '{words}'; there are j1, j2")
    text = str(error)
    assert len(text) < 1000 and text.startswith("robot 'nnn") and text.endswith("; there are j1, j2")
    assert "characters) ..." in text
    assert isinstance(error, ImportError | ValueError)
    assert shortened("short") == "short" and len(shortened("x y " * 10_000)) < 2500


def test_long_text_that_is_no_name_stays():
    explained = "joint 'a': " + "one of many words, " * 20 + "and 'b'"
    assert shortened(explained) == explained


def test_loaders_and_reports_shorten_names(tmp_path):
    name = "link" * 20_000
    path = tmp_path / "long.urdf"
    path.write_text(f'<robot name="r"><link name="{name}"/><link name="{name}"/></robot>', encoding="utf-8")
    with pytest.raises(AdjointError, match="a second link") as caught:
        aj.load(path)
    assert len(str(caught.value)) < 2000
    inertial = '<inertial><mass value="-1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    path.write_text(f'<robot name="r"><link name="{name}">{inertial}</link></robot>', encoding="utf-8")
    report = aj.check(aj.load(path))
    assert report.errors and len(str(report)) < 20_000 and len(str(report.errors[0])) < 2000
    assert name in report.errors[0].element  # the finding itself has all of it


# --- masked arrays ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [aj.mass_matrix, aj.mass_matrix.eager, aj.integrate, aj.fixman.fixman_logdet])
def test_masked_numbers_are_refused(of):
    rest = (V,) if of is aj.integrate else ()
    with pytest.raises(ArgumentError, match=r"'q'.*masked"):
        of(ROBOT, np.ma.masked_array(Q, [False, True]), *rest)
    assert np.array_equal(of(ROBOT, np.ma.masked_array(Q), *rest), of(ROBOT, Q, *rest))  # nothing is masked
    bound = aj.mass_matrix.bind(ROBOT)
    bound(Q)  # by now CPython calls it directly
    with pytest.raises(ArgumentError, match=r"'q'.*masked"):
        bound(np.ma.masked_array(Q, [False, True]))


def test_masked_numbers_of_a_robot_are_refused():
    with pytest.raises(ArgumentError, match="damping must be numbers"):
        ROBOT.replace(damping=np.ma.masked_array([1.0, 2.0], [False, True]))
