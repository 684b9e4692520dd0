"""C types: what a declarator says, with typedefs resolved, for the target that the preprocessor describes.

Types stand in the same mapping as the other names: a base type under its canonical spelling (``unsigned int``), a
typedef under its name, an enum under its `enum_key`. So one `Mapping[str, Symbol]` says all that is known at a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import CType

SymbolKind = Literal["parameter", "local", "global", "enum-constant", "function", "typedef", "type"]


class Layer(NamedTuple):
    """One step from an object to its element: array of, pointer to, function returning.
    dim: an array's extent, None if unknown."""

    kind: Literal["array", "pointer", "function"]
    dim: ir.Node | None = None
    quals: tuple[str, ...] = ()


class Symbol(Struct, frozen=True, eq=False):
    """What a name means at a place.

    type: of an element. dims: extents, outermost first, None where unknown; () for a scalar. The first extent of a
      parameter is what is written there, though C doesn't enforce it; the first of a pointer is None.
    pointer: elements are reached through a pointer value. pointer_depth: how many pointers have to be followed.
    restrict, static, extern, thread_local: as declared (static: storage that outlives the call, or internal linkage).
    address_taken: a pointer to it may exist: ``&x``, an array used as a value, any global.
    decl: the declaration. value: of an enum constant. size: of the element in bytes, 0 if unknown. layers: the whole
      type. row: of a pointer to pointers (to pointers …) to numbers, the type and size of these.
    within: the variable in whose object, or in an element of which, a member of a structure lies, else None; path: the
      member's name there, with those of the structures around it; struct: tells definitions of structures apart, 0 if
      unknown.
    """

    name: str
    kind: SymbolKind
    type: CType
    dims: tuple[ir.Node | None, ...] = ()
    pointer: bool = False
    pointer_depth: int = 0
    restrict: bool = False
    static: bool = False
    extern: bool = False
    thread_local: bool = False
    address_taken: bool = False
    decl: Any = None
    value: int | None = None
    size: int = 0
    layers: tuple[Layer, ...] = ()
    within: Symbol | None = None
    path: tuple[str, ...] = ()
    struct: ir.Node | None = None
    row: tuple[CType, int] | None = None


class _HasBody(Protocol):
    @property
    def body(self) -> str: ...


def is_complex(ctype: CType) -> bool:
    """Whether a type is that of complex numbers, which are `floating` and have the bits of both parts."""
    return ctype.spelling.endswith(" _Complex")


# Bits of the types that may be of any object (C17 6.5p7).
CHARACTER = 8
_SIZES = {"short": 2, "int": 4, "long": 8, "long long": 8, "void *": 8, "float": 4, "double": 8, "long double": 16}
_SIZE_MACROS = {
    "short": "__SIZEOF_SHORT__",
    "int": "__SIZEOF_INT__",
    "long": "__SIZEOF_LONG__",
    "long long": "__SIZEOF_LONG_LONG__",
    "void *": "__SIZEOF_POINTER__",
    "float": "__SIZEOF_FLOAT__",
    "double": "__SIZEOF_DOUBLE__",
    "long double": "__SIZEOF_LONG_DOUBLE__",
}


def target_of(macros: Mapping[str, _HasBody]) -> dict[str, Symbol]:
    """The base types of the target, described by the compiler's predefined macros (LP64 where they are missing)."""
    sizes = {
        name: int(macros[m].body) if m in macros and macros[m].body.isdigit() else _SIZES[name]
        for name, m in _SIZE_MACROS.items()
    }
    types: list[tuple[CType, int]] = [
        (CType("char", integer=True, signed="__CHAR_UNSIGNED__" not in macros, bits=8), 1),
        (CType("signed char", integer=True, bits=8), 1),
        (CType("unsigned char", integer=True, signed=False, bits=8), 1),
        (CType("_Bool", integer=True, signed=False, bits=1), 1),
        (CType("void"), 1),
        (CType("void *"), sizes["void *"]),
        (CType("__int128", integer=True, bits=128), 16),
        (CType("unsigned __int128", integer=True, signed=False, bits=128), 16),
    ]
    for name in ("short", "int", "long", "long long"):
        types.append((CType(name, integer=True, bits=8 * sizes[name]), sizes[name]))
        types.append((CType(f"unsigned {name}", integer=True, signed=False, bits=8 * sizes[name]), sizes[name]))
    for name in ("float", "double", "long double"):
        types.append((CType(name, floating=True, bits=8 * sizes[name]), sizes[name]))
        types.append((CType(f"{name} _Complex", floating=True, bits=16 * sizes[name]), 2 * sizes[name]))
    return {t.spelling: Symbol(t.spelling, "type", t, size=size) for t, size in types}


def canonical(names: Sequence[str]) -> str:
    """The canonical spelling of a list of type specifier words: ``long unsigned int`` is ``unsigned long``."""
    words = list(names)
    if "_Complex" in words:
        return f"{canonical([w for w in words if w != '_Complex'] or ['double'])} _Complex"
    unsigned = "unsigned" in words
    base = [w for w in words if w not in ("unsigned", "signed")]
    if "char" in base:
        return "unsigned char" if unsigned else "signed char" if "signed" in words else "char"
    if "long" in base or "short" in base or "int" in base or not base:
        if "double" in base:
            return "long double"
        width = " ".join(w for w in base if w in ("long", "short")) or "int"
        return f"unsigned {width}" if unsigned else width
    return f"unsigned {' '.join(base)}" if unsigned else " ".join(base)


class Shape(NamedTuple):
    """A declarator taken apart: layers from the object inwards, the element's type and size."""

    layers: tuple[Layer, ...]
    type: CType
    size: int


def shape_of(node: Any, scope: Mapping[str, Symbol]) -> Shape:
    """The type that a declaration, type name or declarator node gives."""
    layers: list[Layer] = []
    while True:
        match node:
            case ir.ArrayDecl():
                # `[*]` in a prototype comes as an identifier.
                unknown = isinstance(node.dim, ir.ID) and node.dim.name == "*"
                layers.append(Layer("array", None if unknown else node.dim, tuple(node.dim_quals or ())))
            case ir.PtrDecl():
                layers.append(Layer("pointer", None, tuple(node.quals or ())))
            case ir.FuncDecl():
                layers.append(Layer("function"))
            case ir.TypeDecl():
                inner, element, size = _base(node.type, scope)
                quals = (*(node.quals or ()),)
                if inner:
                    # Qualifiers on a typedef of an array go to its elements; on one of a pointer to the pointer itself.
                    pointer = next((k for k, layer in enumerate(inner) if layer.kind == "pointer"), None)
                    if pointer is not None:
                        inner = (
                            *inner[:pointer],
                            inner[pointer]._replace(quals=(*inner[pointer].quals, *quals)),
                            *inner[pointer + 1 :],
                        )
                        quals = ()
                return Shape((*layers, *inner), _qualified(element, quals), size)
            case ir.Decl() | ir.Typedef() | ir.Typename():
                pass
            case _:
                inner, element, size = _base(node, scope)
                return Shape((*layers, *inner), element, size)
        node = node.type


def _base(node: Any, scope: Mapping[str, Symbol]) -> tuple[tuple[Layer, ...], CType, int]:
    match node:
        case ir.IdentifierType():
            spelling = canonical(node.names)
            symbol = scope.get(spelling)
            if symbol is None or symbol.kind not in ("typedef", "type"):
                return (), CType(" ".join(node.names)), 0
            # `typedef double **matrix;` leads to doubles, whose pointers are among the layers
            element, size = symbol.row or (symbol.type, symbol.size)
            if symbol.kind == "typedef" and not symbol.layers and not element.floating:
                # `typedef double real;` is a name for the same type, of which all that looks for doubles may know
                element = replace(element, spelling=spelling)
            return symbol.layers, element, size
        case ir.Enum():
            symbol = scope.get(enum_key(node))
            return (
                ((), symbol.type, symbol.size)
                if symbol is not None
                else ((), CType(f"enum {node.name or ''}".strip()), 0)
            )
        case ir.Struct():
            return (), CType(f"struct {node.name}" if node.name else "struct"), 0
        case ir.Union():
            return (), CType(f"union {node.name}" if node.name else "union"), 0
    return (), CType("?"), 0


def enum_key(node: Any) -> str:
    """The key of an enum's type in a scope; one without a tag goes by its node."""
    return f"enum {node.name}" if node.name else f"enum @{id(node)}"


def _qualified(element: CType, quals: Iterable[str]) -> CType:
    present = set(quals)
    return replace(
        element,
        volatile=element.volatile or "volatile" in present,
        atomic=element.atomic or "_Atomic" in present,
        const=element.const or "const" in present,
    )


def describe(name: str, shape: Shape, kind: SymbolKind) -> Symbol:
    """A symbol from its type: which layers are dimensions, which are pointers to follow."""
    layers, element, size = shape
    volatile = element.volatile or any("volatile" in layer.quals for layer in layers)
    element = replace(
        element, volatile=volatile, atomic=element.atomic or any("_Atomic" in layer.quals for layer in layers)
    )
    base = Symbol(name, kind, element, layers=layers, size=size)
    if layers and layers[0].kind == "function":
        return replace(base, kind="function" if kind != "typedef" else kind)
    pointer, restrict, dims, rest = False, False, [], list(layers)
    if rest and (rest[0].kind == "pointer" or (kind == "parameter" and rest[0].kind == "array")):
        first = rest.pop(0)
        pointer, restrict = True, "restrict" in first.quals
        dims.append(first.dim)
    while rest and rest[0].kind == "array":
        dims.append(rest.pop(0).dim)
    deeper = bool(rest) and all(layer.kind == "pointer" for layer in rest)
    row = (element, size) if pointer and len(dims) == 1 and deeper else None
    if rest:
        # The elements are pointers (or what is pointed to is a function): no arithmetic type.
        element = CType(
            f"{element.spelling} {'*' * sum(layer.kind == 'pointer' for layer in rest)}".strip(), volatile=volatile
        )
        size = 0
        if rest[0].kind == "function":
            dims = []
    depth = int(pointer) + sum(layer.kind == "pointer" for layer in rest)
    return replace(
        base,
        type=element,
        dims=tuple(dims),
        pointer=pointer,
        pointer_depth=depth,
        restrict=restrict,
        size=size,
        row=row,
    )


def ctype_of(node: Any, scope: Mapping[str, Symbol]) -> CType | None:
    """The arithmetic (or at least plain) type that a type name or declaration gives;
    None for pointers, arrays and functions."""
    shape = shape_of(node, scope)
    return None if shape.layers else shape.type


def type_spelling(n: ir.Node) -> str:
    """The spelling of a type name without declarators; empty for any other."""
    match n:
        case ir.Typename(type=ir.TypeDecl(type=ir.IdentifierType(names=words)), quals=[]):
            return " ".join(words)
        case ir.TypeDecl(type=ir.IdentifierType(names=words), quals=[]):
            return " ".join(words)
        case ir.Typename(type=ir.TypeDecl(type=ir.Enum(name=str(tag), values=None)), quals=[]):
            return f"enum {tag}"
    return ""


_PLAIN = frozenset({"float", "double", "unsigned", "signed", "short", "int", "long"})
_BY_BITS = {(True, 32): "float", (True, 64): "double", (False, 16): "short", (False, 32): "int"}


def plain_type(ctype: CType, long_type: str) -> CType | None:
    """The type with no typedef in its spelling; None where its kind and width don't tell, or it is no number's.

    long_type: one of 64 bits: if that is ``long``, no other type of 32 bits than ``int`` is left.
    """
    if ctype.floating == ctype.integer:
        return None
    if _PLAIN.issuperset(ctype.spelling.split()):
        return ctype
    name = _BY_BITS.get((ctype.floating, ctype.bits))
    if name is None or is_complex(ctype) or (name == "int" and long_type != "long"):
        return None
    return replace(ctype, spelling=name if ctype.floating or ctype.signed else f"unsigned {name}")


def arithmetic_kind(spelling: str, long_type: str) -> tuple[str, int] | None:
    """A type that C computes in, promoted ones left out: `f`loating, signed `i`nteger or `u`nsigned, and its bits; None
    for any other spelling. long_type: as for `plain_type`."""
    match canonical(spelling.split()) if spelling else "":
        case "float" | "double" as name:
            return "f", 32 if name == "float" else 64
        case "int" | "unsigned int" | "long" | "unsigned long" | "long long" | "unsigned long long" as name:
            base = name.removeprefix("unsigned ")
            return ("i" if base == name else "u"), 64 if base in ("long long", long_type) else 32
    return None


def literal_bits(suffix: str, value: int, long_type: str) -> int:
    """Of an integer literal without or with the suffix, in lower case. long_type: as for `plain_type`."""
    wide = "ll" in suffix or ("l" in suffix and long_type == "long")
    return 64 if wide or value >= 1 << 32 else 32


# The unsigned types by their bits, where nothing has to be declared for them.
UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}


def limits_of(ctype: CType) -> tuple[int, int]:
    """The least and the greatest value of an integer type of known size."""
    if ctype.signed:
        return -(1 << ctype.bits - 1), (1 << ctype.bits - 1) - 1
    return 0, (1 << ctype.bits) - 1
