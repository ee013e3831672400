"""Features of a peg and a block, as in the book's assembly, and the blocks of its figure 10.20."""

import numpy as np

from adjoint.world.features import Feature, feature_frame

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])


def peg() -> list[Feature]:
    """A peg with two pins along -z, a ball above them, and a flat side."""
    down = [0, 0, -1]
    return [
        Feature("bottom", "face", feature_frame([0, 0, 0], down), outline=0.01 * SQUARE),
        Feature("shaft", "shaft", feature_frame([0, 0, 0], down), radius=0.01, length=0.06),
        Feature("shaft2", "shaft", feature_frame([0.03, 0, 0], down), radius=0.01, length=0.06),
        Feature("tip", "vertex", feature_frame([0, 0, 0], down)),
        Feature("ball", "sphere", feature_frame([0, 0, 0.1], [0, 0, 1]), radius=0.02),
        Feature("rim", "edge", feature_frame([0, 0.05, 0], [1, 0, 0]), length=0.1),
        Feature("side", "face", feature_frame([0.05, 0, 0.03], [1, 0, 0]), outline=0.03 * SQUARE),
    ]


def block() -> list[Feature]:
    """A block with two holes from above, a socket beside it, and its faces."""
    up = [0, 0, 1]
    return [
        Feature("top", "face", feature_frame([0, 0, 0.05], up), outline=0.05 * SQUARE),
        Feature("floor", "face", feature_frame([0, 0, 0.02], up)),
        Feature("hole", "hole", feature_frame([0, 0, 0.05], up), radius=0.0105, length=0.03),
        Feature("hole2", "hole", feature_frame([0.03, 0, 0.05], up), radius=0.0105, length=0.03),
        Feature("thin", "hole", feature_frame([0, 0, 0.05], up), radius=0.009),
        Feature("side", "face", feature_frame([0.05, 0, 0], [1, 0, 0]), outline=0.05 * SQUARE),
        Feature("back", "face", feature_frame([-0.05, 0, 0], [-1, 0, 0])),
        Feature("corner", "vertex", feature_frame([0.05, 0.05, 0.05], [1, 0, 0])),
        Feature("socket", "socket", feature_frame([0, 0.2, 0.1], up), radius=0.02),
        Feature("edge", "edge", feature_frame([0.05, 0, 0.05], [0, 1, 0]), length=0.1),
    ]


def row_matrix(R, p) -> np.ndarray:
    """A matrix of the book, which multiplies rows from the right."""
    T = np.eye(4)
    T[:3, :3], T[3, :3] = R, p
    return T


BOOK = {
    "f1": row_matrix(np.eye(3), [0, 1, 1]),
    "f2": row_matrix([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], [1, 0, 1]),
    "f3": row_matrix(np.eye(3), [1, 1, 1]),
    "f4": row_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1, 0, 1]),
}
"""The faces f1, f2 of Block2 and f3, f4 of Block1 in figure 10.21, for rows."""


def book_blocks() -> dict[str, list[Feature]]:
    """The two blocks of figure 10.20 with their faces, for columns."""
    made = {name: Feature(name, "face", T.T) for name, T in BOOK.items()}
    return {"Block2": [made["f1"], made["f2"]], "Block1": [made["f3"], made["f4"]]}
