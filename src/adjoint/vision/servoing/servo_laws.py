"""Visual servoing as control laws: `image_servo` and `pose_servo`, and the sensors that feed them in `simulate`.

The camera sees; a twist of `servo_twists` says how it should move; `resolve_twist` says how the joints should; and
inverse dynamics drives them: τ = M(q) ρ (v_c - v) + h(q, v), so that v follows v_c with the rate ρ. All of it is one
function of one instant, so that `simulate` runs thousands of robots, each with its own target, in one kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...control.laws import Law, law
from ...control.random_numbers import normals, random_state
from ...control.resolution import resolve_twist
from ...dynamics.newton_euler import inverse_dynamics
from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...kinematics.jacobians import jacobian
from ...lie import se3
from ...model.input_checks import floats, nearest_motions, one_of, positive
from ...model.needs import need_robot
from ...model.robot import Robot
from ...randomness import Rng, batch_shape
from ...simulation.sensors import Sensor, sensor
from ..cameras.camera import Camera
from ..cameras.lens_model import distorted, undistorted
from ..cameras.projecting import undistort_points
from .interaction import interaction_matrix
from .servo_twists import METHODS, PATHS, camera_twist, pose_based_twist

__all__ = ["ServoState", "image_servo", "pixel_sensor", "pose_servo", "target_pose_sensor"]

_EYES = ("in hand", "beside arm")
_DEPTHS = ("true", "goal", "estimated")
_NEAR, _FAR = 0.02, 50.0  # [m] estimated depths stay between these
_TOGETHER = 3.0  # [1/s] how fast depths of points that do not move drift to the mean
_SLOW = 0.02  # [1/s] image motions below this, at a depth of 1 m, tell little of the depth


class ServoState(NamedTuple):
    """The state of `image_servo` with estimated depths or noise; parts that it does not need are None.

    `seen` (k, 2) is the observer's image points, `near` (k,) [1/m] its inverse depths, `started` whether it has seen
    any, and `random` (6,) the state of the generator of noise.
    """

    seen: Any = None
    near: Any = None
    started: Any = None
    random: Any = None


# --- what the camera sees ---------------------------------------------------------------------------------------------


def _placed(robot: Robot, p, q):
    """T_carrier_camera, and its inverse, where the carrier is the frame in the hand, or T_base_camera and its inverse.

    Returns the pose of the points' frame in the camera, and T_frame_camera.
    """
    T = forward_kinematics(robot, q, p.frame)
    if p.eye == "in hand":
        return se3.inverse(se3.compose(T, p.T_gripper_camera)), p.T_gripper_camera
    T_camera_frame = se3.compose(se3.inverse(p.T_base_camera), T)
    return T_camera_frame, se3.inverse(T_camera_frame)


def _in_pixels(s, p):
    """Pixels (k, 2) of image points (k, 2)."""
    if p.lens:
        s = np.stack([distorted(x, p.distortion) for x in s])
    K = p.matrix
    return np.stack([np.stack([K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]]) for x, y in s])


def _on_plane(pixels, p):
    """Image points (k, 2) on the plane z = 1 of pixels (k, 2)."""
    K, found = p.matrix, []
    for u, v in pixels:
        y = (v - K[1, 2]) / K[1, 1]
        x = np.stack([(u - K[0, 2] - K[0, 1] * y) / K[0, 0], y])
        found.append(undistorted(x, p.distortion, p.largest_radius) if p.lens else x)
    return np.stack(found)


def _observed(robot: Robot, p, q, random):
    """Image points (k, 2), their true depths (k,) or None, and the generator's state after noise was drawn."""
    if p.source == "points":
        T, _ = _placed(robot, p, q)
        X = np.stack([se3.act(T, x) for x in p.points])
        s, depths = X[:, :2] / X[:, 2:], X[:, 2]
    else:
        s, depths = None, None
    if not p.noisy:
        return (_on_plane(p.pixels, p) if s is None else s), depths, random
    pixels = p.pixels if s is None else _in_pixels(s, p)
    x, random = normals(random, 2 * len(pixels))
    return _on_plane(pixels + p.noise * x.reshape(-1, 2), p), depths, random


def _observer(p, state: ServoState, s, twist):
    """The state of the observer of depths after one period, in which the camera moved with `twist` (6,).

    ṡ = L_ω ω + ρ m with m = L_v(Z = 1) v, and ρ̇ = ρ² v_z + ρ (y ω_x - x ω_y) for the inverse depth ρ: De Luca, Oriolo
    & Robuffo Giordano (2008), "Feature depth observation for image-based visual servoing", IJRR 27(10). Points that
    hardly move, whose depths are not seen, drift to the mean of all: wrong ratios of depths can make the loop unstable.
    """
    seen, near = [], []
    a, h, v_z, mean = p.observer, p.period, twist[5], np.mean(state.near)
    for k in range(len(s)):
        x, r = np.where(state.started > 0, state.seen[k], s[k]), state.near[k]
        L = interaction_matrix(s[k], 1.0)
        m, e = L[:, 3:] @ twist[3:], s[k] - x
        pull = a * a / np.maximum(m @ m, _SLOW**2) * (m @ e)
        pull = pull + _TOGETHER * _SLOW**2 / (m @ m + _SLOW**2) * (mean - r)
        seen.append(x + h * (L[:, :3] @ twist[:3] + r * m + 2 * a * e))
        drift = r * r * v_z + r * (s[k, 1] * twist[0] - s[k, 0] * twist[1])
        near.append(np.clip(r + h * (drift + pull), 1 / _FAR, 1 / _NEAR))
    return state._replace(seen=np.stack(seen), near=np.stack(near), started=1.0 + 0.0 * state.started)


# --- the laws ---------------------------------------------------------------------------------------------------------


def _drive(robot: Robot, p, q, v, twist, T_frame_camera):
    """The joint forces that give the camera a twist, or that move the target so as if the camera had it."""
    V = se3.Ad_action(T_frame_camera, twist)
    V = V if p.eye == "in hand" else -V
    v_c = resolve_twist(robot, q, V, p.frame, "body", damping=p.joint_damping)
    return inverse_dynamics(robot, q, v, p.rate * (v_c - v))


def _image_servo(robot, p, state, t, q, v, reference):
    own = ServoState() if state is None else state
    s, depths, random = _observed(robot, p, q, own.random)
    _, T_frame_camera = _placed(robot, p, q)
    if p.depth == "estimated":
        V = jacobian(robot, q, p.frame, "body") @ v
        relative = se3.Ad_inv_action(T_frame_camera, V if p.eye == "in hand" else -V)
        depths = 1 / own.near
        own = _observer(p, own, s, relative)
    elif p.depth == "goal":
        depths = p.depths
    twist = camera_twist(s, p.goal, depths, p.method, p.gain, p.damping)
    tau = _drive(robot, p, q, v, twist, T_frame_camera)
    return tau, None if state is None else own._replace(random=random)


def image_servo(
    robot: Robot, goal_pixels, *, frame: str, camera: Camera, gain: float, points=None, depths=None,
    depth: str | None = None, rate: float = 50.0, eye: str = "in hand", T_gripper_camera=None, method: str = "image",
    damping: float = 0.0, joint_damping: float | None = None, observer: float = 10.0, period: float = 0.001,
    noise: float = 0.0, shape: int | tuple[int, ...] = (), rng: Rng = None,
) -> Law:  # fmt: skip
    """Image-based visual servoing: a law that moves an arm until a camera sees k points at `goal_pixels` (k, 2).

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> points = np.array([[0.1, 0.1, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0], [0.1, -0.1, 0]]) + [0.6, 0, -0.2]
        >>> goal = [[400, 320], [240, 320], [240, 160], [400, 160]]
        >>> servo = image_servo(robot, goal, frame="tool", camera=camera, gain=1.0, points=points)
        >>> tau, _ = servo(robot, None, 0.0, q, v)

    - `frame` carries the camera, which is at `T_gripper_camera` (4, 4) in it, by default at the frame itself. With
      `eye="beside arm"`, `camera.T_world_camera` is its pose in the base, and `frame` carries the points.
    - `points` (k, 3) [m] are true places in the base (or in `frame`, beside the arm), of which the law computes what
      the camera sees. `law.replace(points=...)` has a batch of them. With None, the law has a number `pixels` (k, 2),
      which `simulate(..., sensors={"pixels": pixel_sensor(...)})` reads, or a real camera does.
    - `depth` says which depths the interaction matrix has: "true" (needs `points`, and is their default), "goal": those
      in `depths` (k,) [m], or "estimated": an observer begins with `depths` and learns from motion, with the rate
      `observer` [1/s] and one instant every `period` [s].
    - `gain` λ [1/s] is the rate at which the image errors decay, `rate` ρ [1/s] the one of the velocity loop, which
      should be some times larger. `method` and `damping` are those of `image_based_twist`, and `joint_damping` is the
      damping of `resolve_twist`.
    - `noise` [pixels] is the standard deviation of measured pixels, drawn anew at each instant; `shape` is that of a
      batch of laws with noise of their own, and `rng` the seed.

    The law needs six joints or more; redundant ones move as little as they can. References are those of `servo_twists`.
    """
    caller = "image_servo"
    goal, numbers = _goal(goal_pixels, camera, caller), _checked(robot, frame, camera, eye, T_gripper_camera, caller)
    k = len(goal)
    one_of(method, METHODS, f"{caller}: method")
    depth = ("true" if points is not None else "goal") if depth is None else depth
    one_of(depth, _DEPTHS, f"{caller}: depth")
    if depth == "true" and points is None:
        raise ArgumentError(f"{caller}: depth 'true' needs 'points'; a camera alone sees no depths")
    if depth != "true":
        numbers["depths"] = _shaped(depths, (k,), "depths", caller, f"depth={depth!r} needs {k} of them [m]")
        if not (numbers["depths"] > 0).all():
            raise ArgumentError(f"{caller}: 'depths' must be positive")
    if points is not None:
        numbers["points"] = _shaped(points, (k, 3), "points", caller, f"there are {k} goal pixels")
    else:
        numbers["pixels"] = floats(goal_pixels)
    noise = positive(noise, f"{caller}: noise [pixels]", or_zero=True)
    state = ServoState(
        seen=goal if depth == "estimated" else None,
        near=1 / numbers["depths"] if depth == "estimated" else None,
        started=0.0 if depth == "estimated" else None,
        random=np.ones(6) if noise else None,
    )
    found = law(
        _image_servo, name=caller, model=robot, follows=None, goal=goal, frame=frame, eye=eye, method=method,
        depth=depth, source="pixels" if points is None else "points", noisy=noise > 0, noise=noise,
        state=state if noise or depth == "estimated" else None,
        gain=positive(gain, f"{caller}: gain [1/s]"), rate=positive(rate, f"{caller}: rate [1/s]"),
        damping=positive(damping, f"{caller}: damping", or_zero=True), joint_damping=_damping(joint_damping, caller),
        observer=positive(observer, f"{caller}: observer [1/s]"), period=positive(period, f"{caller}: period [s]"),
        **numbers,
    )  # fmt: skip
    if not noise:
        return found
    random = random_state(batch_shape(shape, caller), rng=rng)
    return found.replace(state=found.state._replace(random=random))


def _pose_servo(robot, p, state, t, q, v, reference):
    T, T_frame_camera = _placed(robot, p, q)
    seen = se3.compose(T, p.T_target) if p.source == "points" else p.T_camera_target
    twist = pose_based_twist(seen, p.T_camera_target_goal, p.gain, p.path)
    return _drive(robot, p, q, v, twist, T_frame_camera), state


def pose_servo(
    robot: Robot, T_camera_target_goal, *, frame: str, gain: float, T_base_target=None, camera: Camera | None = None,
    rate: float = 50.0, eye: str = "in hand", T_gripper_camera=None, T_gripper_target=None, path: str = "straight",
    joint_damping: float | None = None,
) -> Law:  # fmt: skip
    """Position-based visual servoing: a law that moves an arm until the camera has a target at `T_camera_target_goal`.

        >>> goal = se3.exp([np.pi, 0, 0, 0, 0, 0.3])
        >>> servo = pose_servo(robot, goal, frame="tool", gain=1.0, T_base_target=se3.exp([0, 0, 0, 0.6, 0, -0.2]))
        >>> tau, _ = servo(robot, None, 0.0, q, v)

    - With `T_base_target` (4, 4), the true place of the target, the law computes what the camera sees, and
      `law.replace(T_target=...)` has a batch of them. Without it the law has a number `T_camera_target` (4, 4), which
      `simulate(..., sensors={"T_camera_target": target_pose_sensor(...)})` reads, or a pose from an image gives.
    - With `eye="beside arm"`, `camera.T_world_camera` is the camera's pose in the base, and the target is at
      `T_gripper_target` (4, 4) in `frame`.
    - `path` is that of `pose_based_twist`; the other arguments are those of `image_servo`.
    """
    caller = "pose_servo"
    numbers = _checked(robot, frame, camera, eye, T_gripper_camera, caller, lens=False)
    one_of(path, PATHS, f"{caller}: path")
    given = T_base_target if eye == "in hand" else T_gripper_target
    if (T_gripper_target if eye == "in hand" else T_base_target) is not None:
        right, wrong = ("T_base_target", "T_gripper_target")[:: 1 if eye == "in hand" else -1]
        raise ArgumentError(f"{caller}: with eye={eye!r}, '{right}' says where the target is, not '{wrong}'")
    numbers["T_camera_target_goal"] = goal = _pose(T_camera_target_goal, "T_camera_target_goal", caller)
    if given is None:
        numbers["T_camera_target"] = goal
    else:
        numbers["T_target"] = _pose(given, "T_base_target" if eye == "in hand" else "T_gripper_target", caller)
    return law(
        _pose_servo, name=caller, model=robot, follows=None, frame=frame, eye=eye, path=path,
        source="pixels" if given is None else "points", gain=positive(gain, f"{caller}: gain [1/s]"),
        rate=positive(rate, f"{caller}: rate [1/s]"), joint_damping=_damping(joint_damping, caller), **numbers,
    )  # fmt: skip


# --- sensors ----------------------------------------------------------------------------------------------------------


def _read_pixels(robot, p, t, q, v, wrenches):
    T, _ = _placed(robot, p, q)
    X = np.stack([se3.act(T, x) for x in p.points])
    return _in_pixels(X[:, :2] / X[:, 2:], p)


def pixel_sensor(
    points, *, robot: Robot, frame: str, camera: Camera, eye: str = "in hand", T_gripper_camera=None
) -> Sensor:
    """A sensor for `simulate`: the pixels (k, 2) at which a camera on or beside a robot sees `points` (k, 3) [m].

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> seen = pixel_sensor(np.eye(3), robot=robot, frame="tool", camera=camera)

    Arguments are those of `image_servo`. Points behind the lens are mirrored through it, so that a law goes on.
    """
    caller = "pixel_sensor"
    numbers = _checked(robot, frame, camera, eye, T_gripper_camera, caller)
    numbers["points"] = _shaped(points, (None, 3), "points", caller, "places [m] are needed")
    return sensor(_read_pixels, name=caller, frame=frame, eye=eye, **numbers)


def _read_pose(robot, p, t, q, v, wrenches):
    return se3.compose(_placed(robot, p, q)[0], p.T_target)


def target_pose_sensor(
    T_target, *, robot: Robot, frame: str, camera: Camera | None = None, eye: str = "in hand", T_gripper_camera=None
) -> Sensor:
    """A sensor for `simulate`: T_camera_target (4, 4) of a target at `T_target` in the base, or in `frame` if held.

    >>> seen = target_pose_sensor(se3.exp([0, 0, 0, 0.6, 0, -0.2]), robot=robot, frame="tool")
    """
    caller = "target_pose_sensor"
    numbers = _checked(robot, frame, camera, eye, T_gripper_camera, caller, lens=False)
    return sensor(
        _read_pose, name=caller, frame=frame, eye=eye, T_target=_pose(T_target, "T_target", caller), **numbers
    )


# --- checks -----------------------------------------------------------------------------------------------------------


def _checked(robot, frame, camera, eye, T_gripper_camera, caller: str, lens: bool = True) -> dict[str, Any]:
    """The numbers of the camera and of its place."""
    need_robot(robot, caller)
    robot.frame(frame)
    one_of(eye, _EYES, f"{caller}: eye")
    if not isinstance(camera, Camera) and (lens or eye == "beside arm"):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")
    if eye == "beside arm" and T_gripper_camera is not None:
        raise ArgumentError(f"{caller}: a camera beside the arm is at camera.T_world_camera, not at 'T_gripper_camera'")
    found: dict[str, Any] = {}
    if eye == "in hand":
        T = np.eye(4) if T_gripper_camera is None else _pose(T_gripper_camera, "T_gripper_camera", caller)
        found["T_gripper_camera"] = T
    else:
        found["T_base_camera"] = np.array(camera.T_world_camera)
    if lens:
        radius = min(camera.largest_radius, 1e6)  # numbers of a law are finite
        found |= {"matrix": np.array(camera.matrix), "distortion": np.array(camera.distortion), "lens": camera.distorts}
        found["largest_radius"] = radius
    return found


def _goal(pixels, camera, caller: str) -> np.ndarray:
    """The goal (k, 2) on the plane z = 1."""
    found = _shaped(pixels, (None, 2), "goal_pixels", caller, "pixels (u, v) are needed")
    if len(found) < 3:
        raise ArgumentError(f"{caller}: {len(found)} points do not determine six velocities; three are the least")
    if not isinstance(camera, Camera):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")
    straight = undistort_points(camera, found)
    if not np.isfinite(straight).all():
        raise ArgumentError(f"{caller}: 'goal_pixels' has pixels outside of what the lens can show")
    K = camera.matrix
    y = (straight[:, 1] - K[1, 2]) / K[1, 1]
    return np.stack([(straight[:, 0] - K[0, 2] - K[0, 1] * y) / K[0, 0], y], axis=-1)


def _shaped(value, shape: tuple[int | None, ...], name: str, caller: str, why: str) -> np.ndarray:
    found = floats(value)
    fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    if not fits or not np.isfinite(found).all():
        wanted = str(shape).replace("None", "k")
        raise ArgumentError(f"{caller}: '{name}' has shape {found.shape}; finite numbers {wanted}: {why}")
    return found


def _pose(value, name: str, caller: str) -> np.ndarray:
    found = floats(value)
    fixed, bad = nearest_motions(found[None]) if found.shape == (4, 4) and np.isfinite(found).all() else (found, 0)
    if bad is not None:
        raise ArgumentError(f"{caller}: '{name}' must be a rigid motion (4, 4), [R p; 0 1] with R Rᵀ = 1, det R = 1")
    return fixed[0]


def _damping(value, caller: str) -> float | None:
    return None if value is None else positive(value, f"{caller}: joint_damping")
