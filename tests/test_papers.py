"""The pages on the papers and the textbook: every name, number, test and link of them is real, and so are examples."""

import importlib.util
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import adjoint
from adjoint.inverse import puma_solution
from adjoint.lie import se3, so3
from adjoint.model import dh_matrix

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "papers"


def _generator():
    spec = importlib.util.spec_from_file_location("papers_pages", ROOT / "docs" / "papers_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = _generator()
DATA = made.read()
DOCUMENTS = {document["key"]: document for document in DATA["document"]}
ROWS = [row for document in DATA["document"] for row in made.rows(document)]
METHODS = [row for method in DATA["method"] for row in method["row"]]
every_document = pytest.mark.parametrize("key", DOCUMENTS)


# --- names, files and tests -------------------------------------------------------------------------------------------


def offered(value) -> set[str]:
    """The public names of the library, of a module, or of a class."""
    if value is adjoint:
        return {*adjoint.__all__, *adjoint._MODULES}
    if inspect.ismodule(value):
        return set(value.__all__)
    return {name for name in dir(value) if not name.startswith("_")}


def find(name: str):
    """The object with this public name."""
    value = adjoint
    for part in name.split("."):
        if part not in offered(value):
            raise AttributeError(f"'{name}': '{part}' is no public name")
        value = getattr(value, part)
    return value


@pytest.mark.slow  # it imports the whole library
def test_every_name_is_public():
    names = {name for row in ROWS + METHODS for name in row.get("where", ())}
    assert len(names) > 200
    for name in names:
        assert inspect.ismodule(find(name)) is False, f"'{name}' is a module; name the function"


@pytest.mark.parametrize("name", ["no_such_name", "lie.so3.no_such_name", "sweep.joint_placement", "lie.so3.np"])
def test_names_that_are_not_public_are_noticed(name):
    with pytest.raises(AttributeError, match="is no public name"):
        find(name)


def test_files_inside_exist():
    for row in ROWS + METHODS:
        for file in row.get("inside", ()):
            assert (ROOT / "src" / "adjoint" / file).is_file(), file


@cache
def found_tests(file: str) -> set[str]:
    text = (ROOT / "tests" / f"test_{file}.py").read_text(encoding="utf-8")
    return set(re.findall(r"^def test_(\w+)\(", text, re.MULTILINE))


def test_tests_exist():
    for row in ROWS:
        for test in row.get("tests", ()):
            file, _, name = test.partition("::")
            assert not name or name in found_tests(file), f"{row['at']}: {test}"
            assert found_tests(file)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_ranges_are_expanded():
    assert made.labels("(1), (3)-(5)") == ["(1)", "(3)", "(4)", "(5)"]
    assert made.labels("(2.3-9)-(2.3-11), Table I") == ["(2.3-9)", "(2.3-10)", "(2.3-11)", "Table I"]
    assert made.labels("(A.9)-(A.10), Problem 2.9-2.10") == ["(A.9)", "(A.10)", "Problem 2.9", "Problem 2.10"]
    assert made.labels("Lemma 1-2, §4.1") == ["Lemma 1", "Lemma 2", "§4.1"]


@every_document
def test_every_number_stands_in_one_row(key):
    """What the document numbers is all there, once; so is everything else that a row is about."""
    count = Counter(label for row in made.rows(DOCUMENTS[key]) for label in made.labels(row["at"]))
    numbers = made.labels(DOCUMENTS[key]["numbers"])
    assert [label for label, times in count.items() if times > 1] == []
    assert [label for label in numbers if label not in count] == []
    numbered = re.compile(r"\(.*\d\)|(Lemma|Remark|Definition|Proposition|Algorithm|Table|Problem) \S+")
    assert [label for label in count if numbered.fullmatch(label) and label not in numbers] == []


ALLOWED = {"at", "says", "tex", "where", "inside", "note", "tests", "errata", "status", "why"}


def test_rows_are_complete():
    """A row says what stands there, and either where it is computed and checked, or why it is not."""
    for row in ROWS:
        assert set(row) <= ALLOWED, row
        assert row["at"] and row["says"], row
        if "status" in row:
            assert row["status"] in made.STATUS and row["why"], row
            assert not {"where", "inside", "note", "tests"} & set(row), row
        else:
            assert row["where"] and row["tests"] and "why" not in row, row
        for erratum in row.get("errata", ()):
            assert {"printed", "corrected", "why"} <= set(erratum) <= {"at", "printed", "corrected", "why"}, row
            assert all(erratum.values()), row


# --- pages ------------------------------------------------------------------------------------------------------------


def test_pages_are_those_of_the_data():
    """`python docs/papers_pages.py` writes them."""
    pages = made.pages(DATA)
    assert {path.name for path in FOLDER.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"docs/papers/{name} is stale"


def slug(heading: str) -> str:
    """The anchor of a heading, as MkDocs makes it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def test_links_lead_somewhere():
    for page in FOLDER.glob("*.md"):
        for link in re.findall(r"\]\(([^)]*)\)", page.read_text(encoding="utf-8")):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert not anchor or anchor in map(slug, headings), f"{page.name}: {link}"


def test_formulas_are_whole():
    """Each cell has pairs of dollars, and each formula pairs of braces and of delimiters that grow."""
    formulas = []
    for page in FOLDER.glob("*.md"):
        for cell in re.split(r"[|\n]", page.read_text(encoding="utf-8")):
            assert cell.count("$") % 2 == 0, cell
            formulas += cell.split("$")[1::2]
    assert len(formulas) > 300
    for formula in formulas:
        assert formula.count("{") == formula.count("}"), formula
        assert formula.count("(") == formula.count(")"), formula
        assert len(re.findall(r"\\left\b", formula)) == len(re.findall(r"\\right\b", formula)), formula
        assert formula.count(r"\begin{") == formula.count(r"\end{"), formula


def test_a_bar_in_a_cell_is_refused():
    with pytest.raises(ValueError, match="a bar or a new line"):
        made.pages({**DATA, "document": [{**DATA["document"][0], "name": "a", "part": [BAD]}]})


BAD = {"title": "", "row": [{"at": "(1)", "says": "a | b", "where": ["lie.so3.exp"]}]}


# --- worked examples of chapter 2 of Fu, Gonzalez & Lee (1987) that no other test has ---------------------------------


def close(x, y, atol: float = 1e-14) -> None:
    np.testing.assert_allclose(x, y, rtol=0, atol=atol)


def moved(x=0.0, y=0.0, z=0.0) -> np.ndarray:
    """A translation (4, 4)."""
    return se3.from_rotation_translation(np.eye(3), np.array([x, y, z]))


def turned(R) -> np.ndarray:
    """A rotation about the origin (4, 4)."""
    return se3.from_rotation_translation(R, np.zeros(3))


def test_points_turned_by_60_degrees():
    """§2.2.1, printed to three decimals."""
    points, R = np.array([[4.0, 3, 2], [6, 2, 4]]), so3.rotation_z(np.pi / 3)
    close(so3.act(R, points), [[-0.598, 4.964, 2], [1.268, 6.196, 4]], 5e-4)
    close(so3.act(so3.inverse(R), points), [[4.598, -1.964, 2], [4.732, -4.196, 4]], 5e-4)


def test_two_sequences_of_turns_with_one_matrix():
    """(2.2-14): α about x, θ about z, φ about y, all fixed; or φ about y, then θ and α about axes of the body."""
    phi, theta, alpha = 0.4, -1.1, 0.7
    X, Y, Z = so3.rotation_x(alpha), so3.rotation_y(phi), so3.rotation_z(theta)
    fixed = so3.compose(Y, so3.compose(Z, X))
    body = np.eye(3)
    for turn in (Y, Z, X):
        body = so3.compose(body, turn)
    close(body, fixed)
    Cp, Sp, Ct, St, Ca, Sa = (f(x) for x in (phi, theta, alpha) for f in (np.cos, np.sin))
    want = [
        [Cp * Ct, Sp * Sa - Cp * St * Ca, Cp * St * Sa + Sp * Ca],
        [St, Ct * Ca, -Ct * Sa],
        [-Sp * Ct, Sp * St * Ca + Cp * Sa, Cp * Ca - Sp * St * Sa],
    ]
    close(fixed, want)


def test_rotation_about_the_diagonal():
    """§2.2.3: about (1, 1, 1), by any angle, by 60° and by 120°, which exchanges the axes."""
    axis, phi = np.ones(3) / np.sqrt(3), 0.8
    V, C, S = (1 - np.cos(phi)) / 3, np.cos(phi), np.sin(phi) / np.sqrt(3)
    close(so3.from_axis_angle(axis, phi), [[V + C, V - S, V + S], [V + S, V + C, V - S], [V - S, V + S, V + C]])
    close(so3.from_axis_angle(axis, np.pi / 3), np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]]) / 3)
    close(so3.from_axis_angle(axis, 2 * np.pi / 3), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_points_moved_along_two_axes():
    """§2.2.8: 5 along x and -3 along z."""
    close(se3.act(moved(5, 0, -3), np.array([[4.0, 3, 2], [6, 2, 4]])), [[9, 3, -1], [11, 2, 1]])


def test_a_translation_along_a_rotated_axis():
    """§2.2.8: α about x, then b along the rotated y axis: a factor on the right."""
    alpha, b = 0.6, 1.7
    T = se3.compose(turned(so3.rotation_x(alpha)), moved(y=b))
    close(T, se3.from_rotation_translation(so3.rotation_x(alpha), b * np.array([0, np.cos(alpha), np.sin(alpha)])))


def test_four_moves_make_the_link_matrix():
    """§2.2.8: α about x, a along x, d along z, θ about z, about fixed axes: the matrix (2.2-29)."""
    theta, d, a, alpha = 0.3, 0.8, -0.5, 1.2
    T = np.eye(4)
    for move in (turned(so3.rotation_x(alpha)), moved(x=a), moved(z=d), turned(so3.rotation_z(theta))):
        T = se3.compose(move, T)
    close(T, dh_matrix(theta, d, a, alpha))


def test_problem_2_5():
    """α about x, b along z, φ about the rotated y axis."""
    alpha, b, phi = 0.9, 1.3, -0.4
    Ca, Sa, Cp, Sp = np.cos(alpha), np.sin(alpha), np.cos(phi), np.sin(phi)
    T = se3.compose(se3.compose(moved(z=b), turned(so3.rotation_x(alpha))), turned(so3.rotation_y(phi)))
    close(T, [[Cp, 0, Sp, 0], [Sa * Sp, Ca, -Sa * Cp, 0], [-Ca * Sp, Sa, Ca * Cp, b], [0, 0, 0, 1]])


def test_problem_2_9_operations_are_counted():
    """Six arc tangents, and cosine and sine of θ_1, θ_2 + θ_3 and θ_4; the rest are products, sums and roots."""
    assert puma_solution.operations.transcendental == 6 + 2 * 3
    assert puma_solution.operations.sqrts == 5  # r, R, sin β, L and sin φ
