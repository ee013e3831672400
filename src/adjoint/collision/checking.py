"""Is a configuration free of collisions, and what touches what, in words."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from .clearances import all_pairs
from .collision_models import CollisionModel
from .model_arguments import link_of
from .model_free import free_of
from .model_inputs import configurations, flat
from .model_others import others_free

__all__ = ["Contact", "contacts", "is_free"]


def is_free(model: CollisionModel, q) -> np.ndarray:
    """Whether a robot is free of collisions (...) at q (..., nq): all pairs are farther apart than their margins.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.5, 0, 0.5])])
        >>> bool(is_free(model, q))
        True

    This is the fastest question about a collision model; a whole batch is one call of machine code, with one lane for
    each configuration. It is the sign of `clearance`. What has NaN or infinity in it is not free.
    """
    q = configurations(model, q, "is_free")
    x = q if q.ndim == 2 else flat(q)
    free = model.run(free_of, x) > 0
    if model.tables.others:
        free = others_free(model, x, free)
    return free if q.ndim == 2 else free.reshape(q.shape[:-1])[()]


class Contact(str):
    """What touches what, as a sentence: "link 'link3' is 12 mm inside 'shelf'". Its numbers are attributes.

    `a` and `b` are names, `distance` [m] is signed, `margin` [m] is how far they should be apart.
    """

    a: str
    b: str
    distance: float
    margin: float

    @staticmethod
    def of(a: str, b: str, held: bool, own: bool, distance: float, margin: float) -> Contact:
        part, other = f"'{a}'" if held else f"link '{a}'", f"link '{b}'" if own else f"'{b}'"
        if distance <= 0:
            text = f"{part} is {1e3 * -distance:.3g} mm inside {other}"
        else:
            text = (
                f"{part} is {1e3 * distance:.3g} mm from {other}, which is less than the margin, {1e3 * margin:.3g} mm"
            )
        found = Contact(text)
        found.a, found.b, found.distance, found.margin = a, b, distance, margin
        return found


def contacts(model: CollisionModel, q) -> list[Contact]:
    """What touches what at one configuration q (nq,), in words, the deepest first; [] if q is free.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> print(contacts(collision_model(robot, [Sphere(0.3, name="ball")], pairs=()), q)[0])
        link '...' is ... mm inside 'ball'

    There is one sentence for each link and obstacle, or pair of links. A `Contact` is a string with the attributes `a`,
    `b`, `distance` and `margin`.
    """
    q = configurations(model, q, "contacts")
    if q.ndim != 1 or not np.isfinite(q).all():
        raise ArgumentError(
            f"contacts: 'q' must be one configuration ({model.robot.nq},) of finite numbers, got {q!r:.60}"
        )
    found: dict[tuple, tuple] = {}
    for a, b, is_obstacle, distance, margin in all_pairs(model, q[None]):
        d = float(distance[0])
        if d > margin:
            continue
        name = link_of(model.shape_names[a]) if a < model._plan.count else model.shape_names[a]
        other = model.obstacle_names[b] if is_obstacle else link_of(model.shape_names[b])
        key = (name, other, is_obstacle)
        if key not in found or d - margin < found[key][0]:
            found[key] = d - margin, Contact.of(name, other, a >= model._plan.count, not is_obstacle, d, margin)
    return [contact for _, contact in sorted(found.values(), key=lambda x: x[0])]
