"""Visual servoing as control laws for `simulate`: `image_servo` and `pose_servo`.

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
from ...kinematics.jacobians import jacobian
from ...lie import se3
from ...model.input_checks import floats, one_of, positive
from ...model.robot import Robot
from ...randomness import Rng, batch_shape
from ..cameras.camera import Camera
from .camera_scene import camera_numbers, damping_of, goal_points, image_points, in_pixels, placed, pose_of, shaped
from .interaction import interaction_matrix
from .servo_twists import METHODS, PATHS, camera_twist, pose_based_twist

__all__ = ["ServoState", "image_servo", "pose_servo"]

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


def _observed(robot: Robot, p, q, random):
    """Image points (k, 2), their true depths (k,) or None, and the generator's state after noise was drawn."""
    if p.source == "points":
        T, _ = placed(robot, p, q)
        X = np.stack([se3.act(T, x) for x in p.points])
        s, depths = X[:, :2] / X[:, 2:], X[:, 2]
    else:
        s, depths = None, None
    if not p.noisy:
        return (image_points(p.pixels, p) if s is None else s), depths, random
    pixels = p.pixels if s is None else in_pixels(s, p)
    x, random = normals(random, 2 * len(pixels))
    return image_points(pixels + p.noise * x.reshape(-1, 2), p), depths, random


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
    _, T_frame_camera = placed(robot, p, q)
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
    goal, numbers = (
        goal_points(goal_pixels, camera, caller),
        camera_numbers(robot, frame, camera, eye, T_gripper_camera, caller),
    )
    k = len(goal)
    one_of(method, METHODS, f"{caller}: method")
    depth = ("true" if points is not None else "goal") if depth is None else depth
    one_of(depth, _DEPTHS, f"{caller}: depth")
    if depth == "true" and points is None:
        raise ArgumentError(f"{caller}: depth 'true' needs 'points'; a camera alone sees no depths")
    if depth != "true":
        depths = np.full(k, float(depths)) if isinstance(depths, (int, float)) else depths
        numbers["depths"] = shaped(depths, (k,), "depths", caller, f"depth={depth!r} needs {k} of them [m], or one")
        if not (numbers["depths"] > 0).all():
            raise ArgumentError(f"{caller}: 'depths' must be positive")
    if points is not None:
        numbers["points"] = shaped(points, (k, 3), "points", caller, f"there are {k} goal pixels")
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
        depth=depth, source="pixels" if points is None else "points",
        reads="pixels" if points is None else None, noisy=noise > 0, noise=noise,
        state=state if noise or depth == "estimated" else None,
        gain=positive(gain, f"{caller}: gain [1/s]"), rate=positive(rate, f"{caller}: rate [1/s]"),
        damping=positive(damping, f"{caller}: damping", or_zero=True), joint_damping=damping_of(joint_damping, caller),
        observer=positive(observer, f"{caller}: observer [1/s]"), period=positive(period, f"{caller}: period [s]"),
        **numbers,
    )  # fmt: skip
    if not noise:
        return found
    random = random_state(batch_shape(shape, caller), rng=rng)
    return found.replace(state=found.state._replace(random=random))


def _pose_servo(robot, p, state, t, q, v, reference):
    T, T_frame_camera = placed(robot, p, q)
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
    numbers = camera_numbers(robot, frame, camera, eye, T_gripper_camera, caller, lens=False)
    one_of(path, PATHS, f"{caller}: path")
    given = T_base_target if eye == "in hand" else T_gripper_target
    if (T_gripper_target if eye == "in hand" else T_base_target) is not None:
        right, wrong = ("T_base_target", "T_gripper_target")[:: 1 if eye == "in hand" else -1]
        raise ArgumentError(f"{caller}: with eye={eye!r}, '{right}' says where the target is, not '{wrong}'")
    numbers["T_camera_target_goal"] = goal = pose_of(T_camera_target_goal, "T_camera_target_goal", caller)
    if given is None:
        numbers["T_camera_target"] = goal
    else:
        numbers["T_target"] = pose_of(given, "T_base_target" if eye == "in hand" else "T_gripper_target", caller)
    return law(
        _pose_servo, name=caller, model=robot, follows=None, frame=frame, eye=eye, path=path,
        source="pixels" if given is None else "points", reads="T_camera_target" if given is None else None,
        gain=positive(gain, f"{caller}: gain [1/s]"),
        rate=positive(rate, f"{caller}: rate [1/s]"), joint_damping=damping_of(joint_damping, caller), **numbers,
    )  # fmt: skip
