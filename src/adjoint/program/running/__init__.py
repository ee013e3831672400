"""Running programs.
"""

__all__: list[str] = []
