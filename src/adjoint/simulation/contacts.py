"""Contact: a frame of a robot, as a point or a ball, touches a compliant surface with friction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from ..control.gains import at_least_zero
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import frame_twist
from .forces import Force, force
from .number_checks import of_shape
from .surfaces import Surface

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["contact"]


def _contact(robot, p, t, q, v):
    T, V = forward_kinematics(robot, q, p.touching), frame_twist(robot, q, v, p.touching, "body")
    R = T[:3, :3]
    distance, normal = p.distance(SimpleNamespace(**dict(p.shape), **vars(p)), T[:3, 3])
    n = R.T @ normal  # from here on everything is seen from the frame
    arm = -p.radius * n
    rate = V[3:] + np.cross(V[:3], arm)
    closing = -np.dot(n, rate)
    depth = np.maximum(p.radius - distance, 0.0)
    # Hunt & Crossley (1975), with a linear spring; it never pulls
    pressing = p.stiffness * depth * np.maximum(1 + p.damping * closing, 0.0)
    sliding = rate + closing * n
    F = pressing * (n - p.friction * sliding / np.sqrt(np.dot(sliding, sliding) + p.slip**2))
    return np.concatenate([np.cross(arm, F), F])


def contact(
    frame: str, surface: Surface, *, stiffness, damping: ArrayLike = 0.0, friction: ArrayLike = 0.0,
    radius: ArrayLike = 0.0, slip: ArrayLike = 1e-3,
) -> Force:  # fmt: skip
    """Compliant contact of a frame with a surface, a `Force` for `simulate`; the frame is a point, or a ball's center.

    At the depth d, which grows at the rate ḋ, the point of the ball that is deepest inside gets the force

        f = stiffness · d · max(1 + damping · ḋ, 0)   along the surface's normal   (Hunt and Crossley 1975),
        μ f u/√(|u|² + slip²)                         against its sliding velocity u.

    `stiffness` is in N/m. `damping` α in s/m decides the restitution: a free mass that comes in at the speed v leaves
    at e v, with α v - ln(1 + α v) = -α e v - ln(1 - α e v), whatever its mass and the stiffness, so e ≈ 1 - 2 α v/3 for
    slow contacts. `friction` is Coulomb's coefficient μ; friction is smoothed over speeds of `slip` [m/s], so a body
    that would stick under r times what friction can hold creeps at slip · r/√(1 - r²). `radius` [m] is 0 for a point.

        >>> touch = contact("tool", aj.simulation.plane(point=(0, 0, -0.3)), stiffness=1e4, damping=0.5, friction=0.6)
        >>> run = aj.simulation.simulate(robot, q=q, v=v, duration=0.1, dt=1e-4, forces=touch)
        >>> softer = touch.replace(stiffness=np.array([1e3, 3e3]), point=np.array([[0, 0, -0.3], [0, 0, -0.2]]))

    `plane`, `box`, `sphere` and `terrain` make surfaces; their numbers are parameters of the force, too. Surfaces rest
    in the base frame, so they move with a `moving_base`. Steps dt must resolve the contact: of 0.2 √(m/stiffness) or
    less, where m is the inertia that the frame has along the normal, and slip · m/(μ f) or less for sticking. Every
    frame is in contact on its own: a foot has several forces.
    """
    if not isinstance(frame, str):
        raise ArgumentError(f"contact: frame must be the name of a frame; got {type(frame).__name__}")
    if not isinstance(surface, Surface):
        raise ArgumentError(
            f"contact: surface is a {type(surface).__name__}; plane, box, sphere and terrain make surfaces"
        )
    given = {"stiffness": stiffness, "damping": damping, "friction": friction, "radius": radius}
    given = {name: at_least_zero(of_shape(x, (), name, "contact"), name, "contact") for name, x in given.items()}
    slip = at_least_zero(of_shape(slip, (), "slip", "contact"), "slip", "contact", above=True)
    options = {"touching": frame, "distance": surface.distance, "shape": surface.options}
    return force(_contact, frame=frame, name="contact", **options, **given, slip=slip, **surface.numbers)
