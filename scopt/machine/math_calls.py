"""What becomes of functions of the mathematical library, and of divisions."""

from __future__ import annotations

from scopt import ir

# Those that are calls wherever results have to be exact.
CALLED = frozenset(
    name + kind
    for name in """
        acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fmod hypot lgamma log log10
        log1p log2 pow remainder sin sinh tan tanh tgamma
    """.split()
    for kind in ("", "f", "l")
)
# Those of complex numbers: calls likewise, but for those that name their parts.
COMPLEX_CALLED = frozenset(
    name + kind
    for name in """
        cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp clog cpow cproj csin csinh csqrt ctan ctanh
    """.split()
    for kind in ("", "f", "l")
)
COMPLEX_PARTS = frozenset(name + kind for name in ("creal", "cimag") for kind in ("", "f", "l"))
CONJUGATES = frozenset(("conj", "conjf", "conjl"))
# Those that are an instruction, and those that take the unit for divisions.
INSTRUCTIONS = frozenset(name + kind for name in ("fabs", "copysign", "__builtin_inf") for kind in ("", "f"))
INSTRUCTIONS |= COMPLEX_PARTS | CONJUGATES
ROOTS = frozenset(("sqrt", "sqrtf"))


def divides(node: ir.BinaryOp | ir.Assignment | ir.UnaryOp) -> bool:
    """Whether an operation is a division, other than by a power of two that the source spells: that is a shift, or a
    product."""
    if isinstance(node, ir.UnaryOp) or node.op not in ("/", "%", "/=", "%="):
        return False
    divisor = node.right if isinstance(node, ir.BinaryOp) else node.rvalue
    digits = divisor.value.rstrip("uUlL") if isinstance(divisor, ir.Constant) else ""
    return not (digits.isdecimal() and int(digits).bit_count() == 1)
