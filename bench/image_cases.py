"""What `vision.py` compares on images of a megapixel: calls of ours and of OpenCV, scikit-image and SciPy, and checks.

Images are photographs that scikit-image ships, and binary images made of them by thresholds. Functions that wrap
another library stand beside the direct call with the same arguments. Functions of our own stand beside the nearest
function of scikit-image; where the two compute different things, both must leave the same topology, or ours must agree
with a slower way.
"""

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import skimage.data
import skimage.feature
import skimage.graph
import skimage.measure
import skimage.morphology
import skimage.segmentation
import skimage.transform
from common import quick_or_full
from scipy import fft, ndimage

from adjoint import vision

cv2.setNumThreads(1)
SIDE = 1024  # a megapixel
SOME, FEW = quick_or_full(3, 11), quick_or_full(1, 5)  # rounds of what takes ten milliseconds, and longer
LENS = (-0.25, 0.08, 0.001, -0.0005, 0.01)
EDGE = cv2.BORDER_REPLICATE


class Case(NamedTuple):
    """Two ways to one result. `same` compares results; with None, arrays of both must be equal."""

    subject: str
    what: str
    ours: Callable
    peers: dict[str, Callable]
    same: Callable | None = None
    rounds: int = 41


def equal(ours, theirs) -> None:
    """All arrays of both results are equal."""
    if isinstance(ours, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            equal(a, b)
    else:
        np.testing.assert_array_equal(ours, theirs)


def near(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Both differ by rounding alone."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


# --- images -----------------------------------------------------------------------------------------------------------


def megapixel(image: np.ndarray) -> np.ndarray:
    """The image with 1024 x 1024 pixels."""
    return cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)


def photograph() -> np.ndarray:
    return megapixel(skimage.data.camera())


def silhouette() -> np.ndarray:
    """One region with a long boundary: the shape of a horse, with a frame of background."""
    dark = megapixel(np.uint8(255 * ~skimage.data.horse())) > 127
    labels, _ = ndimage.label(np.pad(dark[1:-1, 1:-1], 1), np.ones((3, 3)))
    return labels == np.bincount(labels[labels > 0]).argmax()


def regions() -> np.ndarray:
    """Many regions with holes: coins, and specks of their background."""
    found = megapixel(skimage.data.coins()) > 110
    found[[0, -1]] = found[:, [0, -1]] = False
    return found


def marked() -> np.ndarray:
    """The photograph with twelve markers in it."""
    image = photograph()
    for k in range(12):
        v, u = divmod(k, 4)
        image[60 + 320 * v :, 40 + 250 * u :][:160, :160] = vision.marker_image(k, size=120, margin=20)
    return image


# --- wrapped functions ------------------------------------------------------------------------------------------------


def filters() -> list[Case]:
    """Functions of `vision.images` and what they call."""
    f, colours = photograph(), megapixel(skimage.data.astronaut())
    truth, waves = f > 100, f.astype(float)
    mask, square = np.random.default_rng(0).normal(size=(5, 5)), np.ones((3, 3), np.uint8)
    cross = ndimage.generate_binary_structure(2, 1)

    def both_ways():
        return cv2.Sobel(f, cv2.CV_32F, 1, 0, borderType=EDGE), cv2.Sobel(f, cv2.CV_32F, 0, 1, borderType=EDGE)

    def by_formula(ours, _):
        """OpenCV equalizes by another formula; ours is (7.6-27)."""
        below = np.bincount(f.ravel(), minlength=256).cumsum()
        equal(ours, ((2 * 255 * below + f.size) // (2 * f.size)).astype(np.uint8)[f])

    return [
        Case("photograph", "median of 3 x 3", lambda: vision.median_filter(f),
             {"OpenCV medianBlur": lambda: cv2.medianBlur(f, 3)}),
        Case("photograph", "median of 5 x 5", lambda: vision.median_filter(f, 5),
             {"OpenCV medianBlur": lambda: cv2.medianBlur(f, 5)}),
        Case("photograph", "mean of 3 x 3", lambda: vision.mean_filter(f),
             {"OpenCV blur": lambda: cv2.blur(f, (3, 3), borderType=EDGE)}),
        Case("photograph", "mean of 11 x 11", lambda: vision.mean_filter(f, 11),
             {"OpenCV blur": lambda: cv2.blur(f, (11, 11), borderType=EDGE)}),
        Case("photograph", "Sobel gradient", lambda: vision.sobel(f), {"OpenCV Sobel": both_ways}),
        Case("photograph", "Laplacian", lambda: vision.laplacian(f),
             {"OpenCV Laplacian": lambda: cv2.Laplacian(f, cv2.CV_32F, ksize=1, borderType=EDGE)}),
        Case("photograph", "mask of 5 x 5", lambda: vision.apply_mask(f, mask),
             {"OpenCV filter2D": lambda: cv2.filter2D(f, cv2.CV_32F, mask, borderType=EDGE)}),
        Case("photograph", "histogram", lambda: vision.histogram(f),
             {"OpenCV calcHist": lambda: cv2.calcHist([f], [0], None, [256], [0, 256]).ravel()}),
        Case("photograph", "histogram equalized", lambda: vision.equalise_histogram(f),
             {"OpenCV equalizeHist": lambda: cv2.equalizeHist(f)}, by_formula),
        Case("colours", "gray levels", lambda: vision.gray_levels(colours),
             {"OpenCV cvtColor": lambda: cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY)}),
        Case("photograph", "opening by 3 x 3", lambda: vision.opening(f),
             {"OpenCV morphologyEx": lambda: cv2.morphologyEx(f, cv2.MORPH_OPEN, square)}),
        Case("photograph", "Fourier transform", lambda: vision.fourier_2d(waves),
             {"SciPy fft2": lambda: fft.fft2(waves, norm="ortho")}, near, SOME),
        Case("binary image", "4-connected components", lambda: vision.connected_components(truth, connectivity=4),
             {"SciPy label": lambda: ndimage.label(truth, cross)}),
        Case("binary image", "8-connected components", lambda: vision.connected_components(truth),
             {"SciPy label": lambda: ndimage.label(truth, square)}),
        Case("binary image", "distances", lambda: vision.distance_transform(truth),
             {"SciPy distance_transform_edt": lambda: ndimage.distance_transform_edt(truth)}, None, FEW),
    ]  # fmt: skip


def lines_and_regions() -> list[Case]:
    """Functions of `vision.segmentation`, `shapes` and `recognition`, and what they call."""
    f, coins, money = photograph(), regions(), megapixel(skimage.data.coins())
    window, edges = f[300:364, 400:464].copy(), vision.gradient_edges(f, 400)
    circles = {"minDist": 20, "param1": 100, "param2": 60, "minRadius": 20, "maxRadius": 60}
    outlines = (cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)

    def peaks():
        return skimage.transform.hough_line_peaks(*skimage.transform.hough_line(edges), num_peaks=10)

    def segments():
        found = cv2.HoughLinesP(edges.astype(np.uint8), 1, np.pi / 180, 50, minLineLength=30, maxLineGap=3)
        return found.reshape(-1, 4)

    def swapped(ours, theirs):
        equal((ours.votes, ours.theta, ours.rho), theirs)

    def same_circles(ours, theirs):
        equal(np.column_stack(ours), theirs.reshape(len(ours.radii), -1)[:, :3])

    return [
        Case("photograph", "correlation with 64 x 64", lambda: vision.correlation_coefficients(f, window),
             {"OpenCV matchTemplate": lambda: cv2.matchTemplate(f, window, cv2.TM_CCOEFF_NORMED)}, None, SOME),
        Case("edges", "votes for lines", lambda: vision.hough_votes(edges),
             {"scikit-image hough_line": lambda: skimage.transform.hough_line(edges)}, swapped),
        Case("edges", "lines", lambda: vision.hough_lines(edges), {"scikit-image hough_line_peaks": peaks},
             swapped, SOME),
        Case("edges", "segments of lines", lambda: vision.hough_segments(edges), {"OpenCV HoughLinesP": segments}),
        Case("coins", "circles", lambda: vision.hough_circles(money, radii=(20, 60), at_least=60),
             {"OpenCV HoughCircles": lambda: cv2.HoughCircles(money, cv2.HOUGH_GRADIENT, 1, **circles)},
             same_circles, SOME),
        Case("regions", "medial axis", lambda: vision.medial_axis(coins),
             {"scikit-image medial_axis": lambda: skimage.morphology.medial_axis(coins, return_distance=True, rng=0)},
             None, FEW),
        Case("regions", "lists of boundary pixels", lambda: vision.pixel_boundaries(coins),
             {"OpenCV findContours": lambda: cv2.findContours(coins.view(np.uint8), *outlines)},
             lambda ours, theirs: equal([b.points[::-1] for b in ours], [x[:, 0] for x in theirs[0]])),
        Case("photograph", "moments", lambda: vision.image_moments(f), {"OpenCV moments": lambda: cv2.moments(f)},
             lambda ours, theirs: equal(ours.raw[1, 2], theirs["m12"])),
    ]  # fmt: skip


def lenses() -> list[Case]:
    """Functions of `vision.cameras` and `stereo`, and what they call."""
    f, spotted = photograph(), marked()
    camera = vision.Camera.pinhole((SIDE, SIDE), 1.0, distortion=LENS)
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), settings)
    pair = [cv2.resize(vision.gray_levels(x), (1216, 832)) for x in skimage.data.stereo_motorcycle()[:2]]
    matcher = cv2.StereoSGBM_create(
        minDisparity=0, numDisparities=64, blockSize=5, P1=200, P2=800, disp12MaxDiff=1, uniquenessRatio=10,
        speckleWindowSize=100, speckleRange=2,
    )  # fmt: skip

    def same_image(ours, theirs):
        """OpenCV's own map differs in its last bits, which may choose another 1/32 of a pixel."""
        assert np.abs(ours.astype(int) - theirs).max() <= 8

    def same_markers(ours, theirs):
        order = np.argsort(theirs[1].ravel())
        equal(ours, (theirs[1].ravel()[order], np.asarray(theirs[0])[order, 0]))

    return [
        Case("photograph", "image without distortion", lambda: vision.undistort_image(camera, f),
             {"OpenCV undistort": lambda: cv2.undistort(f, camera.matrix, camera.distortion)}, same_image),
        Case("12 markers", "markers", lambda: vision.find_markers(spotted),
             {"OpenCV detectMarkers": lambda: detector.detectMarkers(spotted)}, same_markers, SOME),
        Case("stereo pair", "disparities", lambda: vision.match_stereo(*pair),
             {"OpenCV StereoSGBM": lambda: matcher.compute(*pair)},
             lambda ours, theirs: equal(np.nan_to_num(16 * ours, nan=-16), theirs), FEW),
    ]  # fmt: skip


# --- our own functions ------------------------------------------------------------------------------------------------


def topology(image: np.ndarray) -> tuple[int, int]:
    """The numbers of 8-connected components and of 4-connected parts of the background."""
    return ndimage.label(image, np.ones((3, 3)))[1], ndimage.label(~np.pad(image, 1))[1]


def own_shapes() -> list[Case]:
    """Thinning, boundaries, codes and smoothing of binary images, beside the nearest functions of scikit-image."""
    coins, horse, square = regions(), silhouette(), np.ones((3, 3))

    def same_topology(ours, theirs):
        assert topology(ours) == topology(theirs) == topology(coins)

    def same_cracks(ours, theirs):
        """The points of `find_contours` are the middles of the cracks."""
        middles = np.concatenate([(b.points + np.roll(b.points, -1, axis=0)) / 2 for b in ours])
        points = np.concatenate([x[1:, ::-1] for x in theirs])
        equal(*(x[np.lexsort(x.T)] for x in (middles, points)))

    def same_length(ours, theirs):
        assert len(ours) == max(len(x) for x in theirs) - 1

    def smoothed():
        return skimage.morphology.closing(skimage.morphology.opening(coins, square), square)

    def little_changed(ours, theirs):
        assert np.mean(ours != coins) < 0.01 and np.mean(theirs != coins) < 0.03

    skeletons = {"scikit-image skeletonize": lambda: skimage.morphology.skeletonize(coins)}
    skeletons |= quick_or_full({}, {"scikit-image thin": lambda: skimage.morphology.thin(coins)})
    contours = {"scikit-image find_contours": lambda: skimage.measure.find_contours(horse, 0.5)}
    return [
        Case("regions", "thinning", lambda: vision.thin(coins), skeletons, same_topology, FEW),
        Case("regions", "boundaries along cracks", lambda: vision.crack_boundaries(coins, connectivity=4),
             {"scikit-image find_contours": lambda: skimage.measure.find_contours(coins, 0.5)}, same_cracks, SOME),
        Case("silhouette", "chain code", lambda: vision.chain_code(horse), contours, same_length, SOME),
        Case("silhouette", "shape number", lambda: vision.shape_number(horse), contours, same_length, SOME),
        Case("silhouette", "shape number of order 20", lambda: vision.shape_number(horse, order=20), contours,
             lambda ours, _: equal(len(ours), 20), SOME),
        Case("regions", "smoothing", lambda: vision.smooth_binary(coins),
             {"scikit-image closing of opening": smoothed,
              "scikit-image opening": lambda: skimage.morphology.opening(coins, square)}, little_changed, SOME),
    ]  # fmt: skip


def own_segments() -> list[Case]:
    """Edges of least cost, split and merge, and co-occurrence, beside the nearest functions of scikit-image."""
    f = photograph()
    few, range_of_30, whole = f >> 4, vision.Uniformity("range", 30), vision.Uniformity("equal")
    # The cracks between columns cost 255 less the difference of levels; paths begin and end in any column.
    costs = np.pad(255.0 + np.diff(f.astype(float), axis=1), ((1, 1), (0, 0)))

    def route():
        return skimage.graph.route_through_array(costs, (0, 0), (SIDE + 1, SIDE - 2), False, False)

    def least_cost(ours, _):
        """No path straight down costs less; and the search by A* finds the same cost."""
        assert ours.cost <= costs.sum(axis=0).min()
        part = f[300:330, 300:330]
        assert vision.edge_path(part).cost == vision.edge_path(part, method="a_star").cost

    def segments():
        return skimage.segmentation.felzenszwalb(f, scale=100, sigma=0, min_size=1)

    def same_components(*_):
        """With the predicate "equal", regions are the 4-connected components of equal levels."""
        ours = vision.split_and_merge(few, whole).labels
        theirs = skimage.measure.label(few, background=-1, connectivity=1)
        pairs = np.unique(ours.astype(np.int64) * SIDE**2 + theirs)
        assert ours.max() == theirs.max() == len(pairs)

    def matrix(image, levels):
        return skimage.feature.graycomatrix(image, [1], [0], levels)[..., 0, 0]

    return [
        Case("photograph", "edge of least cost", lambda: vision.edge_path(f),
             {"scikit-image route_through_array": route}, least_cost, FEW),
        Case("photograph", "split and merge", lambda: vision.split_and_merge(f, range_of_30),
             {"scikit-image felzenszwalb": segments}, same_components, FEW),
        Case("photograph", "co-occurrence of 256 levels",
             lambda: vision.cooccurrence(f, levels=256, rows="reference"),
             {"scikit-image graycomatrix": lambda: matrix(f, 256)}, None, SOME),
        Case("photograph", "co-occurrence of 16 levels",
             lambda: vision.cooccurrence(few, levels=16, rows="reference"),
             {"scikit-image graycomatrix": lambda: matrix(few, 16)}, None, SOME),
    ]  # fmt: skip
