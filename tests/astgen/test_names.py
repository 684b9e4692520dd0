from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.names import choose_names, identifiers
from scopt.ir.nest import Block, Call, Const, For, LoopNest, Name
from scopt.ir.nest_walks import items
from tests.astgen.scops import INT, S, loops, make_scop, parse_statement


def names(nest: LoopNest) -> list[str]:
    return [item.iterator for item in items(nest.body) if isinstance(item, For)]


SQUARE = S("S0[i, j] : 0 <= i < n and 0 <= j < n", "A[i][j] = 0;")


@pytest.mark.parametrize(
    ("rows", "sizes", "expected"),
    [
        (("S0[i, j] -> [i]", "S0[i, j] -> [j]"), (), ["i", "j"]),
        (("S0[i, j] -> [j]", "S0[i, j] -> [i]"), (), ["j", "i"]),
        (("S0[i, j] -> [i]", "S0[i, j] -> [j]"), (8, 8), ["it", "jt", "i", "j"]),
        (("S0[i, j] -> [i]", "S0[i, j] -> [i + j]"), (), ["i", "js"]),
        (("S0[i, j] -> [i]", "S0[i, j] -> [i + j]"), (8, 8), ["it", "jst", "i", "js"]),
        (("S0[i, j] -> [-i]", "S0[i, j] -> [j]"), (), ["t1", "j"]),
        (("S0[i, j] -> [-i]", "S0[i, j] -> [-j]"), (), ["t1", "t2"]),
    ],
)
def test_names_tell_what_a_loop_iterates_over(rows: Sequence[str], sizes: Sequence[int], expected: list[str]) -> None:
    assert names(loops(make_scop(SQUARE), *rows, sizes=sizes)) == expected


def test_new_names_avoid_everything_in_the_file() -> None:
    scop = make_scop(SQUARE, reserved=("it", "it2", "t1"))
    assert names(loops(scop, "S0[i, j] -> [i]", "S0[i, j] -> [j]", sizes=(8, 8))) == ["it3", "jt", "i", "j"]
    assert names(loops(scop, "S0[i, j] -> [-i]", "S0[i, j] -> [j]")) == ["t2", "j"]


def test_an_iterator_does_not_hide_what_its_body_uses() -> None:
    # S1 reads a variable that has the name of S0's iterator
    both = make_scop(S("S0[i] : 0 <= i < n", "A[i] = 0;"), S("S1[k] : 0 <= k < n", "B[k] = i;"))
    (iterator,) = names(loops(both, "S0[i] -> [i]; S1[k] -> [k]"))
    assert iterator == "k"


def test_an_iterator_does_not_hide_a_parameter() -> None:
    made = make_scop(
        S("S0[x, j] : 0 <= x < i and 0 <= j < i", "A[j] = 0;"),
        S("S1[j] : 0 <= j < i", "B[j] = 0;"),
        parameters={"i": INT},
    )
    scop = replace(made, statements=(replace(made.statements[0], iterators=("i", "j")), made.statements[1]))
    nest = LoopNest(
        Block(
            (
                For(
                    "$0",
                    Const(0),
                    Name("i"),
                    1,
                    Block((For("$1", Const(0), Name("i"), 1, Block((Call("S0", (Name("$0"), Name("$1"))),))),)),
                ),
                For("$2", Const(0), Name("i"), 1, Block((Call("S1", (Name("$2"),)),))),
            )
        )
    )
    assert names(choose_names(scop, nest)) == ["i2", "j", "j"]


def test_siblings_share_names_and_nested_loops_do_not() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = 0;"), S("S1[i] : 0 <= i < n", "B[i] = 0;"))
    assert names(loops(scop, "S0[i] -> [0]; S1[i] -> [1]", "S0[i] -> [i]; S1[i] -> [i]")) == ["i", "i"]
    diagonal = make_scop(
        S("S0[i, j] : 0 <= i < n and 0 <= j < n", "A[i][j] = 0;"),
        S("S1[i, j] : 0 <= i < n and 0 <= j < n", "B[i][j] = 0;"),
    )
    rows = ("S0[i, j] -> [i]; S1[i, j] -> [j]", "S0[i, j] -> [j]; S1[i, j] -> [i]")
    assert sorted(names(loops(diagonal, *rows))) == ["i", "j"]


def test_keywords_are_no_names() -> None:
    # the tile loop of an iterator called "in" would be "int"
    scop = make_scop(S("S0[in] : 0 <= in < n", "A[in] = 0;"))
    assert names(loops(scop, "S0[in] -> [in]", sizes=(8,))) == ["int2", "in"]


def test_identifiers() -> None:
    assert identifiers(parse_statement("A[i].x = (T)f(n) + sizeof(double);", typedefs=("T",))) >= {
        "A",
        "i",
        "T",
        "f",
        "n",
    }
