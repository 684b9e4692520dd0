"""The statements of strips: originals that use buffers in place of arrays, copies, and the memory for it all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, count

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.allocation import MALLOC, Allocation
from scopt.astgen.emit.c_expr import ExprPrinter, Level
from scopt.astgen.emit.subscripts import exact_in
from scopt.astgen.lower.body_syntax import array_of, assignment, call, integer, linear as weighted
from scopt.ir.chosen_values import choices, element_type
from scopt.ir.expr import linear, maximum
from scopt.ir.from_pycparser import parse_c
from scopt.ir.library_names import ALIGNED
from scopt.ir.marked_schedule import Panel, RowBuffer, Strips
from scopt.ir.nest import Const, Expr
from scopt.ir.scop import Access, Array, CType, Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import alignment
from scopt.poly.body_rewriting import with_references
from scopt.poly.row_buffers import is_short, keeps, row_cells

# Bytes of vectors that processors have masks for: several updates below a condition are faster by these (measured with
# AVX-512, points of a fractal: 0.7 of the time that blends take).
_MASKED = 64
# The iterator that holds a strip's first row; no C identifier is like it.
STRIP = "$strip"


class Storage(Struct, frozen=True, eq=False):
    """Where the strips' arrays are. buffers: by array, how it is kept and the buffer's name. scalars: by name, that of
    the array with a cell a row. short: names of buffers that are local, too.

    thread: the variable that holds the thread's number; None if all strips use the same buffers, one after another.
    private: what each thread has of its own.
    """

    names: Names
    buffers: dict[str, tuple[RowBuffer, str]]
    scalars: dict[str, str]
    short: frozenset[str]
    thread: str | None
    private: tuple[str, ...]

    def is_own(self, reference: ir.Node) -> bool:
        """Whether it is to a cell that a row has of a scalar."""
        base = reference.name if isinstance(reference, ir.ArrayRef) else None
        return isinstance(base, ir.ID) and base.name in self.scalars.values()

    def type_of(self, reference: ir.Node) -> str | None:
        """How the type of a scalar, or of a row's cell of it, is spelled; None of anything else."""
        return element_type((*self.names.scop.arrays.values(), *self.names.arrays.values()), reference)


class Names(Struct, eq=False):
    """Names that nothing else in the file has, and what they stand for. Different strips share memory of one
    form.

    machine: its lines are where memory begins. arrays: new ones, by name. pointers: by name of an array with a part for
    each thread, what points to a thread's own.
    threaded: some buffers have a part for each thread.
    """

    scop: Scop
    machine: Machine
    arrays: dict[str, Array] = field(default_factory=dict)
    memory: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    taken_statements: set[str] = field(default_factory=set)
    threaded: bool = False

    @property
    def number(self) -> str:
        return self.scop.name.removeprefix("scop")

    @property
    def thread(self) -> str:
        return f"scopt_thread_{self.number}"

    @property
    def threads(self) -> str:
        return f"scopt_threads_{self.number}"

    @property
    def memory_call(self) -> str:
        return f"scopt_rows_{self.number}"

    def statement(self, wish: str) -> str:
        taken = self.taken_statements | {one.name for one in self.scop.statements} | set(self.scop.arrays)
        name = _free(wish, taken)
        self.taken_statements.add(name)
        return name

    def new(self, wish: str) -> str:
        taken = (
            set(self.scop.reserved)
            | set(self.scop.arrays)
            | set(self.arrays)
            | {p.spelling for p in self.scop.parameters}
        )
        return _free(wish, taken)

    def storage(self, strips: Strips, *, parallel: bool) -> Storage:
        scalars = {name: self.scalar(self.scop.arrays[name], strips.count) for name in strips.scalars}
        buffers, short = {}, []
        for one in strips.buffers:
            cells = row_cells(one) if is_short(one) else None
            name = (
                self.cells(one, cells, strips.count)
                if cells is not None
                else self.buffer(one, strips.count, parallel=parallel)
            )
            buffers[one.array] = (one, name)
            short += [name] if cells is not None else []
        thread = self.thread_number() if len(short) < len(buffers) and parallel else None
        private = (*((thread,) if thread is not None else ()), *scalars.values(), *short)
        return Storage(self, buffers, scalars, frozenset(short), thread, private)

    def scalar(self, array: Array, count: int) -> str:
        key = (array.name, str(count), False)
        if key not in self.memory:
            name = self.new(f"{array.spelling}_rows")
            self.memory[key] = name
            self.arrays[name] = array_of(name, array.type, (count,), alignment(self.machine))
        return self.memory[key]

    def cells(self, buffer: RowBuffer, cells: Sequence[int], count: int) -> str:
        """A local array with a few cells for each row."""
        array, sizes = self.scop.arrays[buffer.array], (*cells, count + buffer.spread)
        key = (array.name, str(sizes), False)
        if key not in self.memory:
            name = self.new(f"{array.spelling}_rows")
            self.memory[key] = name
            self.arrays[name] = array_of(name, array.type, sizes, alignment(self.machine))
        return self.memory[key]

    def buffer(self, buffer: RowBuffer, count: int, *, parallel: bool) -> str:
        """An array with a part for each thread, then the array's other dimensions, then the rows."""
        array = self.scop.arrays[buffer.array]
        printer = ExprPrinter.of(self.scop)
        others = [extent for k, extent in enumerate(buffer.extents) if k != buffer.dimension]
        sizes = [printer.expr(_positive(size)).at(Level.TERNARY) for size in others]
        shape = "".join(f"[{size}]" for size in sizes) + f"[{count + buffer.spread}]"
        return self.allocated(array, f"{array.spelling}_rows", shape, parallel=parallel)

    def allocated(self, array: Array, wish: str, shape: str, *, parallel: bool) -> str:
        """An array of this shape, or, if parallel, one for each thread."""
        key = (array.name, shape, parallel)
        if key not in self.memory:
            name = self.new(wish)
            self.memory[key] = name
            rank = array.rank + (1 if parallel else 0)
            self.arrays[name] = Array(name, name, array.type, (None,) * rank, (None,) * rank, memory=True)
            element = array.type.spelling
            many = f"{self.threads} * " if parallel else ""
            target = f"(*{name}){shape if parallel else shape[shape.index(']') + 1 :]}"
            self.shapes[name] = f"{element} {target} = {self.memory_call}({many}sizeof({element}{shape}));"
            self.threaded = self.threaded or parallel
        return self.memory[key]

    def panel(self, panel: Panel, *, parallel: bool) -> tuple[str, str | None]:
        """What holds a panel: an array with its dimensions; and, if parallel, what holds one for each thread. Then the
        former is a pointer to a thread's own."""
        array = self.scop.arrays[panel.array]
        printer = ExprPrinter.of(self.scop)
        sizes = [printer.expr(_positive(one.cells)).at(Level.TERNARY) for one in panel.dimensions]
        shape = "".join(f"[{size}]" for size in sizes)
        if not parallel:
            return self.allocated(array, f"{array.spelling}_panel", shape, parallel=False), None
        memory = self.allocated(array, f"{array.spelling}_panels", shape, parallel=True)
        if memory not in self.pointers:
            name = self.new(f"{array.spelling}_panel")
            self.pointers[memory] = name
            self.arrays[name] = _pointer(name, array, sizes[1:])
        return self.pointers[memory], memory

    def thread_number(self) -> str:
        key = ("", "thread", False)
        if key not in self.memory:
            name = self.new("thread")
            self.memory[key] = name
            declaration = ir.Decl(
                name, [], [], [], [], ir.TypeDecl(name, [], None, ir.IdentifierType(["int"])), None, None
            )
            ctype = CType("int", integer=True, bits=32)
            self.arrays[name] = Array(name, name, ctype, (), (), private=True, local=True, declaration=declaration)
        return self.memory[key]

    def allocations(self) -> tuple[Allocation, ...]:
        made = []
        for number, (name, text) in enumerate(self.shapes.items()):
            used = ("scopt_max",) if "scopt_max" in text else ()
            count = f"const int {self.threads} = {self.threads}_most();\n" if self.threaded and not number else ""
            made.append(Allocation(name, count + text, used))
        return tuple(made)

    def definitions(self) -> tuple[str, ...]:
        """Functions that tell threads apart, of which there is one without OpenMP, and that find aligned memory.

        SCOPT_THREADS is for builds that compile with OpenMP and hide it from the user's code (`scopt.compiler.openmp`):
        threads that took themselves for the only one would share a buffer. The parentheses are for files in which the
        names are macros, too; where they are other things, `Scop.taken` says so.
        """
        if not self.shapes:
            return ()
        line = alignment(self.machine)
        whole = f"(bytes + {line - 1}) / {line} * {line}"
        head = f"static inline void *{self.memory_call}(__SIZE_TYPE__ bytes)"
        memory = f"{head} {{ return {MALLOC}(bytes); }}\n"
        if ALIGNED not in self.scop.taken:
            memory = f"""#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
void *({ALIGNED})(__SIZE_TYPE__, __SIZE_TYPE__);
{head} {{ return ({ALIGNED})({line}, {whole}); }}
#else
{memory}#endif
"""
        if not self.threaded:
            return (memory,)
        return (
            memory,
            f"""#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
int (omp_get_thread_num)(void);
static inline int {self.threads}_most(void) {{ return (omp_get_max_threads)(); }}
static inline int {self.thread}(int threads) {{ \
int thread = (omp_get_thread_num)(); return thread < threads ? thread : 0; }}
#else
static inline int {self.threads}_most(void) {{ return 1; }}
static inline int {self.thread}(int threads) {{ return (void)threads, 0; }}
#endif
""",
        )


def _positive(size: Expr) -> Expr:
    """A size, one at least: no other type exists."""
    terms, constant = linear(size)
    return size if not terms and constant > 0 else maximum((size, Const(1)))


def _free(wish: str, taken: Collection[str]) -> str:
    """The name that is wished for, with a number behind it if it is taken."""
    return next(name for name in chain((wish,), (f"{wish}{number}" for number in count(2))) if name not in taken)


def _pointer(name: str, array: Array, sizes: Sequence[str]) -> Array:
    """A pointer to an array's rows of these sizes. Threads have their own, which point to what they are set to."""
    row: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(array.type.spelling.split()))
    for size in reversed(sizes):
        row = ir.ArrayDecl(row, _parsed(size), [])
    declaration = ir.Decl(name, [], [], [], [], ir.PtrDecl([], row), None, None)
    unknown = (None,) * array.rank
    return Array(name, name, array.type, unknown, unknown, private=True, local=True, declaration=declaration)


def _parsed(expression: str) -> ir.Node:
    value: ir.Node = parse_c(f"long value = {expression};").ext[0].init
    return value


# --- statements -------------------------------------------------------------------------------------------------------


def thread_choice(scop: Scop, name: str, domain: isl.Set, storage: Storage) -> Statement:
    """``thread = scopt_thread(threads)``"""
    assert storage.thread is not None
    names = storage.names
    body = assignment(ir.ID(storage.thread), call(names.thread, [ir.ID(names.threads)]))
    return statement_of(scop, name, domain, [f"${k}" for k in range(domain.dim(isl.dim_type.set))], body)


def renamed(
    original: Statement, expansion: isl.Map, storage: Storage, lane: tuple[int, int], *, vectors: bool
) -> Statement:
    """The statement with references to buffers; with its accesses if it has none, and is no vector's. expansion: of the
    original's instances, ``{ S[i, …] -> name[strip, i, …] }``. lane: which iterator is the row, and what is to be
    added. vectors: for a vector loop over the rows."""

    def reference(access: Access, node: ir.Node) -> ir.Node | None:
        if access.array in storage.buffers:
            kept = keeps(storage.buffers[access.array][0], access, lane[0])
            return _in_buffer(storage, access.array, subscripts_of(node)) if kept else None
        if access.array not in storage.scalars:
            return None
        position, shift = lane
        row = plus(ir.ID(original.iterators[position]), shift)
        return ir.ArrayRef(ir.ID(storage.scalars[access.array]), minus(row, ir.ID(STRIP)))

    body, changed = with_references(original, reference)
    if vectors:  # cells that are nobody else's may be written at any time: that makes blends, in place of branches
        chained = storage.names.machine.vector_bytes < _MASKED
        body = choices(body, storage.is_own, storage.type_of, chained=chained) or body
    long = CType(storage.names.scop.long_type, integer=True, bits=64)
    name, domain = str(expansion.get_tuple_name(isl.dim_type.out)), expansion.range().coalesce()
    iterators, types = (STRIP, *original.iterators), (long, *original.iterator_types)
    accesses: tuple[Access, ...] = ()
    if not vectors and not changed:
        accesses = tuple(replace(one, relation=one.relation.apply_domain(expansion)) for one in original.accesses)
    exact = exact_in(storage.names.scop, original)
    return Statement(name, domain, iterators, types, body, accesses, original.location, exact)


def copied(
    scop: Scop, name: str, domain: isl.Set, depth: int, buffer: RowBuffer, storage: Storage, *, inwards: bool
) -> Statement:
    """One cell to the buffer or back. domain: ``{ name[p0, …, strip, cell] }``."""
    array = scop.arrays[buffer.array]
    last = array.rank - 1
    wishes = ["row" if k == buffer.dimension else "column" if k == last else f"cell{k}" for k in range(array.rank)]
    cells = [storage.names.new(wish) for wish in wishes]
    subscripts: list[ir.Node] = [ir.ID(cell) for cell in cells]
    there: ir.Node = ir.ID(array.spelling)
    for subscript in subscripts:
        there = ir.ArrayRef(there, subscript)
    here = _in_buffer(storage, buffer.array, subscripts)
    iterators = [*(f"${k}" for k in range(depth - 1)), STRIP, *cells]
    return statement_of(scop, name, domain, iterators, assignment(here, there) if inwards else assignment(there, here))


def statement_of(scop: Scop, name: str, domain: isl.Set, iterators: Sequence[str], body: ir.Node) -> Statement:
    """A statement of our own."""
    long = CType(scop.long_type, integer=True, bits=64)
    return Statement(name, domain, tuple(iterators), tuple(long for _ in iterators), body, (), scop.location)


def _in_buffer(storage: Storage, array: str, subscripts: Sequence[ir.Node]) -> ir.Node:
    buffer, name = storage.buffers[array]
    node: ir.Node = ir.ID(name)
    if storage.thread is not None and name not in storage.short:
        node = ir.ArrayRef(node, ir.ID(storage.thread))
    for k, subscript in enumerate(subscripts):
        if k != buffer.dimension:
            node = ir.ArrayRef(node, subscript)
    row = minus(subscripts[buffer.dimension], ir.ID(STRIP))
    if buffer.base:
        spellings = {one.name: one.spelling for one in storage.names.scop.parameters}
        row = minus(row, weighted([(spellings[name], factor) for name, factor in buffer.base]))
    return ir.ArrayRef(node, plus(row, -buffer.first))


def subscripts_of(reference: ir.Node) -> list[ir.Node]:
    """From the outermost one on."""
    found: list[ir.Node] = []
    node: ir.Node = reference
    while isinstance(node, ir.ArrayRef):
        found.insert(0, node.subscript)
        node = node.name
    return found


def minus(left: ir.Node, right: ir.Node) -> ir.Node:
    """``left - right``"""
    return ir.BinaryOp("-", left, right)


def plus(value: ir.Node, constant: int) -> ir.Node:
    """``value + constant``"""
    if not constant:
        return value
    return ir.BinaryOp("+" if constant > 0 else "-", value, integer(abs(constant)))
