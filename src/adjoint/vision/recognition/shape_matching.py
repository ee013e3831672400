"""Shape-number similarity: up to which order two shapes are the same, and the tree of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats
from ..shapes.shape_orders import shape_numbers

__all__ = ["shape_distance", "similarity_degree", "similarity_matrix", "similarity_tree"]

Shape = Mapping[int, str]


def _table(shape) -> Shape:
    return shape if isinstance(shape, Mapping) else shape_numbers(shape)


def similarity_degree(first, second) -> float:
    """The degree of similarity k: the largest order up to which the shape numbers s₄, s₆, ... of two shapes agree.

    Shapes are binary images, boundaries or codes, whose `shape_numbers` are compared up to order 20, or tables
    {order: shape number}. It is infinite if all orders that both have agree, and 0 if the first one differs.

        >>> similarity_degree({4: "3333", 6: "033033", 8: "03030303"}, {4: "3333", 6: "033033", 8: "00330033"})
        6.0

    Reference: Fu, Gonzalez & Lee (1987), section 8.5.2; Bribiesca & Guzman (1980).
    """
    a, b = _table(first), _table(second)
    both = sorted(a.keys() & b.keys())
    if not both:
        raise ArgumentError("similarity_degree: the two shapes have no order in common; give shape numbers of the same")
    degree = 0.0
    for order in both:
        if a[order] != b[order]:
            return degree
        degree = float(order)
    return np.inf


def shape_distance(first, second) -> float:
    """The distance D = 1/k of two shapes, where k is their `similarity_degree`; 0 if they agree in all orders.

    It is an ultrametric for shapes that have the same orders: D(A, C) <= max(D(A, B), D(B, C)).

        >>> shape_distance({4: "3333", 6: "033033", 8: "03030303"}, {4: "3333", 6: "033033", 8: "00330033"})
        0.16666666666666666

    Reference: Fu, Gonzalez & Lee (1987), (8.5-6), (8.5-7).
    """
    degree = similarity_degree(first, second)
    return 1.0 / degree if degree else np.inf


def similarity_matrix(shapes: Sequence) -> np.ndarray:
    """The degrees of similarity (n, n) of all pairs of shapes, with infinity on the diagonal.

        >>> similarity_matrix([{4: "3333", 6: "033033"}, {4: "3333", 6: "033033"}]).tolist()
        [[inf, inf], [inf, inf]]

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.53.
    """
    if not np.iterable(shapes):
        raise ArgumentError("similarity_matrix: a sequence of shapes is needed")
    tables = [_table(shape) for shape in shapes]
    degrees = np.full((len(tables), len(tables)), np.inf)
    for i, a in enumerate(tables):
        for j in range(i):
            degrees[i, j] = degrees[j, i] = similarity_degree(a, tables[j])
    return degrees


def similarity_tree(degrees) -> np.ndarray:
    """The similarity tree of a matrix of degrees (n, n): the linkage (n - 1, 4) of `scipy.cluster.hierarchy`.

    Each row joins two groups: their numbers, the distance 1/k at which they are joined, and how many shapes the new
    group has. `scipy.cluster.hierarchy.dendrogram` draws it, and `fcluster(tree, 1/k, "distance")` are the groups whose
    shapes agree up to order k. As the distance is an ultrametric, the tree shows all distances without loss.

        >>> similarity_tree([[np.inf, 6, 6], [6, np.inf, 12], [6, 12, np.inf]])[0].round(3).tolist()
        [1.0, 2.0, 0.083, 2.0]

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.53.
    """
    from scipy.cluster.hierarchy import linkage

    k = floats(degrees)
    if k.ndim != 2 or k.shape[0] != k.shape[1] or len(k) < 2:
        raise ArgumentError(f"similarity_tree: the degrees have shape {k.shape}; (n, n) with n >= 2 is needed")
    if not ((k == k.T).all() and (k > 0).all()):
        raise ArgumentError("similarity_tree: degrees must be positive, and the same for (i, j) and (j, i)")
    rows, columns = np.triu_indices(len(k), 1)
    return linkage(1.0 / k[rows, columns], "single")
