"""What takes how long on a machine, and which shapes and sizes follow from that: the one model that everything asks.

Each number here is a field of the machine, follows from some, or has beside it where it comes from: a manual, a
measurement, or "chosen" where it is a plain decision that the sizes of the kernels were settled with. Times are
nanoseconds, sizes bytes, unless it is said.
Sources: Fog, "Instruction tables" (2022), for latencies; Low, Igual, Smith and Quintana-Ortí, "Analytical modeling is
enough for high-performance BLIS" (2016), for register tiles.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from scopt import ir
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import walk
from scopt.machine.math_calls import INSTRUCTIONS, ROOTS, divides
from scopt.machine.processor import Machine
from scopt.machine.targets import LONGEST_VECTOR, MANY_REGISTERS, SHORTEST_VECTOR

# Assumed of what nothing is known of: iterations of a loop, elements along a dimension of an array.
UNKNOWN_EXTENT = 1024
# Bytes of an element where its type says nothing, or types differ: a double's.
ELEMENT = 8

# --- work: instances, and what threads cost ---------------------------------------------------------------------------

# Cycles of what isn't vectorized, operands included (Fog): of an operation with its share of loads; of a division, for
# which there is one unit; of a call into the mathematical library.
_OPERATION, _DIVISION, _CALL = Fraction(3, 2), Fraction(6), Fraction(45)
# How often a loop inside a statement is taken to run: nothing is known of that.
ITERATIONS = 16
# Cycles that a cell of a thread's own copy takes to be set up,
# or to be added to the others': a load, an addition, a store.
_COPIED_CELL = 3
# Forks that the work of a skewed nest has to be worth, since it forks again and again (chosen).
SKEWED_FORKS = 4
# The fewest threads that share work.
_SHARERS = 2
# Of a fork's cost, the work that loops over tiles, with buffers and calls of the OpenMP runtime that start no threads,
# are worth (measured: such a call takes 0.2 µs, and products of matrices, sums of columns and transpositions break even
# at 0.5 to 1.3 µs of work, one instance after the other).
_REGION = Fraction(1, 25)
# The same for such a call (measured: it takes gcc's runtime 0.25 µs, clang's 0.4 to 1.4).
_ENTERED = Fraction(1, 12)
# Shares of a tile's time: what moving its lines may take more than with the largest tiles; how many times as long a
# fork may take (both chosen: tiles of stencils are as large as they have to be, not larger).
_MOVING, _FORKING = Fraction(1, 8), Fraction(5)
# Bytes that a core gets from its second cache, or brings there, in a cycle (Fog: half of a line at most).
_CACHED = 32
# How many times the work of a fork threads leave alone at most that would work on lines of another core (chosen).
_HANDED_FORKS = 64
_HANDED_OVER = Fraction(4)  # second caches, that keep lines of what unknown code works on (2.3 loses, 8 gains)
_HANDED_SLOWER = 6  # than memory's bandwidth: a core that alone goes on waits for each line (measured: 0.3 ns a byte)
# Pieces of iterations for each core, so that the last ones to end keep the others waiting for a sixteenth of the time.
_PIECES_A_CORE = 16


def instance_cost(body: ir.Node, machine: Machine) -> Fraction:
    """Nanoseconds of one instance of a statement with this body, on one core."""
    return _in_time(_cycles(body), machine)


def least_instance(machine: Machine) -> Fraction:
    """Nanoseconds that an instance takes at least, whatever it does."""
    return _in_time(_OPERATION, machine)


def has_loop(body: ir.Node) -> bool:
    """Whether a statement has a loop of its own."""
    return any(isinstance(node, ir.For | ir.While | ir.DoWhile) for node in walk(body))


def takes_its_time(body: ir.Node) -> bool:
    """Whether a statement has loops that run as often as data say: its instances take their own time each."""
    loops = (node for node in walk(body) if isinstance(node, ir.For | ir.While | ir.DoWhile))
    return any(iterations(node) is None for node in loops)


def arithmetic(body: ir.Node) -> float:
    """How many additions a statement's operations take as long as. Subscripts and assignments are free."""
    match body:
        case ir.ArrayRef():
            return 0.0
        case ir.BinaryOp() | ir.Assignment() | ir.UnaryOp(op="++" | "--" | "p++" | "p--"):
            divides = "/" in body.op or "%" in body.op
            own = _DIVISION / _OPERATION if divides else Fraction(int(body.op != "="))
        case ir.FuncCall():
            own = _call(body) / _OPERATION
        case _:
            own = Fraction(0)
    return float(own) + sum(arithmetic(child) for child in body.parts)


def operations_cost(body: ir.Node, machine: Machine) -> Fraction:
    """Nanoseconds of a statement's operations, one by one, without those of subscripts."""
    return _in_time(Fraction(arithmetic(body)) * _OPERATION, machine)


def vector_gain(machine: Machine) -> int:
    """By how much a register tile is faster than its instances one by one,
    of doubles: all lanes of all units are busy."""
    return machine.lanes(ELEMENT) * machine.fma_per_cycle


def threads_cost(machine: Machine, cells: int = 0) -> Fraction:
    """Nanoseconds of starting and joining the threads of a parallel loop, and of the copies that each has of so many
    cells: all are set up, and added to the array one after the other."""
    return machine.fork_nanoseconds + _in_time(Fraction(cells * (machine.cores + 1) * _COPIED_CELL), machine)


def shared_work(machine: Machine, cells: int = 0) -> Fraction:
    """Nanoseconds of work from which on threads gain, be they as few as can be: what each of the others does has to
    take longer than starting them. cells: as above."""
    return threads_cost(machine, cells) * _SHARERS / (_SHARERS - 1)


def least_region(machine: Machine, calls: int = 0) -> Fraction:
    """Nanoseconds of work from which on loops gain that one thread runs faster than the original ones: what entering
    them takes has to be little. calls: how often they call the OpenMP runtime."""
    return machine.fork_nanoseconds * (_REGION + calls * _ENTERED)


def least_work_on_lines(machine: Machine) -> Fraction:
    """Nanoseconds of work from which on the first cache doesn't hold what is worked on: an operation for each of its
    elements; no more than threads are worth."""
    return min(machine.cache(1).share // ELEMENT * _in_time(_OPERATION, machine), threads_cost(machine))


def cached_cost(machine: Machine, size: int) -> Fraction:
    """Nanoseconds that so many bytes take on their way between a core and its second cache."""
    return _in_time(Fraction(size, _CACHED), machine)


def handed_cost(machine: Machine, size: int) -> Fraction:
    """Nanoseconds that so many bytes take on their way from one core's caches to another's."""
    return Fraction(size * _HANDED_SLOWER) / Fraction(str(machine.bandwidth))


def handed_iterations(machine: Machine, size: int, forked: int, *, known: bool) -> Fraction:
    """Iterations, `size` bytes each, from which on few lines stay in caches. known: one thread surely works on them."""
    kept = Fraction(machine.caches[-1].size) if known else machine.cache(2).share * _HANDED_OVER
    return max(Fraction(forked), min(kept / size, Fraction(forked * _HANDED_FORKS)))


def work_again(cost: Fraction, *, anew: bool) -> Fraction:
    """Nanoseconds of work from which on threads gain that have just been at work: what the others do has to take longer
    than going on. cost: of their first fork. anew: they write to other memory, which takes longer than is counted."""
    return cost * Fraction(FORKED_AGAIN) * (1 if anew else Fraction(_SHARERS, _SHARERS - 1))


def thread_limit(machine: Machine) -> int:
    """Iterations that threads can share: more of them keep no more cores busy."""
    return machine.cores * _PIECES_A_CORE


def moving_cost(machine: Machine, lines: int) -> Fraction:
    """Nanoseconds that lines of the first cache take from memory, when all cores move theirs."""
    return Fraction(lines * machine.cache(1).line * machine.cores) / Fraction(str(machine.bandwidth))


def tile_pays(machine: Machine, time: Fraction, moving: Fraction) -> bool:
    """Whether the barrier behind a tile's wavefront, and what is moved again and again,
    take little of the tile's time."""
    return moving <= time * _MOVING and machine.fork_nanoseconds <= time * _FORKING


def _in_time(cycles: Fraction, machine: Machine) -> Fraction:
    return cycles / Fraction(str(machine.gigahertz))


def _call(node: ir.FuncCall) -> Fraction:
    name = node.name.name if isinstance(node.name, ir.ID) else ""
    return _OPERATION if name in INSTRUCTIONS else _DIVISION if name in ROOTS else _CALL


def _cycles(node: ir.Node) -> Fraction:
    own = Fraction(0)
    match node:
        case ir.BinaryOp() | ir.Assignment() | ir.UnaryOp(op="++" | "--" | "p++" | "p--"):
            own = _DIVISION if divides(node) else _OPERATION
        case ir.FuncCall():
            own = _call(node)
    times, known = 1, iterations(node)
    if isinstance(node, ir.For | ir.While | ir.DoWhile):
        times = ITERATIONS if known is None else known
    return own + times * sum((_cycles(child) for child in node.parts), Fraction(0))


# --- bands: what puts mechanisms into an order ------------------------------------------------------------------------

# Loads and stores that can start in a cycle; cycles of an element of a vector that is put together (a load and an
# insertion), or taken apart (Fog, of the cores above).
LOADS, STORES = 2, 1
GATHER, SCATTER = 2, 3
# Cycles of a division of integers, of which vectors do one after the other (Fog, of the cores above).
DIVISION = 6
# Elements that a loop may step by in a row, and bytes: compilers put vectors together from whole lines (chosen; half of
# a line).
MOST_STEP, STEP_BYTES = 8, 32
# Bytes of a record whose cells straight code keeps in registers (chosen: 25 doubles, and some more).
RECORD_BYTES = 256
# Bytes of a table that the first cache keeps beside anything else (chosen: a quarter of what small ones have).
TABLE_BYTES = 4096
# What a fork costs of the first one's time where threads have just been at work: they still wait, with warm caches
# (measured on wavefronts).
FORKED_AGAIN = 1 / 8
# How much of what runs beside something longer is waited for all the same.
BESIDE = 1 / 8
# How many times as long lines from memory take where one core alone asks for them, at least: several get more of the
# bandwidth (chosen: it decides between what takes as long otherwise).
LONE = 1.02
# Cycles of entering and leaving a loop whose bounds and number of iterations change each time: several minima and
# maxima, and a branch that isn't foreseen (chosen: it puts tiles of dynamic programs in the order that was measured).
ENTRY = 40
# Instances of a diagonal of rows beside each other, at most, that are straight code (chosen: each row has variables).
MOST_STRAIGHT = 64
# Cycles of copying a cell of a table between its row and a diagonal, each in another line than the one before, with its
# share of the memory that the table is written to, for each of its bytes (measured on tables of ints, and on four of
# doubles).
DIAGONAL_COPY = 5 / 8
# Diagonals of a tile for each of its rows, at most (chosen).
_DIAGONALS_A_ROW = 4
# Cycles of a product of integers, and of a comparison and a conditional move.
_PRODUCT, _CHOICE = 3, 2
# Iterations of a loop that nothing is known of, where claims are compared: small ones are told when the program runs.
LARGE_EXTENT = 4096
# Cycles of a walk through the page table whose entries the second cache has.
PAGE_WALK = 30

# --- registers --------------------------------------------------------------------------------------------------------

# Vectors a row of a register tile: each element of a row's operand is broadcast once for so many multiply-adds. With 3,
# blocks of 4 rows and of 8 have more accumulators than two units with a latency of four cycles need, 8, and about a
# load for two multiply-adds; more would leave room for 2 rows only among 16 registers.
VECTORS_A_ROW = 3
# Rows of a jammed block at most: its statements stand as often in the code.
_MOST_JAMMED = 16
# Bytes of the first and of the second cache that packed operands are made for at most: they lie on the threads' stacks,
# of which they take a quarter of the latter, for each operand of a row.
_PACKED = 256 << 10, 4 << 20


class RegisterShape(Struct, frozen=True):
    """Of a register tile: cells that are updated together. In elements."""

    rows: int
    columns: int


def register_shape(machine: Machine, element: int) -> RegisterShape:
    """The register tile for elements of so many bytes:
    as many accumulators as the registers hold beside the operands."""
    rows = accumulator_rows(min(machine.vector_registers, MANY_REGISTERS))
    return RegisterShape(rows, VECTORS_A_ROW * vector_lanes(machine, element))


def packing_shares(machine: Machine) -> tuple[int, int, int]:
    """Bytes of the first, second and last cache that a thread's packed operands may count on."""
    first, second = (min(machine.cache(k).share, most) for k, most in enumerate(_PACKED, start=1))
    return first, second, machine.caches[-1].share


def accumulator_rows(registers: int) -> int:
    """Rows of accumulators that so many registers hold, beside a row of the columns' operands and a broadcast one of
    the rows': a power of two, at least 1, so that blocks of fewer make up a tile of more."""
    return _power((registers - VECTORS_A_ROW - 1) // VECTORS_A_ROW)


def vector_lanes(machine: Machine, element: int) -> int:
    """Elements of a vector in emitted functions: as long as the machine's, of those that there are forms for."""
    return min(max(machine.vector_bytes, SHORTEST_VECTOR), LONGEST_VECTOR) // element


def jam_rows(machine: Machine) -> int:
    """Rows that run together where each has a chain of additions: so many that all units have one to go on with, as
    long as half of the registers hold their sums."""
    chains = machine.fma_latency * machine.fma_per_cycle
    return max(min(chains, machine.vector_registers // 2, _MOST_JAMMED), 2)


def jam_columns(machine: Machine) -> int:
    """Columns of jammed rows that a thread runs through at a time: a page. In pieces of less, prefetching stops before
    it has got going (measured)."""
    return max(machine.page_bytes // ELEMENT, 1)


def diagonal_rows(machine: Machine, element: int) -> int:
    """Rows of a tile that runs along diagonals: a loop over them is worth being entered; several vectors of elements of
    so many bytes."""
    return 1 << (max(ENTRY, 2 * machine.lanes(element)) - 1).bit_length()


def diagonal_steps(machine: Machine, rows: int, cell: int) -> int:
    """Diagonals of such a tile, whose cells, of so many bytes in all tables together, the second cache keeps; not many
    times the rows, so that there are tiles for all threads."""
    most = max(machine.cache(2).share // (rows * cell), 1)
    return min(max(1 << (most.bit_length() - 1), rows), _DIAGONALS_A_ROW * rows)


# --- strips of rows ---------------------------------------------------------------------------------------------------

# Cycles of a recurrence's chain from where on copying rows to and fro pays: what copying an operand's cell there and a
# result's back took in prefix sums, filters and averages along rows (measured with gcc; 7 with clang).
LEAST_CHAIN = 13
# Cycles of a chain from where on rows written out beside each other are faster (measured: prefix sums of integers, and
# running maxima, of one and two cycles a step, aren't).
LEAST_TOGETHER = 2
# Steps of a row from where on they are: with thirteen of them, starting four chains took as long as they saved.
LEAST_STEPS = 32
# How many times as long as their memory takes, with all cores at work, their chains have to take in order (measured:
# prefix sums of doubles, at 3.3, lost a fifth; integral images, at 4, gained a fifth).
WAITING_CHAINS = 3.5
# By how much rows beside each other have to be faster: they are other loops for compilers, which have no vectors then.
WORTH_ROWS = 1.1
# Rows of a strip at most, but where the rows' lines have to be long: its scalars have a cell for each on the stack.
MOST_ROWS = 256
# Cells that a strip keeps of each row beside its scalars, on the stack.
SHORT_ROW = 16
# Shares of a cache: of the first one, cells that are copied before the next row's, with what they are scattered to.
_SCATTERED = 4


# Cycles from a sum of integers to the next.
SUMMED = 1


def operation_latency(operator: str, machine: Machine, *, integer: bool = False) -> int:
    """Cycles from operand to result of an arithmetic operation, or of a choice (``?:``, with its comparison); 0 of
    anything else. integer: of integers (Fog, "Instruction tables": one cycle for most, three for products)."""
    match operator:
        case "/" | "%":
            return machine.division_latency
        case "*":
            return _PRODUCT if integer else machine.fma_latency
        case "+" | "-":
            return SUMMED if integer else machine.fma_latency
        case "?:":
            return _CHOICE if integer else machine.fma_latency
        case "&" | "|" | "^" | "<<" | ">>":
            return SUMMED if integer else 0
    return 0


def strip_rows(machine: Machine) -> int:
    """Rows of a strip, a multiple of `least_strip_rows` unless these are many: as many vectors as cycles pass until the
    first one's result is there, and whole lines of arrays that run along the rows."""
    chains = machine.lanes(ELEMENT) * machine.fma_latency
    return min(max(chains, machine.cache(1).line // ELEMENT), MOST_ROWS)


def least_strip_rows(machine: Machine) -> int:
    """Rows of the shortest strip that is a vector."""
    return min(machine.lanes(ELEMENT), strip_rows(machine))


def strip_bytes(machine: Machine) -> int:
    """What the buffers of a strip should not exceed, for the second cache to keep them."""
    return machine.cache(2).share


def scattered_cells(machine: Machine) -> int:
    """Cells of a row that are copied before the next row's,
    so that what they are scattered to stays in the first cache."""
    return max(machine.cache(1).share // _SCATTERED // (strip_rows(machine) * ELEMENT), 1)


# --- rows and lines ---------------------------------------------------------------------------------------------------

# Lines of a row's piece, for the prefetcher to get going: where tiles are the parallel loop and there would be few, so
# that there are more of them, and elsewhere: a quarter and half of a page of 4 KiB, which is where prefetchers stop
# (measured: sums of a window's rows of 8 KiB take 1.3 times as long by quarters of a page, 1.1 times by halves).
_PARALLEL_LINES, _PIECE_LINES = 16, 32
# What memory is aligned to at most: compilers take no more everywhere, and a page is as good as anything longer.
_MOST_ALIGNED = 4096


def piece_bytes(machine: Machine, *, parallel: bool) -> int:
    """Bytes of a row that a vector loop runs through at a time. parallel: its tiles are the only parallel loop."""
    return (_PARALLEL_LINES if parallel else _PIECE_LINES) * machine.cache(1).line


def alignment(machine: Machine) -> int:
    """Where buffers begin: at a line, and so that no vector lies in two."""
    return min(max(machine.cache(1).line, vector_lanes(machine, 1)), _MOST_ALIGNED)


def short_row(machine: Machine) -> int:
    """The longest vector loop that is inside of a tile or a strip, in elements: a row of a register tile of floats, or
    a strip's rows."""
    return max(register_shape(machine, ELEMENT // 2).columns, strip_rows(machine))


def _power(size: int) -> int:
    """The largest power of two that isn't larger, at least 1."""
    return 1 << max(size, 1).bit_length() - 1
