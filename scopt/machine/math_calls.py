"""What becomes of functions of the mathematical library."""

from __future__ import annotations

# Those that are calls wherever results have to be exact.
CALLED = frozenset(
    name + kind
    for name in """
        acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fmod hypot lgamma log log10
        log1p log2 pow remainder sin sinh tan tanh tgamma
    """.split()
    for kind in ("", "f", "l")
)
# Those that are an instruction, and those that take the unit for divisions.
INSTRUCTIONS = frozenset(name + kind for name in ("fabs", "copysign", "__builtin_inf") for kind in ("", "f"))
ROOTS = frozenset(("sqrt", "sqrtf"))
