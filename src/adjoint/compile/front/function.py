"""`Function`: what a kernel computes, and what it remembers. `Kernel` adds what users do with it.

All other files of the compiler work with `Function` only, so that none of them has to import the class `Kernel`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from .arguments import Arguments
from .kept_kernels import MemoryUsage
from .parameters import Parameter
from .specialisation import Specialisation

if TYPE_CHECKING:
    from .call_forms import Form

__all__ = ["MOST_FORMS", "Function", "Memory", "Origin", "Recent"]

MOST_FORMS = 64  # the most forms of calls that a kernel remembers: every order of keywords is another form


class Origin(NamedTuple):
    """How a kernel was made from another one: by the method `how` of `parent`, with these arguments."""

    parent: Function
    how: str
    arguments: Any  # a dict for "bind", a tuple for all other methods


class Recent(NamedTuple):
    """The last call that had one static argument, in first place.

    `static` is that argument, `places` counts all arguments of the call, and `bound` is the kernel bound to `static`.
    """

    static: Any
    places: int
    bound: Function


class Memory:
    """What a kernel remembers. All of it can be made again, so that a kernel may forget it at any time.

    - `specialisations`: the kernel with its static arguments as they are, by the names of the inputs that are given;
    - `made`: kernels that were made from this one, by what they were made with; `kept_kernels` keeps them alive;
    - `forms`: how calls of a form are served; a form is the number of positional arguments and the names of the others;
    - `recent`: the last call of the most frequent form;
    - `others`: the functions that serve calls instead, or None, by the names of the inputs that are given;
    - `numbers`: values that were given for static arguments whose default is a whole number, by name;
    - `usage`: how much memory the kernel takes.
    """

    __slots__ = ("forms", "made", "numbers", "others", "recent", "specialisations", "usage")

    def __init__(self) -> None:
        self.specialisations: dict[tuple[str, ...], Specialisation] = {}
        self.made: WeakValueDictionary[Any, Any] = WeakValueDictionary()
        self.forms: dict[tuple, Form] = {}
        self.recent: Recent | None = None
        self.others: dict[tuple[str, ...], Callable | None] = {}
        self.numbers: dict[str, set | None] = {}
        self.usage = MemoryUsage()

    def keep_form(self, key: tuple, form: Form) -> None:
        """Remember how calls of a form are served; all other forms are forgotten when there are many."""
        if key not in self.forms and len(self.forms) >= MOST_FORMS:
            self.forms.clear()
        self.forms[key] = form

    def forget_calls_of(self, bound: Function) -> bool:
        """Forget all calls that `bound`, a kernel made from this one, has served; returns whether there were any."""
        mine = [key for key, form in list(self.forms.items()) if getattr(form, "bound", None) is bound]
        for key in mine:
            self.forms.pop(key, None)
        is_recent = self.recent is not None and self.recent.bound is bound
        if is_recent:
            self.recent = None
        return bool(mine) or is_recent


class Function:
    """A function of one sample with its parameters, some static arguments fixed, and a memory.

    `make(statics, present)` makes the specialisation for given static arguments and present inputs.
    """

    def __init__(
        self,
        name: str,
        parameters: list[Parameter],
        make: Callable[[dict, list[str]], Specialisation],
        doc: str | None,
        statics: dict[str, Any] | None = None,
    ):
        fixed = dict(statics or {})
        vars(self).update(
            __name__=name,
            __qualname__=name,
            __doc__=doc,
            parameters=parameters,
            statics=fixed,
            make=make,
            arguments=Arguments(name, parameters, fixed),
            memory=Memory(),
            origin=None,
            unrolled=False,
            other=None,
            own_threads=None,
        )

    if TYPE_CHECKING:
        __name__: str
        __qualname__: str
        parameters: list[Parameter]
        statics: dict[str, Any]
        make: Callable[[dict, list[str]], Specialisation]
        arguments: Arguments
        memory: Memory
        origin: Origin | None
        unrolled: bool  # its programs are compiled whatever their size
        other: Callable[[dict, tuple[str, ...]], Callable | None] | None  # see `Kernel.instead`
        own_threads: int | None  # the number that the user has set
        __wrapped__: Callable

        @property
        def threads(self) -> int: ...
        def bind(self, /, *args, **options) -> Any: ...
        def __call__(self, *args, **kwargs) -> Any: ...

    @classmethod
    def new(cls, name: str, parameters: list[Parameter], make: Callable, doc: str | None, statics=None) -> Any:
        """Make a kernel."""
        raise NotImplementedError

    def __setattr__(self, name: str, value) -> None:
        if name not in vars(self) and name != "threads" and name[:2] != "__":
            raise AttributeError(f"a kernel has no attribute '{name}' to set; there is `threads`")
        object.__setattr__(self, name, value)

    # --- specialisations -----------------------------------------------------------------------------

    def specialisation(self, statics: dict[str, Any], present: list[str]) -> Specialisation:
        """Return this kernel with these static arguments and inputs: its own, or that of the kernel bound to them."""
        if others := self.arguments.other_than_defaults(statics):
            return self.bind(**others).specialisation(statics, present)
        known = self.memory.specialisations
        found = known.get(tuple(present))
        if found is None:
            # This is done without the lock: modules run `eager` while they are imported, and another thread that holds
            # the lock may be waiting for that import. If two threads make the same one, that of the first is kept.
            made = self.make(statics, present)
            made.usage = self.memory.usage
            if self.unrolled:
                made.node_limit = math.inf
            found = known.setdefault(tuple(present), made)
        return found

    def only_specialisation(self, wanted: str) -> Specialisation:
        """Return the specialisation of a kernel whose static arguments are all known; `wanted` is for an error."""
        return self.specialisation(*self.arguments.left_out(wanted))

    def instead_of_this(self, statics: dict[str, Any], names: Iterable[str]) -> Callable | None:
        """The function that serves calls with these static arguments and inputs, or None; see `Kernel.instead`.

        The kernel remembers the function, unless the static arguments are others than those it is bound to.
        """
        if self.other is None:
            return None
        given, known = tuple(names), self.memory.others
        if self.arguments.other_than_defaults(statics):
            return self.other(statics, given)
        if given not in known:
            known[given] = self.other(statics, given)
        return known[given]

    # --- memory: see `kept_kernels` --------------------------------------------------------------------

    @property
    def python_call(self) -> Callable:
        """The `__call__` of the class `Kernel`, in Python.

        Machine code may have replaced it in the class of this kernel.
        """
        return type(self).__mro__[1].__call__

    def is_wanted(self) -> bool:
        """Return whether this kernel is to be kept: its threads were set, or it served the last calls of its parent.

        The parent forgets these calls, so that the next answer may be another.
        """
        served = self.origin is not None and self.origin.parent.memory.forget_calls_of(self)
        return served or self.own_threads is not None

    def let_go(self) -> None:
        """Break the references to this kernel from its own class and from the callers of its machine code.

        The next call makes new callers.
        """
        type(self).__call__ = self.python_call
        self.memory.forms.clear()
        for found in list(self.memory.specialisations.values()):
            found.call, found.call_as_arrays, found.codes_in_call = None, None, 0

    def forget_callers(self) -> None:
        """Have the callers made again, here and in kernels made from this one: they know the number of threads."""
        self.let_go()
        for made in list(self.memory.made.values()):
            made.forget_callers()

    def is_made_for(self, value) -> bool:
        """Return whether `value` is one of the fixed static arguments."""
        return any(type(x) is type(value) and x == value for x in self.statics.values())

    def drop_programs(self) -> MemoryUsage:
        """Free those programs that tracing would give again (of functions of this library).

        Returns what memory is left.
        """
        for found in list(self.memory.specialisations.values()):
            found.drop_program()
        return self.memory.usage
