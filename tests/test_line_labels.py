"""Labels of lines: the dictionary, scenes of blocks whose labels are known, and objects that cannot exist."""

import itertools

import numpy as np
import pytest
from support.line_drawings import devils_fork, floating_blocks, impossible_triangle, standing_blocks

from adjoint.errors import ArgumentError
from adjoint.lie import so3
from adjoint.vision.cameras import Camera, project
from adjoint.vision.drawings import (
    Drawing,
    box_block,
    convex_block,
    draw_blocks,
    drawing_bodies,
    drawing_junctions,
    explain_labels,
    junction_dictionary,
    label_lines,
    labels_fit,
    line_regions,
    realize_drawing,
)

CUBE = Drawing(
    [[2, 0], [4, 1], [4, 3], [2, 4], [0, 3], [0, 1], [2, 2]],
    [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [6, 1], [6, 3], [6, 5]],
)
EXACT = 1e-6  # [rad]: drawings of blocks are exact, so two lines are one only if they truly are


def scene(seed: int, blocks, ground: bool):
    """A drawing of the first of the random scenes of a seed whose blocks do not overlap."""
    for attempt in itertools.count():
        rng = np.random.default_rng([seed, attempt])
        some, eye = blocks(rng), np.append(rng.normal(size=2), rng.uniform(0.3, 1.5))
        try:
            return some, eye, draw_blocks(some, toward_eye=eye, ground=ground)
        except ArgumentError as error:
            assert "overlap" in str(error)
    raise AssertionError


# --- the dictionary ---------------------------------------------------------------------------------------------------


def test_the_dictionary_of_octants_is_that_of_huffman_and_clowes():
    found = junction_dictionary()
    L = "in out, out in, + in, out +, - out, in -"
    assert found["L"] == {tuple(pair.split()) for pair in L.split(", ")}
    assert found["arrow"] == {("in", "+", "out"), ("+", "-", "+"), ("-", "+", "-")}
    third = ("-", "out", "in")
    assert found["fork"] == {("+",) * 3, ("-",) * 3, third, third[1:] + third[:1], third[2:] + third[:2]}
    assert found["T"] == {("out", stem, "in") for stem in ("+", "-", "out", "in")}


def test_mirrored_corners_are_in_the_dictionary():
    """A mirror turns the order around and exchanges in and out: the matter is then to the left of arrows."""
    swap = {"in": "out", "out": "in", "+": "+", "-": "-"}
    for labels in junction_dictionary().values():
        assert {tuple(swap[x] for x in reversed(row)) for row in labels} == labels


# --- drawings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ends, kind",
    [
        ([(1, 0), (0, 1)], "L"),
        ([(1, 0), (-1, 0)], "straight"),
        ([(1, 0), (1, 1), (0, 1)], "arrow"),
        ([(1, 0), (-1, 1), (-1, -1)], "fork"),
        ([(1, 0), (-1, 0), (0.3, 1)], "T"),
        ([(1, 0), (-1, 0), (0, 1), (0, -1)], "X"),
        ([(1, 0), (-1, 0), (0.2, 1), (-0.4, 1)], "K"),
        ([(1, 0.1), (-1, 0.1), (0.2, 1), (-0.4, 1)], "peak"),
        ([(1, 0), (-1, 0.2), (-0.2, 1), (-0.3, -1)], "multi"),
        ([(1, 0)], "end"),
    ],
)
def test_junctions_are_named_by_their_angles_however_they_are_turned(ends, kind):
    for angle in np.linspace(0, 6, 7):
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        points = np.concatenate([[[0, 0]], ends]) @ R.T + 5
        drawing = Drawing(points, [(0, k) for k in range(1, len(points))])
        found = drawing_junctions(drawing)[0]
        assert found.kind == kind
        if kind in ("arrow", "T"):  # the line in the middle is the shaft, or the stem
            assert found.lines[1] == {"arrow": 1, "T": 2}[kind]


def test_regions_lie_to_both_sides():
    assert (line_regions(CUBE)[:6] == [[0, r] for r in line_regions(CUBE)[:6, 1]]).all()
    # Two nested squares: the inner one lies in the region of the outer one.
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    around = [(k, (k + 1) % 4) for k in range(4)]
    nested = Drawing(np.concatenate([4 * square, square + 1]), [*around, *((a + 4, b + 4) for a, b in around)])
    assert line_regions(nested).tolist() == [[0, 1]] * 4 + [[1, 2]] * 4


@pytest.mark.slow
def test_a_cube_in_the_air_has_one_labeling_and_on_the_ground_more():
    found = label_lines(CUBE, background=True)
    assert found.labels == (tuple(">>>>>>+++"),) and found.complete and found.conflict == ()
    every = label_lines(CUBE)
    assert tuple(">>>>>>+++") in every.labels and len(every.labels) > 1
    assert all(labels_fit(CUBE, labels) for labels in every.labels)
    # Brute force: all 4⁹ labelings.
    fits = [one for one in itertools.product("+-><", repeat=6) if labels_fit(CUBE, [*one, "+", "+", "+"])]
    assert set(fits) == {labels[:6] for labels in every.labels if labels[6:] == tuple("+++")}
    assert label_lines(CUBE, known={6: "-"}).labels == tuple(x for x in every.labels if x[6] == "-")
    assert not label_lines(CUBE, limit=2).complete and len(label_lines(CUBE, limit=2).labels) == 2


def test_filtering_leaves_what_some_labeling_has_and_perhaps_more():
    every = label_lines(CUBE)
    for line, left in enumerate(every.filtered):
        assert {labels[line] for labels in every.labels} <= set(left)
    assert label_lines(CUBE, background=True).filtered == tuple(">>>>>>+++")


def test_words_name_what_is_seen():
    text = explain_labels(CUBE, ">>>>>>+++")
    assert "vertex 6 (fork): a corner of a solid with three faces in sight" in text
    assert "vertex 1 (arrow): a corner of a solid with two faces in sight" in text
    assert "line 0, from vertex 0 to 1, occludes what is to its left" in text
    assert "do not fit" in explain_labels(CUBE, "+++++++++")


# --- blocks -----------------------------------------------------------------------------------------------------------


def test_a_box_has_nine_visible_edges_from_everywhere():
    rng = np.random.default_rng(0)
    for _ in range(20):
        seen = draw_blocks([box_block((1, 2, 3))], toward_eye=rng.normal(size=3))
        assert seen.drawing.vertices.shape == (7, 2) and sorted(seen.labels).count("+") == 3
        kinds = sorted(junction.kind for junction in drawing_junctions(seen.drawing, straight=EXACT))
        assert kinds == ["L"] * 3 + ["arrow"] * 3 + ["fork"]
        assert seen.labels in label_lines(seen.drawing, background=True, straight=EXACT).labels


def test_a_block_on_the_ground_has_concave_lines():
    block = box_block((1, 1, 1), np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]]))
    seen = draw_blocks([block], toward_eye=(1, 0.7, 0.9), ground=True)
    assert sorted(seen.labels).count("-") == 2 and labels_fit(seen.drawing, seen.labels, straight=EXACT)
    assert "the foot of a convex edge" in explain_labels(seen.drawing, seen.labels, straight=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("blocks, ground", [(floating_blocks, False), (standing_blocks, True)])
@pytest.mark.parametrize("part", range(4))
def test_labelings_of_random_scenes_contain_the_truth(blocks, ground, part):
    """300 scenes: labels from the geometry fit the dictionary from octants, and are found by the search."""
    for seed in range(part, 150, 4):
        _, _, seen = scene(seed, blocks, ground)
        assert labels_fit(seen.drawing, seen.labels, straight=EXACT)
        found = label_lines(seen.drawing, background=not ground, limit=300, straight=EXACT)
        assert all(labels_fit(seen.drawing, labels, straight=EXACT) for labels in found.labels[:3])
        assert seen.labels in found.labels or not found.complete
        assert all(label in left for label, left in zip(seen.labels, found.filtered, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("blocks, ground", [(floating_blocks, False), (standing_blocks, True)])
def test_true_labels_can_be_realized(blocks, ground):
    for seed in range(40):
        _, _, seen = scene(seed, blocks, ground)
        found = realize_drawing(seen.drawing, seen.labels, tolerance=1e-8)
        assert found.possible
        _check_planes(seen, found.planes)


def _check_planes(seen, planes):
    regions = line_regions(seen.drawing)
    for (a, b), label, sides in zip(seen.drawing.lines, seen.labels, regions, strict=True):
        for vertex in (a, b):
            left, right = planes[sides] @ np.append(seen.drawing.vertices[vertex], 1)
            if label in "+-":
                assert left == pytest.approx(right, abs=1e-7)
            else:
                assert (right - left if label == ">" else left - right) > -1e-7


@pytest.mark.parametrize("blocks, ground", [(floating_blocks, False), (standing_blocks, True)])
def test_what_is_drawn_is_what_is_not_hidden(blocks, ground):
    """Points on edges are drawn if no point on the way from them to the eye is inside a block."""
    for seed in range(12):
        some, eye, seen = scene(seed, blocks, ground)
        rng = np.random.default_rng(seed)
        d = eye / np.linalg.norm(eye)
        u = np.cross([0, 0, 1], d) / np.linalg.norm(np.cross([0, 0, 1], d))
        P = np.stack([u, -np.cross(d, u)])
        s = np.linspace(1e-4, 5, 4000)
        for block in some:
            for a, b in block.vertices[block.edges]:
                x = a + rng.uniform() * (b - a)
                way = x + s[:, None] * d
                room = [(one.normals @ way.T - one.offsets[:, None]).max(axis=0).min() for one in some]
                if min(room) < 2e-3 and min(room) > -2e-3:
                    continue  # too near to tell by samples
                assert _drawn(seen.drawing, P @ x) == (min(room) > 0)


def _drawn(drawing: Drawing, point: np.ndarray) -> bool:
    a, b = drawing.vertices[drawing.lines].swapaxes(0, 1)
    along = b - a
    share = np.clip(((point - a) * along).sum(axis=1) / (along**2).sum(axis=1), 0, 1)
    return bool(np.linalg.norm(a + share[:, None] * along - point, axis=1).min() < 1e-9)


def looking_at_origin(at, **options) -> Camera:
    """A pinhole at a point, whose axis goes through the origin."""
    z = -np.asarray(at) / np.linalg.norm(at)
    x = np.cross(z, [0, 0, 1.0])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3] = np.column_stack([x, np.cross(z, x), z, at])
    return Camera.pinhole((640, 480), focal_length=800, T_world_camera=T, **options)


def test_a_camera_sees_blocks_in_perspective():
    rng = np.random.default_rng(5)
    for seed in range(10):
        some, _, _ = scene(seed, standing_blocks, True)
        camera = looking_at_origin(np.append(rng.normal(size=2) * 3, 6.0))
        seen = draw_blocks(some, camera=camera, ground=True)
        assert labels_fit(seen.drawing, seen.labels, straight=EXACT)
        assert realize_drawing(seen.drawing, seen.labels, tolerance=1e-8).possible
        corner = project(camera, some[0].vertices[0])
        nearest = np.linalg.norm(seen.drawing.vertices - corner, axis=1).min()
        assert nearest < 1e-9 or nearest > 1e-3  # drawn where the camera sees it, or hidden


# --- impossible objects -----------------------------------------------------------------------------------------------


def test_the_devils_fork_has_no_labeling():
    found = label_lines(devils_fork())
    assert found.labels == () and found.conflict and "exclude each other" in repr(found)
    # Each junction of the conflict is needed: the bar in the middle, which is the inside of the fork.
    assert {"T", "L", "arrow"} == {found.junctions[vertex].kind for vertex in found.conflict}
    assert "vertex" in repr(label_lines(devils_fork(), background=True))


def test_penroses_triangle_can_be_labelled_but_not_built():
    triangle = impossible_triangle()
    found = label_lines(triangle)
    assert len(found.labels) == 4
    assert len(label_lines(triangle, background=True).labels) == 1
    assert not any(realize_drawing(triangle, labels).possible for labels in found.labels)


def test_a_truncated_pyramid_must_have_edges_that_meet_in_a_point():
    inner = np.array([[-1, 0.8], [1, 0.8], [0, -1]])
    lines = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
    good = Drawing(np.concatenate([inner, 2.5 * inner]), lines)
    (labels,) = label_lines(good, background=True).labels
    assert realize_drawing(good, labels).possible
    moved = good.vertices.copy()
    moved[3] += [0.0, 0.2]
    bad = Drawing(moved, lines)
    assert label_lines(bad, background=True).labels == (labels,)
    assert not realize_drawing(bad, labels).possible


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "vertices, lines, message",
    [
        ([[0, 0, 0]], [[0, 0]], "vertices must be"),
        ([[0, np.nan], [1, 1]], [[0, 1]], "finite"),
        ([[0, 0], [1, 1]], [[0, 2]], r"line 0 is \[0, 2\]; vertices are 0 to 1"),
        ([[0, 0], [1, 1]], [], "pairs"),
        ([[0, 0], [1, 1]], [[0, 1], [1, 0]], "join the same vertices"),
        ([[0, 0], [0, 0]], [[0, 1]], "no length"),
        ([[0, 0], [2, 2], [0, 2], [2, 0]], [[0, 1], [2, 3]], "lines 0 and 1 cross"),
        ([[0, 0], [2, 0], [1, 0], [1, 1]], [[0, 1], [2, 3]], "vertex 2 lies on line 0"),
    ],
)
def test_bad_drawings(vertices, lines, message):
    with pytest.raises(ArgumentError, match=message):
        Drawing(vertices, lines)


def test_bad_input_of_labels_and_blocks():
    cross = Drawing([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], [[0, k] for k in range(1, 5)])
    behind = looking_at_origin([3.0, 2.0, 2.0])
    distorted = looking_at_origin([3.0, 2.0, 2.0], distortion=[0.1, 0, 0, 0])
    up = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 9], [0, 0, 0, 1]])
    box = box_block((1, 1, 1))
    on = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    for bad, message in [
        (lambda: label_lines(cross), "vertex 0 is no junction of trihedral solids.*two straight lines cross"),
        (lambda: label_lines(Drawing([[0, 0], [1, 0]], [[0, 1]])), "one line ends there"),
        (lambda: label_lines(CUBE, known={0: "x"}), "the label of line 0"),
        (lambda: label_lines(CUBE, known={9: "+"}), "no line 9"),
        (lambda: label_lines(CUBE, limit=-1), "limit"),
        (lambda: label_lines("cube"), "a Drawing is needed"),
        (lambda: labels_fit(CUBE, "++"), "2 labels for 9 lines"),
        (lambda: labels_fit("cube", "++"), "a Drawing is needed"),
        (lambda: label_lines(CUBE, known=[1]), "known must be a dict"),
        (lambda: draw_blocks([box], camera="camera"), "'camera' must be a Camera"),
        (lambda: draw_blocks(box), "sequence of Block"),
        (lambda: realize_drawing(CUBE, "++"), "one label"),
        (lambda: box_block((1, 0, 1)), "positive"),
        (lambda: convex_block([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "in a plane"),
        (lambda: convex_block([[0, 0, np.inf]]), "finite"),
        (lambda: draw_blocks([]), "one at least"),
        (lambda: draw_blocks([box, box]), "blocks 0 and 1 overlap"),
        (lambda: draw_blocks([box], ground=True), "below the ground"),
        (lambda: draw_blocks([box.moved(on)], toward_eye=(1, 1, -1), ground=True), "eye is below"),
        (lambda: draw_blocks([box], toward_eye=(0, 0, 1)), "not along the z axis"),
        (lambda: draw_blocks([box], toward_eye=(1, 0, 0)), "special|trihedral"),
        (lambda: draw_blocks([box.moved(up)], camera=behind), "not in front"),
        (lambda: draw_blocks([box], camera=distorted), "distortion"),
        (lambda: draw_blocks([box, box.moved(on)]), "special|trihedral"),  # a tower with one face in two blocks
    ]:
        with pytest.raises(ArgumentError, match=message):
            bad()


# --- several drawings beside each other, and bodies -------------------------------------------------------------------


def beside(*drawings: Drawing) -> Drawing:
    """Drawings as one, each to the right of the one before."""
    vertices, lines, right, first = [], [], 0.0, 0
    for drawing in drawings:
        low = drawing.vertices[:, 0].min()
        vertices.append(drawing.vertices + np.array([right - low, 0.0]))
        lines.append(drawing.lines + first)
        right += np.ptp(drawing.vertices[:, 0]) + 1
        first += len(drawing.vertices)
    return Drawing(np.concatenate(vertices), np.concatenate(lines))


def test_labelings_of_separate_drawings_are_all_pairs():
    alone = label_lines(CUBE).labels
    both = label_lines(beside(CUBE, CUBE))
    assert both.complete and set(both.labels) == {a + b for a in alone for b in alone}
    many = label_lines(beside(*[CUBE] * 20), limit=50)
    assert not many.complete and len(set(many.labels)) == 50
    assert all(labels_fit(many.drawing, labels) for labels in many.labels)


def test_an_impossible_part_is_found_among_many_others():
    found = label_lines(beside(*[CUBE] * 20, devils_fork()))
    assert not found.labels and min(found.conflict) >= 20 * len(CUBE.vertices)


def test_vertices_at_one_place_are_an_error():
    """Lines would not be joined there, and an L would be two ends."""
    with pytest.raises(ArgumentError, match="vertices 0 and 3 are the same point"):
        Drawing([[0, 0], [4, 0], [2, 3], [0, 0]], [[0, 1], [1, 2], [2, 3]])
    with pytest.raises(ArgumentError, match="finite"):
        Drawing([[0, 0], [1e200, 0], [2, 3]], [[0, 1], [1, 2], [2, 0]])
    with pytest.raises(ArgumentError, match="at most 2000 lines"):
        Drawing(np.random.default_rng(0).normal(size=(3000, 2)), np.stack([np.arange(2500), np.arange(1, 2501)], 1))


def test_bodies_of_a_cube_on_a_base_before_a_wall():
    """As in the textbook's Fig. 8.49: the cube is taken away first, then the base, then what is behind."""
    at = np.stack([np.eye(4)] * 3)
    at[:, :3, 3] = (0, 0, 1.5), (0, 0, 0.5), (-4, 0.1, 1.6)
    blocks = [box_block(size, T) for size, T in zip(((1, 1, 1), (4, 3, 1), (1, 2.5, 3.2)), at, strict=True)]
    seen = draw_blocks(blocks, toward_eye=(1.0, 0.3, 0.45), ground=True)
    found = drawing_bodies(seen.drawing, seen.labels, straight=EXACT)
    assert [len(faces) for faces in found.faces] == [3, 3, 3]
    assert len(found.order) == 3
    cube, base, wall = (group[0] for group in found.order)
    assert (cube, base) in found.in_front and (base, wall) in found.in_front
    assert tuple(sorted((cube, base))) in found.touching and (0, base) in found.touching


@pytest.mark.slow
@pytest.mark.parametrize("blocks, ground", [(floating_blocks, False), (standing_blocks, True)])
def test_bodies_of_random_scenes_are_the_blocks(blocks, ground):
    """No body has faces of two blocks; and blocks of which nothing hides the middle are one body each."""
    whole = 0
    for seed in range(40):
        _, _, seen = scene(seed, blocks, ground)
        found = drawing_bodies(seen.drawing, seen.labels, straight=EXACT)
        owner = {}
        for label, block, (left, right) in zip(seen.labels, seen.owners, line_regions(seen.drawing), strict=True):
            for face in {"+": (left, right), "-": (), ">": (right,), "<": (left,)}[label]:
                assert owner.setdefault(face, block) == block
        assert all(len({owner[face] for face in faces}) == 1 for faces in found.faces)
        assert {face for faces in found.faces for face in faces} == set(owner)
        assert sorted(k for group in found.order for k in group) == list(range(1, len(found.faces) + 1))
        whole += len(found.faces) == len(set(owner.values()))
    assert whole >= 36


def test_bodies_that_hide_each_other_in_a_circle_are_one_group():
    """Three bars, each of which lies over the next."""
    bars = []
    for k in range(3):
        turn, T = so3.exp.eager([0, 0, 2 * np.pi / 3 * k]), np.eye(4)
        T[:3, :3], T[:3, 3] = turn @ so3.exp.eager([0.25, 0, 0]), turn @ [0.45, 0, 0]
        bars.append(box_block((0.3, 4, 0.2), T))
    seen = draw_blocks(bars, toward_eye=(0.03, 0.02, 1.0))
    found = drawing_bodies(seen.drawing, seen.labels, straight=EXACT)
    assert len(found.order) == 1 and len(found.order[0]) >= 3


def test_bodies_need_labels_that_fit():
    with pytest.raises(ArgumentError, match="do not fit"):
        drawing_bodies(CUBE, ">>>>>>+-+")
    with pytest.raises(ArgumentError, match="8 labels for 9 lines"):
        drawing_bodies(CUBE, ">>>>>>++")
