"""What a small program is that faults are planted in.

The region stands in a function `kernel`, which scopt sees alone; `driver` is the program around it. It calls the
function for several sizes, whole tiles and parts of tiles among them, with each array in memory of exactly its size,
and prints a sum of all bits that the function leaves there.
"""

from __future__ import annotations

from msgspec import Struct, field

from scopt.options import Options

SUPPORT = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long long bits(unsigned long long sum, const void *data, long size)
{
  const unsigned char *bytes = data;
  for (long i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * 1099511628211u;
  return sum;
}
#define MADE(type, name, count, value) \\
  type *name = malloc((count) * sizeof(type)); \\
  for (long i = 0; i < (long)(count); i++) \\
    name[i] = value;
#define DONE(name, count) sum = bits(sum, name, (count) * sizeof *name), free(name);
"""


class Source(Struct, frozen=True):
    """text: the file that scopt gets. body: of the loop over the calls, C with the sizes n and m in scope and the
    result in `sum`. sizes: of n and m.
    declarations: that the body needs besides. options: scopt's."""

    name: str
    text: str
    body: str
    sizes: tuple[tuple[int, int], ...]
    declarations: str = ""
    options: Options = field(default_factory=Options)

    @property
    def driver(self) -> str:
        """What has to stand behind the text of the file, or of what became of it, for a program."""
        pairs = ", ".join(f"{{{n}, {m}}}" for n, m in self.sizes)
        return f"""{SUPPORT}{self.declarations}
int main(void)
{{
  static const int sizes[][2] = {{{pairs}}};
  for (int k = 0; k < {len(self.sizes)}; k++) {{
    int n = sizes[k][0], m = sizes[k][1];
    unsigned long long sum = 14695981039346656037u;
    {self.body}
    printf("%d %d %llx\\n", n, m, sum);
    fflush(stdout);
  }}
  return 0;
}}
"""


class Operand(Struct, frozen=True):
    """An argument of the kernel: an array of `rows` × `columns` elements (C text), or of `rows`.
    value: of element i."""

    name: str
    rows: str
    columns: str = ""
    type: str = "double"
    value: str = "((7 * i) % 11 + 1.3) / 97"

    @property
    def count(self) -> str:
        return f"(long)({self.rows}) * ({self.columns or 1})"

    @property
    def parameter(self) -> str:
        return f"{self.type} {self.name}[{self.rows}]" + (f"[{self.columns}]" if self.columns else "")


def marked(
    name: str,
    operands: tuple[Operand, ...],
    loops: str,
    sizes: tuple[tuple[int, int], ...],
    *,
    before: str = "",
    after: str = "",
    outside: str = "",
    options: Options | None = None,
) -> Source:
    """A source with a marked region in a function of n, m and the operands. before, after: statements around the
    region; outside: around the function."""
    parameters = ", ".join(("int n", "int m", *(one.parameter for one in operands)))
    text = f"{outside}\nvoid kernel({parameters})\n{{\n{before}\n#pragma scop\n{loops}\n#pragma endscop\n{after}\n}}\n"
    made = "\n    ".join(f"MADE({one.type}, {one.name}, {one.count}, {one.value})" for one in operands)
    done = "\n    ".join(f"DONE({one.name}, {one.count})" for one in operands)
    arguments = ", ".join(("n", "m", *(f"(void *){one.name}" for one in operands)))
    return Source(name, text, f"{made}\n    kernel({arguments});\n    {done}", sizes, options=options or Options())
