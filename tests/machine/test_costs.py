"""What follows from the fields of a machine: for the default, for others, and for senseless ones."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.ir.from_pycparser import parse_c
from scopt.machine import DEFAULT, Cache, Machine, costs as of
from scopt.machine.loop_costs import loop_costs
from scopt.machine.targets import VECTORS

AVX2 = replace(DEFAULT, vector_bytes=32, vector_registers=16)
NEON = replace(DEFAULT, vector_bytes=16, vector_registers=32)
SSE = replace(DEFAULT, vector_bytes=16, vector_registers=16)
EXTREMES = (
    Machine(1, 1, 1, 1, 1, 1, 1e-3, 1, (Cache(1, 1, 1),), 1, 1, 1e-3, 1),
    Machine(*(1 << 40,) * 6, 1e9, 1 << 40, (Cache(1 << 49, 1 << 10, 1 << 20),), 1 << 40, 1 << 40, 1e9, 1 << 40),
)


def test_what_the_default_has() -> None:
    assert of.register_shape(DEFAULT, 8) == of.RegisterShape(8, 24)
    assert of.register_shape(DEFAULT, 4) == of.RegisterShape(8, 48)
    assert (of.jam_rows(DEFAULT), of.jam_columns(DEFAULT)) == (8, 512)
    assert (of.strip_rows(DEFAULT), of.least_strip_rows(DEFAULT), of.strip_bytes(DEFAULT)) == (32, 8, 1 << 20)
    assert (of.scattered_cells(DEFAULT), of.alignment(DEFAULT), of.short_row(DEFAULT)) == (32, 64, 48)
    assert [of.operation_latency(op, DEFAULT) for op in "+-*/<^"] == [4, 4, 4, 13, 0, 0]
    assert [of.operation_latency(op, DEFAULT, integer=True) for op in ("+", "^", ">>", "&")] == [1, 1, 1, 1]
    assert [of.piece_bytes(DEFAULT, parallel=parallel) for parallel in (True, False)] == [1024, 2048]
    assert (of.threads_cost(DEFAULT), of.threads_cost(DEFAULT, 100), of.thread_limit(DEFAULT)) == (25_000, 25_500, 64)


def test_divisions_by_powers_of_two_are_shifts() -> None:
    product, shift, other = (
        of.instance_cost(parse_c(f"int f(int i) {{ return i {op}; }}"), DEFAULT) for op in ("* 8", "/ 8u", "/ 6")
    )
    assert product == shift < other


@pytest.mark.parametrize(("machine", "rows", "columns"), [(AVX2, 4, 12), (NEON, 8, 6), (SSE, 4, 6)])
def test_register_tiles_suit_the_registers(machine: Machine, rows: int, columns: int) -> None:
    assert of.register_shape(machine, 8) == of.RegisterShape(rows, columns)
    assert of.register_shape(machine, 4) == of.RegisterShape(rows, 2 * columns)
    assert rows * of.VECTORS_A_ROW + of.VECTORS_A_ROW + 1 <= machine.vector_registers
    assert rows * of.VECTORS_A_ROW >= machine.fma_latency * machine.fma_per_cycle


@pytest.mark.parametrize("machine", [DEFAULT, AVX2, NEON, SSE, *EXTREMES])
@pytest.mark.parametrize("element", [4, 8])
def test_emitted_vectors_make_up_whole_rows(machine: Machine, element: int) -> None:
    """Whatever the compiler turns out to have, some lengths of vectors fit into a row of accumulators as a whole."""
    columns = of.register_shape(machine, element).columns
    fitting = [size for _, size in VECTORS if columns * element % (of.VECTORS_A_ROW * size) == 0]
    assert VECTORS[-1][1] in fitting
    assert max(fitting) == min(max(machine.vector_bytes, 16), 64)


@pytest.mark.parametrize("machine", EXTREMES)
def test_senseless_machines_have_sizes(machine: Machine) -> None:
    shape = of.register_shape(machine, 8)
    assert 1 <= shape.rows <= 8
    assert 2 <= of.jam_rows(machine) <= 16
    assert of.jam_columns(machine) >= 1
    assert 1 <= of.least_strip_rows(machine) <= of.strip_rows(machine) <= 256
    assert of.scattered_cells(machine) >= 1
    assert of.alignment(machine) & (of.alignment(machine) - 1) == 0
    assert 16 <= of.alignment(machine) <= 4096
    first, second, _ = of.packing_shares(machine)
    assert first <= 256 << 10
    assert second <= 4 << 20
    made = loop_costs(machine)
    assert len(made.fetches) == len(machine.caches)
    assert made.exhausting >= 1


def test_longer_latencies_need_more_rows() -> None:
    latencies = [replace(DEFAULT, fma_latency=cycles) for cycles in (1, 2, 4, 6, 8)]
    assert [of.jam_rows(machine) for machine in latencies] == [2, 4, 8, 12, 16]
    assert [of.strip_rows(machine) for machine in latencies] == [8, 16, 32, 48, 64]


def test_instances_take_their_operations() -> None:
    (body,) = parse_c("void f(void) { a[i] = b[i] / c + exp(d); }").ext[0].body.block_items
    # the assignment, the division, the addition and the call; three cycles are a nanosecond
    assert of.instance_cost(body, DEFAULT) * 3 == 1.5 + 6 + 1.5 + 45
    assert of.arithmetic(body) == 4 + 1 + 30
    (body,) = parse_c("void f(void) { a[i] = fabs(b[i]) + sqrt(d); }").ext[0].body.block_items
    # what is an instruction takes no call: a root takes the unit for divisions
    assert of.instance_cost(body, DEFAULT) * 3 == 1.5 + 1.5 + 1.5 + 6
    assert of.instance_cost(body, replace(DEFAULT, gigahertz=1.5)) == 2 * of.instance_cost(body, DEFAULT)


def test_memory_that_one_thread_exhausts_is_as_slow_for_many() -> None:
    slow, fast = (loop_costs(replace(DEFAULT, bandwidth=width)) for width in (5.0, 50.0))
    assert slow.exhausting == 1
    assert slow.fetches[-1].stream > fast.fetches[-1].stream
    assert fast.exhausting > 3
