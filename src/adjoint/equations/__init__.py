"""Equations of motion to read: closed forms as SymPy expressions, as LaTeX, and as a page for the browser.

Users call `equations_of_motion`. The other files:

- `expanded` and `factored` make its two forms.
- `trig` is exact arithmetic with trigonometric polynomials, and `shortest_form` writes them in few terms.
- `motion` computes a robot's energies as such polynomials.
- `parameters` and `naming` say which of a robot's numbers are symbols, and `reading` reads polynomials in these
  symbols.
- `notation` and `page` write formulas as text, LaTeX and MathML.

All of this needs SymPy. Without it the module can be imported, and `equations_of_motion` says what to install.
"""

from typing import TYPE_CHECKING

from ..errors import MissingPackageError

try:
    import sympy as _sympy
except ImportError:
    _sympy = None

if TYPE_CHECKING or _sympy is not None:
    from .expanded import Equations as Equations
    from .expanded import Values as Values
    from .factored import Factored as Factored
    from .factored import InnerProduct as InnerProduct
    from .of_motion import equations_of_motion as equations_of_motion

    __all__ = ["Equations", "Factored", "InnerProduct", "Values", "equations_of_motion"]
else:
    __all__ = ["equations_of_motion"]

    def equations_of_motion(*args, **options):
        """The equations of motion of a robot as formulas to read. This needs SymPy: pip install 'adjoint[sym]'."""
        __getattr__("Equations")

    def __getattr__(name: str):
        if name in ("Equations", "Factored", "InnerProduct", "Values"):
            raise MissingPackageError("closed forms need sympy: pip install 'adjoint[sym]'") from None
        raise AttributeError(f"module 'adjoint.equations' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
