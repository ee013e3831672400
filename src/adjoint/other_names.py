"""Hints for someone who asks `adjoint` for a name that is in use in another library, or in an older version.

The table is read only after a name was not found, so it costs nothing otherwise.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from .vision.peer_names import VISION_PEERS

__all__ = ["PEERS", "hint"]

# {a name in another library, in lower case: (that library, what Adjoint has for it)}
PEERS = {
    # Pinocchio
    "rnea": ("Pinocchio", "adjoint.inverse_dynamics(robot, q, v, a)"),
    "aba": ("Pinocchio", "adjoint.forward_dynamics(robot, q, v, tau)"),
    "crba": ("Pinocchio", "adjoint.mass_matrix(robot, q)"),
    "nonlineareffects": ("Pinocchio", "adjoint.bias_force(robot, q, v)"),
    "computegeneralizedgravity": ("Pinocchio", "adjoint.gravity_torque(robot, q)"),
    "computecoriolismatrix": ("Pinocchio", "adjoint.coriolis_matrix(robot, q, v)"),
    "computeminverse": ("Pinocchio", "adjoint.mass_matrix_inverse(robot, q)"),
    "computerneaderivatives": ("Pinocchio", "adjoint.inverse_dynamics_derivatives(robot, q, v, a)"),
    "computeabaderivatives": ("Pinocchio", "adjoint.forward_dynamics_derivatives(robot, q, v, tau)"),
    "forwardkinematics": ("Pinocchio", "adjoint.forward_kinematics(robot, q, frame)"),
    "computeframejacobian": ("Pinocchio", 'adjoint.jacobian(robot, q, frame, expressed="body"), angular rows first'),
    "getframejacobian": ("Pinocchio", 'adjoint.jacobian(robot, q, frame, expressed="body"), angular rows first'),
    "computejointjacobians": ("Pinocchio", 'adjoint.jacobian(robot, q, frame, expressed="body"), angular rows first'),
    "computejointjacobian": ("Pinocchio", 'adjoint.jacobian(robot, q, frame, expressed="body"), angular rows first'),
    "framesforwardkinematics": ("Pinocchio", "adjoint.forward_kinematics(robot, q)"),
    "computejointtorqueregressor": ("Pinocchio", "adjoint.regressor(robot, q, v, a)"),
    "computekineticenergy": ("Pinocchio", "adjoint.kinetic_energy(robot, q, v)"),
    "computepotentialenergy": ("Pinocchio", "adjoint.potential_energy(robot, q)"),
    "centerofmass": ("Pinocchio", "adjoint.center_of_mass(robot, q)"),
    "jacobiancenterofmass": ("Pinocchio", "adjoint.center_of_mass_jacobian(robot, q)"),
    "ccrba": ("Pinocchio", "adjoint.centroidal_momentum_matrix(robot, q)"),
    "randomconfiguration": ("Pinocchio", "adjoint.random_configuration(robot)"),
    "buildmodelfromurdf": ("Pinocchio", "adjoint.load(path)"),
    "buildmodelfrommjcf": ("Pinocchio", "adjoint.load(path)"),
    "constraintdynamics": ("Pinocchio", "adjoint.dynamics.constrained_forward_dynamics(robot, loops, q, v, tau)"),
    # MuJoCo
    "mj_step": ("MuJoCo", "adjoint.simulate(robot, controller, q=q, v=v, duration=duration, dt=dt)"),
    "rollout": ("MuJoCo", "adjoint.simulate(robot, controller, q=q, v=v, duration=duration, dt=dt), of any batch"),
    "mjdata": (
        "MuJoCo",
        "the arrays q, v and tau that functions take; adjoint.simulate returns adjoint.simulation.Run",
    ),
    "xfrc_applied": ("MuJoCo", "adjoint.simulation.applied(frame, wrench), moment before force, seen from the frame"),
    "qfrc_applied": ("MuJoCo", "adjoint.simulation.force(function), which gives joint forces"),
    "mj_contactforce": ("MuJoCo", "the method `wrench` of adjoint.simulation.Run: run.wrench(frame)"),
    "mj_savelastxml": ("MuJoCo", "adjoint.model.to_mjcf(robot, path)"),
    "mj_forward": ("MuJoCo", "adjoint.forward_dynamics(robot, q, v, tau)"),
    "mj_inverse": ("MuJoCo", "adjoint.inverse_dynamics(robot, q, v, a)"),
    "mj_rne": ("MuJoCo", "adjoint.bias_force(robot, q, v)"),
    "mj_crb": ("MuJoCo", "adjoint.mass_matrix(robot, q)"),
    "mj_fullm": ("MuJoCo", "adjoint.mass_matrix(robot, q)"),
    "mj_solvem": ("MuJoCo", "adjoint.solve_mass_matrix(robot, q, b)"),
    "mj_mulm": ("MuJoCo", "adjoint.mass_matrix_product(robot, q, x)"),
    "mj_kinematics": ("MuJoCo", "adjoint.forward_kinematics(robot, q)"),
    "mj_jac": ("MuJoCo", 'adjoint.jacobian(robot, q, frame, expressed="world"), angular rows first'),
    "mj_jacbody": ("MuJoCo", 'adjoint.jacobian(robot, q, frame, expressed="world"), angular rows first'),
    "mj_jacsite": ("MuJoCo", 'adjoint.jacobian(robot, q, frame, expressed="world"), angular rows first'),
    "set_mjcb_control": ("MuJoCo", "adjoint.simulate(robot, controller), of a Law or a function of t, q and v"),
    "mj_integratepos": ("MuJoCo", "adjoint.integrate(robot, q, v * dt)"),
    "mj_differentiatepos": ("MuJoCo", "adjoint.difference(robot, q_0, q_1)"),
    "mjd_transitionfd": ("MuJoCo", "adjoint.linearize(robot, q, v, tau, dt=dt)"),
    "mjmodel": ("MuJoCo", "adjoint.Robot, which adjoint.load(path) reads"),
    # PyBullet
    "stepsimulation": ("PyBullet", "adjoint.simulate(robot, controller, q=q, v=v, duration=duration, dt=dt)"),
    "applyexternalforce": ("PyBullet", "adjoint.simulation.applied(frame, wrench)"),
    # Robotics Toolbox
    "fkine": ("the Robotics Toolbox", "adjoint.forward_kinematics(robot, q, frame)"),
    "jacob0": ("the Robotics Toolbox", 'adjoint.jacobian(robot, q, frame, expressed="world")'),
    "jacobe": ("the Robotics Toolbox", 'adjoint.jacobian(robot, q, frame, expressed="body")'),
    "jacob_dot": ("the Robotics Toolbox", "adjoint.jacobian_rate(robot, q, v, frame)"),
    "rne": ("the Robotics Toolbox", "adjoint.inverse_dynamics(robot, q, v, a)"),
    "accel": ("the Robotics Toolbox", "adjoint.forward_dynamics(robot, q, v, tau)"),
    "fdyn": ("the Robotics Toolbox", "adjoint.simulate(robot, controller, q=q, v=v, duration=duration, dt=dt)"),
    "gravload": ("the Robotics Toolbox", "adjoint.gravity_torque(robot, q)"),
    "coriolis": ("the Robotics Toolbox", "adjoint.coriolis_matrix(robot, q, v)"),
    "inertia": ("the Robotics Toolbox", "adjoint.mass_matrix(robot, q)"),
    "ikine_a": ("the Robotics Toolbox", "adjoint.inverse_kinematics(robot, T, frame)"),
    "ikine_lm": ("the Robotics Toolbox", "adjoint.find_configuration(robot, {frame: T})"),
    "ik_lm": ("the Robotics Toolbox", "adjoint.find_configuration(robot, {frame: T})"),
    "ik_gn": ("the Robotics Toolbox", "adjoint.find_configuration(robot, {frame: T})"),
    "ik_nr": ("the Robotics Toolbox", "adjoint.find_configuration(robot, {frame: T})"),
    "maniplty": ("the Robotics Toolbox", "adjoint.manipulability(robot, q, frame)"),
    "dhrobot": ("the Robotics Toolbox", "adjoint.from_dh(rows)"),
    "jtraj": ("the Robotics Toolbox", "adjoint.trajectory.quintic(start, goal, duration)"),
    "mtraj": ("the Robotics Toolbox", "adjoint.trajectory.quintic or adjoint.trajectory.trapezoidal, of any joints"),
    "mstraj": ("the Robotics Toolbox", "adjoint.trajectory.linear_blends(waypoints, times, blend)"),
    "ctraj": ("the Robotics Toolbox", "adjoint.trajectory.line(T_0, T_1, profile=profile)"),
    "rrmc": ("the Robotics Toolbox", "adjoint.control.resolved_rate(robot, reference, frame=frame, kd=kd, gain=gain)"),
    "p_servo": ("the Robotics Toolbox", "adjoint.control.resolve_twist(robot, q, twist, frame)"),
    "lspb": ("the Robotics Toolbox", "adjoint.trajectory.trapezoidal(start, goal, velocity=v, acceleration=a)"),
    # viewers
    "meshcatvisualizer": ("Pinocchio", "adjoint.view(robot)"),
    "gepettovisualizer": ("Pinocchio", "adjoint.view(robot)"),
    "loadviewermodel": ("Pinocchio", "adjoint.view(robot)"),
    "meshcat": ("Drake", "adjoint.view(robot), or adjoint.viewer.page(robot) for a file to send"),
    "startmeshcat": ("Drake", "adjoint.view(robot), or adjoint.viewer.page(robot) for a file to send"),
    "modelvisualizer": ("Drake", "adjoint.view(robot)"),
    "launch_passive": ("MuJoCo", "adjoint.view(robot)"),
    "renderer": ("MuJoCo", "adjoint.plot(robot, q, path=path)"),
    "teach": ("the Robotics Toolbox", "adjoint.view(robot), whose sliders move the joints"),
    "swift": ("the Robotics Toolbox", "adjoint.view(robot)"),
    "rviz": ("ROS", "adjoint.view(robot)"),
    "viserurdf": ("viser", "adjoint.view(robot)"),
    # Drake
    "simulator": ("Drake", "adjoint.simulate(robot, controller, q=q, v=v, duration=duration, dt=dt)"),
    "advanceto": ("Drake", "adjoint.simulate(robot, controller, resume=run, duration=duration, dt=dt)"),
    "diagrambuilder": ("Drake", "adjoint.simulate, which puts a robot, a controller, forces and sensors together"),
    "leafsystem": ("Drake", "adjoint.control.law(function), or adjoint.simulation.force(function)"),
    "externallyappliedspatialforce": ("Drake", "adjoint.simulation.applied(frame, wrench)"),
    "multibodyplant": ("Drake", "adjoint.Robot, which adjoint.load(path) reads"),
    "calcmassmatrix": ("Drake", "adjoint.mass_matrix(robot, q)"),
    "calcinversedynamics": ("Drake", "adjoint.inverse_dynamics(robot, q, v, a)"),
    "calcbiasterm": ("Drake", "adjoint.bias_force(robot, q, v)"),
    "piecewisepolynomial": ("Drake", "adjoint.trajectory.Trajectory, as of adjoint.trajectory.spline(knots, times)"),
    "bsplinetrajectory": ("Drake", "adjoint.trajectory.b_spline(control_points, duration)"),
    "pathparameterizedtrajectory": ("Drake", "adjoint.trajectory.time_optimal(path), or path.timed(profile)"),
    "piecewisepose": ("Drake", "adjoint.trajectory.lines(poses, durations) or adjoint.trajectory.pose_spline"),
    "pidcontroller": ("Drake", "adjoint.control.pid(robot, target, kp=kp, ki=ki, kd=kd, period=period)"),
    "inversedynamicscontroller": ("Drake", "adjoint.control.computed_torque(robot, reference, kp=kp, kd=kd)"),
    "jointstiffnesscontroller": ("Drake", "adjoint.control.pd(target, kp=kp, kd=kd, gravity=True)"),
    # ruckig and toppra
    "ruckig": ("ruckig", "adjoint.trajectory.OnlineMotion or adjoint.trajectory.jerk_limited"),
    "inputparameter": ("ruckig", "the arguments of adjoint.trajectory.jerk_limited, and adjoint.trajectory.State"),
    "toppra": ("toppra", "adjoint.trajectory.time_optimal(path, velocity=v, acceleration=a, robot=robot)"),
    "splineinterpolator": ("toppra", "adjoint.trajectory.spline(knots, times)"),
    "jointvelocityconstraint": ("toppra", "adjoint.trajectory.time_optimal(path, velocity=v, acceleration=a)"),
    "jointaccelerationconstraint": ("toppra", "adjoint.trajectory.time_optimal(path, acceleration=a)"),
    "jointtorqueconstraint": ("toppra", "adjoint.trajectory.time_optimal(path, robot=robot, torque=limits)"),
    # collisions and motion plans
    "computecollisions": (
        "Pinocchio",
        "adjoint.collision.is_free(model, q), the opposite, or adjoint.collision.contacts",
    ),
    "computecollision": (
        "Pinocchio",
        "adjoint.collision.is_free(model, q), the opposite, or adjoint.collision.contacts",
    ),
    "computedistances": ("Pinocchio", "adjoint.collision.clearance(model, q) or adjoint.collision.pair_clearances"),
    "computedistance": ("Pinocchio", "adjoint.collision.nearest_pair(model, q)"),
    "geometrymodel": ("Pinocchio", "adjoint.collision.collision_model(robot, obstacles)"),
    "buildgeomfromurdf": ("Pinocchio", "adjoint.collision.link_shapes(robot)"),
    "addallcollisionpairs": ("Pinocchio", "adjoint.collision.colliding_pairs(robot)"),
    "removecollisionpairs": ("Pinocchio", "adjoint.collision.disabled_links, or colliding_pairs, which finds them"),
    "mj_geomdistance": ("MuJoCo", "adjoint.collision.clearance(model, q), or adjoint.collision.solid_distance(a, b)"),
    "mj_collision": ("MuJoCo", "adjoint.collision.contacts(model, q)"),
    "collided": ("the Robotics Toolbox", "adjoint.collision.is_free(model, q), the opposite"),
    "iscollided": ("the Robotics Toolbox", "adjoint.collision.is_free(model, q), the opposite"),
    "closest_point": ("the Robotics Toolbox", "adjoint.collision.nearest_pair(model, q)"),
    "getclosestpoints": ("PyBullet", "adjoint.collision.nearest_pair(model, q), or adjoint.collision.pair_clearances"),
    "getcontactpoints": ("PyBullet", "adjoint.collision.contacts(model, q)"),
    "scenegraph": ("Drake", "adjoint.collision.collision_model(robot, obstacles), or adjoint.world.World"),
    "scenegraphcollisionchecker": ("Drake", "adjoint.collision.collision_model(robot, obstacles)"),
    "checkconfigcollisionfree": ("Drake", "adjoint.collision.is_free(model, q)"),
    "checkedgecollisionfree": ("Drake", "adjoint.collision.edges_free(model, starts, ends)"),
    "collisionmanager": ("trimesh", "adjoint.collision.collision_model(robot, obstacles)"),
    "transformmanager": ("pytransform3d", "adjoint.world.World"),
    "simplesetup": ("OMPL", "adjoint.world.plan_motion(world, robot, start, goal), or plan_with_ompl"),
    "rrtconnect": ("OMPL", "adjoint.world.plan_motion(world, robot, start, goal)"),
    "prmstar": ("OMPL", 'adjoint.world.plan_motion(world, robot, start, goal, method="prm_star")'),
    "movegroupcommander": ("MoveIt", "adjoint.world.plan_motion(world, robot, start, goal)"),
    "planningscene": ("MoveIt", "adjoint.world.World, or adjoint.collision.collision_model(robot, obstacles)"),
    # pink, mink and ikpy
    "solve_ik": ("pink", "adjoint.goals.differential_step(robot, q, goals, dt)"),
    "frametask": ("pink", "adjoint.goals.pose(frame, T)"),
    "comtask": ("pink", "adjoint.goals.center_of_mass(c)"),
    "posturetask": ("pink", "adjoint.goals.posture(q)"),
    "inversekinematics": ("Drake", "adjoint.inverse_kinematics(robot, T, frame) or adjoint.find_configuration"),
    "inverse_kinematics_frame": ("ikpy", "adjoint.find_configuration(robot, {frame: T})"),
    # JAX
    "jit": ("JAX", "adjoint.kernel"),
    "vmap": ("JAX", "adjoint.kernel, whose functions take any leading batch axes"),
    "jacfwd": ("JAX", "the method `jacobian` of every kernel: f.jacobian('x')"),
    "grad": ("JAX", "the method `jacobian` of every kernel: f.jacobian('x')"),
}

PEERS |= VISION_PEERS

# {an old name in this library: its name now}
_RENAMED = {
    "jacobian_derivative": "adjoint.jacobian_rate",
    "robot": "adjoint.model",
    "closed_forms": "adjoint.equations",
}
_TOPICS = (
    "kinematics",
    "inverse",
    "goals",
    "dynamics",
    "geometry",
    "fixman",
    "identification",
    "calibration",
    "trajectory",
    "control",
    "simulation",
    "sensing",
    "vision",
    "collision",
    "world",
    "viewer",
    "model",
    "lie",
)


def hint(name: str) -> str:
    """Return the end of a message about a name that `adjoint` lacks: where the thing is, or which names are close."""
    if name.lower() in PEERS:
        owner, ours = PEERS[name.lower()]
        return f"; what {owner} calls {name} is {ours}"
    if name in _RENAMED:
        return f"; it is {_RENAMED[name]} now"
    homes = [topic for topic in _TOPICS if name in import_module(f"adjoint.{topic}").__all__]
    if homes:
        return f"; it is adjoint.{homes[0]}.{name}"
    close = difflib.get_close_matches(name, dir(import_module("adjoint")), 3, 0.6)
    return f"; did you mean {' or '.join(close)}?" if close else "; dir(adjoint) lists what there is"
