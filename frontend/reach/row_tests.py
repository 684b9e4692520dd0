"""The functions that tell at run time whether rows are apart that pointers lead to.

Each array's rows are taken in the order of their addresses, and all arrays' together by merging them, so that a row has
to be compared with what has been seen before it alone: linear in the number of rows where they lie in their order, as
those do that were allocated one after the other. Others are sorted first (Shell's method with Ciura's gaps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from scopt.diagnostics import Location
from scopt.frontend.reach.code import Code, Operand, type_of_value
from scopt.ir.scop import CType, MemoryTest

# Arrays that one test takes.
MAX_LISTS = 32
APART = "scopt_rows_apart"


class RowList(Struct, frozen=True):
    """Rows of an array, or (no `rows`) one stretch of memory.

    name: in the text of the test. base: C expression, the pointer to the rows' pointers, or to element zero. element: C
      expression, the bytes of one. rows: the first and the last one. cells: likewise, in each of them. written: whether
      the region may write them.
    """

    name: str
    base: str
    element: str
    rows: tuple[Operand, Operand] | None
    cells: tuple[Operand, Operand]
    written: bool


def row_test(location: Location, code: Code, lists: Iterable[RowList], used: Mapping[str, CType]) -> MemoryTest:
    """A test that no row that is written has a byte in common with another one, of whichever array.

    used: the variables in the code, with their types. Where some rows are empty, or `rows` begin before they end, the
    test may ask for pointers that aren't there.
    """
    listed = sorted(lists, key=lambda one: not one.written)
    number = code.type
    head, at, tail = [], [], []
    for k, one in enumerate(listed):
        size, ends = f"size{k}", (f"low{k}", f"high{k}")
        for element, end in zip((one.cells[0], code.plus(one.cells[1], 1)), ends, strict=True):
            tail.append(f"if (__builtin_mul_overflow({element}, {size}, &{end})) return 0;")
        head += [f"const void *list{k}", f"{number} {size}"]
        first, last = one.rows or (0, 0)
        at.append(f"{{{first}, {last}, {ends[0]}, {ends[1]}}}")
    pointers = ", ".join(f"list{k}" if one.rows else f"&list{k}" for k, one in enumerate(listed))
    tail.append(f"const void *const lists[] = {{{pointers}}};")
    tail.append(f"const {number} at[][4] = {{{', '.join(at)}}};")
    written = sum(one.written for one in listed)
    tail.append(f"return {APART}({written}, {len(listed)}, lists, at);")
    lines, names = code.needed(tail)
    bounds = [f"{end}{k}" for k in range(len(listed)) for end in ("low", "high")]
    body = [f"{number} {', '.join([*names, *bounds])};"]
    wide = [name for name, ctype in used.items() if ctype.integer and not ctype.signed and ctype.bits == 64]
    body += [f"if ({name} < 0) return 0;" for name in wide]
    own = f"scopt_rows_{location.line}_{location.column}"
    parameters = ", ".join([*(f"{type_of_value(ctype, number)} {name}" for name, ctype in used.items()), *head])
    arguments = ", ".join([*used, *(text for one in listed for text in (one.base, one.element))])
    text = "".join(f"  {line}\n" for line in (*body, *lines, *tail))
    return MemoryTest(f"{own}({arguments})", f"static int {own}({parameters})\n{{\n{text}}}\n", (_apart(number),))


def _apart(number: str) -> str:
    """The function that all tests call.

    Pointers are read as what may be of any type: `double *`, `const float *`. Addresses wrap around as unsigned numbers
    do where cells have negative subscripts.
    """
    return _TEXT.replace("NUMBER", number).replace("LISTS", str(MAX_LISTS)).replace("APART", APART)


_TEXT = """\
typedef __UINTPTR_TYPE__ scopt_row __attribute__((may_alias));
/* The pointers to `count` rows in the order of their addresses; the first one, if they are that in place. */
static const scopt_row *scopt_rows_sorted(const scopt_row *rows, NUMBER count, NUMBER *step)
{
  static const NUMBER gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
  NUMBER up = 0, down = 0;
  for (NUMBER r = 1; r < count; r++) {
    up += rows[r - 1] < rows[r];
    down += rows[r - 1] > rows[r];
  }
  *step = down > 0 && up == 0 ? -1 : 1;
  if (down == 0 || up == 0)
    return *step > 0 ? rows : rows + count - 1;
  scopt_row *sorted = (scopt_row *)__builtin_malloc(count * sizeof *sorted);
  if (!sorted)
    return 0;
  for (NUMBER r = 0; r < count; r++)
    sorted[r] = rows[r];
  for (int g = 0; g < 9; g++)
    for (NUMBER r = gaps[g]; r < count; r++) {
      scopt_row row = sorted[r];
      NUMBER at = r;
      for (; at >= gaps[g] && sorted[at - gaps[g]] > row; at -= gaps[g])
        sorted[at] = sorted[at - gaps[g]];
      sorted[at] = row;
    }
  return sorted;
}
/* at: of each list the first row and the last one, the first byte of each, and where its last one ends. */
static int APART(int written, int all, const void *const *lists, const NUMBER (*at)[4])
{
  const scopt_row *next[LISTS];
  const scopt_row *mine[LISTS];
  NUMBER left[LISTS], step[LISTS];
  scopt_row end = 0, written_end = 0;
  int apart = 1;
  for (int k = 0; k < all; k++) {
    const scopt_row *rows = (const scopt_row *)lists[k] + at[k][0];
    left[k] = at[k][1] - at[k][0] + 1;
    next[k] = scopt_rows_sorted(rows, left[k], &step[k]);
    mine[k] = next[k] >= rows && next[k] < rows + left[k] ? 0 : next[k];
    apart = apart && next[k] && at[k][2] < at[k][3];
  }
  while (apart) {
    int least = -1;
    for (int k = 0; k < all; k++)
      if (left[k] > 0 && (least < 0 || *next[k] + at[k][2] < *next[least] + at[least][2]))
        least = k;
    if (least < 0)
      break;
    scopt_row begin = *next[least] + at[least][2], beyond = *next[least] + at[least][3];
    apart = begin >= (least < written ? end : written_end) && beyond > begin;
    end = beyond > end ? beyond : end;
    written_end = least < written && beyond > written_end ? beyond : written_end;
    next[least] += step[least];
    left[least]--;
  }
  for (int k = 0; k < all; k++)
    __builtin_free((void *)mine[k]);
  return apart;
}
"""
