"""`Prop`: a thing that is drawn beside robots, such as a part of a world, with its pose in every picture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .triangles import Mesh

__all__ = ["Prop"]


class Prop(NamedTuple):
    """Triangles that move as one: `poses` (frames, 4, 4) has one pose in the world for each picture.

    A prop that stays where it is has one pose, (1, 4, 4). The color is (red, green, blue, opacity), each from 0 to 1.
    """

    name: str
    mesh: Mesh
    color: tuple[float, float, float, float]
    poses: np.ndarray
