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

from .cache import CacheInfo as CacheInfo
from .cache import cache_info as cache_info
from .cache import clear_cache as clear_cache
from .check import check_grads as check_grads
from .kept import forget as forget
from .kernel import Kernel as Kernel
from .kernel import kernel as kernel
from .loops import scan as scan
from .loops import while_loop as while_loop
from .packing import Packing as Packing
from .parameters import static as static

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
