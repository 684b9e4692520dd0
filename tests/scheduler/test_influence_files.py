"""Influence constraint trees as YAML: read, written, described by a schema;
what is wrong is said with line and column."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from scopt.diagnostics import InputError
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.scheduler.influence.influence_tree import Coefficient, InfluenceNode, InfluenceRow, InfluenceTree, equals
from scopt.scheduler.influence.tree_files import check_regions, dump_tree, load_tree
from tests.sources import scop_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/influence"
DOCUMENT = ROOT / "docs/influence.md"
SCHEMA = ROOT / "scheduler/influence/schema.json"
COPY = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[i][j];"


@pytest.fixture(scope="module")
def copy() -> Scop:
    return scop_of(COPY)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA.read_text())
    return loaded


def node_with(row: str) -> str:
    return f"branches:\n  - rows:\n      - {row}\n"


def row_of(text: str, scop: Scop) -> InfluenceRow:
    (branch,) = load_tree(node_with(text), "t.yaml", scop).branches
    return branch.rows[0]


def complaint(text: str, scop: Scop) -> str:
    with pytest.raises(InputError) as caught:
        load_tree(text, "t.yaml", scop)
    return str(caught.value)


def test_nodes_have_names_flags_and_children(copy: Scop) -> None:
    text = """
branches:
  - name: first
    rows: ["T[S0,0,j] = 1"]
    parallel: true
    children:
      - {permutable: true, rows: ["T[S0,0,j] = T[S0,i]"]}
  - {}
"""
    row = equals(((1, Coefficient("S0", 0, "j")),), 1)
    inner = InfluenceRow(((1, Coefficient("S0", 0, "j")), (-1, Coefficient("S0", 1, "i"))), 0, "=")
    child = InfluenceNode("0.0", (inner,), permutable=True)
    assert load_tree(text, "t.yaml", copy) == InfluenceTree(
        (InfluenceNode("first", (row,), True, False, (child,)), InfluenceNode("1"))
    )


@pytest.mark.parametrize(
    ("text", "terms", "constant", "relation"),
    [
        ("T[S0,i] = 1", {"i": 1}, -1, "="),
        ("T[S0, 0, i]==T[S0,0,j]+2", {"i": 1, "j": -1}, -2, "="),
        ("T[S0,i] >= 2*T[S0,n] - 1", {"i": 1, "n": -2}, 1, ">="),
        ("T[S0,i] <= 3", {"i": -1}, 3, ">="),
        ("T[S0,i] < 3", {"i": -1}, 2, ">="),
        ("T[S0,i] > 3", {"i": 1}, -4, ">="),
        ("1 + T[S0,1] + T[S0,1] > -T[S0,j]", {"1": 2, "j": 1}, 0, ">="),
    ],
)
def test_rows(copy: Scop, text: str, terms: dict[str, int], constant: int, relation: str) -> None:
    row = row_of(text, copy)
    assert {coefficient.column: factor for factor, coefficient in row.terms} == terms
    assert (row.constant, row.relation) == (constant, relation)


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("T[S7,0,i] = 1", 11, "there are: S0 (line 6)"),
        ("T[S0,0,q] = 1", 16, "iterators i, j; parameters n"),
        ("T[S0,1,i] = 1", 14, "deeper than this node"),
        ("'T[S0,-1,i] = 1'", 15, "counted from 0"),
        ("T[S0,0,i] = 1.5", 21, "integers"),
        ("T[S0,0,i] = 1234567890", 21, "too large"),
        ("T[S0,0,i] != 1", 19, "unexpected '!'"),
        ("T[S0,0,i] 1", 19, "expected one of ="),
        ("T[S0,0,i] = 1 = 1", 23, "one relation"),
        ("T[S0,0,1,i] = 1", 17, "expected ]"),
        ("T[S0,0,i = 1", 18, "expected ]"),
        ("T[S0] = 1", 13, "expected , after the statement"),
        ("T[S0,0,i] =", 20, "the end of the row"),
        ("1 = 1", 9, "names no coefficient"),
        ("T[S0,i] = T[S0,i] + 1", 9, "can never hold"),
        ("T[S0,i] >= T[S0,i]", 9, "always holds"),
        ("2*T[S0,i] + 4*T[S0,j] = 3", 9, "2 doesn't divide 3"),
        ("12", 9, "expected a row"),
        ("[T, S0]", 9, "needs quotes"),
    ],
)
def test_errors_in_rows_have_a_column(copy: Scop, row: str, column: int, words: str) -> None:
    message = complaint(node_with(row), copy)
    assert message.startswith(f"t.yaml:3:{column}: error: ")
    assert words in message


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("branches: []\nbranch: []", "2:1", "no key 'branch'"),
        ("branches:\n  - row: []", "2:5", "no key 'row'"),
        ("branches:\n  - name: a\n    name: b", "3:5", "twice"),
        ("branches: [1]", "1:12", "a node is '1'"),
        ("- 1", "1:1", "a document is a list"),
        ("scop: 0", "1:1", "needs branches"),
        ("scop: first\nbranches: []", "1:7", "region's number"),
        ("branches: {}", "1:11", "expected a list"),
        ("branches: [{parallel: 1}]", "1:23", "true or false"),
        ("branches: [{name: 1}]", "1:19", "quotes"),
        ("branches: [{rows: T}]", "1:19", "expected a list"),
        ("branches: &a [{children: *a}]", "1:11", "alias"),
        ("branches: [", "1:12", "not YAML"),
        ("branches:\n  - rows: [T[S0,0,i] = 1]", "2:13", "needs quotes"),
        ("a: \x01", "1:4", "not allowed"),
        ("branches: []\n---\nscop: 0\nbranches: []", "3:7", "already"),
    ],
)
def test_errors_in_documents(copy: Scop, text: str, place: str, words: str) -> None:
    message = complaint(text, copy)
    assert message.startswith(f"t.yaml:{place}: error: ")
    assert words in message


def test_aliases_cannot_make_a_huge_tree(copy: Scop) -> None:
    nested = "{children: &l0 []}"  # each level has the one inside of it twice
    for k in range(1, 30):
        nested = f"{{children: &l{k} [{nested}, {{children: *l{k - 1}}}]}}"
    assert "more than" in complaint(f"branches: [{nested}]", copy)


def test_documents_belong_to_regions(copy: Scop) -> None:
    text = "branches: [{name: zero}]\n---\n---\nscop: 3\nbranches: [{name: three}]\n"
    names = [[branch.name for branch in load_tree(text, "t.yaml", copy, region).branches] for region in range(4)]
    assert names == [["zero"], [], [], ["three"]]
    check_regions(text, "t.yaml", 4)
    with pytest.raises(InputError, match=r"^t.yaml:4:1: error: .*3 regions"):
        check_regions(text, "t.yaml", 3)


def test_trees_survive_the_round_trip(copy: Scop) -> None:
    i, j, one = (Coefficient("S0", 0, column) for column in ("i", "j", "1"))
    rows = (
        equals(((1, i),), 0),
        equals(((-1, i), (1, j)), 0),
        InfluenceRow(((2, i), (-3, j), (-1, one)), 4),
        InfluenceRow(((-1, i),), 2),
        InfluenceRow(((-2, i), (1, j), (-1, one)), -2),
    )
    leaf = InfluenceNode(
        "true", (equals(((1, Coefficient("S0", 1, "n")), (-1, i)), 7),), parallel=True, permutable=True
    )
    tree = InfluenceTree((InfluenceNode("a: #b", rows, children=(leaf, leaf)), InfluenceNode("")))
    assert load_tree(dump_tree(tree), "t.yaml", copy) == tree
    assert load_tree(dump_tree(tree, 5), "t.yaml", copy, 5) == tree
    assert load_tree(dump_tree(InfluenceTree()), "t.yaml", copy) == InfluenceTree()


# --- schema, examples, documentation ----------------------------------------------------------------------------------


def test_the_schema_accepts_what_is_written(schema: dict[str, Any], copy: Scop) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    tree = InfluenceTree(
        (InfluenceNode("a", (equals(((1, Coefficient("S0", 0, "i")),), 1),), True, True, (InfluenceNode("b"),)),)
    )
    jsonschema.validate(yaml.safe_load(dump_tree(tree, 1)), schema)
    jsonschema.validate(yaml.safe_load((EXAMPLES / "fig2.yaml").read_text()), schema)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "branches: {}",
        "{scop: -1, branches: []}",
        "{branches: [], more: 1}",
        "branches: [{parralel: true}]",
        "branches: [{parallel: 1}]",
        "branches: [{name: 1}]",
        "branches: [{rows: ['1 = 1']}]",
        "branches: [{rows: ['T[S0,0,i]']}]",
        "branches: [{rows: ['T[S0,0,i] = 1 = 1']}]",
        "branches: [{children: [{row: []}]}]",
    ],
)
def test_the_schema_and_the_reader_reject_the_same(schema: dict[str, Any], copy: Scop, text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), schema)
    with pytest.raises(InputError):
        load_tree(text, "t.yaml", copy)


def test_the_example_of_the_paper_loads() -> None:
    source = EXAMPLES / "fig2.c"
    tu = parse(source.read_bytes(), str(source), Options())
    tree = load_tree((EXAMPLES / "fig2.yaml").read_text(), "fig2.yaml", extract(tu, tu.regions[0], "fig2"))
    assert [(depth, node.name) for depth, node in tree.walk()] == [
        (0, "fused"),
        (1, "fused"),
        (2, "innermost S1.j"),
        (0, "unfused"),
        (1, "unfused"),
        (2, "innermost S1.j"),
    ]


def test_the_example_of_the_documentation_loads(schema: dict[str, Any]) -> None:
    found = re.search(r"<!-- example: copies -->\n```c\n(.*?)```\n```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found
    tree = load_tree(found[2], "influence.md", scop_of(found[1]))
    assert [(depth, node.name, len(node.rows)) for depth, node in tree.walk()] == [
        (0, "columns outside", 3),
        (1, "rows inside", 2),
    ]
    jsonschema.validate(yaml.safe_load(found[2]), schema)
