"""From a Python function to a graph of operations.

- `operations`: the table of operations. One row has the value, the constant folding and the derivative of one of them.
- `expressions`: graphs of scalars. A node is an `Expr`; equal nodes are one object, and every new node is simplified.
- `tracing`: NumPy's functions on arrays of such scalars, so that a function can run once on symbols.
- `trace_errors`: the errors that tell a user which line cannot be traced, and why.
- `loops`: `scan` and `while_loop`, each of which becomes one node of the graph. `nested` walks through the structures
  of arrays that they carry; `current` knows which graph a thread is tracing into.
- `program`: a traced function with its inputs and results. `operation_counts` counts the operations of one sample.
- `interpreter`: evaluates a graph node by node, without a compiler.
"""
