"""Chain codes and shape numbers: the textbook's examples, all small shapes, and the laws of both."""

import numpy as np
import pytest
from scipy import ndimage
from support.silhouettes import area, blob, largest, length, star, turned

from adjoint.errors import ArgumentError, SolveError
from adjoint.vision.shapes import (
    Boundary,
    ChainCode,
    basic_rectangle,
    chain_area,
    chain_code,
    chain_code_of_segments,
    chain_perimeter,
    chain_points,
    crack_boundaries,
    first_difference,
    grid_cells,
    grid_coverage,
    pixel_boundaries,
    shape_number,
    shape_numbers,
    start_normalized,
)

# --- worked examples of the textbook (X27) ----------------------------------------------------------------------------


def test_example_of_the_first_difference():
    assert first_difference("10103322") == "3133030"
    assert first_difference("10103322", circular=True) == "33133030"
    assert start_normalized("10103322") == "01033221"
    assert shape_number("10103322") == "03033133"


def test_problem_8_6_and_8_7():
    code = "11076765543322"
    assert (
        start_normalized(code, directions=8) == "07676554332211" == code[2:] + code[:2]
    )  # it starts at the third digit
    code = "0101030303323232212111"
    assert first_difference(code) == "131331313031313031300"
    assert first_difference(code, circular=True) == "3131331313031313031300"
    assert shape_number(code) == "0031313313130313130313"


def test_an_eight_code_of_another_book():
    """The least rotation that the notes give for this code is that of its first difference."""
    code = ChainCode("22234446466001207560", 8)
    assert start_normalized(first_difference(code, circular=True), directions=8) == "00110026202011676122"
    assert start_normalized(code) == "00120756022234446466"


@pytest.mark.parametrize(
    ("code", "difference", "number"),
    [
        ("0321", "3333", "3333"), ("003221", "303303", "033033"), ("00332211", "30303030", "03030303"),
        ("00323211", "30331330", "03033133"), ("00032221", "30033003", "00330033"),
        ("000030032232221211", "300031033013003130", "000310330130031303"),
    ],
)  # fmt: skip
def test_shapes_of_figures_8_32_and_8_33(code, difference, number):
    assert first_difference(code, circular=True) == difference
    assert shape_number(code) == number and len(number) == len(code)
    assert ChainCode(code).closed and chain_area(code) > 0


def boundaries_of_order(n: int) -> set[str]:
    """The shape numbers of all clockwise self-avoiding closed walks of n steps; those that touch themselves are out."""
    steps, found = ((1, 0), (0, -1), (-1, 0), (0, 1)), set()

    def walk(digits: list[int], u: int, v: int, seen: set[tuple[int, int]]) -> None:
        left = n - len(digits)
        if not left:
            code = "".join(map(str, digits))
            if (u, v) == (0, 0) and chain_area(code) > 0:
                found.add(shape_number(code))
            return
        for d, (du, dv) in enumerate(steps):
            at = (u + du, v + dv)
            if abs(at[0]) + abs(at[1]) <= left - 1 and (at not in seen or (at == (0, 0) and left == 1)):
                walk([*digits, d], *at, seen | {at})

    walk([0], 1, 0, {(0, 0), (1, 0)})
    return found


def test_all_shapes_of_small_orders():
    found = {n: boundaries_of_order(n) for n in (4, 6, 8, 10, 12)}
    assert [len(shapes) for shapes in found.values()] == [1, 1, 3, 9, 36]
    assert found[4] == {"3333"} and found[6] == {"033033"}
    assert found[8] == {"03030303", "03033133", "00330033"}


def test_rectangles_of_order_12_and_18():
    """A shape whose axes are 2 : 1 gets the grid of 6 x 3 cells for order 18, and that of 4 x 2 for order 12."""
    bar = Boundary(np.array([[0, 10], [10, 0], [30, 0], [40, 10], [30, 20], [10, 20]], float))
    assert basic_rectangle(bar).eccentricity == 2.0
    cells = np.ones((3, 6), bool)
    cells[np.ix_([0, -1], [0, -1])] = False  # in the corners, 1/8 of a cell is inside
    assert shape_number(bar, order=18) == shape_number(cells) == "000313313000313313"
    assert shape_number(bar, order=12) == shape_number(np.ones((2, 4)))  # here 1/2, which counts


# --- laws of codes ----------------------------------------------------------------------------------------------------


def test_least_rotation_is_the_least_of_all():
    rng = np.random.default_rng(0)
    for n in (*range(1, 12), 30, 64):
        for symbols in (1, 2, 4):
            text = "".join(map(str, rng.integers(0, symbols, n)))
            assert start_normalized(text) == min(text[k:] + text[:k] for k in range(n))


@pytest.mark.parametrize("seed", range(8))
def test_code_of_an_image_leads_around_its_region(seed):
    image = blob(np.random.default_rng(seed), solid=True)
    code = chain_code(image)
    assert code.closed and code.directions == 4
    assert chain_area(code) == image.sum()  # the number of pixels
    framed = np.pad(image, 1)
    cracks = (framed[1:] ^ framed[:-1]).sum() + (framed[:, 1:] ^ framed[:, :-1]).sum()
    assert chain_perimeter(code) == len(code) == cracks
    points = chain_points(code)
    assert area(points) == chain_area(code) and length(points) == len(code)
    assert np.array_equal(points, next(b for b in crack_boundaries(image) if not b.hole).points)


@pytest.mark.parametrize("seed", range(8))
def test_eight_code_and_pick(seed):
    """The polygon through boundary pixels has the area A - n/2 - 1 of Pick's theorem, with n steps around."""
    thick = ndimage.binary_opening(blob(np.random.default_rng(seed), 30, 30, 3.0, solid=True), np.ones((3, 3)))
    image = largest(np.asarray(thick))
    code = chain_code(image, directions=8)
    assert code.closed and code.directions == 8
    assert chain_area(code) == image.sum() - len(code) / 2 - 1
    odd = sum(d % 2 for d in code.digits)
    np.testing.assert_allclose(chain_perimeter(code), length(chain_points(code)))
    assert chain_perimeter(code) == len(code) - odd + np.sqrt(2) * odd
    [outer] = [b for b in pixel_boundaries(image) if not b.hole]
    assert np.array_equal(chain_points(code), outer.points)


@pytest.mark.parametrize("seed", range(6))
def test_shape_number_ignores_place_turn_and_size_but_not_mirrors(seed):
    image = blob(np.random.default_rng(seed), solid=True)
    number = shape_number(image)
    for k in range(4):
        assert shape_number(np.pad(np.rot90(image, k), ((k, 1), (0, 3)))) == number
    code = chain_code(image)
    digits = code.digits
    assert (
        shape_number(crack_boundaries(image)[0]) == number == shape_number(code.text) == shape_number(digits.tolist())
    )
    assert shape_number((digits + 1) % 4) == number
    assert shape_number(np.roll(digits, 5)) == number
    assert shape_number((digits[::-1] + 2) % 4) == number  # walked the other way around
    assert sum(map(int, number)) % 4 == 0  # one turn: 4 (mod 4) is 0
    assert number.count("3") - number.count("1") == 4  # four right turns more than left ones
    mirrored = shape_number(image[:, ::-1])
    reversed_number = first_difference(digits, circular=True)[::-1]
    assert mirrored == start_normalized(reversed_number)


def test_digits_keep_leading_zeros_and_types():
    assert start_normalized([3, 2, 1, 0]) == "0321" == str(ChainCode("0321"))
    assert len(ChainCode("0321")) == 4 and ChainCode("0321") == ChainCode("0321", 4, (0.0, 0.0))
    assert chain_points(ChainCode("07", 8, (2.0, 3.0))).tolist() == [[2, 3], [3, 3], [4, 4]]
    assert first_difference(ChainCode("0", 8)) == ""


def test_open_contours_are_told_apart():
    line = Boundary(np.array([[0, 0], [1, 0], [2, 0], [3, 1]]))
    code = chain_code(line)
    assert not line.closed and not code.closed and code.text == "007" and code.directions == 8
    assert np.array_equal(chain_points(code), line.points)
    with pytest.raises(ArgumentError, match=r"chain_area: the code is open: it ends \(3, 1\)"):
        chain_area(code)
    with pytest.raises(ArgumentError, match="shape_number: the code is open"):
        shape_number("0032")
    ring = Boundary(np.array([[0, 0], [1, 0], [2, 1], [1, 2], [0, 1]]))
    assert ring.closed and chain_code(ring).closed
    again = Boundary(np.concatenate([ring.points, ring.points[:1]]))
    assert chain_code(again) == chain_code(ring)


def test_cells_of_a_grid():
    image = np.zeros((8, 12), bool)
    image[2:8, 4:12] = True
    assert chain_code(image, cell=2).text == chain_code(image[::2, ::2]).text
    disk = np.hypot(*np.mgrid[-20:21, -20:21]) <= 18
    coarse = grid_cells(disk, 4)
    want = np.pad(disk, ((0, 3), (0, 3))).reshape(11, 4, 11, 4).sum(axis=(1, 3)) > 8
    assert np.array_equal(coarse, want)
    assert grid_cells(disk, 4, share=0.0).sum() >= coarse.sum() >= grid_cells(disk, 4, share=0.99).sum()
    with pytest.raises(ArgumentError, match="share"):
        grid_cells(disk, 4, share=1.5)


def test_code_of_segments_of_equal_length():
    for size in (3.0, 50.0):
        square = size * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        assert chain_code_of_segments(square, 16, directions=4).text == "0000333322221111"
        assert chain_code_of_segments(turned(square, -np.pi / 4), 4).text == "1753"
    circle = np.stack([np.cos(np.linspace(0, 2 * np.pi, 400)), np.sin(np.linspace(0, 2 * np.pi, 400))], axis=1)
    code = chain_code_of_segments(circle, 16)
    assert np.array_equal(np.bincount(code.digits), [2] * 8)


# --- shape numbers of given order -------------------------------------------------------------------------------------


def clipped_area(polygon: np.ndarray, u: float, v: float) -> float:
    """The area of a polygon in the unit square at (u, v), by clipping at its four sides (Sutherland & Hodgman)."""
    points = list(polygon)
    for axis, limit, sign in ((0, u, 1), (0, u + 1, -1), (1, v, 1), (1, v + 1, -1)):
        kept = []
        for k, b in enumerate(points):
            a = points[k - 1]
            inside_a, inside_b = sign * (a[axis] - limit) >= 0, sign * (b[axis] - limit) >= 0
            if inside_a != inside_b:
                kept.append(a + (limit - a[axis]) / (b[axis] - a[axis]) * (b - a))
            if inside_b:
                kept.append(b)
        points = kept
    return area(np.array(points)) if len(points) > 2 else 0.0


def test_coverage_of_cells_is_the_area_of_clipped_polygons():
    rng = np.random.default_rng(1)
    for _ in range(10):
        points = star(5, 3.4, 1.5, rng.uniform(0, 6), (4.0, 3.5))
        cover = grid_coverage(points, (7, 8))
        want = [[clipped_area(points, j, i) for j in range(8)] for i in range(7)]
        np.testing.assert_allclose(cover, want, atol=1e-12)
        np.testing.assert_allclose(cover.sum(), area(points))
    image = blob(rng, 9, 9, solid=True)
    [outer] = crack_boundaries(image)
    assert np.array_equal(grid_coverage(outer.points + 0.5, (9, 9)), image)


def test_shape_numbers_do_not_change_with_turn_place_and_size():
    rng = np.random.default_rng(2)
    shape = star(3, 30, 14, 0.2) + rng.normal(size=(6, 2)) * 4  # without symmetry, so the diameter is one
    want = shape_numbers(Boundary(shape))
    assert list(want) == list(range(4, 21, 2))
    for order, number in want.items():
        assert len(number) == order and number.count("3") - number.count("1") == 4
        assert chain_area(np.array([int(d) for d in np.cumsum([int(t) for t in number]) % 4])) > 0
    for angle in (0.4, 1.9, 4.0):
        assert shape_numbers(Boundary(3.7 * turned(shape, angle) + [5.0, 900.0])) == want


def test_shape_numbers_of_images():
    image = blob(np.random.default_rng(3), 20, 30, 2.0)
    want = shape_numbers(image, (8, 12, 16))
    assert shape_numbers(np.kron(image, np.ones((3, 3))), (8, 12, 16)) == want
    assert shape_numbers(np.rot90(image), (8, 12, 16)) == want
    for other in (chain_code(image), chain_code(image).text, chain_code(image).digits, crack_boundaries(image)[0]):
        assert shape_numbers(other, (8, 12, 16)) == want
    back = Boundary(crack_boundaries(image)[0].points[::-1])
    assert shape_numbers(back, (8, 12, 16)) == want and shape_number(back) == shape_number(image)
    assert len(shape_number(chain_code(image, directions=8), order=12)) == 12


def test_numbers_of_simple_shapes():
    """A square along its diagonal is a diamond in its basic rectangle; equal diameters give the same number."""
    square = Boundary(np.array([[0, 0], [8, 0], [8, 8], [0, 8]], float))
    assert shape_numbers(square, (4, 6, 8)) == {4: "3333", 6: "033033", 8: "03030303"}
    assert shape_number(square, order=12) == "133133133133"  # a cross
    long = shape_numbers(np.ones((2, 40), bool), (8, 12, 16))
    assert long == {8: "00330033", 12: "000033000033", 16: "0000003300000033"}


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ChainCode("0421"), "ChainCode: the code has '4' at position 1; digits are 0 to 3"),
        (lambda: ChainCode("0x"), "'x' at position 1"),
        (lambda: ChainCode("0", 5), "'directions' is 5"),
        (lambda: chain_code(np.ones((3, 3)), directions=6), "'directions' is 6"),
        (lambda: chain_code(np.zeros((3, 3), bool)), "no object pixels"),
        (lambda: chain_code(np.eye(5)[:, [0, 3, 1, 2, 4]]), "the image has"),
        (lambda: chain_code(np.zeros((0, 3))), "no pixels"),
        (lambda: chain_code(np.arange(9).reshape(3, 3)), "binary image"),
        (lambda: chain_code(Boundary(np.array([[0, 0], [2, 0], [2, 2]]))), "the step from point 0"),
        (lambda: chain_code(Boundary(np.array([[0, 0], [1, 1], [0, 1]])), directions=4), "diagonal"),
        (lambda: chain_code(Boundary(np.array([[0.0, np.nan], [1, 1], [0, 1]]))), "NaN"),
        (lambda: chain_code(Boundary(np.zeros((3, 3)))), "shape"),
        (lambda: shape_number("0246", order=None), "at position 2"),
        (lambda: shape_number(ChainCode("0246", 8)), "8 directions"),
        (lambda: shape_number(np.ones((2, 2)), order=7), "even number from 4"),
        (lambda: shape_number(np.ones((2, 2)), order=2), "even number from 4"),
        (lambda: shape_number(Boundary(np.array([[0, 0], [1, 0], [2, 0.0]])), order=8), "no area"),
        (lambda: start_normalized(np.array([0.5])), "whole numbers"),
        (lambda: shape_number(5), "shape"),
        (lambda: shape_number([]), "open"),
    ],
)
def test_bad_codes_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_a_shape_without_that_order():
    """A cross of thin bars fills no cell by half, except in grids with many cells."""
    image = np.zeros((201, 201), bool)
    image[100], image[:, 100] = True, True
    with pytest.raises(SolveError, match="order 8"):
        shape_number(image, order=8)
    assert shape_number(image, order=6) == "033033"  # the only one of this order
    assert 8 not in shape_numbers(image, (4, 6, 8))


def test_one_pixel():
    one = np.ones((1, 1), bool)
    assert chain_code(one).text == "0321" and chain_code(one, directions=8).text == ""
    assert shape_number(one) == "3333" == shape_number(one, order=4)


@pytest.mark.parametrize(
    "rows, order",
    [
        (["11011", "11101", "00001", "00110"], 12),  # on the grid that fits, it has equally large parts
        (["1000", "1000", "1111", "0110"], 10),  # its two diameters have rectangles of different widths
    ],
)
def test_shape_numbers_do_not_depend_on_quarter_turns(rows, order):
    image = np.array([list(map(int, row)) for row in rows], bool)
    assert len({shape_number(np.rot90(image, turns), order=order) for turns in range(4)}) == 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: chain_area([1, [2]]), "a ChainCode, a text of digits"),
        (lambda: chain_area("0321", directions=np.ones(3)), "'directions'"),
        (lambda: chain_code(np.ones((3, 3)), cell=0), "'cell' is 0"),
        (lambda: grid_cells(np.ones((3, 3)), 0), "'cell' is 0"),
        (lambda: grid_cells(np.ones((3, 3)), 2, share="x"), "'share'"),
        (lambda: chain_code_of_segments([[0, 0], [1, 0], [1, 1]], 0), "'segments' is 0"),
        (lambda: chain_points("0321", start="x"), "'start'"),
        (lambda: chain_points("0321", start=(1, 2, 3)), "'start'"),
        (lambda: first_difference("0321", circular=3), "'circular'"),
        (lambda: shape_numbers(np.ones((3, 3)), 4), "'orders'"),
        (lambda: grid_coverage([[0, 0], [2, 0], [2, 1]], 3), "'size'"),
        (lambda: grid_coverage([[0, 0], [2, 0], [2, 1]], (0, 2)), "'size'"),
        (lambda: grid_coverage([[0, 0], [2, 0], [2, 1]], (10**6, 10**6)), "too large"),
        (lambda: grid_coverage([[0, 0], [3, 0], [2, 1]], (1, 2)), "reaches out of the grid"),
    ],
)
def test_arguments_of_codes_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
