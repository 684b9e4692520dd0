"""Draws what statements compute: values that stay of moderate size, so that no signed integer overflows."""

from __future__ import annotations

from tests.fuzz.draft import Draft
from tests.fuzz.expressions import Data, DataType, Literally, Operation, Ref
from tests.fuzz.integers import element
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Declare

_DOUBLE = (
    ("{} + {}", 2),
    ("0.5 * {} + 0.25 * {}", 2),
    ("{} - 0.5 * {}", 2),
    ("0.25 * ({} + {} + {} - 1.0)", 3),
    ("0.5 * {} * {}", 2),
    ("0.125", 0),
    ("{} / ({} * 0.5 + 4.0)", 2),
    ("fabs({}) - 0.5", 1),
    ("sqrt(fabs({} + {}))", 2),
    ("blend({}, {})", 2),
    ("({} > {} ? {} : 0.25)", 3),
    ("-({})", 1),
    ("SQUARE({}) - 0.5", 1),
    ("MIX(0.5, {}, {})", 2),
)
_EXACT = (("{}", 1), ("{} + {}", 2), ("{} * {}", 2), ("({} > {} ? {} : 3)", 3), ("2 * {} + {}", 2))
_UNSIGNED = (
    ("{} + {}", 2),
    ("3u * {} + 1u", 1),
    ("{} * {} - 7u", 2),
    ("{}", 1),
    ("({} < {} ? {} : 5u)", 3),
    ("({} >> 3) ^ {}", 2),
    ("MIX(3u, {}, {})", 2),
)
_INT = (("{} + {}", 2), ("{} - 2 * {}", 2), ("{} * {} + 1", 2), ("({} > 4 ? {} : -({}))", 3), ("CLIP({})", 1))
_PATTERNS: dict[DataType, tuple[tuple[str, int], ...]] = {
    "double": _DOUBLE,
    "float": _DOUBLE,
    "unsigned": _UNSIGNED,
    "int": _INT,
    "long long": _INT,
    "unsigned char": _INT,
    "short": _INT,
}
_LITERALS: dict[DataType, tuple[str, ...]] = {
    "double": ("0.5", "1.0", "-0.25"),
    "float": ("0.5f", "2.0f", "-0.25"),
    "unsigned": ("1u", "9u", "013u", "0x80000001"),
    "int": ("1", "17", "012", "0x1f", "'A'"),
    "long long": ("1", "17LL", "021LL", "0x11"),
    "unsigned char": ("1", "200", "0310", "'\\377'"),
    "short": ("3", "-17", "-021"),
}
_ITERATORS: dict[DataType, str] = {
    "double": "0.125 * {}",
    "float": "0.25f * {}",
    "unsigned": "(unsigned){}",
    "long long": "(long long){}",
}
# Which other arrays' elements may stand where a type is asked for, without a conversion that C leaves open.
_CONVERTED: dict[DataType, tuple[DataType, ...]] = {
    "double": ("float", "int", "short"),
    "float": ("unsigned char", "short"),
    "unsigned": ("unsigned char",),
    "int": ("short", "unsigned char"),
    "long long": ("int", "short"),
    "unsigned char": ("int",),
    "short": ("unsigned char", "int"),
}


def update(draft: Draft, scope: Scope, kind: DataType) -> tuple[str, Data]:
    """Operator and value of an assignment, such that doubles stay of moderate size and ints small."""
    choices = draft.choices
    drawn = value(draft, scope, kind)
    match kind:
        case "int" | "short" | "long long":
            return "=", Operation("({}) % 1009", (drawn,))
        case "unsigned":
            return choices.pick("=", "+=", "-=", "*="), drawn
        case "unsigned char":
            return choices.pick("=", "="), drawn
        case "double" | "float":
            op = choices.pick("=", "=", "+=", "-=", "*=")
            return op, Literally("0.75") if op == "*=" and choices.chance(70) else drawn


def value(draft: Draft, scope: Scope, kind: DataType) -> Data:
    patterns = _EXACT if draft.kind.exact and kind in ("double", "float") else _PATTERNS[kind]
    pattern, count = draft.choices.pick(*patterns)
    return Operation(pattern, tuple(leaf(draft, scope, kind) for _ in range(count)))


def leaf(draft: Draft, scope: Scope, kind: DataType) -> Data:
    """A value of the kind without operators: an element, a scalar, a local, a literal, an iterator."""
    choices = draft.choices
    shapes = [shape for shape in draft.data() if shape.type == kind]
    others = [shape for shape in draft.data() if shape.type in _CONVERTED[kind]]
    if others and choices.chance(15 if shapes else 50):
        return element(draft, scope, choices.pick(*others))
    if shapes and not choices.chance(25):
        return element(draft, scope, choices.pick(*shapes))
    names = [Ref(s.text) for s in draft.scalars if s.type == kind]
    names += [_local(draft, local) for local in scope.locals if local.type == kind]
    if names and not draft.kind.exact and not choices.chance(30):
        return choices.pick(*names)
    if scope.iterators and not draft.kind.exact and choices.chance(30):
        return Literally(_ITERATORS.get(kind, "(int){}").format(choices.pick(*scope.iterators)))
    return literal(draft, kind)


def _local(draft: Draft, local: Declare) -> Ref:
    return Ref(local.name if local.extent is None else f"{local.name}[{draft.choices.up_to(local.extent - 1)}]")


def literal(draft: Draft, kind: DataType) -> Data:
    if draft.kind.exact and kind in ("double", "float"):
        return Literally(draft.choices.pick("1", "3", "5.0"))
    return Literally(draft.choices.pick(*_LITERALS[kind]))
