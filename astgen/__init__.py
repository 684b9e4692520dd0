"""Code generation: schedule tree → isl AST → simplified form (`LoopNest`) → C, and the ways back that check it.

`build` makes the loops with `simplify`, `bounds`, `rounding` and `names`, one rewrite each; `work` guards parallel
ones; `emit_c` prints through `c_expr` and `c_statement`. `readback` (over `sets`) and `reparse` (over `c_read` and
`statement_match`) read them again.
"""
