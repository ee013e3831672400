"""Plans carried out under watch: triangle tables, their kernels, and the monitor that repeats and skips steps.

| file | contents |
|---|---|
| `literals` | facts, and facts that must be absent |
| `support_links` | the last step that made a literal true |
| `triangle_tables` | `triangle_table`, `TriangleTable`: who gives what to whom |
| `table_text` | the triangle as text and for notebooks |
| `kernels` | `kernel`, `highest_kernel`: the step that a state calls for |
| `execution_monitor` | `monitor`, `decide`, `Decision`, `Execution` |
| `table_drawing` | `plot_table` |
| `execution_drawing` | `plot_execution` |

Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
"""

from .execution_drawing import plot_execution as plot_execution
from .execution_monitor import Decision as Decision
from .execution_monitor import Execution as Execution
from .execution_monitor import decide as decide
from .execution_monitor import monitor as monitor
from .kernels import highest_kernel as highest_kernel
from .kernels import kernel as kernel
from .table_drawing import plot_table as plot_table
from .triangle_tables import TriangleTable as TriangleTable
from .triangle_tables import triangle_table as triangle_table

__all__ = [
    "Decision",
    "Execution",
    "TriangleTable",
    "decide",
    "highest_kernel",
    "kernel",
    "monitor",
    "plot_execution",
    "plot_table",
    "triangle_table",
]


def __dir__() -> list[str]:
    return __all__
