"""`settle`: what gravity holds no more is let go, and the reasons are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...errors import ArgumentError
from .support import let_fall, support_fault
from .worlds import World

__all__ = ["Settled", "settle"]


class Settled(NamedTuple):
    """A world after `settle`, and why things fall."""

    world: World
    fell: Mapping[str, str]
    """{name: reason}; empty if gravity holds all that it should"""


def settle(world: World) -> Settled:
    """Let go of everything that is attached conditionally and that gravity does not hold.

        >>> from adjoint.sensing import Box
        >>> w = World().add("tray", Box([0.4, 0.3, 0.02]))
        >>> w = w.add("cup", Box([0.06, 0.06, 0.1]), at=[0, 0, 0.06], parent="tray", attachment="conditional")
        >>> settle(w).fell
        {}
        >>> w.move("tray", se3.exp([0.6, 0, 0, 0, 0, 0])).fallen["cup"]
        "'tray' is tilted by 34.4°, and friction 0.5 holds up to 26.6°"

    A frame with a part is held if

    - it touches what it is attached to: points of its part are within 1 mm of a face that does not hang over,
    - this face is tilted by atan(friction) at most,
    - the centre of mass of all that the frame carries is above the convex hull of the contact.

    A carrier without a part is a plane across its z axis. Every edit that moves a carrier checks what it moves, so that
    `World.fallen` tells the same; what falls hangs on nothing, and stays where it is until `dropped` simulates its
    fall or something moves it. Frames without parts have no weight and never fall. Reference: Fu, Gonzalez & Lee
    (1987), Sec. 9.3.1, the conditional attachments of AUTOPASS.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"settle: 'world' must be a World, got {type(world).__name__}")
    faults = {name: support_fault(world, name) for name in world.conditional}
    fell = {name: fault for name, fault in faults.items() if fault is not None}
    return Settled(let_fall(world, fell), fell)
