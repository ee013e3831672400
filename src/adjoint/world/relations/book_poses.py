"""The poses that one relation allows, in closed form, with the parameters of the book: (10.9-1) and its kin.

The book writes points as rows; its product A = f⁻¹ M twix(θ) trans(0, y, z) g B reads, transposed for columns,

    T_world_A = T_world_B G trans(0, y, z) Rx(θ) M F⁻¹,

with the frames F and G of the features in their parts. (10.9-1) lacks the word `trans` in print. M = diag(-1, 1, -1, 1)
turns by π about y and is its own inverse. The other relations leave other parameters free.
"""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...lie import se3, so3

__all__ = ["against_pose", "coplanar_pose", "fits_pose", "socket_pose"]

_M = np.diag([-1.0, 1.0, -1.0, 1.0])


def _between(T_world_b, G, middle, F):
    return T_world_b @ G @ middle @ se3.inverse(F)


def _turned(theta, shift):
    return se3.from_rotation_translation(so3.rotation_x(theta), np.stack(shift))


@kernel(T_world_b=(4, 4), T_b_face=(4, 4), T_a_face=(4, 4))
def against_pose(T_world_b, T_b_face, T_a_face, theta, y, z) -> np.ndarray:
    """The pose T_world_a (4, 4) of a part whose face is against a face of part b, turned by `theta`, moved by y and z.

        >>> against_pose(np.eye(4), np.eye(4), np.eye(4), 0.0, 0.0, 0.0).diagonal()
        array([-1.,  1., -1.,  1.])

    `T_b_face` and `T_a_face` are the frames of the faces in their parts; y and z [m] are along the axes of b's face.
    Fu, Gonzalez & Lee (1987), (10.9-1), for columns: T_b G trans(0, y, z) Rx(θ) M F⁻¹.
    """
    return _between(T_world_b, T_b_face, _turned(theta, [0.0, y, z]) @ _M, T_a_face)


@kernel(T_world_b=(4, 4), T_b_face=(4, 4), T_a_face=(4, 4))
def coplanar_pose(T_world_b, T_b_face, T_a_face, theta, y, z) -> np.ndarray:
    """The pose T_world_a (4, 4) of a part whose face is coplanar with a face of part b: (10.9-1) without M.

    >>> coplanar_pose(np.eye(4), np.eye(4), np.eye(4), 0.0, 0.1, 0.2)[:3, 3]
    array([0. , 0.1, 0.2])
    """
    return _between(T_world_b, T_b_face, _turned(theta, [0.0, y, z]), T_a_face)


@kernel(T_world_b=(4, 4), T_b_hole=(4, 4), T_a_shaft=(4, 4))
def fits_pose(T_world_b, T_b_hole, T_a_shaft, theta, x) -> np.ndarray:
    """The pose T_world_a (4, 4) of a part whose shaft fits a hole of part b, turned by `theta` and x [m] out of it.

    >>> fits_pose(np.eye(4), np.eye(4), np.eye(4), 0.0, 0.1)[:3, 3]
    array([0.1, 0. , 0. ])
    """
    return _between(T_world_b, T_b_hole, _turned(theta, [x, 0.0, 0.0]) @ _M, T_a_shaft)


@kernel(T_world_b=(4, 4), T_b_socket=(4, 4), T_a_sphere=(4, 4), w=3)
def socket_pose(T_world_b, T_b_socket, T_a_sphere, w) -> np.ndarray:
    """The pose T_world_a (4, 4) of a part whose ball is in a socket of part b, turned by the rotation vector w (3,).

    >>> socket_pose(np.eye(4), np.eye(4), np.eye(4), [0, 0, 0.3])[:3, 3]
    array([0., 0., 0.])
    """
    return _between(T_world_b, T_b_socket, se3.from_rotation_translation(so3.exp(w), np.zeros(3)), T_a_sphere)


def __dir__() -> list[str]:
    return __all__
