"""The compiler: any NumPy function of one sample becomes SIMD machine code, with derivatives. It knows no robots.

`decorator` makes a `Kernel` of a function; `kernels` lists what a kernel can do. Behind these two files there are five
folders, and each uses only those before it:

1. `graph/`: the function runs once on symbols, and leaves a graph of operations.
2. `codegen/`: the graph becomes the text of LLVM's intermediate representation.
3. `machine/`: the text becomes machine code, which is kept on disk and runs on NumPy's arrays.
4. `front/`: what a kernel is, what a call gives it, and which machine code serves the call.
5. `transform/`: kernels of derivatives, and of results without zeros and repetitions.

Each folder's `__init__` says which file does what. docs/compiler_tour.md walks one call through all of them.
"""

from typing import TYPE_CHECKING

from ..lazy import later
from .decorator import kernel as kernel
from .front.kept_kernels import forget as forget
from .front.parameters import static as static
from .graph.loops import each_row as each_row
from .graph.loops import row_at as row_at
from .graph.loops import scan as scan
from .graph.loops import while_loop as while_loop
from .graph.nested import map_leaves as map_leaves
from .kernels import Kernel as Kernel
from .machine.disk_cache import CacheInfo as CacheInfo
from .machine.disk_cache import cache_info as cache_info
from .machine.disk_cache import clear_cache as clear_cache

if TYPE_CHECKING:
    from .transform.gradient_check import check_grads as check_grads
    from .transform.packed_results import Packing as Packing
else:  # these need packages or files that most processes have no use for
    __getattr__ = later(
        __name__,
        {
            "Packing": "transform.packed_results",
            "check_grads": "transform.gradient_check",
        },
    )

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
    "row_at",
    "scan",
    "static",
    "while_loop",
]


def __dir__() -> list[str]:
    return __all__
