"""Drawings of scenes of blocks: visible edges by exact hidden-line removal, and the labels that they truly have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, truth
from ..cameras.camera import Camera, need_camera
from .blocks import Block, first_face, hidden_interval, overlap
from .line_drawings import Drawing

__all__ = ["BlockDrawing", "draw_blocks"]

_BESIDE = 1e-6  # of the scene's size: how far from a line one looks for the faces beside it
_NEAR = 1e-7  # of the scene's size: points nearer than this in the image are one
_GROUND = Block(np.zeros((1, 3)), np.array([[0.0, 0, 1]]), np.zeros(1), np.zeros((0, 2), int))


class BlockDrawing(NamedTuple):
    """What is seen of blocks: a `drawing`, and the true `labels` of its lines (see `LineLabels`).

    `owners` (m,) has the number of the block whose edge each line is.
    """

    drawing: Drawing
    labels: tuple[str, ...]
    owners: tuple[int, ...]


class _View(NamedTuple):
    """The eye (4,), homogeneous, and the matrix (3, 4) of the projection."""

    eye: np.ndarray
    P: np.ndarray
    size: float

    def image(self, points: np.ndarray) -> np.ndarray:
        h = points @ self.P[:, :3].T + self.P[:, 3]
        return h[..., :2] / h[..., 2:]

    def right(self, point: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The direction (3,) that points to the right of a line through a point, as seen along the line."""
        toward = self.eye[:3] - point if self.eye[3] else self.eye[:3]
        across = np.cross(along, toward)
        return across / np.linalg.norm(across)


class _Piece(NamedTuple):
    """A visible part of an edge of a block: its ends (2, 3), and the numbers of vertices there, or -1 for a T."""

    block: int
    ends: np.ndarray
    vertices: tuple[int, int]


def draw_blocks(
    blocks: Sequence[Block], *, toward_eye=(1.0, 0.7, 0.9), camera: Camera | None = None, ground: bool = False
) -> BlockDrawing:
    """The `BlockDrawing` of convex `blocks`: what of their edges is visible, and which labels these lines truly have.

        >>> from adjoint.vision.drawings.blocks import box_block
        >>> seen = draw_blocks([box_block((1, 2, 3))])
        >>> seen.drawing, "".join(sorted(seen.labels))
        (<Drawing: 7 vertices, 9 lines>, '+++<<<>>>')

    - The view is parallel, from the direction `toward_eye` (3,), with the world's z axis upwards and 1 m as the unit;
      or it is that of a `camera` without distortion, in pixels.
    - `ground`: True fills the half-space z < 0, so that blocks can stand on the ground.

    Blocks may touch each other and the ground with their faces, but must not overlap. The view has to be general: no
    edge is seen end-on, no two vertices or edges are seen at the same place. An `ArgumentError` says what is special.
    """
    blocks = _checked(blocks, truth(ground, "draw_blocks: ground"))
    view = _view(blocks, toward_eye, camera)
    if ground and not view.eye[2] > 0:
        raise ArgumentError("draw_blocks: the eye is below the ground")
    solids = [*blocks, _GROUND] if ground else blocks
    pieces = [piece for k in range(len(blocks)) for piece in _visible(blocks, k, view)]
    return _drawing(pieces, solids, view)


def _checked(blocks, ground: bool) -> list[Block]:
    found = list(blocks) if np.iterable(blocks) else []
    if not found or not all(isinstance(block, Block) for block in found):
        raise ArgumentError("draw_blocks: blocks must be a sequence of Block, with one at least")
    for k, block in enumerate(found):
        if ground and block.vertices[:, 2].min() < -1e-9 * np.ptp(block.vertices):
            raise ArgumentError(f"draw_blocks: block {k} reaches below the ground, z = 0")
    for (k, one), (j, other) in combinations(enumerate(found), 2):
        if overlap(one, other):
            raise ArgumentError(f"draw_blocks: blocks {k} and {j} overlap")
    return found


def _view(blocks: list[Block], toward_eye, camera) -> _View:
    points = np.concatenate([block.vertices for block in blocks])
    size = float(np.ptp(points, axis=0).max())
    if camera is not None:
        need_camera(camera, "draw_blocks")
        if np.any(camera.distortion):
            raise ArgumentError("draw_blocks: the camera has distortion, which makes straight edges curved")
        T = np.linalg.inv(camera.T_world_camera)
        if (points @ T[2, :3] + T[2, 3]).min() <= 0:
            raise ArgumentError("draw_blocks: a block is not in front of the camera")
        return _View(camera.T_world_camera[:, 3], camera.matrix @ T[:3], size)
    d = floats(toward_eye)
    if d.shape != (3,) or not 0 < np.linalg.norm(d) < np.inf or np.linalg.norm(d[:2]) < 1e-9 * np.linalg.norm(d):
        raise ArgumentError("draw_blocks: toward_eye must be a direction (3,) that is not along the z axis")
    d = d / np.linalg.norm(d)
    u = np.cross([0.0, 0, 1], d)
    u /= np.linalg.norm(u)
    P = np.zeros((3, 4))
    P[0, :3], P[1, :3], P[2, 3] = u, -np.cross(d, u), 1  # v points downwards
    return _View(np.append(d, 0.0), P, size)


def _visible(blocks: list[Block], k: int, view: _View):
    """The visible pieces of the edges of block k."""
    a, b = blocks[k].vertices[blocks[k].edges].swapaxes(0, 1)
    hidden = np.stack([hidden_interval(block, a, b, view.eye) for block in blocks])  # (blocks, edges, 2)
    for edge, (i, j) in enumerate(blocks[k].edges.tolist()):
        at, free = 0.0, []
        for start, end in sorted(hidden[:, edge].tolist()):
            if start < end - 1e-12:
                free += [(at, start)] if start > at else []
                at = max(at, end)
        free += [(at, 1.0)] if at < 1 else []
        for start, end in free:
            ends = a[edge] + np.array([[start], [end]]) * (b[edge] - a[edge])
            if np.linalg.norm(np.diff(view.image(ends), axis=0)) > _NEAR * _scale(view, ends):
                yield _Piece(k, ends, (i if start == 0 else -1, j if end == 1 else -1))


def _scale(view: _View, ends: np.ndarray) -> float:
    """How long the size of the scene is in the image, there."""
    h = ends @ view.P[2, :3] + view.P[2, 3]
    return float(view.size * np.abs(view.P[:2, :3]).max() / np.abs(h).max())


def _drawing(pieces: list[_Piece], solids: list[Block], view: _View) -> BlockDrawing:
    """Join pieces at vertices of blocks; where a piece ends behind another one, divide that one by a T."""
    images = [view.image(piece.ends) for piece in pieces]
    near = _NEAR * max(_scale(view, piece.ends) for piece in pieces)
    points: list[np.ndarray] = []
    number: dict[tuple[int, int], int] = {}
    ends: list[list[int]] = []
    for piece, image in zip(pieces, images, strict=True):
        ends.append([])
        for vertex, point in zip(piece.vertices, image, strict=True):
            key = (piece.block, vertex)
            if vertex < 0 or key not in number:
                number[key] = len(points)
                points.append(point)
            ends[-1].append(number[key])
    stops: list[list[tuple[float, int]]] = [[] for _ in pieces]
    for k, piece in enumerate(pieces):
        for side, vertex in enumerate(piece.vertices):
            if vertex < 0:
                bar, share = _bar(images, k, images[k][side], near)
                stops[bar].append((share, ends[k][side]))
    lines, labels, owners = [], [], []
    for k, piece in enumerate(pieces):
        label = _true_label(piece, solids, view)
        chain = [ends[k][0], *(vertex for _, vertex in sorted(stops[k])), ends[k][1]]
        for a, b in pairwise(chain):
            lines.append((a, b))
            labels.append(label)
            owners.append(piece.block)
    _check_general(np.array(points), near)
    return BlockDrawing(Drawing(np.array(points), np.array(lines)), tuple(labels), tuple(owners))


def _bar(images: list[np.ndarray], k: int, point: np.ndarray, near: float) -> tuple[int, float]:
    """The piece behind which piece k ends at a point of the image, and the share of that piece before the point."""
    p, q = (np.array([image[side] for image in images]) for side in (0, 1))
    along = q - p
    length = np.linalg.norm(along, axis=1)
    away = point - p
    beside = np.abs(along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]) / length
    share = (along * away).sum(axis=1) / length**2
    margin = near / length
    found = np.flatnonzero((beside < 10 * near) & (share > margin) & (share < 1 - margin) & (np.arange(len(p)) != k))
    if len(found) != 1:
        raise ArgumentError(
            "draw_blocks: the view is special, as an edge disappears at a vertex; or blocks touch at an edge"
        )
    return int(found[0]), float(share[found[0]])


def _true_label(piece: _Piece, solids: list[Block], view: _View) -> str:
    """The label of a piece from the faces that are seen to its left and right."""
    found = set()
    for share in (0.03, 0.5, 0.97):  # all along; a label that changes shows blocks that touch at an edge
        P = piece.ends[0] + share * (piece.ends[1] - piece.ends[0])
        right = view.right(P, piece.ends[1] - piece.ends[0])
        seen = []
        for side in (-1, 1):
            hit = first_face(solids, P + side * _BESIDE * view.size * right, view.eye)
            attached = hit is not None and _on_face(solids, hit, P, view)
            seen.append((solids[hit[0]].normals[hit[1]], hit[2] - P) if hit is not None and attached else None)
        found.add(_label(*seen))
    if len(found) != 1 or "" in found:
        raise ArgumentError(
            f"draw_blocks: an edge of block {piece.block} is not an edge of trihedral solids all along: blocks touch "
            "at an edge, faces of two blocks lie in one plane, or the view is special"
        )
    return found.pop()


def _on_face(solids: list[Block], hit, P: np.ndarray, view: _View) -> bool:
    """Whether the plane of the face that is seen contains a point."""
    block, face, _ = hit
    return bool(abs(solids[block].normals[face] @ P - solids[block].offsets[face]) < 1e-9 * view.size)


def _label(left, right) -> str:
    """The label by the faces (normal, way from the edge to the face) that belong to the edge on both sides, or None."""
    if left is None or right is None:
        return "" if left is None and right is None else ">" if left is None else "<"
    (n_left, _), (n_right, away) = left, right
    if np.linalg.norm(n_left - n_right) < 1e-9:
        return ""
    return "+" if n_left @ away < 0 else "-"


def _check_general(points: np.ndarray, near: float) -> None:
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.where(np.eye(len(points)), np.inf, 0)
    if apart.min(initial=np.inf) < near:
        raise ArgumentError("draw_blocks: the view is special: two vertices are seen at the same place")


def __dir__() -> list[str]:
    return __all__
