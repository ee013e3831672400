"""Objects that may explain a region of an image, and the choice among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lie import se3
from ..cameras import Camera, project
from ..image_checks import opencv
from .hypotheses import Region
from .object_models import ObjectModel
from .refinement import Evidence

__all__ = [
    "Candidate",
    "LocatedObject",
    "as_located",
    "distance",
    "explaining",
    "is_known",
    "laid_vertices",
    "overlap",
    "regions",
    "silhouette",
]

_LEAST_AREA = 30  # [pixel] smaller regions are no objects
_LEAST_NEW = 0.35  # the part of an object's area that no other object explains
_LEAST_COVERED = 0.5  # the part of an object's silhouette that differs from the background
_LEAST_SEEN = 0.4  # the part of its edges that must not be hidden
_OVERLAP = 0.1  # the part of its footprint that an object may share with another one
_SAME_PLACE = 0.8  # objects that share so much of their footprints are at the same place
_AS_GOOD = 0.1  # a candidate whose quality is less by this much is as good: colours decide
_SAME_POSE = 0.02  # of the size: two poses are the same if no vertex moves farther


class LocatedObject(NamedTuple):
    """An object that `locate` found.

    `T_world_object` (4, 4) is its pose, and `covariance` (6, 6) that of the error ξ = (ω, v) in T_true = T_world_object
    exp(ξ), in the frame of the object [rad, m]. `score`, from 0 to 1, is the part of its visible edges that the image
    shows, or of its surface in depth images. `rms` is that of the offsets of edges [pixel], or of points from the
    surface [m]. `pixels` (rows, columns) are truth values: where the image shows it.
    """

    name: str
    T_world_object: np.ndarray
    covariance: np.ndarray
    score: float
    rms: float
    pixels: np.ndarray

    def __repr__(self) -> str:
        x, y, z = self.T_world_object[:3, 3]
        return f"<LocatedObject '{self.name}' at ({x:.4f}, {y:.4f}, {z:.4f}) m, score {self.score:.2f}>"


class Candidate(NamedTuple):
    """A model at a refined pose."""

    name: str
    T: np.ndarray
    covariance: np.ndarray
    share: float  # of its visible edges that the image shows, or of its surface that the depth image confirms
    covered: float  # the part of its silhouette that is in the region
    rms: float
    mask: np.ndarray  # (rows, columns) the pixels that it covers
    footprint: np.ndarray  # (n, 2) [m] its vertices, seen from above the plane
    distance: float  # [m] of its centre from the camera
    evidence: Evidence | None = None  # of its edges

    @property
    def quality(self) -> float:
        """How well it explains what is seen, from 0 to 1: candidates are ranked by it."""
        return self.share * self.covered


def regions(there: np.ndarray, caller: str) -> list[Region]:
    """The 8-connected regions of truth values (rows, columns), without the smallest."""
    count, labels, stats, _ = opencv(caller).connectedComponentsWithStats(np.uint8(there), connectivity=8)
    return [
        Region(labels == k, tuple(int(x) for x in stats[k, :4]), int(stats[k, 4]))  # type: ignore[arg-type]
        for k in range(1, count) if stats[k, 4] >= _LEAST_AREA
    ]  # fmt: skip


def laid_vertices(plane: np.ndarray, model: ObjectModel, T: np.ndarray) -> np.ndarray:
    """The vertices (n, 2) [m] of an object at T, along x and y of the plane."""
    seen = se3.inverse(plane) @ T
    return (model.vertices @ seen[:3, :3].T + seen[:3, 3])[:, :2]


def distance(camera: Camera, model: ObjectModel, T: np.ndarray) -> float:
    """The distance [m] of the centre of an object at T from the camera."""
    return float(np.linalg.norm(T[:3, :3] @ model.center + T[:3, 3] - camera.T_world_camera[:3, 3]))


def is_known(found: list[Candidate], name: str, model: ObjectModel, T: np.ndarray) -> bool:
    """Whether the object was found at this pose before, or at one that looks the same."""
    from scipy.spatial import KDTree

    for c in found:
        if c.name == name and np.linalg.norm(c.T[:3, 3] - T[:3, 3]) < 0.1 * model.size:
            others = KDTree(model.vertices @ c.T[:3, :3].T + c.T[:3, 3])
            apart, _ = others.query(model.vertices @ T[:3, :3].T + T[:3, 3])
            if apart.max() < _SAME_POSE * model.size:
                return True
    return False


def silhouette(camera: Camera, model: ObjectModel, T: np.ndarray, caller: str) -> np.ndarray:
    """Truth values (rows, columns): the pixels that an object at T covers, for a camera without distortion."""
    cv2 = opencv(caller)
    columns, rows = camera.size
    shown = np.zeros((rows, columns), np.uint8)
    pixels = project(camera, model.vertices @ T[:3, :3].T + T[:3, 3])
    if not np.isfinite(pixels).all():
        return shown.astype(bool)
    parts = 4  # OpenCV takes whole numbers, here sixteenths of a pixel
    corners = np.clip(np.rint(pixels * 2**parts), -(2**20), 2**20).astype(np.int32)
    if model.is_convex:
        cv2.fillConvexPoly(shown, cv2.convexHull(corners), 1, cv2.LINE_8, parts)
        return shown.astype(bool)
    for triangle in corners[model.faces]:
        cv2.fillConvexPoly(shown, triangle, 1, cv2.LINE_8, parts)
    return shown.astype(bool)


def explaining(
    candidates: list[Candidate], region: Region, least: float, levels: np.ndarray, models: dict[str, ObjectModel]
) -> list[Candidate]:
    """Candidates that together explain a region, chosen greedily: the best that explains something new, again.

    Those that show a smaller share than `least` are left out. What a nearer object hides that was chosen before does
    not count against an object.
    """
    chosen: list[Candidate] = []
    left, rest = region.mask.copy(), list(candidates)
    while rest:
        seen = [_beside(c, chosen) for c in rest]  # each time from the candidates as they were
        k = max(range(len(seen)), key=lambda i: seen[i].quality)
        best = seen[k]
        del rest[k]
        new = np.count_nonzero(best.mask & left) / np.count_nonzero(best.mask)
        clear = all(overlap(best.footprint, other.footprint) <= _OVERLAP for other in chosen)
        if best.share >= least and best.covered >= _LEAST_COVERED and new >= _LEAST_NEW and clear:
            chosen.append(_by_colour(best, candidates, levels, models))
            left &= ~chosen[-1].mask
    return chosen


def _beside(c: Candidate, chosen: list[Candidate]) -> Candidate:
    """The candidate with the share of those of its edges that no nearer object hides."""
    hiding = [other.mask for other in chosen if other.distance < c.distance]
    if c.evidence is None or not hiding:
        return c
    hidden = np.any(hiding, axis=0)
    rows, columns = hidden.shape
    u, v = np.rint(c.evidence.pixels).astype(int).T
    covered = hidden[np.clip(v, 0, rows - 1), np.clip(u, 0, columns - 1)]
    seen = c.evidence._replace(weight=c.evidence.weight * ~covered)
    if seen.weight.sum() < _LEAST_SEEN * c.evidence.weight.sum():
        return c
    return c._replace(share=max(c.share, seen.share))


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """The part of the smaller of two footprints (n, 2), (m, 2) [m] that lies in the other one."""
    cv2 = opencv("locate")
    hulls = [cv2.convexHull((1e3 * x).astype(np.float32)) for x in (a, b)]
    shared, _ = cv2.intersectConvexConvex(*hulls)
    return float(shared) / max(1e-9, min(cv2.contourArea(x) for x in hulls))


def _by_colour(best: Candidate, others: list[Candidate], levels: np.ndarray, models: dict) -> Candidate:
    """The candidate at the same place that has the right colour, if colours are known and another shape fits as well.

    Shading changes how bright a colour is, so only the shares of red, green and blue are compared.
    """
    if levels.shape[2] != 3 or models[best.name].colour is None:
        return best
    rivals = [
        c for c in others
        if c.quality > best.quality - _AS_GOOD and models[c.name].colour is not None
        and overlap(c.footprint, best.footprint) > _SAME_PLACE
    ]  # fmt: skip
    seen = np.median(levels[best.mask], axis=0)

    def unlike(c: Candidate) -> float:
        return float(np.linalg.norm(_shares(np.array(models[c.name].colour)) - _shares(seen)))

    return min(rivals, key=unlike)


def _shares(colour: np.ndarray) -> np.ndarray:
    return colour / max(float(colour.sum()), 1e-6)


def as_located(c: Candidate) -> LocatedObject:
    """The result for users."""
    return LocatedObject(c.name, c.T, c.covariance, float(c.share), c.rms, c.mask)
