"""Thinning by safe points (Naccache & Shinghal): a region becomes a skeleton of single pixels, with its topology.

The first passes, in which most rows change, are those of `thinning_words`. After that only rows that can still change
are looked at: a row is one whole number, whose bit j is the pixel of column j, so that every Boolean of the method is
evaluated for all pixels of a row at once. With a the row above, r the row of p and b the row below, the neighbours

    n3 n2 n1        a<<1  a  a>>1
    n4 p  n0   are  r<<1  r  r>>1
    n5 n6 n7        b<<1  b  b>>1
"""

from __future__ import annotations

import numpy as np

from ...model.input_checks import count, one_of
from ..image_checks import binary
from .thinning_words import dense_passes

__all__ = ["thin"]


def thin(image, *, order: str = "rows", passes: int | None = None) -> np.ndarray:
    """The skeleton (rows, columns) of a binary image, as truth values, by the safe points of Naccache and Shinghal.

        >>> bar = np.zeros((7, 14), bool)
        >>> bar[1:6, 1:13] = True
        >>> np.argwhere(thin(bar)).tolist()                      # the middle row, without two pixels at each end
        [[3, 3], [3, 4], [3, 5], [3, 6], [3, 7], [3, 8], [3, 9], [3, 10]]

    Each pass scans the image twice in raster order: first left edge points (n4 is clear) with B4 and right ones (n0 is
    clear) with B0 are deleted, then top ones with B2 and bottom ones with B6, until a pass deletes nothing:

        B4 = n0 (n1 + n2 + n6 + n7) (n2 + n3') (n5' + n6)                                                   (8.3-6)

    and its rotations (8.3-7) to (8.3-9). Which points are edge points is judged on the image at the start of a scan;
    the Booleans see what the scan has deleted so far. Other readings of the text lose whole lines two pixels wide, or
    eat a region from one side.

    Every deleted pixel is a simple point when it goes: with B4 = 1 all its dark neighbours are connected among
    themselves through n0, and n4 is light. So 8-connected components and holes stay as they were. Isolated pixels and
    ends of lines stay too, and thinning a skeleton changes nothing.

    - `image` (rows, columns) has True, or a number that is not 0, in the object; what is outside it counts as light.
    - `order` "rows" scans along rows, and "columns" along columns; the skeletons differ by a pixel here and there.
    - `passes` is the largest number of passes; None repeats until nothing changes.

    Smooth the region first (`vision.smooth_binary`): each bump of its boundary may grow a branch.

    Fu, Gonzalez & Lee (1987), §8.3.2; N. J. Naccache, R. Shinghal, "SPTA: a proposed algorithm for thinning binary
    patterns", IEEE Trans. SMC 14 (1984) 409-418.
    """
    image = binary(image, "thin")
    one_of(order, ("rows", "columns"), "thin: order")
    most = -1 if passes is None else count(passes, "thin: passes")
    # Columns are rows of the transposed image, in which left is top and right is bottom: the scans change places.
    turned = image.T if order == "columns" else image
    scans = ("above", "beside") if order == "columns" else ("beside", "above")
    first = dense_passes(turned, scans, most)
    rows = _packed(first.image)
    _thin_rows(rows, first.active, scans, most - first.passes if most >= 0 else -1)
    skeleton = _unpacked(rows, turned.shape)
    return skeleton.T if order == "columns" else skeleton


def _packed(image: np.ndarray) -> list[int]:
    """The rows as numbers, between two rows of zeros."""
    words = np.packbits(image, axis=1, bitorder="little")
    return [0, *(int.from_bytes(row.tobytes(), "little") for row in words), 0]


def _unpacked(rows: list[int], shape: tuple[int, int]) -> np.ndarray:
    size = (shape[1] + 7) // 8
    words = np.frombuffer(b"".join(row.to_bytes(size, "little") for row in rows[1:-1]), np.uint8)
    return np.unpackbits(words.reshape(-1, size), axis=1, count=shape[1], bitorder="little").view(np.bool_)


def _thin_rows(rows: list[int], active: bytes, scans: tuple[str, str], left: int) -> None:
    """Change the rows by at most `left` passes, or by any number if it is negative.

    A scan looks at the rows that its flags name: those that are, or are beside, a row that has changed since it looked.
    The two rows of zeros around the image are never looked at.
    """
    n, flags = len(rows) - 1, {"beside": bytearray(active), "above": bytearray(active)}
    even = int.from_bytes(b"\x55" * (max(map(int.bit_length, rows)) // 8 + 1), "little")
    while left and any(1 in each[1:n] for each in flags.values()):
        for scan in scans:
            if scan == "beside":
                _scan_beside(rows, flags["beside"], flags["above"])
            else:
                _scan_above(rows, flags["beside"], flags["above"], even)
        left -= 1


def _scan_beside(rows: list[int], beside: bytearray, above: bytearray) -> None:
    """One scan for left and right edge points; it changes `rows`.

    A left edge point has no live n4. The n4 of a right edge point can have gone only as a left edge point, since its
    own n0 is dark. So no chain runs along a row: left ones first, then right ones.
    """
    n = len(rows) - 1
    i = beside.find(1, 1, n)
    while i > 0:
        beside[i] = 0
        a, r, b = rows[i - 1], rows[i], rows[i + 1]
        gone = r & (r >> 1)
        ends = r ^ gone  # right edge points
        gone ^= gone & (r << 1)  # left edge points with n0
        if gone:  # (8.3-6)
            n3, n5, vertical = a << 1, b << 1, a | b
            gone &= vertical | (vertical >> 1)
            gone ^= gone & ((n3 ^ (n3 & a)) | (n5 ^ (n5 & b)))
        s = r ^ gone
        ends &= s << 1
        if ends:  # (8.3-7)
            n1, n7, vertical = a >> 1, b >> 1, a | b
            ends &= vertical | (vertical << 1)
            s ^= ends ^ (ends & ((n7 ^ (n7 & b)) | (n1 ^ (n1 & a))))
        if s != r:
            rows[i] = s
            beside[i - 1 : i + 2] = above[i - 1 : i + 2] = b"\x01\x01\x01"
        i = beside.find(1, i + 1, n)


def _scan_above(rows: list[int], beside: bytearray, above: bytearray, even: int) -> None:
    """One scan for top and bottom edge points; it changes `rows`, and `even` has the bits of even columns.

    With n4 clear the pixels `surely` go, and with n4 set those of `perhaps`. Where these differ, a pixel goes exactly
    if its left neighbour stays: so along a run of them every second one goes. The parity of a run is known at its
    start, and the carry of an addition takes it through the run.
    """
    n = len(rows) - 1
    changed, before = 0, 0  # the last row that this scan has changed, and what it was
    i = above.find(1, 1, n)
    while i > 0:
        a, r, b = rows[i - 1], rows[i], rows[i + 1]
        above[i] = changed == i - 1 > 0  # then its top edge points will be other ones in the next pass
        top, bottom = r & b, r & a
        top ^= top & (before if above[i] else a)
        bottom ^= bottom & b
        if top or bottom:
            n0, n1, n3, n5, n7 = r >> 1, a >> 1, a << 1, b << 1, b >> 1
            top ^= (top & n1) ^ (top & n1 & n0)  # (8.3-8)
            bottom ^= (bottom & n7) ^ (bottom & n7 & n0)  # (8.3-9)
            perhaps = top | bottom
            top &= n0 | n5 | n7
            bottom &= n0 | n1 | n3
            stays = r ^ (top ^ (top & n3)) ^ (bottom ^ (bottom & n5))
            run = perhaps & (r << 1) & stays
            if run:
                stays ^= run
                starts = run ^ (run & (run << 1))
                starts &= even ^ (stays << 1)  # starts of runs of which the even columns stay
                keeps_even = run ^ (run & (run + starts))
                stays |= run & (keeps_even ^ (even << 1))
            if stays != r:
                rows[i] = stays
                changed, before = i, r
                beside[i - 1 : i + 2] = above[i - 1 : i + 2] = b"\x01\x01\x01"
        i = above.find(1, i + 1, n)
