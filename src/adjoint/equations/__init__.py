"""Closed forms to read: the equations of motion of a robot as SymPy expressions, LaTeX, and a page to look at.

`equations_of_motion` is what users call; `expanded` and `factored` make its two forms. `trig` is the exact arithmetic
of trigonometric polynomials, `shortest_form` their shortest form, `motion` the recursion over a robot's bodies in it.
`parameters` and `naming` say which of a robot's numbers are symbols, and `reading` reads polynomials in these.
`notation` and `page` write formulas as text, LaTeX and MathML. All of it needs SymPy; without it this module can be
looked at, and says so when it is used.
"""

from ..errors import MissingPackageError

try:
    import sympy as _sympy  # noqa: F401
except ImportError:
    __all__ = ["equations_of_motion"]

    def equations_of_motion(*args, **options):  # type: ignore[misc]
        """The equations of motion of a robot as formulas to read. This needs sympy: pip install 'adjoint[sym]'."""
        __getattr__("Equations")

    def __getattr__(name: str):
        if name in ("Equations", "Factored", "InnerProduct", "Values"):
            raise MissingPackageError("closed forms need sympy: pip install 'adjoint[sym]'") from None
        raise AttributeError(f"module 'adjoint.equations' has no attribute '{name}'")
else:
    from .expanded import Equations as Equations
    from .expanded import Values as Values
    from .factored import Factored as Factored
    from .factored import InnerProduct as InnerProduct
    from .of_motion import equations_of_motion as equations_of_motion  # type: ignore[assignment]

    __all__ = ["Equations", "Factored", "InnerProduct", "Values", "equations_of_motion"]


def __dir__() -> list[str]:
    return __all__
