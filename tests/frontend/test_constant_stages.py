"""Which loops over constant stages are written out."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.check.written_stages import check_written_stages
from scopt.diagnostics import InternalError
from scopt.frontend.region.constant_stages import written_out
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.frontend.syntax.symbols import scope_at
from scopt.options import Options

BLOCKS = "for (int i = 0; i < 8; i += 2 * h) for (int k = i; k < i + h; k++) x[k] += x[k + h];"
TREE = "for (int i = 0; i < h; i++) x[i] += x[i + h];"


def made(body: str) -> str:
    source = f"#define N 8\nint g;\nvoid f(int n, float *x)\n{{\n  int s;\n  {body}\n}}\n"
    return pipeline.optimize(source.encode(), Options(autodetect=True)).text.decode()


@pytest.mark.parametrize(
    ("body", "stages"),
    [
        (f"for (int h = 1; h < 8; h *= 2) {BLOCKS}", ["int h = 1;", "int h = 2;", "int h = 4;"]),
        (f"for (int h = 1; h < N; h *= 2) {BLOCKS}", ["#if (N) == 8", "int h = 1;", "int h = 2;", "int h = 4;"]),
        (f"for (s = 4; s != 0; s /= 2) {TREE.replace('h', 's')}", ["s = 4;", "s = 2;", "s = 1;", "s = 0;"]),
        (f"for (unsigned h = 9; h > 0; h = h / 3) {TREE}", ["unsigned h = 9;", "unsigned h = 1;"]),
    ],
)
def test_written_out(body: str, stages: list[str]) -> None:
    text = made(body)
    places = [text.find(one) for one in stages]
    assert -1 not in places, text
    assert places == sorted(places), text


@pytest.mark.parametrize(
    "body",
    [
        f"for (int h = 1; h < n; h *= 2) {BLOCKS}",  # the run tells how many there are
        f"for (int h = 1; h < 128; h *= 2) {BLOCKS}",  # more than a few
        f"for (int h = 4; h; h /= 2) {TREE.replace('x[i] +', '{ if (x[i] > 3) break; x[i] +')} }}",
        f"for (float h = 4; h >= 1; h /= 2) {TREE.replace('x[i + h]', 'h')}",  # halves
        f"for (_Bool h = 0; h < 8; h += 2) {TREE}",
        f"for (int h = 1; h < 8; h *= 2) {{ {BLOCKS} h += n; }}",
        f"for (g = 1; g < 8; g *= 2) {BLOCKS.replace('h', 'g')}",  # others may look at it
        "for (int h = 1; h < 8; h *= 2) for (int i = 0; i < 8; i++) x[i] += h;",  # loops that don't depend on it
        f"for (int h = 1; h < 8; h *= 2) {{ static int seen; seen++; {BLOCKS} }}",
    ],
)
def test_left(body: str) -> None:
    text = made(body)
    assert not [one for one in ("h = 2;", "g = 2;") if one in text], text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s = 2;", "s = 3;"),
        ("s = 0;", "s = 1;"),
        ("s = 0;\n", ""),
        ("x[i] += x[i + s]", "x[i] += x[i - s]"),
        ("{\n  s = 1;", "if (n) {\n  s = 1;"),
        ("{\n  s = 4;", "{\n  s = 8;\n}\n{\n  s = 4;"),
    ],
)
def test_other_texts_are_refused(old: str, new: str) -> None:
    source = f"void f(int n, float *x)\n{{\n  int s;\n  for (s = 4; s; s >>= 1) {TREE.replace('h', 's')}\n}}\n"
    tu = parse(source.encode(), "in.c", Options())
    (region,) = find_autodetected(tu)
    text = written_out(tu, region)
    assert text is not None
    check_written_stages(region.items[0], text, scope_at(tu, region), tu.typedefs)
    assert old in text
    with pytest.raises(InternalError):
        check_written_stages(region.items[0], text.replace(old, new, 1), scope_at(tu, region), tu.typedefs)


MARKED = """#define N %d
void f(int n, float x[][N], float *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int h = 1; h < N; h <<= 1)
      for (int k = 0; k < N; k += 2 * h)
        for (int j = k; j < k + h; j++) {
          float t = x[i][j + h];
          x[i][j + h] = x[i][j] - t;
          x[i][j] += t;
        }
    y[i] = x[i][0];
  }
#pragma endscop
}
"""


def test_stages_among_other_statements_of_a_region() -> None:
    result = pipeline.optimize((MARKED % 8).encode(), Options())
    loops = result.text.decode().split("#else")[0].split("else\n")[0]
    assert "h <<= 1" not in loops, loops
    assert "statement.opaque" not in {remark.id for remark in result.remarks}


def test_many_statements_stay_one() -> None:
    result = pipeline.optimize((MARKED % 32).encode(), Options())
    assert "statement.opaque" in {remark.id for remark in result.remarks}
