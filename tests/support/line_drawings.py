"""Line drawings that tests share: random scenes of blocks, and the impossible objects."""

from __future__ import annotations

import numpy as np

from adjoint.lie import so3
from adjoint.vision.drawings import Block, Drawing, box_block, convex_block

__all__ = ["devils_fork", "floating_blocks", "impossible_triangle", "standing_blocks"]


def pose(p, R=None, angle: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = p
    T[:3, :3] = so3.exp.eager([0, 0, angle]) if R is None else R
    return T


def prism(rng: np.random.Generator) -> Block:
    """A prism or frustum with three to five sides: three faces meet at each of its corners."""
    n = int(rng.integers(3, 6))
    angles = 2 * np.pi / n * np.arange(n) + rng.uniform(-0.3, 0.3, n)
    ring = rng.uniform(0.3, 0.8) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    top = np.column_stack([ring * rng.uniform(0.4, 1), np.full(n, rng.uniform(0.4, 1))])
    return convex_block(np.concatenate([np.column_stack([ring, np.zeros(n)]), top]))


def floating_blocks(rng: np.random.Generator) -> list[Block]:
    """One to four boxes, prisms and frusta in the air; some may overlap."""
    blocks = []
    for _ in range(rng.integers(1, 5)):
        block = box_block(rng.uniform(0.3, 1.2, 3)) if rng.random() < 0.5 else prism(rng)
        blocks.append(block.moved(pose(rng.uniform(-1, 1, 3), so3.exp.eager(rng.normal(size=3)))))
    return blocks


def standing_blocks(rng: np.random.Generator) -> list[Block]:
    """One to three boxes on the ground, some with a smaller one on top; some may overlap."""
    blocks = []
    for _ in range(rng.integers(1, 4)):
        size, angle = rng.uniform(0.4, 1.2, 3), rng.uniform(0, np.pi)
        p = np.append(rng.uniform(-1.5, 1.5, 2), size[2] / 2)
        blocks.append(box_block(size, pose(p, angle=angle)))
        if rng.random() < 0.5:
            upper = size * rng.uniform(0.3, 0.6, 3)
            at = [*p[:2], size[2] + upper[2] / 2]
            blocks.append(box_block(upper, pose(at, angle=angle + rng.uniform(-0.3, 0.3))))
    return blocks


def impossible_triangle(n: int = 3) -> Drawing:
    """Penrose's triangle. Points have three coordinates with sum n: distances from the sides of the inner triangle."""
    corners = np.array([[np.cos(a), -np.sin(a)] for a in np.pi / 2 + 2 * np.pi / 3 * np.arange(3)])
    third = [
        ((n, 0, 0), (0, n, 0)), ((0, n, 0), (-1, n + 1, 0)), ((n + 1, 0, -1), (-2, n + 3, -1)),
        ((n + 3, -1, -2), (-1, n + 3, -2)), ((-1, n + 3, -2), (-2, n + 3, -1)),
    ]  # fmt: skip
    lines = [tuple(tuple(np.roll(p, k).tolist()) for p in line) for k in range(3) for line in third]
    points = list(dict.fromkeys(p for line in lines for p in line))
    return Drawing(np.array(points) @ corners, [[points.index(p) for p in line] for line in lines])


def devils_fork() -> Drawing:
    """Three bars to the left and two to the right: the devil's tuning fork with three-sided bars."""
    lines: list[tuple] = []
    for k in (0, 2, 4):  # three-sided bars, of which one side is seen
        lines += [((0, k), (0, k + 1)), ((0, k + 1), (-0.7, k + 0.5)), ((-0.7, k + 0.5), (0, k))]
    right = [(10, 0), (9, 1), (7, 2), (7, 3), (7, 4), (9, 5), (10, 4)]  # a fork with two bars
    lines += [((0, k), right[k]) for k in range(6)]
    lines += [(right[a], right[b]) for a, b in ((2, 3), (3, 4), (1, 0), (1, 5), (0, 6), (5, 6))]
    points = list(dict.fromkeys(p for line in lines for p in line))
    return Drawing(points, [[points.index(p) for p in line] for line in lines])
