"""The functions that add up absolute differences of the bytes of two blocks, by the instruction that processors have
for it.

Neither compiler finds it in loops over small blocks whose rows lie at distances that it doesn't know (measured, blocks
of 8 x 8: 3.5 ns by this function, 6.2 to 10.6 by gcc's loops, 5.3 to 11.6 by clang's). An instruction gives one sum of
64 bits for every eight bytes, and these are added up over all rows before they become one.
"""

from __future__ import annotations

from collections.abc import Iterator

from scopt.machine.targets import DISTANCES

# Bytes of a number that takes a piece of a row.
_HALF = 8


def distance_text(columns: int, name: str, long_type: str) -> list[str]:
    """A function of the number of rows, and, for each block, of the addresses of its first and of its second row.

    What the vectors' forms add up is what the loops do: of rows of `columns` bytes, pieces of a vector's bytes and at
    most one of eight, for which a vector takes those of two rows, or zeros in both blocks; an instruction's sums are at
    most 2040, so that 2^53 of them are less than 2^64.
    """
    return [
        f"static inline {long_type} {name}({long_type} rows, const void *one, const void *next_one,\n",
        "    const void *other, const void *next_other)\n",
        "{\n",
        "  const char *a = (const char *)one, *b = (const char *)other;\n",
        f"  const {long_type} step_a = (const char *)next_one - a, step_b = (const char *)next_other - b;\n",
        *_forms(columns, long_type),
        "}\n",
    ]


def _forms(columns: int, long_type: str) -> Iterator[str]:
    """The bodies, by target."""
    word = "#if"
    for macro, size, function in DISTANCES:
        if columns % size == 0 or size == DISTANCES[-1][1]:
            yield f"{word} defined({macro}) && defined(__GNUC__)\n"
            yield from _of_vectors(columns, size, function, long_type)
            word = "#elif"
    yield "#else\n"
    yield f"  {long_type} sum = 0;\n"
    yield f"  for ({long_type} y = 0; y < rows; y++)\n"
    yield f"    for (int x = 0; x < {columns}; x++) {{\n"
    yield "      const int d = ((const unsigned char *)(a + y * step_a))[x]\n"
    yield "          - ((const unsigned char *)(b + y * step_b))[x];\n"
    yield "      sum += d < 0 ? -d : d;\n"
    yield "    }\n"
    yield "  return sum;\n"
    yield "#endif\n"


def _of_vectors(columns: int, size: int, function: str, long_type: str) -> Iterator[str]:
    """One target's. size: bytes of its vectors."""
    lanes = size // _HALF
    yield f"  typedef long long sums_v __attribute__((vector_size({size})));\n"
    yield f"  typedef char bytes_v __attribute__((vector_size({size})));\n"
    yield "  sums_v sums = {0};\n"
    whole = columns - columns % size
    if whole:
        yield from _wholes(whole, size, function, long_type)
    if whole < columns:
        yield from _halves(whole, function, long_type)
    yield f"  return {' + '.join(f'sums[{k}]' for k in range(lanes))};\n"


def _wholes(columns: int, size: int, function: str, long_type: str) -> Iterator[str]:
    """Pieces of whole vectors, those of two rows at a time, whose sums don't wait for each other (measured, blocks of
    16 x 16: 0.8 of the time)."""

    def pieces(sums: str, row: str) -> Iterator[str]:
        yield f"      __builtin_memcpy(&p, a + {row} * step_a + x, sizeof p);\n"
        yield f"      __builtin_memcpy(&q, b + {row} * step_b + x, sizeof q);\n"
        yield f"      {sums} += (sums_v){function}(p, q);\n"

    yield "  sums_v more = {0};\n"
    yield "  bytes_v p, q;\n"
    yield f"  {long_type} k = 0;\n"
    yield "  for (; k + 1 < rows; k += 2)\n"
    yield f"    for (int x = 0; x < {columns}; x += {size}) {{\n"
    yield from pieces("sums", "k")
    yield from pieces("more", "(k + 1)")
    yield "    }\n"
    yield "  if (k < rows)\n"
    yield f"    for (int x = 0; x < {columns}; x += {size}) {{\n"
    yield from pieces("sums", "k")
    yield "    }\n"
    yield "  sums += more;\n"


def _halves(first: int, function: str, long_type: str) -> Iterator[str]:
    """Pieces of eight bytes, those of two rows at a time. first: where they begin."""

    def piece(name: str, block: str, row: str) -> str:
        at = f" + {first}" if first else ""
        return f"__builtin_memcpy(&{name}, {block} + {row} * step_{block}{at}, sizeof {name});\n"

    yield f"  {long_type} y = 0;\n"
    yield "  long long c, d, e, f;\n"
    yield "  for (; y + 1 < rows; y += 2) {\n"
    yield f"    {piece('c', 'a', 'y')}"
    yield f"    {piece('d', 'b', 'y')}"
    yield f"    {piece('e', 'a', '(y + 1)')}"
    yield f"    {piece('f', 'b', '(y + 1)')}"
    yield f"    sums += (sums_v){function}((bytes_v)(sums_v){{c, e}}, (bytes_v)(sums_v){{d, f}});\n"
    yield "  }\n"
    yield "  if (y < rows) {\n"
    yield f"    {piece('c', 'a', 'y')}"
    yield f"    {piece('d', 'b', 'y')}"
    yield f"    sums += (sums_v){function}((bytes_v)(sums_v){{c, 0}}, (bytes_v)(sums_v){{d, 0}});\n"
    yield "  }\n"
