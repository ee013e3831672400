"""From IR text to object code for this host, and from object code to callable addresses. Only this file loads LLVM."""

from __future__ import annotations

import functools
import itertools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...errors import CompileError
from ..codegen.target import Target
from . import executable_memory, linker
from .locks import calling_llvm, compiling

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["Host", "Library", "compile_ir", "host", "load", "once"]


def once(function):
    """Like functools.cache, but two threads never compute the same value, because machine code must have one owner.

    A known value is returned at once, without waiting for a thread that compiles: every call of a kernel asks for some.
    """
    known: dict[tuple, Any] = {}

    @functools.wraps(function)
    def found(*args):
        if args not in known:
            with compiling:
                if args not in known:
                    known[args] = function(*args)
        return known[args]

    return found


class Host(NamedTuple):
    """The machine that code is made for: its processor with features and vectors, and the version of LLVM."""

    cpu: str
    features: str
    target: Target
    versions: str

    def width(self, dtype: str) -> int:
        """Return the number of lanes in a vector of this dtype."""
        return self.target.width(dtype)


@once
def _llvm():
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@once
def host() -> Host:
    """Return the machine that code is made for. It is found out once, and on Linux without loading LLVM."""
    import llvmlite

    cpu, features = _linux_cpu() or (_llvm().get_host_cpu_name(), _llvm().get_host_cpu_features().flatten())
    names = set(features.replace("+", "").replace(",", " ").split())
    machine, bits, call = executable_memory.machine(), 128, "ccc"
    if machine == "x86_64" and "avx" in names:
        bits, call = 512 if "avx512f" in names else 256, "intel_ocl_bicc"
    elif machine == "aarch64":
        call = "aarch64_vector_pcs"
    return Host(f"{machine} {cpu}", features, Target(bits, call), f"llvmlite {llvmlite.__version__}")


def _linux_cpu() -> tuple[str, str] | None:
    """The model and the features of the first processor, as Linux lists them; None where that is impossible."""
    if sys.platform != "linux":
        return None
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
    """Return object code for the host.

    LLVM runs no passes that optimise the IR, because the graph is optimised already.
    """
    with calling_llvm:
        return object_code(text, _target_machine())


def object_code(text: str, target: llvm.TargetMachine) -> bytes:
    """Return object code for a target machine."""
    return target.emit_object(_module(text, target))


def assembly(text: str) -> str:
    """Return the host's assembly for IR text, for reading."""
    with compiling, calling_llvm:
        target = _target_machine()
        return target.emit_assembly(_module(text, target))


def _module(text: str, target: llvm.TargetMachine) -> llvm.ModuleRef:
    if "windows" in target.triple:
        _llvm().initialize_native_asmparser()
        text += _STACK_PROBE
    try:
        module = _llvm().parse_assembly(text)
    except RuntimeError as e:
        raise CompileError(f"LLVM rejects the generated code (please report this): {e}") from e
    for function in module.functions:
        if not function.is_declaration:
            # No code of ours raises or passes on exceptions. Without this attribute LLVM writes tables to unwind the
            # stack, which refer to other modules.
            function.add_function_attribute("nounwind")
    return module


# Windows adds pages to a stack one by one, when the next one is touched. A function whose variables take more than a
# page first calls __chkstk, with their size in rax; that function must touch all pages and leave every register as it
# is. The C library has one, but it may be too far away for a call, so each module has its own.
_STACK_PROBE = """
define internal void @__chkstk() naked noinline {
 call void asm sideeffect "
 pushq %r10
 pushq %r11
 leaq 24(%rsp), %r10
 movq %rax, %r11
1:
 cmpq $$4096, %r11
 jb 2f
 subq $$4096, %r10
 testl %r10d, (%r10)
 subq $$4096, %r11
 jmp 1b
2:
 subq %r11, %r10
 testl %r10d, (%r10)
 popq %r11
 popq %r10
 ret", ""()
 unreachable
}
"""


@once
def _linker() -> llvm.LLJIT:
    return _llvm().create_lljit_compiler(_target_machine(), use_jit_link=True)


_names = itertools.count()


class Library(Protocol):
    """Loaded code: the address of every symbol. Its memory lives as long as this object."""

    address: dict[str, int]


class _LinkedByLLVM:
    """Object code that LLVM's own linker has loaded."""

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
    """Link object code into this process: by our own linker where that works, else by LLVM's."""
    if linker.supported():
        try:
            return linker.Image(object_code)
        except linker.Unsupported as e:
            # llvmlite has no JITLink on Windows, and LLVM's older linker may end the process.
            if sys.platform == "win32":
                raise CompileError(f"the generated code cannot be linked (please report this): {e}") from e
    executable_memory.check_allowed()
    with calling_llvm:
        return _LinkedByLLVM(object_code, symbols)
