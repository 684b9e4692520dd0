"""`#line` around replaced text: the text after it keeps its numbers."""

from __future__ import annotations

import pytest

from scopt.diagnostics import InputError
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

BODY = "{0}for (int i = 0; i < 9; i++)\n    for (int j = 0; j < 9; j++)\n      A[i][j] = i + j;{1}"
SOURCE = """#include <stdio.h>
static int A[9][9];
int main(void)
{
  printf("%d\\n", __LINE__);
BODY
  printf("%s %d %d\\n", __FILE__, __LINE__, A[8][8]);
}
"""


@pytest.mark.parametrize(
    ("before", "after"), [("  ", ""), ("  if (A[0][0] == 0) { ", ' }  printf("%d\\n", __LINE__);')]
)
@pytest.mark.parametrize("own", ["", '#line 50 "other.y"\n', '# 70 "other.y"\n'])
def test_lines_and_files_stay(run_c: RunC, before: str, after: str, own: str) -> None:
    source = (own + SOURCE.replace("BODY", BODY.format(before, after))).encode()
    result = optimize(source, Options(autodetect=True, eager=True, line_directives=True), file="program.c")
    assert [region.transformed for region in result.regions] == [True]
    text = result.text.replace(b"__FILE__", b'"program.c"') if not own else result.text
    assert run_c(text, "-fopenmp") == run_c(source.replace(b"__FILE__", b'"program.c"') if not own else source)


def test_new_text_stays_on_the_lines_of_what_it_replaces() -> None:
    options = Options(autodetect=True, eager=True, line_directives=True, tile_sizes=(2,))
    result = optimize(SOURCE.replace("BODY", BODY.format("", "")).encode(), options)
    number, loops, others = 1, [], []
    for line in result.text.decode().splitlines():
        if line.startswith("#line"):
            number = int(line.split()[1])
            continue
        if line.strip().startswith(("for", "if", "A[")):
            loops.append(number)
        elif "__LINE__" in line or line.startswith(("int main", "static int A")):
            others.append(number)
        number += 1
    assert len(loops) >= 3
    assert {*loops} <= {6, 7, 8}
    assert others == [2, 3, 5, 9]


def test_no_directives_unless_asked_for_or_where_nothing_changed() -> None:
    assert (
        b"#line"
        not in optimize(SOURCE.replace("BODY", BODY.format("", "")).encode(), Options(autodetect=True, eager=True)).text
    )
    untouched = SOURCE.replace("BODY", "").encode()
    assert optimize(untouched, Options(autodetect=True, eager=True, line_directives=True)).text == untouched


def test_a_line_number_from_a_macro_cannot_be_continued() -> None:
    source = ("#define NUMBER 12\n#line NUMBER\n" + SOURCE.replace("BODY", BODY.format("", ""))).encode()
    with pytest.raises(InputError, match=r"in\.c:2:1: error"):
        optimize(source, Options(autodetect=True, eager=True, line_directives=True), file="in.c")
