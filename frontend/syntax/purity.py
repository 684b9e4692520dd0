"""Functions whose bodies show that they only compute a value from their arguments:
as if declared ``__attribute__((const))``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.syntax.symbols import base_name
from scopt.ir.effects import STEPS, opaque_words

# The functions of <math.h> and the like that compute a value from values.
# That they may set errno is not taken as an effect.
_ROUNDING = ("ceil", "floor", "trunc", "round", "rint", "nearbyint", "lround", "llround", "lrint", "llrint")
_MATH = (
    *_ROUNDING,
    *"""
        acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh erf erfc exp exp2 expm1 fabs fdim fma fmax
        fmin fmod hypot ilogb ldexp log log10 log1p log2 logb nextafter pow remainder scalbln scalbn sin sinh sqrt
        tan tanh tgamma exp10
    """.split(),
)
# Those of <complex.h>.
_COMPLEX = """
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt
    ctan ctanh
""".split()
_OTHER = ("abs", "labs", "llabs", "isalpha", "isdigit", "isspace", "toupper", "tolower")
_BUILTINS = (
    *"""
        expect popcount popcountl popcountll clz clzl clzll ctz ctzl ctzll bswap16 bswap32 bswap64 isnan isinf isfinite
        isnormal isinf_sign signbit inf inff infl huge_val huge_valf huge_vall
        nan nanf nanl parity parityl parityll ffs ffsl ffsll complex isless islessequal islessgreater isgreater
        isgreaterequal isunordered fpclassify
    """.split(),
)
VALUE_FUNCTIONS = frozenset(
    [name + suffix for name in (*_MATH, *_COMPLEX) for suffix in ("", "f", "l")]
    + list(_OTHER)
    + ["__builtin_" + name + suffix for name in (*_MATH, *_COMPLEX) for suffix in ("", "f", "l")]
    + ["__builtin_" + name for name in (*_OTHER, *_BUILTINS)]
)
# What a body may consist of besides names, members, assignments and calls, which are looked at one by one.
_HARMLESS = (
    ir.Compound,
    ir.If,
    ir.Return,
    ir.BinaryOp,
    ir.TernaryOp,
    ir.Constant,
    ir.ExprList,
    ir.EmptyStatement,
    ir.Switch,
    ir.Case,
    ir.Default,
    ir.Break,
    ir.Continue,
    ir.Cast,
    ir.DeclList,
    ir.InitList,
    ir.Typename,
    ir.TypeDecl,
    ir.IdentifierType,
    ir.ArrayDecl,
    ir.Union,
    ir.Struct,
    ir.NamedInitializer,
    ir.Enum,
    ir.CompoundLiteral,
)
_OPERATORS = frozenset({"+", "-", "!", "~", "sizeof"})
# Calls that copy bytes: of one local to another one, as those that look at a floating-point number's bits.
_COPYING = frozenset(prefix + name for name in ("memcpy", "memmove") for prefix in ("", "__builtin_"))


def computing_functions(ast: ir.FileAST, known: Collection[str], replaceable: Collection[str]) -> frozenset[str]:
    """Names of the functions with a body that only compute a value. known: others that do.

    Only those that nobody can put another function in the place of. They read their parameters,
    locals and constant tables, write their locals, and call functions of the same kind; loops in them are taken to end,
    as C allows.
    """
    functions = {node.decl.name: node for node in ast.ext if isinstance(node, ir.FuncDef)}
    declared = [
        node for node in ast.ext if isinstance(node, ir.Decl) and node.name and not isinstance(node.type, ir.FuncDecl)
    ]
    constants = {node.name: _rank(node.type) for node in declared if _is_constant(node)}
    constants.update((name, 0) for node in ast.ext for name in _enumerators(node))
    variables = frozenset(node.name for node in declared)
    found = _Functions(functions, frozenset(known), constants, variables, frozenset(replaceable))
    return frozenset(name for name in functions if found.computes(name))


class _Functions(Struct, eq=False):
    """functions: those with a body. constants: names at file scope whose values never change, with their ranks.
    variables: all names of objects. replaceable: functions that others may be put in the place of.

    results: what is known so far; None: being looked at.
    """

    functions: Mapping[str, Any]
    known: frozenset[str]
    constants: Mapping[str, int]
    variables: frozenset[str]
    replaceable: frozenset[str] = frozenset()
    results: dict[str, bool | None] = field(default_factory=dict)

    def computes(self, name: str) -> bool:
        if name in self.results:
            return self.results[name] is True  # one that calls itself might not end
        function = self.functions.get(name)
        if function is None:
            return name in self.known
        self.results[name] = None
        self.results[name] = (
            is_own(function, self.replaceable) and _takes_values(function) and self.body_computes(function)
        )
        return self.results[name] is True

    def body_computes(self, function: Any) -> bool:
        args = function.decl.type.args
        local = {param.name: 0 for param in (args.params if args is not None else ()) if isinstance(param, ir.Decl)}
        todo = [function.body]
        while todo:
            node = todo.pop()
            if isinstance(node, ir.Decl):
                # One that hides another is that one again behind its block.
                if not _is_plain_local(node) or node.name in self.variables:
                    return False
                local[node.name] = _rank(node.type)
            elif not self.is_allowed(node, local):
                return False
            # In the order of the text, so that a local is known where it is used.
            inside = [node.args.exprs[2]] if self.is_copy(node, local) else [child for _, child in _looked_into(node)]
            todo.extend(reversed(inside))
        return True

    def is_allowed(self, node: Any, local: Mapping[str, int]) -> bool:
        match node:
            case ir.ID():
                return node.name in local or node.name in self.constants
            case ir.Assignment():
                return base_name(node.lvalue) in local
            case ir.UnaryOp():
                return node.op in _OPERATORS or (node.op in STEPS and base_name(node.expr) in local)
            case ir.StructRef():
                return node.type == "." and base_name(node) in local
            case ir.ArrayRef():
                return self.is_element(node, local)
            case ir.For() | ir.While() | ir.DoWhile():
                return node.cond is not None and not isinstance(node.cond, ir.Constant)
            case ir.FuncCall() if self.is_copy(node, local):
                return True
            case ir.FuncCall():
                name = node.name.name if isinstance(node.name, ir.ID) and opaque_words(node) is None else ""
                return name not in local and self.computes(name)
        if isinstance(node, (ir.TypeDecl, ir.ArrayDecl)) and _has_qualifier(node, ("volatile", "_Atomic")):
            return False
        return isinstance(node, _HARMLESS)

    def is_copy(self, node: Any, local: Mapping[str, int]) -> bool:
        """Whether a call copies all or part of a local variable, or of a constant, to a local one."""
        name = node.name.name if isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID) else ""
        if name not in _COPYING or name in local or name in self.functions or opaque_words(node) is not None:
            return False
        places: Sequence[Any] = node.args.exprs if node.args is not None else []
        if len(places) != len(("to", "from", "size")):
            return False
        return _object(places[0], local) and (_object(places[1], local) or _object(places[1], self.constants))

    def is_element(self, node: Any, local: Mapping[str, int]) -> bool:
        """Whether a reference is to an element of an array, or a row, not to what an element points to."""
        depth = 0
        while isinstance(node, ir.ArrayRef):
            depth, node = depth + 1, node.name
        name = node.name if isinstance(node, ir.ID) else ""
        return depth <= local.get(name, self.constants.get(name, 0))


def _object(place: Any, ranks: Mapping[str, int]) -> bool:
    """Whether an argument is the address of one of some variables, or one that is an array."""
    if isinstance(place, ir.UnaryOp) and place.op == "&":
        return isinstance(place.expr, ir.ID) and place.expr.name in ranks
    return isinstance(place, ir.ID) and ranks.get(place.name, 0) > 0


def _looked_into(node: Any) -> list[tuple[str, Any]]:
    """The children that are code: not the name of what is called, nor names of members."""
    if isinstance(node, ir.FuncCall):
        return [(role, child) for role, child in node.children() if role != "name"]
    if isinstance(node, ir.StructRef):
        return [("name", node.name)]
    if isinstance(node, (ir.Union, ir.Struct, ir.Enum)):
        return []
    return list(node.children())


def is_own(function: Any, replaceable: Collection[str]) -> bool:
    """Whether a call by its name calls a function of the file. replaceable: those that others may be put in the place
    of."""
    return is_fixed(function) or function.decl.name not in replaceable


def is_fixed(function: Any) -> bool:
    return "static" in (function.decl.storage or ()) or any(
        word in ("inline", "__inline", "__inline__") for word in function.decl.funcspec or ()
    )


def _takes_values(function: Any) -> bool:
    """Whether it is given numbers and returns one."""
    declared = function.decl.type
    params = declared.args.params if declared.args is not None else ()
    if function.param_decls or not isinstance(declared.type, ir.TypeDecl) or _names(declared.type) == ["void"]:
        return False
    return all(isinstance(param, (ir.Decl, ir.Typename)) and _is_value(param.type) for param in params)


def _is_value(declared: Any) -> bool:
    """Whether a type is spelled without pointers and arrays, and is not volatile. What a typedef hides can't be
    followed without a `*` or `[]`."""
    return isinstance(declared, ir.TypeDecl) and not _has_qualifier(declared, ("volatile", "_Atomic"))


def _is_plain_local(node: ir.Decl) -> bool:
    """Whether a call has a variable or array of its own, or all calls have the same constants."""
    inner: Any = node.type
    while isinstance(inner, ir.ArrayDecl):
        if not isinstance(inner.dim, (ir.Constant, ir.BinaryOp, type(None))):
            return False
        inner = inner.type
    if list(node.storage or ()) == ["static"]:
        return _is_value(inner) and node.init is not None and _is_constant(node)
    return not node.storage and _is_value(inner)


def _rank(declared: Any) -> int:
    rank = 0
    while isinstance(declared, ir.ArrayDecl):
        rank, declared = rank + 1, declared.type
    return rank


def _is_constant(node: ir.Decl) -> bool:
    """Whether an array or scalar of the file is const."""
    inner: Any = node.type
    while isinstance(inner, ir.ArrayDecl):
        inner = inner.type
    return (
        isinstance(inner, ir.TypeDecl)
        and _has_qualifier(inner, ("const",))
        and not _has_qualifier(inner, ("volatile",))
    )


def _has_qualifier(node: Any, qualifiers: Iterable[str]) -> bool:
    return any(qualifier in (getattr(node, "quals", None) or ()) for qualifier in qualifiers)


def _names(declared: Any) -> list[str]:
    return list(declared.type.names) if isinstance(declared.type, ir.IdentifierType) else []


def _enumerators(node: Any) -> list[str]:
    while node is not None and not isinstance(node, ir.Enum):
        node = getattr(node, "type", None)
    return [one.name for one in node.values.enumerators] if node is not None and node.values is not None else []
