"""Pairs of bodies that are checked for self-collision: by the tree, by samples, and by files."""

import adjoint as aj
from adjoint.collision.body_pairs import colliding_pairs
from adjoint.collision.shapes_of_links import link_shapes


def test_adjacent_bodies_are_left_out():
    robot = aj.robots.puma560()
    pairs = colliding_pairs(robot, link_shapes(robot), samples=300)
    assert all(pairs.verdict(i, i + 1) == "adjacent" for i in range(-1, 5))
