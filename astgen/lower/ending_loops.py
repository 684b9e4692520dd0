"""The function that runs a loop that ends on data, for many items at a time: items are lanes of vectors.

``while (k < most && zr * zr + zi * zi < 4) { … k++; }`` runs as often as each item's data say, so that compilers leave
it alone: each iteration waits for the one before. Here as many items as vectors have lanes take each iteration
together, in two vectors, so that one doesn't wait while the other one does. A mask says which items go on; those that
have ended keep what they have, until the last one has ended (measured: pictures of a fractal by one thread, gcc: 0.16
of the time; Newton's method in doubles 0.19; searches by halves, whose branches nobody foresees, 0.15).

The items' variables lie in buffers, one for each variable. What is left to a whole number of vectors is filled up with
copies of the first item. Where the target has no vectors, items run one by one, as in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.astgen.emit.own_loops import ENDING
from scopt.astgen.lower.body_syntax import substituted
from scopt.astgen.lower.lane_rounds import Rounds
from scopt.ir.scop import CType

# Vectors of items that run together: the second one computes while the first one waits.
UNITS = 2
# Items that the buffers hold: a whole number of vectors on all targets.
ITEMS = 64
# Bytes of vectors of which all operations exist, by the macro that says so, best first.
_VECTORS = (("__AVX512F__", 64), ("__AVX2__", 32), ("__SSE2__", 16), ("__aarch64__", 16))


class EndingLoop(Struct, frozen=True, eq=False):
    """For 0 <= i < count: ``body``, over `state0`, … (``state0[i]``, which it changes), `given0`, … (``given0[i]``,
    which it reads) and `all0`, … (the same for all items). Its own variables are `own0`, …

    states, given, same, own: types, by numbers. bits: of lanes. body: a loop.
    """

    name: str
    body: ir.Node
    states: tuple[CType, ...]
    given: tuple[CType, ...]
    same: tuple[CType, ...]
    own: tuple[CType, ...]
    bits: int
    long_type: str

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.definitions(), *self.function(), ""))

    def alike(self, other: EndingLoop) -> bool:
        """Whether another function does the same."""
        return replace(self, name=other.name).text == other.text

    @property
    def buffers(self) -> tuple[tuple[str, CType], ...]:
        """Names and types of what lies in buffers, in the order of the parameters."""
        states = [(f"state{k}", ctype) for k, ctype in enumerate(self.states)]
        return (*states, *((f"given{k}", ctype) for k, ctype in enumerate(self.given)))

    @property
    def scalars(self) -> tuple[tuple[str, CType], ...]:
        """The same of what all items share."""
        return tuple((f"all{k}", ctype) for k, ctype in enumerate(self.same))

    @property
    def types(self) -> dict[str, CType]:
        """Of all names in the body."""
        return dict((*self.buffers, *self.scalars, *((f"own{k}", ctype) for k, ctype in enumerate(self.own))))

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> Rounds:
        shared = tuple(name for name, _ in self.scalars)
        return Rounds(self.name, self.long_type, self.body, self.types, self.bits, shared)

    def definitions(self) -> Iterator[str]:
        """The types of vectors, and what is done with them, where the target has them."""
        name, element, rounds = self.name, self.bits // 8, self.rounds
        yield "#if defined(__clang__) || __GNUC__ >= 9"
        for k, (macro, size) in enumerate(_VECTORS):
            yield f"#{'el' if k else ''}if defined({macro})"
            yield f"#define {name}_bytes {size}"
            yield f"#define {name}_lanes {size // element}"
            words = " | ".join(f"(({name}_w)(m))[{at}]" for at in range(size // 8))
            yield f"#define {name}_any(m) ({words})"
        yield "#endif"
        yield "#endif"
        yield f"#ifdef {name}_bytes"
        for letter, kind in rounds.vectors():
            yield (
                f"typedef {kind} {name}_{letter} __attribute__((vector_size({name}_bytes), "
                f"aligned({8 if letter == 'w' else element}), may_alias));"
            )
        yield (f"#define {name}_pick(type, m, a, b) ((type)((({name}_i)(a) & (m)) | (({name}_i)(b) & ~(m))))")
        yield "#endif"

    def function(self) -> Iterator[str]:
        yield f"static void {self.name}({', '.join(self.parameters())}) {{"
        yield f"#ifdef {self.name}_bytes"
        yield from (f"  {line}" for line in self.lanes())
        yield "#else"
        yield from (f"  {line}" for line in self.singles())
        yield "#endif"
        yield "}"

    def parameters(self) -> Iterator[str]:
        yield f"{self.long_type} count"
        yield from (f"{ctype.spelling} *restrict {name}" for name, ctype in self.buffers)
        yield from (f"{ctype.spelling} {name}" for name, ctype in self.scalars)

    def lanes(self) -> Iterator[str]:
        """As many items at a time as two vectors have lanes."""
        name, long, rounds = self.name, self.long_type, self.rounds
        units = [rounds.unit(unit) for unit in range(UNITS)]
        yield from rounds.constants()
        yield f"for ({long} i = count; i % ({UNITS} * {name}_lanes) != 0; i++) {{"
        yield from (f"  {buffer}[i] = {buffer}[0];" for buffer, _ in self.buffers)
        yield "}"
        yield f"for ({long} i = 0; i < count; i += {UNITS} * {name}_lanes) {{"
        for buffer, ctype in self.buffers:
            yield from (f"  {line}" for line in self.load(buffer, ctype))
        for start, _ in units:
            yield from (f"  {line}" for line in start)
        yield "  do {"
        for _, lines in units:
            yield "    {"
            yield from (f"      {line}" for line in lines)
            yield "    }"
        going = " | ".join(f"on_{unit}" for unit in range(UNITS))
        yield f"  }} while ({name}_any({going}));"
        for buffer, ctype in self.buffers[: len(self.states)]:
            yield from (f"  {line}" for line in self.store(buffer, ctype))
        yield "}"

    def load(self, buffer: str, ctype: CType) -> Iterator[str]:
        """Vectors of a buffer's next cells; of narrower ones by a wider copy."""
        kind, place = self.rounds.vector(ctype), f"{buffer} + i"
        if ctype.bits < self.bits:
            wide = self.rounds.element(ctype)
            yield f"{wide} {buffer}_wide[{UNITS} * {self.name}_lanes];"
            yield f"for ({self.long_type} l = 0; l < {UNITS} * {self.name}_lanes; l++)"
            yield f"  {buffer}_wide[l] = {buffer}[i + l];"
            place = f"{buffer}_wide"
        for unit in range(UNITS):
            yield f"{kind} {buffer}_{unit} = *(const {kind} *)({place}{self.behind(unit)});"

    def store(self, buffer: str, ctype: CType) -> Iterator[str]:
        kind, narrow = self.rounds.vector(ctype), ctype.bits < self.bits
        place = f"{buffer}_wide" if narrow else f"{buffer} + i"
        for unit in range(UNITS):
            yield f"*({kind} *)({place}{self.behind(unit)}) = {buffer}_{unit};"
        if narrow:
            yield f"for ({self.long_type} l = 0; l < {UNITS} * {self.name}_lanes; l++)"
            yield f"  {buffer}[i + l] = ({ctype.spelling}){buffer}_wide[l];"

    def behind(self, unit: int) -> str:
        return "" if not unit else f" + {self.name}_lanes" if unit == 1 else f" + {unit} * {self.name}_lanes"

    def singles(self) -> Iterator[str]:
        """Items one by one."""
        yield f"for ({self.long_type} i = 0; i < count; i++) {{"
        yield from (f"  {ctype.spelling} {buffer}_at = {buffer}[i];" for buffer, ctype in self.buffers)
        text = str(PlainGenerator()._generate_stmt(self.one_item))
        yield from (f"  {line}" for line in text.rstrip("\n").split("\n"))
        yield from (f"  {buffer}[i] = {buffer}_at;" for buffer, _ in self.buffers[: len(self.states)])
        yield "}"

    @property
    def one_item(self) -> ir.Node:
        """The body over variables in the place of buffers' cells."""
        return substituted(self.body, {buffer: f"{buffer}_at" for buffer, _ in self.buffers})


def function_name(number: str, others: int) -> str:
    """Of the next one of a region. number: the region's."""
    return f"{ENDING}_{number}_{others}"


def is_lane_type(ctype: CType, bits: Sequence[int] = (32, 64)) -> bool:
    """Whether there are vectors of a type's values."""
    plain = not (ctype.volatile or ctype.atomic) and ctype.bits in bits
    return plain and (ctype.floating != ctype.integer)
