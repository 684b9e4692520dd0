"""Whether the function of a register tile computes what its operation says, step after step, in every configuration."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.lower.kernel import Kernel
from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.meaning import computed
from scopt.check.functions.runtime import Memory
from scopt.check.functions.terms import Term, Terms
from scopt.check.functions.translated_statements import Functions
from scopt.check.functions.tried_sizes import around
from scopt.check.functions.values import FLOATING, Element, Pointer, Type, Void, Whole, is_signed, size, spelling
from scopt.check.functions.workshop import Form, Workshop, check_forms, declared_signature, limited, run, translated

# Calls and iterations of loops that a kernel takes beyond those that it has to.
_SLACK = 200


def check_kernel(workshop: Workshop, kernel: Kernel, text: str) -> None:
    """Raise Fault unless the function of that name in the text updates its cells as the kernel's operation does, and
    does nothing else.

    Addresses are polynomials of the second degree in the step, the row's length and what is known: three steps and
    lengths tell them all apart. Loops compare sizes with numbers: as many steps are made as it takes to see both sides
    of these.
    """
    meaning = _Meaning(workshop.terms, kernel)
    check_forms(workshop, kernel, text, lambda form: _check_form(workshop, meaning, form))


def _check_form(workshop: Workshop, meaning: _Meaning, form: Form) -> None:
    kernel = meaning.kernel
    made = translated(workshop, form.source, meaning.signature)
    if kernel.name not in made.functions:
        raise Fault("there is no such function")
    functions = run(made, form.source, {})
    columns = kernel.columns
    steps = around(made.thresholds, (0, 1, 2, 3))
    for count, length in (*((count, columns + 1) for count in steps), (2, columns), (1, columns + 5)):
        given = meaning.inputs(count)
        cells = meaning.cells(0, length)
        buffers = [list(one) for one in given]
        limited(functions, _SLACK + 4 * (count + 1) * (kernel.rows + 1) * (columns + 1))
        try:
            functions[kernel.name](count, *buffers, *meaning.scalars, cells, length)
        except StopIteration:
            raise Fault(f"doesn't end, for {count} steps") from None
        except Fault as fault:
            raise Fault(f"{fault}, for {count} steps and rows of {length}") from fault
        meaning.compare(count, length, cells)
        if buffers != given:
            raise Fault("writes its operands")


class _Meaning(Struct, eq=False):
    """What a kernel is to compute. after: of each cell, after so many steps. type: of the cells; computed_type: what is
    computed in.
    """

    terms: Terms
    kernel: Kernel
    after: list[list[Term]] = field(default_factory=list)
    scalars: list[Term] = field(default_factory=list)
    type: str = ""
    computed_type: str = ""

    def __post_init__(self) -> None:
        kernel = self.kernel
        self.type = spelling(kernel.operation.type.spelling.split())
        # integers wrap around, in cells that the source doesn't compute
        wraps = self.type not in FLOATING and is_signed(self.type)
        self.computed_type = f"unsigned {self.type}" if wraps else self.type
        self.scalars = [self.terms.leaf(f"scalar{k}") for k in range(len(kernel.operation.scalars))]
        self.after = [[self.terms.leaf("cell", i, j) for i in range(kernel.rows) for j in range(kernel.columns)]]

    def signature(self, functions: Functions, declaration: ir.Decl) -> Signature | None:
        """Of the kernel; None for the functions that it calls."""
        operation, own = self.kernel.operation, self.type
        if size(own) * 8 != operation.type.bits:
            raise Fault(f"'{own}' has {operation.type.bits} bits")
        if declaration.name != self.kernel.name:
            declared = declared_signature(functions, declaration)
            return Signature(tuple(map(_number, declared.parameters)), _number(declared.result))
        if spelling(operation.operand_type.spelling.split()) not in (own, "short"):
            raise Fault("operands of another type")
        long, operand = Whole(self.kernel.long_type), Pointer(Element(self.kernel.operand_type), True)
        buffers: list[Type] = [operand] * (len(operation.rows) + len(operation.columns))
        scalars: list[Type] = [Element(self.computed_type)] * len(operation.scalars)
        return Signature((long, *buffers, *scalars, Pointer(Element(own), False), long), Void())

    # --- memory -------------------------------------------------------------------------------------------------------

    def inputs(self, count: int) -> list[Memory]:
        """The packed operands of so many steps, with nothing beyond."""
        operation, leaf = self.kernel.operation, self.terms.leaf
        step, distance = self.kernel.row_strides
        rows: list[Memory] = [
            [None] * (count and (count - 1) * step + (self.kernel.rows - 1) * distance + 1) for _ in operation.rows
        ]
        for r, k, i in product(range(len(rows)), range(count), range(self.kernel.rows)):
            rows[r][k * step + i * distance] = leaf(f"row{r}", k * step + i * distance)
        columns = [
            [leaf(f"column{c}", k) for k in range(count * self.kernel.columns)] for c in range(len(operation.columns))
        ]
        return [*rows, *columns]  # type: ignore[list-item]

    def cells(self, count: int, length: int) -> Memory:
        """After so many steps, in rows of a length; what lies between belongs to nobody here."""
        while len(self.after) <= count:
            self.step()
        width, values = self.kernel.columns, self.after[count]
        result: Memory = []
        for i in range(self.kernel.rows):
            result += values[i * width : (i + 1) * width]
            result += [None] * (length - width)
        return result[: len(result) - (length - width)]

    def compare(self, count: int, length: int, cells: Memory) -> None:
        expected = self.cells(count, length)
        if cells == expected:
            return
        place = next(k for k, (one, other) in enumerate(zip(cells, expected, strict=True)) if one != other)
        i, j = divmod(place, length)
        computed_text, meant = self.terms.text(cells[place]), self.terms.text(expected[place])
        raise Fault(f"cell ({i}, {j}) becomes {computed_text} in {count} steps, not {meant}")

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """What the cells become in one more step."""
        kernel, k = self.kernel, len(self.after) - 1
        before = self.after[-1]
        names: dict[str, Term] = {f"scalar{s}": scalar for s, scalar in enumerate(self.scalars)}
        made, (step, distance) = [], kernel.row_strides
        for i in range(kernel.rows):
            names |= {
                f"row{r}": self.terms.leaf(f"row{r}", k * step + i * distance)
                for r in range(len(kernel.operation.rows))
            }
            for j in range(kernel.columns):
                names |= {
                    f"column{c}": self.terms.leaf(f"column{c}", k * kernel.columns + j)
                    for c in range(len(kernel.operation.columns))
                }
                made.append(self.update(before[i * kernel.columns + j], names))
        self.after.append(made)

    def update(self, cell: Term, names: Mapping[str, Term]) -> Term:
        """One cell after one step."""
        operation, ctype = self.kernel.operation, self.computed_type
        names = {**names, "cell": cell}
        value = computed(
            self.terms, operation.expression, ctype, lambda n: names.get(n.name) if isinstance(n, ir.ID) else None
        )
        if operation.extremum is not None:
            if operation.op != "=":
                raise Fault("an extremum that is more than that")
            holds = self.terms.table(operation.extremum.op, self.type)[cell, value]
            kept, other = (cell, value) if operation.extremum.keeps else (value, cell)
            return self.terms.table("?", ctype)[holds, kept, other]
        return value if operation.op == "=" else self.terms.table(operation.op[0], ctype)[cell, value]


def _number(ctype: Type) -> Type:
    """Functions of a kernel's own are only given numbers that aren't known."""
    return Element(ctype.name) if isinstance(ctype, Whole) else ctype
