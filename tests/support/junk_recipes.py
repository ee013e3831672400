"""Arguments with which the public functions of control, simulation and pictures work, to put junk among."""

import numpy as np

import adjoint as aj
from adjoint import control, simulation

__all__ = ["control_recipes", "plot_recipes", "simulation_recipes"]

Q, V = np.array([0.3, 0.4]), np.array([0.1, -0.2])


def spring(robot, p, state, t, q, v, reference):
    return p.k * (reference.q - q), state


def same(inside, robot, p, state, t, q, v, reference):
    return inside(state[1], t, q, v, reference)


def push(robot, p, t, q, v):
    return p.size * np.ones(robot.nv)


def same_gravity(robot, p, t):
    return {"gravity": robot.gravity * p.size}


def one(robot, p, t, q, v, wrenches):
    return p.size


def lifted(p, t):
    return np.eye(4) + p.size * 0 * t


def plot_recipes(robot: aj.Robot) -> dict[str, tuple[tuple, dict]]:
    """{name: arguments} of functions that draw."""
    shown = {"view": (0.1, 0.2), "frames": ("a",), "axes": True, "names": True, "center_of_mass": True, "floor": True}
    return {"plot": ((robot, Q), {**shown, "meshes": False, "vector": False, "size": 1.0, "path": "arm.png"})}


def control_recipes(robot: aj.Robot) -> dict[str, tuple[tuple, dict]]:
    """{name: arguments} of functions of `adjoint.control`."""
    law, T = control.pd(Q, kp=1.0, kd=1.0), aj.forward_kinematics(robot, Q, "b")
    stiff = control.operational(robot, T, "b", kp=1.0, kd=1.0, part="translation")
    posed = {"part": "translation", "posture": Q, "null_kp": 1.0, "null_kd": 1.0, "singular_damping": 1e-3}
    sampled = {"period": 0.01, "robot": robot}
    motor = control.Motor(resistance=1.0, torque_constant=0.05, inertia=2e-4, gear_ratio=0.01)
    curve = control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)
    wall = control.TaskFrame(np.eye(3), {"z": -1.0})
    motion = aj.trajectory.quintic(Q, Q + 0.1, 0.1)
    double = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    flags = {"rate": "error", "gravity": True, "coriolis": False}
    return {
        "Motor": ((), {"resistance": 1.0, "torque_constant": 0.05, "inertia": 2e-4, "friction": 0.0, "back_emf": 0.1}),
        "TaskFrame": ((np.eye(3), {"z": -10.0}), {}),
        "VoltageTorqueCurve": (([-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0]), {}),
        "admittance": ((stiff,), {"stiffness": 1.0, "damping": 1.0, "inertia": 1.0, "period": 0.01}),
        "bang_bang": ((robot, Q), {"limit": 100.0, "bandwidth": 50.0}),
        "computed_torque": ((robot, Q), {"kp": 1.0, "kd": 1.0, "form": "diagonal"}),
        "decoupled": ((robot, Q), {"alpha_0": 1.0, "alpha_1": 1.0, "scale": 1.0}),
        "delayed": ((law, 2), {**sampled, "of": "torque"}),
        "differenced_velocity": ((law,), {**sampled, "cutoff": 1.0}),
        "disturbance_observer": ((law, 1.0), {**sampled, "compensate": True}),
        "dlqr_gains": ((np.eye(2) + 0.1 * double[0], double[1], np.eye(2), np.eye(1)), {}),
        "equivalent_control": ((robot, Q, V, np.ones(2)), {"reference_v": V, "reference_a": V}),
        "friction_curve": ((), {"slope": 1.0, "friction_voltage": 1.0, "limit": 12.0, "braking_slope": 1.0}),
        "hand_twist": ((T, T, 0.1), {}),
        "hybrid": ((robot, T, "b"), {
            "task": wall, "kp": 1.0, "kd": 1.0, "force_kp": 1.0, "force_ki": 1.0, "force_kd": 1.0, "period": 0.01,
            **posed,
        }),
        "impedance": ((robot, T, "b"), {"stiffness": 1.0, "damping": 1.0, "inertia": 1.0, **posed}),
        "joint_transfer": ((motor,), {}),
        "kalman": ((law,), {**sampled, "process": 1.0, "measurement": 1.0, "steady": False, "start": 1.0}),
        "law": ((spring,), {"reference": Q, "state": None, "model": robot, "name": "x", "k": 1.0}),
        "loaded": ((motor, 1.0, 1.0), {}),
        "low_pass": ((law, 1.0), {**sampled, "of": "velocity"}),
        "lqr": ((robot, Q), {"Q": 1.0, "R": 1.0, "tau": None, "period": 0.01}),
        "lqr_gains": ((*double, np.eye(2), np.eye(1)), {}),
        "minimum_time": ((1.0, -1.0, 1.0, 0.0), {}),
        "model_reference": ((robot, Q), {
            "frequency": 1.0, "ratio": 1.0, "inertia": 1.0, "damping": 0.0, "weights": (1, 1, 1), "rate": 1.0,
            "bound": 1.0, "gravity": True, "start": (1.0, 1.0), "period": 0.01,
        }),
        "motor_gain": ((motor,), {}),
        "motor_time_constant": ((motor,), {}),
        "motor_transfer": ((motor,), {}),
        "noisy": ((law,), {"position": 1.0, "velocity": 1.0, "torque": 1.0, "shape": 3, "rng": 0}),
        "normals": ((control.random_state(rng=0), 3), {}),
        "operational": ((robot, T, "b"), {"kp": 1.0, "kd": 1.0, **posed}),
        "parallel": ((robot, T, "b"), {
            "force": np.zeros(6), "kp": 1.0, "kd": 1.0, "force_kp": 1.0, "force_ki": 1.0, "period": 0.01, **posed,
        }),
        "pd": ((Q,), {"kp": 1.0, "kd": 1.0, **flags, "model": robot}),
        "perturbation": ((robot, Q), {
            "Q": 1.0, "R": 1.0, "forgetting": 0.9, "uncertainty": 1.0, "bias": False, "period": 0.01,
        }),
        "pid": ((robot, Q), {"kp": 1.0, "ki": 1.0, "kd": 1.0, "period": 0.01, "limit": 1.0, **flags}),
        "quantised": ((law,), {"position": 1.0, "velocity": 1.0, "torque": 1.0}),
        "random_state": ((3,), {"rng": 0}),
        "rate_limited": ((law, 1.0), sampled),
        "resolve_acceleration": ((robot, Q, V, np.zeros(6), "b"), {
            "expressed": "body", "part": "all", "weight": np.eye(2), "damping": 0.1,
        }),
        "resolve_twist": ((robot, Q, np.zeros(6), "b"), {
            "expressed": "body", "part": "all", "weight": np.eye(2), "damping": 0.1,
        }),
        "resolved_acceleration": ((robot, T), {
            "frame": "b", "k_1": 1.0, "k_2": 1.0, "orientation": "log", "part": "all", "damping": 0.1, "weight": Q,
            "posture": Q,
        }),
        "resolved_force": ((robot, T), {
            "frame": "b", "mass": 1.0, "moments": 1.0, "kv": 1.0, "kp": 1.0, "rounds": 1, "threshold": 0.1,
            "period": 0.01, "wrench": np.zeros(6),
        }),
        "resolved_motion_adaptive": ((robot, Q), {"frame": "b", "Q": 1.0, "R": 1.0, "forgetting": 0.9, "period": 0.01}),
        "resolved_rate": ((robot, T), {
            "frame": "b", "kd": 1.0, "gain": 1.0, "command": "pose", "part": "all", "damping": 0.1, "posture": Q,
        }),
        "rpy_rate_matrix": ((np.zeros(3),), {}),
        "rpy_velocity_matrix": ((np.zeros(3),), {}),
        "sampled": ((law,), sampled),
        "saturated": ((law,), {"lower": -1.0, "upper": 1.0}),
        "self_tuning": ((robot, Q), {
            "order": 2, "slope": 1.0, "forgetting": 0.9, "penalty": 0.1, "uncertainty": 1.0, "period": 0.01,
        }),
        "servo": ((motor, Q), {"kp": 1.0, "kd": 1.0, "voltage_limit": 1.0, **flags, "back_emf": True, "model": robot}),
        "sliding_mode": ((robot, Q), {"slope": 1.0, "gain": 1.0, "layer": 0.1, "equivalent": True}),
        "slotine_li": ((robot, Q), {
            "slope": 1.0, "gain": 1.0, "adaptation": 1.0, "joints": ("damping",), "leak": 0.0, "composite": 1.0,
            "cutoff": 20.0, "period": 0.01,
        }),
        "state_of": ((control.sampled(law, 0.1, robot=robot).state, control.Held), {}),
        "switching_curve": ((1.0, -1.0, 1.0), {}),
        "switching_gain": ((robot, Q, V, Q), {"slope": 1.0, "margin": 0.0, "model": robot}),
        "through_drive": ((law, curve), {"table": curve}),
        "torque_drive": ((1.0, 0.1), {}),
        "tvlqr": ((robot, motion), {"Q": 1.0, "R": 1.0, "period": 0.05, "Q_end": 1.0}),
        "uniform": ((control.random_state(rng=0),), {}),
        "velocity_observer": ((law, 1.0), sampled),
        "with_motors": ((robot, motor), {"back_emf": True}),
        "wrapped": ((law, same), {"state": None, "name": "x", "k": 1.0}),
        **{f"servo_design.{name}": x for name, x in design_recipes(motor).items()},
    }  # fmt: skip


def design_recipes(motor) -> dict[str, tuple[tuple, dict]]:
    """{name: arguments} of functions of `adjoint.control.servo_design`."""
    transfer = control.motor_transfer(motor)
    return {
        "closed_loop": ((motor, 1.0, 1.0), {"rate": "error"}),
        "damping_ratio": ((motor, 1.0, 1.0), {}),
        "disturbance_transfer": ((motor, 1.0, 1.0), {}),
        "gain_for_frequency": ((motor, 1.0), {}),
        "largest_kp": ((motor,), {"resonance": 1.0, "at_inertia": 1.0}),
        "largest_period": ((motor, 1.0, 1.0), {}),
        "natural_frequency": ((motor, 1.0), {}),
        "open_loop": ((motor, 1.0, 1.0), {"rate": "error"}),
        "poles": ((transfer,), {}),
        "ramp_error": ((motor, 1.0, 1.0), {"velocity": 1.0, "disturbance": 0.0, "rate": "error"}),
        "resonance": ((1.0,), {"measured": 1.0, "at_inertia": 1.0}),
        "sampled_poles": ((motor, 1.0, 1.0), {"period": 0.1}),
        "sampling_period": ((1.0,), {}),
        "smallest_kd": ((motor, 1.0), {}),
        "step_error": ((motor, 1.0), {"disturbance": 1.0}),
    }


def simulation_recipes(robot: aj.Robot) -> dict[str, tuple[tuple, dict]]:
    """{name: arguments} of functions of `adjoint.simulation`."""
    times = {"q": Q, "v": V, "duration": 0.02, "dt": 0.01, "integrator": "semi_implicit"}
    around = {"forces": (), "changes": (), "loops": (), "base": None, "lift": {"gravity": np.zeros(3)}, "stop": None,
              "sensors": {}}  # fmt: skip
    law = control.pd(Q, kp=1.0, kd=1.0)
    return {
        "adaptive": ((), {"rtol": 1e-6, "atol": 1e-8, "max_steps": 10}),
        "animate": (({"run": simulation.simulate(robot, duration=0.02, dt=0.01)}, "run.gif"), {
            "frames_per_second": 50.0,
        }),
        "applied": (("b", np.zeros(6)), {"axes": "world", "start": 0.0, "end": 1.0}),
        "box": ((np.eye(4), [1.0, 1, 1]), {}),
        "change": ((same_gravity,), {"name": "x", "size": 1.0}),
        "contact": (("b", simulation.plane()), {
            "stiffness": 1.0, "damping": 1.0, "friction": 1.0, "radius": 0.1, "slip": 0.1,
        }),
        "dry_friction": ((), {"sweeps": 2, "breakaway": 1.0, "stribeck_velocity": 0.1}),
        "force": ((push,), {"frame": None, "name": "x", "size": 1.0}),
        "friction": ((), {"viscous": 1.0, "coulomb": 1.0, "stribeck": 1.0, "stribeck_velocity": 1.0, "smoothing": 1.0}),
        "gradient": ((None, robot, law), {"by": "kp", "final_cost": first, **times, **around}),
        "ilqr": ((robot, effort), {"q": Q, "v": V, "tau": np.zeros((2, 2)), "steps": 2, "dt": 0.1, "limits": 5.0,
                                   "iterations": 1, "tolerance": 1e-3, "k": 1.0}),
        "joint_disturbance": ((1.0, "sine"), {"frequency": 1.0, "start": 0.0, "end": 1.0}),
        "joint_stops": ((robot,), {
            "lower": -np.ones(2), "upper": np.ones(2), "stiffness": 1.0, "damping": 1.0, "ramp": 0.1, "q": Q,
        }),
        "moving_base": ((lifted,), {"size": 1.0}),
        "payload": (("b", 1.0), {"com": (0, 0, 0), "inertia": np.eye(3), "start": 0.0, "end": 1.0}),
        "plane": (((0, 0, 0), (0, 0, 1)), {}),
        "randomised": ((robot, 3), {"mass": 0.1, "center": 0.1, "gravity": 0.1, "damping": 0.1, "rng": 0}),
        "sensor": ((one,), {"name": "x", "size": 1.0}),
        "scipy_run": ((robot, law), {
            "q": Q, "v": V, "duration": 0.02, "dt": 0.01, "method": "Radau", "rtol": 1e-4, "atol": 1e-4,
            **{k: around[k] for k in ("forces", "changes", "loops", "base", "lift")},
        }),
        "simulate": ((robot, law), {**times, "record": 1, **around, "trace": True, "resume": None, "checkpoint": None}),
        "sphere": (((0, 0, 0), 1.0), {}),
        "terrain": ((np.zeros((3, 3)),), {"spacing": 1.0, "corner": (0.0, 0.0)}),
        "VectorEnv": ((robot, 3), {
            "dt": 0.01, "steps_per_action": 1, "max_episode_steps": 5, "action_low": -np.ones(2),
            "action_high": np.ones(2), "act": None, "observe": None, "reward": None, "terminated": None,
            "integrator": "semi_implicit", "dtype": np.float64, "forces": (),
        }),
        "variational": ((1e-12,), {}),
        "wrench_sensor": (("b",), {}),
    }  # fmt: skip


def first(q, v):
    return q[0]


def effort(robot, p, t, q, v, tau):
    return p.k * (tau @ tau + q @ q)
