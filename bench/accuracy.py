"""Rounding errors of ours and of the peers' results, against the same formulas in 50 digits.

python bench/accuracy.py           one run, one core; writes bench/results/accuracy.json

The error of a result is its largest deviation in units of 2⁻⁵² of its largest entry: 0.5 is what rounding the exact
result gives. References are computed by `exact.py`, which shares no code with the library. Pinocchio gets our
placements and inertias, for a URDF says 1.5708 where we read π/2. The twists have angles from 10⁻⁹ to π; heyoka is
left out, because the formulas that we gave it have no branch near zero. (Below an angle of 10⁻⁵ jaxlie's exponential
moves the translation by the rotation itself, which is wrong by half the angle.)
"""

import sys
from pathlib import Path

from common import accuracy_row, in_time, one_core, quick_or_full, report

one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import jax  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402
import pinocchio as pin  # noqa: E402
from exact import Exact, exact, exp_se3, units  # noqa: E402
from support.robots import pair, pinocchio_q, urdf, velocity_map  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.lie import se3  # noqa: E402

ROBOTS = {"UR5": ("ur5_robot", "tool0"), "G1": ("g1_29dof_rev_1_0", "left_rubber_hand")}
SAMPLES = quick_or_full({"UR5": 5, "G1": 2}, {"UR5": 50, "G1": 15})
TWISTS = quick_or_full(30, 300)


def upper_to_full(M: np.ndarray) -> np.ndarray:
    return np.triu(M) + np.triu(M, 1).T


def of_robot(name: str) -> list[dict]:
    """The rows of a robot: ours in a batch and in Pinocchio's functions."""
    file, frame = ROBOTS[name]
    robot, model = pair(urdf(file), "fixed")
    robot = robot.replace(armature=0.0)
    data, E, at = model.createData(), velocity_map(model, robot), model.getFrameId(frame)
    model.armature[:] = 0
    model.frames[at].placement = in_the_joint(robot, model, frame, at)
    rng, n = np.random.default_rng(0), SAMPLES[name]
    q, (v, a) = aj.random_configuration(robot, n, rng=rng), rng.normal(size=(2, n, robot.nv))
    ours = {
        "placement": aj.forward_kinematics(robot, q, frame),
        "inverse_dynamics": aj.inverse_dynamics(robot, q, v, a),
        "mass_matrix": aj.mass_matrix(robot, q),
        "forward_dynamics": aj.forward_dynamics(robot, q, v, a),
    }
    errors = {what: {"adjoint": [], "pinocchio": []} for what in ours}
    for k in range(n):
        reference, x = Exact(robot, q[k]), pinocchio_q(model, robot, q[k])
        V, A = exact(v[k]), exact(a[k])
        want = {
            "placement": reference.placement(frame),
            "inverse_dynamics": reference.inverse_dynamics(V, A),
            "mass_matrix": reference.mass_matrix(),
            "forward_dynamics": reference.forward_dynamics(V, A),
        }
        pin.framesForwardKinematics(model, data, x)
        theirs = {"placement": data.oMf[at].homogeneous.copy()}
        theirs["inverse_dynamics"] = E.T @ pin.rnea(model, data, x, E @ v[k], E @ a[k])
        theirs["mass_matrix"] = E.T @ upper_to_full(pin.crba(model, data, x)) @ E
        theirs["forward_dynamics"] = E.T @ pin.aba(model, data, x, E @ v[k], E @ a[k])
        for what, exactly in want.items():
            errors[what]["adjoint"].append(units(ours[what][k], exactly))
            errors[what]["pinocchio"].append(units(theirs[what], exactly))
    return [accuracy_row(name, what, found) for what, found in errors.items()]


def in_the_joint(robot, model, frame: str, at: int) -> pin.SE3:
    """The placement of a frame in its joint, with our numbers."""
    found = robot.frame(frame)
    assert model.names[model.frames[at].parentJoint] == robot.body_joint_names[found.body]
    return pin.SE3(found.placement)


def of_lie() -> list[dict]:
    """The rows of exp and log of SE(3), beside NumPy and jaxlie."""
    rng, jl = np.random.default_rng(0), peers.jaxlie_functions()
    V = rng.normal(size=(TWISTS, 6))
    angles = np.concatenate([10.0 ** rng.uniform(-9, 0, TWISTS // 2), rng.uniform(1, np.pi, TWISTS - TWISTS // 2)])
    V[:, :3] *= (angles / np.linalg.norm(V[:, :3], axis=1))[:, None]
    wanted = [exp_se3(exact(x)) for x in V]
    T = np.array([[[float(x) for x in line] for line in X] for X in wanted])
    swapped = np.roll(V, 3, axis=1)
    exps = {
        "adjoint": se3.exp(V),
        "numpy": peers.numpy_exp(V),
        "jaxlie": np.asarray(jax.vmap(jl["exp"])(swapped)),
    }
    logs = {
        "adjoint": se3.log(T),
        "numpy": peers.numpy_log(T),
        "jaxlie": np.roll(np.asarray(jax.vmap(jl["log"])(T)), 3, axis=1),
    }
    exp_errors = {s: [units(x, y) for x, y in zip(X, wanted, strict=True)] for s, X in exps.items()}
    log_errors = {s: [units(x, exact(y)) for x, y in zip(X, V, strict=True)] for s, X in logs.items()}
    return [accuracy_row("SE(3)", "exp", exp_errors), accuracy_row("SE(3)", "log", log_errors)]


def main() -> None:
    rows = of_lie()
    rows += [r for name in in_time(ROBOTS) for r in of_robot(name)]
    report("accuracy", ("numpy", "pin", "jax", "jaxlie", "mpmath"), rows, samples=SAMPLES, twists=TWISTS)


if __name__ == "__main__":
    main()
