"""Code generation: schedule tree → isl AST → simplified form (`LoopNest`) → C, and the ways back that check it.

`build` makes the loops, `simplify` and `work` rewrite them, `emit_c` prints them; `readback` and `reparse` read them again.
"""
