"""The compiler: any NumPy function of one sample becomes SIMD machine code, with derivatives. It knows no robots.

A call takes this way; docs/compiler_tour.md walks it with an example:

1. `decorator` made a `Kernel` (`kernels`) of the function. `parameters` are what it takes.
2. `dispatch` finds out what serves a call. `arguments` sorts and checks what was given, `call_forms` remembers the
   forms of calls, `binding` fixes static arguments. `function` is what a kernel is and remembers, and `kept_kernels`
   says how much a process keeps. `inline` runs kernels as plain Python, eagerly or inside other kernels.
3. `specialisation` is a kernel with all static arguments fixed: traced once, compiled once for each dtype and width.
   `progress` gives a sign of life if that takes long.
4. `graph/` turns the function into a graph, `transform/` makes graphs of derivatives from it, `codegen/` writes LLVM's
   IR, `machine/` makes it run and keeps it on disk. `export` writes C, CasADi functions and assembly instead.

Each folder's `__init__` says which file does what.
"""

from .decorator import kernel as kernel
from .graph.loops import scan as scan
from .graph.loops import while_loop as while_loop
from .kept_kernels import forget as forget
from .kernels import Kernel as Kernel
from .machine.disk_cache import CacheInfo as CacheInfo
from .machine.disk_cache import cache_info as cache_info
from .machine.disk_cache import clear_cache as clear_cache
from .parameters import static as static
from .transform.gradient_check import check_grads as check_grads
from .transform.packed_results import Packing as Packing

__all__ = [
    "CacheInfo",
    "Kernel",
    "Packing",
    "cache_info",
    "check_grads",
    "clear_cache",
    "forget",
    "kernel",
    "scan",
    "static",
    "while_loop",
]


def __dir__() -> list[str]:
    return __all__
