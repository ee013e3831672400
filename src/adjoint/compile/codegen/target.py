"""What code is written for: how long vectors are, and how functions on them are called."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANY", "Target"]


class Target(NamedTuple):
    """A kind of processor. The default serves any."""

    vector_bits: int = 128
    vector_call: str = "ccc"  # a calling convention under which functions on vectors leave many registers alone

    def width(self, dtype: str) -> int:
        """Lanes per vector."""
        return self.vector_bits // (64 if dtype == "f64" else 32)


ANY = Target()
"""The target of code that runs on any processor."""
