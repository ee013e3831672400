"""`Prop`: a thing that is drawn beside robots, such as a part of a world: it rests, moves in time, or is held."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .triangles import Mesh

__all__ = ["Prop"]


class Prop(NamedTuple):
    """A mesh at `poses` (frames, 4, 4): in the world, or in body number `body` of the actor that holds it.

    The color is (red, green, blue, opacity), each from 0 to 1. The poses are those at times `t` (frames,) [s]; without
    times there is one pose. `actor` is the number of the actor that holds the prop, None for the world, and body -1 is
    its base: so a prop in a hand goes where the hand goes, whoever moves it.
    """

    name: str
    mesh: Mesh
    color: tuple[float, float, float, float]
    poses: np.ndarray
    t: np.ndarray | None = None
    actor: int | None = None
    body: int = -1
