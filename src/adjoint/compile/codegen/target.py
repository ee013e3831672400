"""The kind of processor that code is written for: how long its vectors are, and how functions on vectors are called."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANY", "Target"]


class Target(NamedTuple):
    """A kind of processor. The default values serve any."""

    vector_bits: int = 128
    # LLVM's name of a calling convention under which functions on vectors leave many registers untouched
    vector_call: str = "ccc"

    def width(self, dtype: str) -> int:
        """Return the number of lanes in a vector: how many numbers of this dtype it holds."""
        return self.vector_bits // (64 if dtype == "f64" else 32)


ANY = Target()
"""The target of code that runs on any processor."""
