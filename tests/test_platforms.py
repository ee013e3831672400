"""Other machines, as far as this one can tell: code for Windows, macOS and 64-bit ARM is compiled and linked here.

Code for x86-64 Windows is run besides: only the calling convention is another one, and a few instructions bridge it.
"""

import collections
import ctypes
import functools
import itertools
import os
import struct
import subprocess
import sys
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np
import pytest

from adjoint import kernel, scan, while_loop
from adjoint.compile.codegen import body, segments
from adjoint.compile.codegen.ir import Module
from adjoint.compile.codegen.target import Target
from adjoint.compile.machine import (
    cpython_entry,
    entry_code,
    executable_memory,
    execution,
    jit,
    object_files,
    strided_loop,
)
from adjoint.compile.machine import linker as link

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


class Platform(NamedTuple):
    triple: str
    cpu: str
    vector_bits: int
    vector_call: str

    def target(self) -> llvm.TargetMachine:
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, opt=2, reloc="pic", codemodel="small"
        )


_X86 = {
    "AVX-512": ("skylake-avx512", 512, "intel_ocl_bicc"),
    "AVX2": ("haswell", 256, "intel_ocl_bicc"),
    "SSE2": ("x86-64", 128, "ccc"),
}
_ARM = (128, "aarch64_vector_pcs")
PLATFORMS = {
    **{f"Windows {k}": Platform("x86_64-pc-windows-msvc", *v) for k, v in _X86.items()},
    **{f"macOS {k}": Platform("x86_64-apple-macosx12.0", *v) for k, v in _X86.items()},
    "macOS ARM": Platform("arm64-apple-macosx12.0", "apple-m1", *_ARM),
    "Linux ARM": Platform("aarch64-unknown-linux-gnu", "generic", *_ARM),
}


# --- kernels of every kind --------------------------------------------------------------------------------------------


def long_line(x):
    values = list(x)
    for _ in range(80):
        values = [*values[1:], values[0] * values[1] - 0.3 * values[3]]
    return np.stack(values)


def every_function(x, y):
    names = "sin cos tan exp expm1 log log1p arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor rint"
    return np.stack(
        [getattr(np, f)(x) for f in names.split()] + [np.arctan2(x, y), x**y, np.fmod(x, y), np.hypot(x, y)]
    )


def kepler(mean, eccentricity):
    def step(E):
        return E - (E - eccentricity * np.sin(E) - mean) / (1 - eccentricity * np.cos(E))

    return while_loop(lambda E: np.abs(step(E) - E) > 1e-10, step, mean, max_iterations=30)


def wide(x):
    """More values at a time than a page of the stack has room for."""
    values = [x * k + x * x for k in range(120)]
    return np.stack([values[7 * k % 120] * values[k] - 0.5 * values[(11 * k + 1) % 120] for k in range(120)])


KERNELS = {
    "line": lambda: kernel(lambda x, y: np.stack([x[0] * y[0], x[1] - y[1], x[2] / y[2]]), x=3, y=3),
    "functions": lambda: kernel(every_function),
    "scan": lambda: kernel(lambda c, x: scan(lambda t, r: (t * x + r, t), 0.0, c)[1], c=(...,)),
    "while": lambda: kernel(kepler),
    "segments": lambda: kernel(long_line, x=4),
    "wide": lambda: kernel(wide),
}
CODE = [*KERNELS, "strided", "call", "ask"]


def texts(platform: Platform, name: str, monkeypatch) -> dict[str, tuple[str, list[str]]]:
    """IR of one kind of code, for both types and for single samples, and the symbols it must define."""
    host = jit.Host("", "", Target(platform.vector_bits, platform.vector_call), "")
    monkeypatch.setattr(jit, "host", lambda: host)
    monkeypatch.setattr(segments, "SEGMENT", 100 if name == "segments" else 10_000)
    module = Module()
    if name in ("call", "ask"):
        module.add(name, entry_code.EntryCode(module).function() if name == "call" else strided_loop._ask(module))
        return {"": (module.text(), [name])}
    found = {}
    for dtype, width in (("f64", host.width("f64")), ("f32", host.width("f32")), ("f64", 1)):
        if name == "strided":
            module = Module()
            module.add("strided", strided_loop._Strided(module, width, dtype).function())
            found[f"{dtype} {width}"] = module.text(), ["strided"]
        else:
            text = body.emit(KERNELS[name]().only_specialisation("test").program, width, dtype)[0]
            found[f"{dtype} {width}"] = text, ["whole", "batch"]
    return found


@functools.cache
def linker(arm: bool) -> llvm.LLJIT:
    """LLVM's linker; it takes object files of all systems for a processor."""
    triple = PLATFORMS["Linux ARM"].triple if arm else "x86_64-unknown-linux-gnu"
    return llvm.create_lljit_compiler(llvm.Target.from_triple(triple).create_target_machine(), use_jit_link=True)


_names = itertools.count()


x86_only = pytest.mark.skipif(
    executable_memory.machine() != "x86_64", reason="LLVM reads the assembly of this processor only"
)


@pytest.mark.skipif(sys.platform == "win32", reason="llvmlite has no JITLink on Windows")
@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize("where", PLATFORMS)
def test_code_for_every_platform_links(where, name, monkeypatch):
    """LLVM finds all that the code refers to in the code itself, and within reach; our linker does so too."""
    if "Windows" in where and executable_memory.machine() != "x86_64":
        pytest.skip("LLVM reads the assembly of this processor only")
    platform = PLATFORMS[where]
    target, arm = platform.target(), "ARM" in where
    for text, symbols in texts(platform, name, monkeypatch).values():
        code = jit.object_code(text, target)
        library = llvm.JITLibraryBuilder().add_object_img(code)
        prefix = "_" if "macOS" in where else ""
        for s in symbols:
            library.export_symbol(prefix + s)
        if "SSE2" in where:
            for s in link.CALLED:
                library.import_symbol(prefix + s, ctypes.cast(getattr(ctypes.CDLL(None), s), ctypes.c_void_p).value)
        if where != "Windows SSE2":  # the C library may be too far for its calls; our linker leads there
            library.link(linker(arm), f"foreign{next(_names)}")
        if "macOS" not in where:
            found = object_files.read(code)
            outside = {found.symbols[f.symbol].name for f in found.fixups if found.symbols[f.symbol].section is None}
            assert outside <= (link.CALLED if "SSE2" in where else set())
            assert {s.name for s in found.symbols if s.section is not None} >= set(symbols)
            assert found.machine == ("aarch64" if arm else "x86_64")
            whole = link.with_library_calls(found)
            assert len(link.link(whole, 0x7F0000001000)) == link.layout(whole)[1]


@x86_only
def test_large_frames_ask_for_their_pages(monkeypatch):
    """On Windows; the function that does so is part of the code."""
    platform = PLATFORMS["Windows AVX-512"]
    target = platform.target()
    for name in ("wide", "call"):
        text, _ = next(iter(texts(platform, name, monkeypatch).values()))
        assert "__chkstk" in target.emit_assembly(llvm.parse_assembly(text))
        (probe,) = [s for s in object_files.read(jit.object_code(text, target)).symbols if s.name == "__chkstk"]
        assert probe.section is not None


# --- Windows' code, run here ------------------------------------------------------------------------------------------

_BRIDGE = """
define i64 @batch(ptr %f, i64 %a, i64 %b, ptr %c, ptr %d) {
 %result = call win64cc i64 %f(i64 %a, i64 %b, ptr %c, ptr %d)
 ret i64 %result
}
define i64 @strided(ptr %f, i64 %a, i64 %b, ptr %c, ptr %d, ptr %e, ptr %g, ptr %h) {
 %result = call win64cc i64 %f(i64 %a, i64 %b, ptr %c, ptr %d, ptr %e, ptr %g, ptr %h)
 ret i64 %result
}
"""


@pytest.fixture
def windows(monkeypatch, tmp_path):
    """Kernels are compiled for Windows, with this processor's instructions, and called by its convention."""
    if executable_memory.machine() != "x86_64" or not link.supported():
        pytest.skip("this processor cannot run such code")
    bridge = jit.load(jit.compile_ir(_BRIDGE), ("batch", "strided"))
    target = llvm.Target.from_triple("x86_64-pc-windows-msvc").create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )

    def bridged(symbol: str, arguments: int):
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * (1 + arguments))
        return lambda address: functools.partial(kind(bridge.address[symbol]), address)

    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "windows"))
    monkeypatch.setattr(jit, "compile_ir", lambda text: jit.object_code(text, target))
    monkeypatch.setattr(jit, "_LinkedByLLVM", None)  # all is to be linked by ourselves
    monkeypatch.setattr(execution, "_BATCH", bridged("batch", 4))
    monkeypatch.setattr(execution, "_STRIDED", bridged("strided", 7))
    monkeypatch.setattr(strided_loop, "library", functools.cache(strided_loop.library.__wrapped__))  # anew
    monkeypatch.setattr(cpython_entry, "python_api", lambda: None)
    return monkeypatch


def samples(name: str, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    shapes = {"line": [3, 3], "scan": [5, ()], "segments": [4], "wide": [()]}.get(name, [(), ()])
    return [rng.uniform(0.1, 0.9, size=(n, *np.atleast_1d(s)) if s else (n,)) for s in shapes]


def results(name: str) -> list:
    """Of batches, single samples, both types, any strides."""
    f, found = KERNELS[name](), []
    for n, dtype in itertools.product((1, 21), (np.float64, np.float32)):
        arrays = [a.astype(dtype) for a in samples(name, n)]
        found += [f(*arrays), f(*(a[0] for a in arrays)), f(*(np.asfortranarray(a)[::-1] for a in arrays))]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_code_for_windows_gives_the_same_bits(name, windows):
    theirs = results(name)
    windows.undo()
    for a, b in zip(theirs, results(name), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_old_processors_give_the_same_bits(monkeypatch, tmp_path):
    """Without FMA and SSE4.1 the C library computes some steps; our linker leads there."""
    if executable_memory.machine() != "x86_64" or not link.supported():
        pytest.skip("this processor cannot run such code")
    ours = results("functions")
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu="x86-64", opt=2, reloc="pic", codemodel="small"
    )
    old = jit.host()._replace(target=Target())
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "old"))
    monkeypatch.setattr(jit, "host", lambda: old)
    monkeypatch.setattr(jit, "compile_ir", lambda text: jit.object_code(text, target))
    monkeypatch.setattr(jit, "_LinkedByLLVM", None)
    for a, b in zip(results("functions"), ours, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("where", ["Linux ARM", "Windows AVX2"])
def test_damaged_object_files_are_refused(where, monkeypatch):
    """Whatever bytes an object file has, it is linked or refused."""
    if where.startswith("Windows") and executable_memory.machine() != "x86_64":
        pytest.skip("LLVM reads the assembly of this processor only")
    text, _ = next(iter(texts(PLATFORMS[where], "while", monkeypatch).values()))
    code, rng, refused = jit.object_code(text, PLATFORMS[where].target()), np.random.default_rng(0), 0
    for k in range(300):
        damaged = bytearray(code if k % 3 else code[: rng.integers(len(code))])
        heads = 64 if k % 2 else len(damaged)
        for at in rng.integers(min(heads, len(damaged)) or 1, size=1 + k % 4):
            damaged[at : at + 1] = bytes([rng.integers(256)])
        try:
            link.link(object_files.read(bytes(damaged)), 0x7F0000001000)
        except link.Unsupported:
            refused += 1
    assert refused > 50


@x86_only
def test_files_of_very_many_sections():
    """COFF files of more than 65279 sections are laid out differently: the same code, written both ways."""
    target = PLATFORMS["Windows AVX2"].target()
    code = jit.object_code(
        "define double @f(double %x) {\n %y = fadd double %x, 0x3FF8000000000000\n ret double %y\n}", target
    )
    count, table, entries = struct.unpack_from("<H4xII", code, 2)
    more = 36  # bytes of the longer head
    sections = b""
    for k in range(count):
        head = bytearray(code[20 + 40 * k : 60 + 40 * k])
        for field in (20, 24):
            (at,) = struct.unpack_from("<I", head, field)
            struct.pack_into("<I", head, field, at + more if at else 0)
        sections += head
    symbols = b""
    for at in range(table, table + 18 * entries, 18):
        short, value, section, *rest = struct.unpack_from("<8sIHHBB", code, at)
        symbols += struct.pack("<8sIIHBB", short, value, section, *rest)
    head = struct.pack("<HHHH", 0, 0xFFFF, 2, 0x8664).ljust(44, b"\0") + struct.pack(
        "<III", count, table + more, entries
    )
    big = head + sections + code[20 + 40 * count : table] + symbols + code[table + 18 * entries :]
    assert object_files.read(big) == object_files.read(code) and len(object_files.read(code).fixups) == 1


# --- our linker: 64-bit ARM -------------------------------------------------------------------------------------------


def operand(instruction: int, at: int, page: int) -> int:
    """The address that an instruction of 64-bit ARM refers to, given the page in its register."""
    signed = lambda x, bits: x - (1 << bits) if x >> bits - 1 else x  # noqa: E731
    if instruction >> 26 == 0b100101:  # bl
        return at + 4 * signed(instruction & 0x3FFFFFF, 26)
    if instruction & 0x9F000000 == 0x90000000:  # adrp
        return (at & -4096) + 4096 * signed((instruction >> 5 & 0x7FFFF) << 2 | instruction >> 29 & 3, 21)
    immediate = instruction >> 10 & 0xFFF
    if instruction & 0xFF800000 == 0x91000000:  # add
        return page + immediate
    assert instruction & 0x3B000000 == 0x39000000  # a load; of 16 bytes if size is 0 and opc is 3
    size = 4 if instruction >> 23 & 1 and instruction >> 26 & 1 else instruction >> 30
    return page + (immediate << size)


@pytest.mark.slow
@pytest.mark.parametrize("base", [0x1000, 0xAAAA_BBBB_1000])
def test_addresses_of_arm_instructions(base, monkeypatch):
    """Decoded by the reference manual, every instruction refers to what its relocation names."""
    kinds = collections.Counter()
    for name in ("functions", "segments", "while"):
        for text, _ in texts(PLATFORMS["Linux ARM"], name, monkeypatch).values():
            found = object_files.read(jit.object_code(text, PLATFORMS["Linux ARM"].target()))
            places, _ = link.layout(found)
            image = link.link(found, base)
            for f in found.fixups:
                at, symbol = places[f.section] + f.offset, found.symbols[f.symbol]
                assert symbol.section is not None
                target = base + places[symbol.section] + symbol.offset + f.addend
                (instruction,) = struct.unpack_from("<I", image, at)
                kinds[f.kind] += 1
                wanted = target & -4096 if f.kind == "page21" else target
                assert operand(instruction, base + at, target & -4096) == wanted
    assert kinds.keys() >= {"branch26", "page21", "low12/1", "low12/8"}


def test_the_linker_keeps_within_reach():
    """A target too far away, or not aligned, is refused and not cut off."""

    def linked(kind: str, distance: int) -> bytes:
        far = object_files.Section(bytes(8), 1)
        symbols = [object_files.Symbol("far", 0, distance)]
        return link.link(
            object_files.Object("aarch64", {0: far}, symbols, [object_files.Fixup(kind, 0, 0, 0, 0)]), 0x1000
        )

    for kind, reach in {"relative32": 2**31, "branch26": 2**27, "page21": 2**32}.items():
        assert any(linked(kind, reach - 4096))
        with pytest.raises(link.Unsupported, match="bits"):
            linked(kind, reach)
    with pytest.raises(link.Unsupported, match="multiple of 8"):
        linked("low12/8", 4)
    assert struct.unpack("<Q", linked("absolute64", 2**40)) == (2**40 + 0x1000,)


def test_without_a_way_to_empty_the_instruction_cache_llvm_links(monkeypatch):
    def none_found():
        raise OSError("no function __clear_cache was found")

    monkeypatch.setattr(executable_memory, "flush_instructions", none_found)
    link.supported.cache_clear()
    try:
        assert not link.supported()
    finally:
        monkeypatch.undo()
        link.supported.cache_clear()


# --- where memory may not be both written and executed ----------------------------------------------------------------

_CHILD = """
import ctypes, struct, sys
import numpy as np
from adjoint.errors import CompileError
from adjoint.compile import kernel
from adjoint.compile.machine import jit, linker as link

def forbid(also_files):
    # What systemd's MemoryDenyWriteExecute=yes installs: a filter of system calls that answers EPERM.
    mmap, mprotect, memfd_create = (9, 10, 319) if MACHINE == "x86_64" else (222, 226, 279)  # 64-bit ARM's numbers
    load, equal, has, mask, end = 0x20, 0x15, 0x45, 0x54, 0x06
    filter = [
        (load, 0, 0, 0),  # the number of the call
        (equal, 0, 3, mmap),
        (load, 0, 0, 32),  # its third argument: the protection
        (mask, 0, 0, 2 | 4),
        (equal, 5, 4, 2 | 4),
        (equal, 0, 2, mprotect),
        (load, 0, 0, 32),
        (has, 2, 1, 4),
        (equal, int(also_files), 0, memfd_create),
        (end, 0, 0, 0x7FFF0000),  # go on
        (end, 0, 0, 0x00050001),  # EPERM
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in filter)
    program = struct.pack("HxxxxxxP", len(filter), ctypes.addressof(keep := ctypes.create_string_buffer(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        sys.exit("no filters")

f = kernel(lambda x: 2 * np.sin(x))
x = np.arange(6.0)
"""


def child(code: str) -> str:
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"MACHINE = {executable_memory.machine()!r}\n{_CHILD}{code}"],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    if done.stderr.strip() == "no filters":
        pytest.skip("emulators of Linux take no filters of system calls")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


linux = pytest.mark.skipif(sys.platform != "linux", reason="a filter of Linux's system calls")


@pytest.mark.slow
@linux
def test_memory_is_never_written_and_executable():
    """Batches, single samples and other strides run, where no memory that was written may become executable."""
    code = """
forbid(False)
assert np.allclose(f(x), 2 * np.sin(x)) and np.allclose(f(x[::2]), 2 * np.sin(x[::2]))
for _ in range(3):
    assert np.isclose(f(1.0), 2 * np.sin(1.0))
from types import BuiltinMethodType
from adjoint.compile.machine import python_abi
assert isinstance(type(f).__call__, BuiltinMethodType) or python_abi.python_api() is None
print(ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3)())
"""
    if link.supported():
        assert child(code) == "3"


@pytest.mark.slow
@linux
@pytest.mark.parametrize("how", ["forbid(True)", "forbid(False); link.supported = lambda: False"])
def test_without_executable_memory_the_error_says_so(how):
    """Our linker has no other way, or LLVM's would be needed: no process ends, and Python's road is open."""
    code = f"""
{how}
for _ in range(2):
    try:
        f(x)
    except CompileError as e:
        print(e)
print(f.eager(1.0) == 2 * np.sin(1.0))
"""
    lines = child(code).splitlines()
    assert len(lines) == 3 and lines[0] == lines[1] and lines[2] == "True"
    for word in ("may not make memory executable", "MemoryDenyWriteExecute", "function.eager", "not permitted"):
        assert word in lines[0]


def test_loaded_code_is_given_back():
    """Memory of code that nobody holds does not pile up."""
    if not link.supported() or sys.platform != "linux":
        pytest.skip("LLVM's linker does that itself")
    code = jit.compile_ir("define void @nothing() {\n ret void\n}")

    def mapped() -> int:
        with open("/proc/self/maps") as f:
            return len(f.readlines())

    image, before = link.Image(code), mapped()
    for _ in range(200):
        image = link.Image(code)
    assert set(image.address) >= {"nothing"} and mapped() <= before + 20
