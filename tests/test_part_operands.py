"""Parts of many operands, and of operands that are empty."""

import numpy as np
import pytest

import adjoint.world as aw
from adjoint import ArgumentError


def test_an_empty_operand_has_no_volume():
    nothing = aw.cuboid(1, 1, 1) & aw.cuboid(1, 1, 1, at=[5, 0, 0])
    for part in (aw.cuboid(1, 1, 1) | nothing, nothing | aw.cuboid(1, 1, 1), aw.cuboid(1, 1, 1) - nothing):
        assert aw.volume(part) == pytest.approx(1.0, abs=1e-12)
        assert aw.mass(part) == pytest.approx(1000.0, abs=1e-9)
    mixed = aw.cuboid(1, 1, 1, density=2000) | nothing
    assert np.isnan(mixed.density) and aw.mass(mixed) == pytest.approx(2000.0, abs=1e-9)
    for empty in (nothing, nothing | nothing.at([1, 0, 0]), aw.cuboid(1, 1, 1) - aw.cuboid(2, 2, 2)):
        for law in (aw.volume, aw.mass, aw.center, aw.inertia):
            with pytest.raises(ArgumentError, match="is empty"):
                law(empty)


def chain(n, density=None):
    parts = [aw.cuboid(0.1, 0.1, 0.1, at=[0.08 * k, 0, 0], density=1000 if density is None else density(k))
             for k in range(n)]  # fmt: skip
    part = parts[0]
    for other in parts[1:]:
        part = part | other
    return part


def test_operands_that_overlap_their_neighbours():
    n = 40
    assert aw.volume(chain(n)) == pytest.approx(0.001 + (n - 1) * 0.0008, rel=1e-12)
    mixed = chain(n, lambda k: 1000 + 500 * (k % 2))  # the first one prevails in each overlap
    assert aw.mass(mixed) == pytest.approx(1.0 + 0.8 * (1500 * 20 + 1000 * 19) / 1000, rel=1e-12)
    assert len(chain(n).features) == 8 * n + 18  # 4 faces and 4 edges of each; both ends


def test_density_of_a_part_is_one_number():
    for density in ([], [1, 2], "steel", None, np.nan, -1):
        with pytest.raises(ArgumentError, match="density"):
            aw.cuboid(1, 1, 1, density=density)


def test_names_of_parts_are_text():
    with pytest.raises(ArgumentError, match="no text"):
        aw.part_from_json('{"kind": "sphere", "radius": 1, "name": "\\ud800"}')


def test_units_beyond_the_range_of_numbers():
    for unit in ("*".join(["km^9"] * 12), "*".join(["um^9"] * 9)):
        with pytest.raises(ArgumentError, match="beyond the range"):
            aw.si(1, unit)
        with pytest.raises(ArgumentError, match="beyond the range"):
            aw.convert(1, unit, "m")
    with pytest.raises(ArgumentError, match="unknown unit"):
        aw.si(1, "m^")
