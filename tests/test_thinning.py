"""Thinning by safe points agrees with the method read word by word, and keeps the topology; skeletons become graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from adjoint.errors import ArgumentError
from adjoint.vision.shapes import thinning, thinning_words
from adjoint.vision.shapes.skeletons import medial_axis, skeleton_graph
from adjoint.vision.shapes.thinning import thin

AROUND = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]  # n0 ... n7


def flagged(n, edge, scan):
    """(8.3-6) to (8.3-9): n0 ... n7 are live, and `edge` has the same neighbours at the start of the scan."""
    n0, n1, n2, n3, n4, n5, n6, n7 = n
    B4 = n0 and (n1 or n2 or n6 or n7) and (n2 or not n3) and (not n5 or n6)
    B0 = n4 and (n2 or n3 or n5 or n6) and (n6 or not n7) and (not n1 or n2)
    B2 = n6 and (n0 or n4 or n5 or n7) and (n0 or not n1) and (not n3 or n4)
    B6 = n2 and (n0 or n1 or n3 or n4) and (n4 or not n5) and (n0 or not n7)
    if scan == 1:
        return (not edge[4] and B4) or (not edge[0] and B0)
    return (not edge[2] and B2) or (not edge[6] and B6)


def literally(image, order="rows", edges="start", flags="live"):
    """The skeleton, pixel by pixel, and the number of passes, the last of which finds nothing.

    `edges` and `flags` tell which image edge points and Booleans see: that at the start of a scan, or the live one.
    """
    f = np.pad(np.asarray(image, bool), 1).tolist()
    rows, columns = range(1, len(f) - 1), range(1, len(f[0]) - 1)
    pixels = [(i, j) for i in rows for j in columns]
    if order == "columns":
        pixels.sort(key=lambda p: p[::-1])
    passes, found = 0, True
    while found:
        passes, found = passes + 1, False
        for scan in (1, 2):
            seen = {"start": [row[:] for row in f], "live": f}
            for i, j in pixels:
                n, edge = ([seen[which][i + a][j + b] for a, b in AROUND] for which in (flags, edges))
                if f[i][j] and flagged(n, edge, scan):
                    f[i][j], found = False, True
    return np.array(f, bool)[1:-1, 1:-1], passes


def along_rows(image, scans=("beside", "above")):
    """The skeleton by the rows alone, without the words."""
    rows = thinning._packed(image)
    thinning._thin_rows(rows, np.pad(image.any(axis=1), 1).tobytes(), scans, -1)
    return thinning._unpacked(rows, image.shape)


def topology(image):
    """The numbers of 8-connected objects and of 4-connected parts of the background."""
    light, four = ~np.pad(np.asarray(image, bool), 1), ndimage.generate_binary_structure(2, 1)
    counts = [int(np.max(ndimage.label(each, by)[0])) for each, by in ((image, np.ones((3, 3))), (light, four))]  # type: ignore[index]
    return tuple(counts)


def random_image(seed, most=16):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, most, 2)
    return rng.random(shape) < rng.choice([0.3, 0.5, 0.7, 0.85, 0.95])


def test_solid_bar():
    bar = np.ones((5, 12), bool)
    want = np.zeros_like(bar)
    want[2, 2:10] = True
    np.testing.assert_array_equal(thin(bar), want)
    assert literally(bar)[1] == 3
    np.testing.assert_array_equal(thin(bar, passes=2), want)  # the third pass finds nothing
    assert thin(bar, passes=1).sum() > want.sum()
    np.testing.assert_array_equal(thin(bar, passes=0), bar)


def test_lines_two_pixels_wide_stay_lines():
    assert np.argwhere(thin(np.ones((6, 2)))).tolist() == [[i, 1] for i in range(6)]
    diagonal = np.eye(9, 10, dtype=bool) | np.eye(9, 10, 1, dtype=bool)
    np.testing.assert_array_equal(thin(diagonal), np.eye(9, 10, 1, dtype=bool))
    assert topology(thin(diagonal))[0] == 1


def test_other_readings_of_the_text_are_wrong():
    """Live edge points eat a bar from one corner; frozen Booleans lose lines that are two pixels wide."""
    eaten = literally(np.ones((5, 12)), edges="live")[0]
    assert eaten.sum() == 15 and eaten[:, -1].sum() + eaten[-1].sum() >= 15
    assert not literally(np.ones((6, 2)), flags="start")[0].any()
    assert not literally(np.eye(9, 10) + np.eye(9, 10, 1), flags="start")[0].any()


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.integers(0, 2**32))
def test_thinning_is_the_method_read_literally(seed):
    image = random_image(seed)
    want = literally(image)[0]
    np.testing.assert_array_equal(thin(image), want)
    np.testing.assert_array_equal(along_rows(image), want)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_columns_are_scanned_literally(seed):
    image = random_image(seed, 12)
    np.testing.assert_array_equal(thin(image, order="columns"), literally(image, "columns")[0])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.4, 0.6, 0.8, 0.95]), st.floats(0, 1.5))
def test_many_rows_at_once_are_thinned_literally(seed, share, blur):
    """64 rows and more take the way of the words."""
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.random((64 + seed % 20, 1 + seed % 90)), blur)
    image = noise < np.quantile(noise, share)
    found = thinning_words.dense_passes(image, ("beside", "above"), -1)
    assert found.passes > 0 or not image.any()
    np.testing.assert_array_equal(thin(image), literally(image)[0])


def test_words_and_rows_agree_in_large_images():
    rng = np.random.default_rng(1)
    for shape, blur in (((300, 500), 4), ((200, 65), 1), ((64, 64), 0), ((500, 1), 0), ((70, 700), 2)):
        noise = ndimage.gaussian_filter(rng.random(shape), blur)
        image = noise < np.median(noise)
        np.testing.assert_array_equal(thin(image), along_rows(image))
        turned = along_rows(image.T, ("above", "beside"))
        np.testing.assert_array_equal(thin(image, order="columns"), turned.T)


@pytest.mark.parametrize("columns", [8, 64, 65, 130, 301])
def test_long_chains_along_rows(columns):
    """In a zigzag every pixel of the middle row waits for its left neighbour: the words give up, and rows follow."""
    zigzag = np.zeros((3, columns), bool)
    zigzag[1] = True
    zigzag[0, ::2] = zigzag[2, 1::2] = True
    tall = np.zeros((66, columns), bool)
    tall[30:33] = zigzag
    tall[:, 0] = True
    for image in (zigzag, tall, tall[:, ::-1]):
        np.testing.assert_array_equal(thin(image), literally(image)[0])


def test_the_last_passes_look_at_few_rows():
    """A long thin wedge is thinned for many passes, in fewer and fewer rows."""
    v, u = np.mgrid[:90, :100]
    wedge = np.abs(u - 50) <= v / 2
    np.testing.assert_array_equal(thin(wedge), literally(wedge)[0])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_topology_stays_and_twice_is_once(seed):
    image = random_image(seed, 30)
    skeleton = thin(image)
    assert topology(skeleton) == topology(image)
    assert not (skeleton & ~image).any()
    np.testing.assert_array_equal(thin(skeleton), skeleton)


def test_turned_images_have_the_same_topology_but_other_skeletons():
    """The scan has a direction: the rotation of a skeleton need not be that of the rotated image."""
    image = ndimage.gaussian_filter(np.random.default_rng(0).random((60, 60)), 2) > 0.5
    assert topology(thin(np.rot90(image))) == topology(thin(image))
    assert (thin(np.rot90(image)) != np.rot90(thin(image))).any()
    assert topology(thin(image, order="columns")) == topology(thin(image))
    assert (thin(image, order="columns") != thin(image)).any()


def test_images_of_all_types():
    image = random_image(5)
    want = thin(image)
    for other in (image.astype(np.uint8) * 255, image * 1.0, image.astype(np.uint16), np.asfortranarray(image)):
        found = thin(other)
        np.testing.assert_array_equal(found, want)
        assert found.dtype == np.bool_
    kept = image.copy()
    thin(image)
    np.testing.assert_array_equal(image, kept)
    assert thin([[1]]).tolist() == [[True]]
    assert not thin(np.zeros((70, 70), bool)).any()


@pytest.mark.parametrize(
    ("image", "options", "words"),
    [
        (np.zeros((0, 4)), {}, "no pixels"),
        (np.zeros((3, 3, 3)), {}, "rows, columns"),
        (np.arange(9).reshape(3, 3), {}, "more than two values"),
        (np.eye(3), {"order": "spiral"}, "'rows', 'columns'"),
        (np.eye(3), {"passes": -1}, "passes"),
        ("bar", {}, "real numbers"),
    ],
)
def test_bad_images_are_refused(image, options, words):
    with pytest.raises(ArgumentError, match=words):
        thin(image, **options)


# --- skeletons --------------------------------------------------------------------------------------------------------


def test_medial_axis_is_that_of_scikit_image_and_draws_the_region_again():
    from skimage.morphology import medial_axis as peer

    image = ndimage.gaussian_filter(np.random.default_rng(3).random((80, 90)), 4) > 0.5
    found = medial_axis(image)
    want = peer(image, return_distance=True, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(found.skeleton, want[0])
    np.testing.assert_array_equal(found.distance, want[1])
    v, u = np.mgrid[: image.shape[0], : image.shape[1]]
    drawn = np.zeros_like(image)
    for i, j in np.argwhere(found.skeleton):
        drawn |= (u - j) ** 2 + (v - i) ** 2 < found.distance[i, j] ** 2 - 1e-9
    assert not (drawn & ~image).any()
    assert (drawn & image).sum() > 0.97 * image.sum()
    with pytest.raises(ArgumentError, match="rng"):
        medial_axis(image, rng="seed")


def drawn(text):
    return np.array([[c == "#" for c in line] for line in text.split()])


def test_graph_of_a_letter():
    graph = skeleton_graph(drawn("....#.... ...#.#... ..#...#.. .#######. #.......#"))
    ends, junctions = graph.nodes[graph.degrees == 1], graph.nodes[graph.degrees > 2]
    assert sorted(ends.tolist()) == [[0, 4], [8, 4]]
    assert len(junctions) == 2
    assert len(graph.branches) == 4  # two feet, the bar, and the top
    assert {tuple(sorted((b.start, b.end))) for b in graph.branches} == {(0, 2), (0, 1), (1, 3)}


def test_graph_of_loops_pixels_and_staircases():
    ring = drawn(".##. #..# #..# .##.")
    (loop,) = skeleton_graph(ring).branches
    assert (loop.start, loop.end, len(loop.pixels)) == (-1, -1, 9)
    np.testing.assert_allclose(loop.length, 4 + 4 * np.sqrt(2))
    lonely = skeleton_graph(drawn("#.. ... ..#"))
    assert lonely.degrees.tolist() == [0, 0] and lonely.nodes.tolist() == [[0, 0], [2, 2]]
    stairs = skeleton_graph(drawn("##.. .##. ..##"))
    assert stairs.degrees.tolist() == [1, 1]
    assert stairs.branches[0].pixels.tolist() == [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [3, 2]]
    nothing = skeleton_graph(np.zeros((3, 3), bool))
    assert nothing.nodes.shape == (0, 2) and nothing.branches == ()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_graphs_have_the_parts_and_loops_of_their_skeletons(seed):
    """Euler's formula: pixels - links + full squares = objects - holes, where each junction is one node."""
    skeleton = thin(random_image(seed, 30))
    graph = skeleton_graph(skeleton)
    free = sum(branch.start < 0 for branch in graph.branches)
    objects, backgrounds = topology(skeleton)
    squares = (skeleton[1:, 1:] & skeleton[:-1, 1:] & skeleton[1:, :-1] & skeleton[:-1, :-1]).sum()
    euler = objects - (backgrounds - 1) - squares
    assert len(graph.nodes) - (len(graph.branches) - free) == euler + junction_loops(skeleton)
    covered = {tuple(p) for branch in graph.branches for p in branch.pixels.tolist()}
    assert covered <= {tuple(p) for p in np.argwhere(skeleton)[:, ::-1].tolist()}


def junction_loops(skeleton):
    """The loops of links inside of junctions, which are one node each."""
    from adjoint.vision.segmentation.adjacency import components_of_pairs
    from adjoint.vision.shapes.skeletons import _links

    links, n = _links(skeleton), int(skeleton.sum())
    many = np.bincount(links.reshape(-1), minlength=n) > 2
    inside = links[many[links].all(axis=1)]
    if not n:
        return 0
    return len(inside) - int(many.sum()) + len(np.unique(components_of_pairs(inside, n)[many]))


def test_images_that_are_not_binary_have_no_graph():
    with pytest.raises(ArgumentError, match="binary"):
        skeleton_graph(np.arange(9).reshape(3, 3))
