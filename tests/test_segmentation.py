"""Edges that are linked, regions that grow, and split and merge: laws, literal formulations, and peers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from adjoint.errors import ArgumentError
from adjoint.vision.segmentation import (
    Uniformity,
    edge_pixels,
    edge_runs,
    grow_regions,
    is_segmentation,
    link_edges,
    quadtree,
    region_adjacency,
    segmentation_faults,
    split_and_merge,
)

# --- linking ----------------------------------------------------------------------------------------------------------


def linked_literally(u, v, least, T, A, either_way, size):
    """Union-find pixel by pixel, with angles by atan2, and their differences wrapped."""
    rows, columns = u.shape
    G, angle, half = np.hypot(u, v), np.arctan2(v, u), size // 2
    parent = {p: p for p in np.ndindex(rows, columns) if G[p] > least}

    def root(p):
        while parent[p] != p:
            p = parent[p]
        return p

    period = np.pi if either_way else 2 * np.pi
    for p in parent:
        for q in parent:
            if max(abs(p[0] - q[0]), abs(p[1] - q[1])) <= half and p < q:
                apart = abs((angle[p] - angle[q] + period / 2) % period - period / 2)
                if abs(G[p] - G[q]) <= T and apart < A and root(p) != root(q):
                    a, b = sorted((root(p), root(q)))
                    parent[b] = a
    labels, names = np.zeros((rows, columns), int), {}
    for p in sorted(parent):
        labels[p] = names.setdefault(root(p), len(names) + 1)
    return labels


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([3, 5]))
def test_linking_is_union_find_with_wrapped_angles(seed, either_way, size):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(0, 10, (2, *rng.integers(1, 10, 2)))
    T, A = rng.choice([1.0, 5.0, 100.0]), rng.choice([0.3, 1.0, 2.0])
    want = linked_literally(u, v, 6.0, T, A if not either_way else min(A, 1.5), either_way, size)
    found = link_edges(
        (u, v), stronger_than=6, magnitude_within=T, angle_within=A if not either_way else min(A, 1.5),
        either_way=either_way, size=size,
    )  # fmt: skip
    np.testing.assert_array_equal(found, want)


def test_directions_of_plus_and_minus_179_degrees_are_alike():
    angles = np.deg2rad([[179.0, -179.0, 90.0, -90.0]])
    gradient = (9 * np.cos(angles), 9 * np.sin(angles))
    assert link_edges(gradient, stronger_than=1).tolist() == [[1, 1, 2, 3]]
    assert link_edges(gradient, stronger_than=1, either_way=True).tolist() == [[1, 1, 2, 2]]


def test_small_edges_are_dropped_and_pixels_are_listed():
    u = np.array([[9.0, 9, 0, 9], [0, 0, 0, 0], [9, 9, 9, 0]])
    labels = link_edges((u, 0 * u), stronger_than=1, smallest=2)
    assert labels.tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [2, 2, 2, 0]]
    assert [each.tolist() for each in edge_pixels(labels)] == [[[0, 0], [1, 0]], [[0, 2], [1, 2], [2, 2]]]
    assert not link_edges((u, 0 * u), stronger_than=99).any()
    assert edge_pixels(np.zeros((2, 2), int)) == []
    assert [len(each) for each in edge_pixels([[3, 0]])] == [0, 0, 1]


def test_circle_is_one_edge_and_a_square_is_four():
    """The direction turns slowly along a circle, and by 90° at the corners of a square."""
    v, u = np.mgrid[:100, :100] - 50.0
    for image, edges in (
        (np.clip(30 - np.hypot(u, v), -2, 2), 1),
        (np.clip(30 - np.maximum(np.abs(u), np.abs(v)), -2, 2), 4),
    ):
        gradient = np.gradient(image)[::-1]
        labels = link_edges(gradient, stronger_than=0.5, angle_within=np.deg2rad(15), smallest=20)
        assert labels.max() == edges


def test_runs_bridge_gaps_and_drop_short_ones():
    """A licence plate: a bright rectangle, with a gap in its upper side."""
    image = np.full((40, 90), 50.0)
    image[10:30, 20:70] = 150
    image[:20, 40:43] = 50
    gradient = np.gradient(ndimage.gaussian_filter(image, 1))[::-1]
    wide = np.deg2rad(50)  # the direction turns a little at the ends of the gap
    rows = edge_runs(gradient, along="rows", stronger_than=25, angle_within=wide, gap=9, shortest=30)
    assert len(rows.ends) == 4  # both sides of each edge of two rows
    assert (rows.ends[:, 2] - rows.ends[:, 0] > 44).all()
    assert len(edge_runs(gradient, along="rows", stronger_than=25, angle_within=wide, shortest=30).ends) == 2
    assert (rows.labels > 0).sum() == (rows.ends[:, 2] - rows.ends[:, 0] + 1).sum()
    columns = edge_runs(gradient, along="columns", stronger_than=25, gap=2, shortest=15)
    turned = edge_runs([each.T for each in gradient[::-1]], along="rows", stronger_than=25, gap=2, shortest=15)
    np.testing.assert_array_equal(columns.labels, turned.labels.T)
    np.testing.assert_array_equal(columns.ends, turned.ends[:, [1, 0, 3, 2]])
    assert edge_runs(gradient, along="rows", stronger_than=1e9).ends.shape == (0, 4)


def test_runs_end_where_the_direction_turns():
    v = np.array([[30.0, 30, -30, -30]])
    assert edge_runs((0 * v, v), along="rows", stronger_than=1).ends.tolist() == [[0, 0, 1, 0], [2, 0, 3, 0]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda u: link_edges(u, stronger_than=1), "pair"),
        (lambda u: link_edges((u, u[:, 1:]), stronger_than=1), "shapes"),
        (lambda u: link_edges((u, u), stronger_than=1, angle_within=15), "radians"),
        (lambda u: link_edges((u, u), stronger_than=1, size=4), "odd"),
        (lambda u: link_edges((u, u), stronger_than=-1), "stronger_than"),
        (lambda u: edge_runs((u, u), along="diagonals", stronger_than=1), "'rows', 'columns'"),
        (lambda u: edge_runs((u, u), along="rows", stronger_than=1, gap=-1), "gap"),
        (lambda u: edge_pixels(u), "whole numbers"),
        (lambda u: link_edges((u[:0], u[:0]), stronger_than=1), "no pixels"),
    ],
)
def test_bad_arguments_of_linking_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(np.zeros((3, 3)))


# --- growing ----------------------------------------------------------------------------------------------------------

FIGURE_8_17 = np.array([[0, 0, 5, 6, 7], [1, 1, 5, 8, 7], [0, 1, 6, 7, 7], [2, 0, 7, 6, 6], [0, 1, 5, 6, 5]])
SEEDS = [(1, 2), (3, 2)]  # the book's (3, 2) and (3, 4), as (row, column) from 1


def grown_literally(image, seeds, T, connectivity):
    rows, columns = image.shape
    labels = np.zeros((rows, columns), int)
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if 0 < abs(a) + abs(b) <= (1 if connectivity == 4 else 2)]
    for k, (u, v) in enumerate(seeds, start=1):
        todo = [(v, u)] if not labels[v, u] else []
        while todo:
            i, j = todo.pop()
            inside = 0 <= i < rows and 0 <= j < columns and not labels[i, j]
            if inside and abs(float(image[i, j]) - float(image[v, u])) < T:
                labels[i, j] = k
                todo += [(i + a, j + b) for a, b in steps]
    return labels


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, float, np.uint16, np.int8])
def test_figure_8_17(dtype):
    f = FIGURE_8_17.astype(dtype)
    np.testing.assert_array_equal(grow_regions(f, SEEDS, 3), np.tile([1, 1, 2, 2, 2], (5, 1)))
    np.testing.assert_array_equal(grow_regions(f, SEEDS, 8), np.ones((5, 5)))
    values, counts = np.unique(FIGURE_8_17, return_counts=True)  # 1 and 7 are not the commonest values
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {0: 5, 1: 4, 2: 1, 5: 4, 6: 5, 7: 5, 8: 1}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([4, 8]))
def test_growing_is_flooding_pixel_by_pixel(seed, connectivity):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12, 2)
    image = rng.integers(0, 6, shape)
    image = [image.astype(np.uint8), image * 0.5, image - 3, image > 2][seed % 4]
    seeds = rng.integers(0, shape[::-1], (3, 2))
    T = rng.choice([0.5, 1.0, 1.5, 2.0, 3.0])
    found = grow_regions(image, seeds, T, connectivity=connectivity)
    np.testing.assert_array_equal(found, grown_literally(image, seeds, T, connectivity))


def test_growing_is_strict_where_scikit_image_is_not():
    from skimage.segmentation import flood

    image = np.random.default_rng(0).integers(0, 256, (50, 60)).astype(np.uint8)
    smooth = ndimage.uniform_filter(image, 5)
    want = flood(smooth, (20, 30), tolerance=9, connectivity=1)
    np.testing.assert_array_equal(grow_regions(smooth, (30, 20), 10) > 0, want)


def test_colours_grow_by_distance():
    image = np.zeros((2, 4, 3), np.uint8)
    image[:, 2:] = (3, 4, 0)
    assert grow_regions(image, (0, 0), 5).tolist() == [[1, 1, 0, 0]] * 2
    assert grow_regions(image, (0, 0), 5.01).tolist() == [[1, 1, 1, 1]] * 2


@pytest.mark.parametrize(
    ("image", "seeds", "T", "words"),
    [
        (FIGURE_8_17, [(5, 0)], 3, "not in the image"),
        (FIGURE_8_17, [(-1, 0)], 3, "not in the image"),
        (FIGURE_8_17, [(0.5, 0)], 3, "whole numbers"),
        (FIGURE_8_17, [(1, 2, 3)], 3, "seeds"),
        (FIGURE_8_17, SEEDS, 0, "threshold"),
        (np.full((3, 3), np.nan), [(1, 1)], 3, "finite"),
        (np.zeros((3, 3, 2)), [(1, 1)], 3, "red, green, blue"),
    ],
)
def test_bad_seeds_are_refused(image, seeds, T, words):
    with pytest.raises(ArgumentError, match=words):
        grow_regions(image, seeds, T)
    with pytest.raises(ArgumentError, match="connectivity"):
        grow_regions(FIGURE_8_17, SEEDS, 3, connectivity=6)


# --- conditions -------------------------------------------------------------------------------------------------------


def test_each_condition_has_its_fault():
    image = np.array([[3, 3, 9, 3], [3, 3, 9, 3]])
    equal = Uniformity("equal")
    good = np.array([[1, 1, 2, 3], [1, 1, 2, 3]])
    assert is_segmentation(good, image, equal)  # 1 and 3 are equal, but do not touch
    for labels, fault in (
        ([[1, 1, 2, 0], [1, 1, 2, 3]], (1, ())),
        ([[1, 1, 2, 1], [1, 1, 2, 1]], (2, (1,))),
        ([[1, 1, 1, 3], [1, 1, 1, 3]], (4, (1,))),
        ([[1, 4, 2, 3], [1, 4, 2, 3]], (5, (1, 4))),
    ):
        assert tuple(segmentation_faults(labels, image, equal)[0]) == fault
        assert not is_segmentation(labels, image, equal)
    colours = np.stack([image] * 3, axis=2)
    assert is_segmentation(good, colours, lambda values: (values == values[0]).all())


def test_labels_must_fit():
    with pytest.raises(ArgumentError, match="shape"):
        is_segmentation(np.ones((2, 2), int), np.zeros((3, 3)), Uniformity("equal"))
    with pytest.raises(ArgumentError, match="whole numbers"):
        region_adjacency(np.ones((2, 2)))
    with pytest.raises(ArgumentError, match="below"):
        region_adjacency(np.array([[2**40, 1]]))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32))
def test_adjacency_is_that_of_pixels(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 5, rng.integers(1, 8, 2))
    want = set()
    for i, j in np.ndindex(*labels.shape):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < labels.shape[0] and m < labels.shape[1]:
                a, b = sorted((labels[i, j], labels[k, m]))
                want |= {(a, b)} if 0 < a < b else set()
    assert [tuple(pair) for pair in region_adjacency(labels).tolist()] == sorted(want)


# --- split and merge --------------------------------------------------------------------------------------------------


def object_8_19():
    image = np.zeros((8, 8), int)
    image[2:4, 4:6] = image[4:6, 2:6] = image[6, 3:5] = 1
    return image


def test_splitting_and_merging_the_book_s_object():
    image, equal = object_8_19(), Uniformity("equal")
    tree = quadtree(image, equal)
    assert np.bincount(tree.depths).tolist() == [0, 1, 10, 8]  # 1 of 4 blocks, 11 of 13, and 8 pixels: 19
    assert tree.leaves[0].tolist() == [0, 0, 4, 4]  # top left
    pixels = tree.leaves[tree.depths == 3]
    assert sorted({(u // 2 * 2, v // 2 * 2) for u, v, *_ in pixels.tolist()}) == [(2, 6), (4, 6)]
    found = split_and_merge(image, equal)
    np.testing.assert_array_equal(found.labels, image + 1)
    assert found.adjacent.tolist() == [[1, 2]]


def split_literally(image, P, u=0, v=0, size=None, depth=0):
    """Leaves (depth, u, v, width, height), by recursion."""
    size = size or 1 << (max(image.shape) - 1).bit_length()
    block = image[v : v + size, u : u + size]
    if not block.size:
        return []
    if size == 1 or P(block):
        return [(depth, u, v, block.shape[1], block.shape[0])]
    h = size // 2
    corners = ((u, v), (u + h, v), (u, v + h), (u + h, v + h))
    return [leaf for a, b in corners for leaf in split_literally(image, P, a, b, h, depth + 1)]


def merged_literally(image, P, measure, tree):
    """The labels by the order that the docstring states."""
    region = {k: {k} for k in range(len(tree.leaves))}
    index = tree.index

    def values(*names):
        return image[np.isin(index, [leaf for name in names for leaf in region[name]])]

    def touching():
        label = np.zeros(index.shape, int)
        for name, leaves in region.items():
            label[np.isin(index, list(leaves))] = name + 1
        return [(a - 1, b - 1) for a, b in region_adjacency(label).tolist()]

    changed = True
    while changed:
        changed = False
        for a, b in touching():
            if a in region and b in region and np.ptp(values(a, b)) == 0:
                region[a] |= region.pop(b)
                changed = True
    while True:
        pairs = [(measure(values(a, b)), a, b) for a, b in touching() if P(values(a, b))]
        if not pairs:
            break
        now = {name: name for name in region}
        for _, a, b in sorted(pairs):
            a, b = now[a], now[b]
            if a != b and P(values(a, b)):
                region[a] |= region.pop(b)
                now = {name: a if other == b else other for name, other in now.items()}
        region = {min(leaves): leaves for leaves in region.values()}
    label = np.zeros(index.shape, int)
    for k, name in enumerate(sorted(region), start=1):
        label[np.isin(index, list(region[name]))] = k
    return label


PREDICATES = [Uniformity("equal"), Uniformity("range", 3), Uniformity("range", 5.5), Uniformity("deviation", 1.13)]


@pytest.mark.slow
@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_split_and_merge_follows_its_stated_order(predicate, seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, rng.choice([3, 10]), rng.integers(1, 11, 2))
    image = [image.astype(np.uint8), image.astype(np.uint16), image - 4, image * 1.0][seed % 4]
    found = split_and_merge(image, predicate)
    tree = found.tree
    leaves = {(d, *leaf) for d, leaf in zip(tree.depths.tolist(), tree.leaves.tolist(), strict=True)}
    assert leaves == set(split_literally(image, predicate))
    assert tree.depths.tolist() == sorted(tree.depths.tolist())
    for k, (u, v, width, height) in enumerate(tree.leaves):
        assert (tree.index[v : v + height, u : u + width] == k).all()
    measure = np.std if predicate.kind == "deviation" else np.ptp
    np.testing.assert_array_equal(found.labels, merged_literally(image, predicate, measure, tree))
    np.testing.assert_array_equal(found.leaf_labels[tree.index], found.labels)
    np.testing.assert_array_equal(found.adjacent, region_adjacency(found.labels))
    assert is_segmentation(found.labels, image, predicate)


@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_regions_of_a_larger_image_are_a_segmentation(predicate):
    image = np.random.default_rng(4).integers(0, 10, (61, 83)).astype(np.uint8)
    smooth = ndimage.uniform_filter(image, 3)
    found = split_and_merge(smooth, predicate)
    assert segmentation_faults(found.labels, smooth, predicate) == ()


def test_equal_pixels_are_connected_components():
    from skimage.measure import label

    image = np.random.default_rng(5).integers(0, 3, (50, 70))
    found = split_and_merge(image, Uniformity("equal"))
    want = np.asarray(label(image, background=-1, connectivity=1))
    pairs = np.unique(np.stack([found.labels.ravel(), want.ravel()]), axis=1)
    assert pairs.shape[1] == found.labels.max() == want.max()


def test_odd_sizes():
    constant = np.full((1, 1000), 7, np.uint8)
    assert quadtree(constant, Uniformity("equal")).leaves.tolist() == [[0, 0, 1000, 1]]
    assert split_and_merge(np.array([[1]]), Uniformity("equal")).adjacent.shape == (0, 2)
    bit = np.array([[True, False, False]])
    assert split_and_merge(bit, Uniformity("equal")).labels.tolist() == [[2, 1, 1]]
    assert split_and_merge(bit, Uniformity("range", 1)).labels.tolist() == [[1, 1, 1]]
    huge = np.array([[0, 2**60], [0, 2**60]])
    assert split_and_merge(huge, Uniformity("range", 5)).labels.max() == 2
    signed = np.array([[-128, 127]], np.int8)
    assert split_and_merge(signed, Uniformity("range", 254)).labels.max() == 2
    assert split_and_merge(signed, Uniformity("range", 255)).labels.max() == 1


def test_equal_floats_have_no_deviation():
    """A mean of equal floats may be rounded: that makes no region uneven."""
    image = np.full((7, 9), 0.1)
    assert split_and_merge(image, Uniformity("deviation", 0)).labels.max() == 1
    assert Uniformity("deviation", 0)(image)


def test_bad_predicates_and_images_are_refused():
    for bad in ("equal", np.ptp, None):
        with pytest.raises(ArgumentError, match="Uniformity"):
            split_and_merge(np.eye(3), bad)
    with pytest.raises(ArgumentError, match="Uniformity"):
        quadtree(np.eye(3), 5)
    for wrong in (("round", 1), ("range", -1), ("equal", 3), ("range", np.nan)):
        with pytest.raises(ArgumentError, match="Uniformity"):
            Uniformity(*wrong)
    for image, words in ((np.array([[np.nan]]), "NaN"), (np.zeros((0, 3)), "no pixels"), (np.zeros((2, 2, 3)), "gray")):
        with pytest.raises(ArgumentError, match=words):
            split_and_merge(image, Uniformity("equal"))
