"""From IR text to object code for this host, and from object code to callable addresses. Only here LLVM is loaded."""

from __future__ import annotations

import functools
import itertools
import platform
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..errors import CompileError
from . import elf
from .locks import compiling

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["Host", "Library", "compile_ir", "host", "load", "once"]


def once(function):
    """Like functools.cache, but two threads never compute the same value: machine code must have one owner."""
    cached = functools.cache(function)

    @functools.wraps(function)
    def locked(*args):
        with compiling:
            return cached(*args)

    return locked


class Host(NamedTuple):
    """The machine that code is made for: CPU, its features, its vectors, and the version of LLVM."""

    cpu: str
    features: str
    vector_bits: int
    vector_call: str  # a calling convention under which functions on vectors leave many registers alone
    versions: str

    def width(self, dtype: str) -> int:
        """Lanes per vector."""
        return self.vector_bits // (64 if dtype == "f64" else 32)


@once
def _llvm():
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@once
def host() -> Host:
    """What is compiled for, found out once; on Linux without loading LLVM."""
    import llvmlite

    cpu, features = _linux_cpu() or (_llvm().get_host_cpu_name(), _llvm().get_host_cpu_features().flatten())
    names = set(features.replace("+", "").replace(",", " ").split())
    bits = 512 if "avx512f" in names else 256 if "avx" in names else 128
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        call = "intel_ocl_bicc" if bits > 128 else "ccc"
    else:
        call = "aarch64_vector_pcs" if machine in ("aarch64", "arm64") else "ccc"
    return Host(f"{machine} {cpu}", features, bits, call, f"llvmlite {llvmlite.__version__}")


def _linux_cpu() -> tuple[str, str] | None:
    """Model and features of the first processor, as the kernel lists them."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            block = f.read().split("\n\n")[0]
    except OSError:
        return None
    fields = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in block.splitlines())}
    features = fields.get("flags") or fields.get("Features")
    if not features:
        return None
    marks = ("vendor_id", "cpu family", "model", "model name", "stepping", "CPU implementer", "CPU part", "CPU variant")
    return "/".join(fields.get(k, "") for k in marks), features


def _target_machine():
    llvm = _llvm()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2, reloc="pic", codemodel="small"
    )


def compile_ir(text: str) -> bytes:
    """Object code for the host. The graph is optimised already, so no pass runs on the IR."""
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(text)
    except RuntimeError as e:
        raise CompileError(f"LLVM rejects the generated code (please report this): {e}") from e
    return _target_machine().emit_object(module)


def assembly(text: str) -> str:
    """The host's assembly for IR text, for reading."""
    return _target_machine().emit_assembly(_llvm().parse_assembly(text))


@once
def _linker() -> llvm.LLJIT:
    return _llvm().create_lljit_compiler(_target_machine(), use_jit_link=True)


_names = itertools.count()


class Library(Protocol):
    """Loaded code: the address of every symbol. Its memory lives as long as this object."""

    address: dict[str, int]


class _LinkedByLLVM:
    def __init__(self, object_code: bytes, symbols: tuple[str, ...]):
        builder = _llvm().JITLibraryBuilder().add_object_img(object_code).add_current_process()
        for s in symbols:
            builder.export_symbol(s)
        try:
            self._tracker = builder.link(_linker(), f"adjoint{next(_names)}")
        except RuntimeError as e:
            raise CompileError(f"LLVM cannot link the generated code (please report this): {e}") from e
        self.address = {s: self._tracker[s] for s in symbols}


def load(object_code: bytes, symbols: tuple[str, ...]) -> Library:
    """Link object code into this process: by ourselves where we can, else by LLVM."""
    if elf.supported():
        try:
            return elf.Image(object_code)
        except elf.Unsupported:
            pass
    return _LinkedByLLVM(object_code, symbols)
