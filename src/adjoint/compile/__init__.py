"""The compiler: any NumPy function of one sample becomes SIMD machine code, with derivatives. It knows no robots.

The way of a function, file by file:

- `kernel`, `variant`: what users hold; a variant is a kernel with its static arguments fixed. `parameters` and
  `arguments`: what a kernel takes, and what a call gives. `kept`: which kernels stay in memory. `forms`: calls
  of every form. `progress`: a sign of life on long compiles.
- `trace`, `loops`: the function runs once on symbols. `graph`, `ops`, `program`: the graph it leaves, simplified.
- `derive`, `derivatives`: graphs of derivatives. `packing`: results without zeros and repetitions; `derived`: kernels
  made from others. `interpret`, `check`: graphs evaluated without a compiler.
- `order`, `emit`, `segments`: the graph as LLVM IR, in which order and, if it is long, cut into which functions.
  `batch`, `lines`, `vecmath`, `ir`: the loop over a batch, the stores of large results, elementary functions.
- `jit`, `cache`: IR to object code, object code on disk. `origin`: which functions of the library are found there by
  their names. `link`, `objects`, `memory`: object code to callable memory.
- `call`, `runtime`, `thin`: NumPy arrays to machine code: layouts, any strides, CPython's own calls. `workers`,
  `watch`: threads, and how a long call is stopped.
- `export`: C99, CasADi, assembly. `locks`: the one lock.
"""

from .graph.loops import each_row as each_row
from .graph.loops import map_leaves as map_leaves
from .graph.loops import scan as scan
from .graph.loops import while_loop as while_loop
from .kept_kernels import forget as forget
from .kernels import Kernel as Kernel
from .kernels import kernel as kernel
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
    "each_row",
    "forget",
    "kernel",
    "map_leaves",
    "scan",
    "static",
    "while_loop",
]


def __dir__() -> list[str]:
    return __all__
