"""The text of a kernel: LLVM's IR, the host's assembly, or one self-contained C99 file."""

from __future__ import annotations

from ...errors import ArgumentError
from ..codegen.body import emit
from ..codegen.c_source import c_file
from ..machine import jit
from .specialisation import Specialisation

__all__ = ["source"]


def source(specialisation: Specialisation, language: str, name: str | None = None) -> str:
    """Return the text of a kernel in one of the languages "llvm", "asm", "c"."""
    if not isinstance(language, str) or language not in ("llvm", "asm", "c"):
        raise ArgumentError(f"source: unknown language {language!r}; 'llvm', 'asm' and 'c' are known")
    if name is not None and not isinstance(name, str):
        raise ArgumentError(f"source: the name of the function must be text; got {name!r}")
    if language == "c":
        return c_file(specialisation.program, name or specialisation.name.replace(".", "_"))
    text = emit(specialisation.program, jit.host().width("f64"), "f64", target=jit.host().target)[0]
    return text if language == "llvm" else jit.assembly(text)
