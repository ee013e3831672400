"""From graphs to text: LLVM's intermediate representation (IR).

- `target`: the kind of processor that code is written for. `ir`: a small writer of IR, with vectors of any width.
- `scheduler`: the order in which the operations of a graph are computed, so that few values wait in registers.
- `body`: the code that computes one group of samples, operation by operation; `rows`: how it reads and writes rows.
- `segments`: cuts programs that are too long for one function into several.
- `batch_loop`: the loop over the groups of a batch; `line_stores` writes large results past the caches.
- `watch`: the places where a long call checks whether it has to stop.
- `vecmath`: elementary functions such as sin and exp on vectors. A new one goes there, and into `graph.operations`.
- `c_source`: a program as one C99 file.
"""
