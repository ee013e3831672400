"""What a call meets first: what a kernel is, what it is given, and which machine code serves it.

- `parameters`: what a kernel takes. `arguments`: what a call gives, sorted and checked.
- `function`: what a kernel is and remembers. `specialisation`: a kernel with all static arguments fixed, which is
  traced once, and compiled once for each dtype and width. `binding` fixes static arguments.
- `dispatch`: serves any call. `call_forms`: serves calls whose arguments are given like those of an earlier call.
- `inline`: runs kernels as plain Python, eagerly or inside other kernels.
- `kept_kernels`: limits how many kernels, and how much memory, a process keeps.
- `export`, `casadi_functions`: kernels as text, and as functions of CasADi.
- `tracebacks`: errors that show the user's own lines. `progress`: tells the user that something is being compiled.
"""
