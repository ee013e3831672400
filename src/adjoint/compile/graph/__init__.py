"""From a Python function to a graph of operations.

- `operations`: the table of operations; one row has the value, the constant folding and the derivative of one.
- `expressions`: graphs of scalars. A node is an `Expr`; equal nodes are one object, and simple ones are simplified.
- `tracing`: NumPy's functions on arrays of such scalars, so that a function can be run once on symbols.
- `trace_errors`: what a user is told of a line that cannot be traced.
- `loops`: `scan` and `while_loop`, which become one node each; `nested` walks through their nested structures.
- `program`: a traced function with its inputs and results; `operation_counts` counts what one sample costs.
- `interpreter`: a graph evaluated node by node, without a compiler.
"""
