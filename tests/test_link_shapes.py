"""Shapes around links: they contain the links, and are no farther from them than they say."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision.shape_excess import inside_depth
from adjoint.collision.shape_fitting import Fit
from adjoint.collision.shape_sources import link_pieces
from adjoint.collision.shapes_of_links import link_shapes


@pytest.mark.parametrize("make", [aj.robots.two_link, aj.robots.puma560])
@pytest.mark.parametrize("kind", ["capsules", "spheres"])
def test_shapes_cover_the_drawing(make, kind):
    robot = make()
    shapes = link_shapes(robot, kind)
    for link in link_pieces(robot, "auto")[0]:
        points = link.triangles.mean(axis=1)
        own = np.flatnonzero(shapes.bodies == link.body)
        depth = [inside_depth(Fit(shapes.starts[k], shapes.ends[k], shapes.radii[k]), points) for k in own]
        assert np.max(depth, axis=0).min() > -1e-12
