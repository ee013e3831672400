"""Numbers as all languages write them."""

from __future__ import annotations

__all__: list[str] = []


def number_text(value: float) -> str:
    """The shortest decimal that gives the number again; whole numbers have no point."""
    return repr(float(value)).removesuffix(".0")
