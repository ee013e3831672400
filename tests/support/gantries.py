"""Robots whose configuration is a position: a ball on three slides, and flat arms, for tests of motion plans."""

import numpy as np

import adjoint as aj

collision_model = aj.collision.collision_model


def gantry(radius: float = 0.05) -> aj.Robot:
    """A ball on slides along x, y and z: q (3,) is the position of its centre."""
    ball = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = '<link name="base"/>' + "".join(
        f'<link name="{name}">{inertial}{ball if name == "ball" else ""}</link>' for name in ("x", "y", "ball")
    )
    chain = zip(("base", "x", "y"), ("x", "y", "ball"), ("1 0 0", "0 1 0", "0 0 1"), strict=True)
    joints = "".join(
        f'<joint name="slide_{b}" type="prismatic"><parent link="{a}"/><child link="{b}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1e4" velocity="10"/></joint>'
        for a, b, axis in chain
    )
    return aj.load(f'<robot name="gantry">{links}{joints}</robot>')


def flat_arm(lengths=(1.0, 1.0), radius: float = 0.05) -> aj.Robot:
    """An arm in the xy plane whose links are capsules along x, with a frame "tip" at its end; joints go round."""
    links, joints, parent = ['<link name="base"/>'], [], "base"
    for k, length in enumerate(lengths):
        inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        rod = (
            f'<collision><origin xyz="{length / 2} 0 0" rpy="0 1.5707963267948966 0"/><geometry><capsule '
            f'radius="{radius}" length="{length}"/></geometry></collision>'
        )
        links.append(f'<link name="link{k + 1}">{inertial}{rod}</link>')
        at = 0.0 if k == 0 else lengths[k - 1]
        joints.append(
            f'<joint name="joint{k + 1}" type="continuous"><parent link="{parent}"/><child link="link{k + 1}"/>'
            f'<origin xyz="{at} 0 0"/><axis xyz="0 0 1"/></joint>'
        )
        parent = f"link{k + 1}"
    links.append('<link name="tip"/>')
    joints.append(
        f'<joint name="end" type="fixed"><parent link="{parent}"/><child link="tip"/>'
        f'<origin xyz="{lengths[-1]} 0 0"/></joint>'
    )
    return aj.load(f'<robot name="flat_arm">{"".join(links)}{"".join(joints)}</robot>')


def u_trap(size: float = 0.6, thick: float = 0.1):
    """Three boxes around the origin, open towards -x: a ball that is pulled along x is caught in it."""
    half = size / 2
    return [
        aj.sensing.Box([thick, size + 2 * thick, 1], T_world_solid=[half, 0, 0], name="back"),
        aj.sensing.Box([size, thick, 1], T_world_solid=[0, half + thick / 2, 0], name="left"),
        aj.sensing.Box([size, thick, 1], T_world_solid=[0, -half - thick / 2, 0], name="right"),
    ]


def straight(start, goal, n: int) -> np.ndarray:
    """n configurations on the straight way."""
    return np.linspace(np.asarray(start, float), np.asarray(goal, float), n)
