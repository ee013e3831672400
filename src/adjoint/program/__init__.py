"""Robot programs."""

__all__: list[str] = []
