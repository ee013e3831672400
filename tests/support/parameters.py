"""Robots as parameters of tests; the other files here do without pytest, so that benchmarks may use them, too."""

import pytest

from .trees import COORDINATES

every_robot_with_coordinates = pytest.mark.parametrize("robot", COORDINATES, ids=lambda r: f"{r.name}-{r.nv}")
