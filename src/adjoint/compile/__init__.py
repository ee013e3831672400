"""The compiler: any NumPy function of one sample becomes SIMD machine code, with derivatives. It knows no robots."""

from .cache import CacheInfo as CacheInfo
from .cache import cache_info as cache_info
from .cache import clear_cache as clear_cache
from .check import check_grads as check_grads
from .kernel import Kernel as Kernel
from .kernel import kernel as kernel
from .loops import scan as scan
from .loops import while_loop as while_loop
from .variant import static as static

__all__ = ["CacheInfo", "Kernel", "cache_info", "check_grads", "clear_cache", "kernel", "scan", "static", "while_loop"]
