"""The names of `shapes_of_links`, for files that still import them from here."""

from .shapes_of_links import LinkShapes as LinkShapes
from .shapes_of_links import link_shapes as link_shapes
from .shapes_of_links import shape_solids as shape_solids

__all__: list[str] = []
