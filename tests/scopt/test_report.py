"""`--report`: the page as HTML that can be parsed, and the facts on it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from scopt import cli
from scopt.astgen.splice import Piece
from scopt.diagnostics import Location, Remark
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.tell.report import collect
from scopt.tell.report.collect import view_of
from scopt.tell.report.domains import MAX_ARROWS
from scopt.tell.report.drawing import drawing_svg, notes
from scopt.tell.report.graph import graph_svg
from scopt.tell.report.page import page
from scopt.tell.report.source_page import decoded, highlighted, segments
from scopt.tell.results import Result
from scopt.tell.view import Arrow, Drawing, Edge, Point, RegionView, StatementView, TreeNode
from tests.sources import scop_of

STENCIL = "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) x[i] = x[i - 1] + x[i + 1];"
# Markup in comments and strings; bytes that are no UTF-8 and a control character in the last comment; a refused region.
SOURCE = (
    b'/* </script><script>alert(1)</script> & "q" caf\xc3\xa9 */\n'
    b"double g(double);\n"
    b"void f(int n, double *x) {\n"
    b"#pragma scop\n"
    b"  for (int i = 1; i < n; i++)\n"
    b"    x[i] = x[i] < 1.0 && x[i] > 0 ? 1.0 : 2.0; // <i>\n"
    b"#pragma endscop\n"
    b"#pragma scop\n"
    b"  for (int i = 1; i < n; i++)\n"
    b"    x[i] = g(x[i]);\n"
    b"#pragma endscop\n"
    b"}\n"
    b"/* caf\xe9 \x80 \x07 </pre> */\r\n"
)
_VOID = {"meta", "br"}


class _Page(HTMLParser):
    """Checks that elements are closed in order, and collects what tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if "href" in values else []
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def paged(source: bytes, name: str = "in.c", options: Options | None = None) -> str:
    options = replace(options or Options(), report=True)
    return page(source, optimize(source, options, file=name), name).decode()


def view(body: str) -> RegionView:
    scop = scop_of(body)
    deps = dependences(scop)
    options = Options()
    tree = get_scheduler("pluto").schedule(scop, deps, options).tree
    return view_of(scop, deps, tree, apply_passes(scop, deps, tree, options))


@pytest.fixture(scope="module")
def text() -> str:
    return paged(SOURCE)


# --- the page as a whole ---


def test_the_page_is_well_formed_and_needs_nothing_from_outside(text: str) -> None:
    found = _Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert "script" not in found.tags
    assert not found.attributes & {"src", "onclick", "onload"}
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert len(found.ids) == len(set(found.ids))
    assert "url(" not in text
    assert "@import" not in text


def test_the_source_is_shown_as_it_is(text: str) -> None:
    shown = "".join(_Page(text).text)
    for line in (
        '/* </script><script>alert(1)</script> & "q" café */',
        "x[i] < 1.0 && x[i] > 0 ? 1.0 : 2.0; // <i>",
        "/* café € ␇ </pre> */",
    ):
        assert line in shown


def test_each_region_says_what_became_of_it_and_why(text: str) -> None:
    shown = " ".join("".join(_Page(text).text).split())
    assert "2 regions found: 1 transformed, 1 left alone." in shown
    assert "The loop over i in line 5 runs on several threads" in shown
    assert "Left as it was, because of line 10: the call of 'g' may have side effects." in shown
    assert "What you can do: declare it with __attribute__((const))" in shown
    assert "call.unknown" in shown
    assert "pointers that are parameters are taken not to overlap" not in shown  # one pointer can't overlap


def test_the_same_input_gives_the_same_page(text: str) -> None:
    assert paged(SOURCE) == text


@pytest.mark.parametrize("source", [b"", b"int x;", b"\n", b"int x;\n" * 3000])
def test_files_without_regions(source: bytes) -> None:
    made = paged(source)
    _Page(made)
    assert "No region was found" in made
    assert len(made) < 400_000


def test_a_remark_on_another_file_is_not_shown_in_the_source() -> None:
    remark = Remark("missed", "region.in-header", "a SCoP in an included file", Location("a<b>.h", 3))
    made = page(SOURCE, Result(SOURCE, (remark,), (), {}), "in.c").decode()
    _Page(made)
    assert "a&lt;b&gt;.h, line 3" in made
    assert "line-3" not in made


def test_a_sequential_loop_has_the_dependence_that_asks_for_it() -> None:
    source = (
        b"void f(int n, double *x) {\n#pragma scop\nfor (int i = 1; i < n; i++) x[i] += x[i - 1];\n#pragma endscop\n}\n"
    )
    shown = "".join(_Page(paged(source)).text)
    assert "The loop over i in line 3 runs in one thread" in shown
    assert "No outermost loop is parallel: d0 = i carries flow x S0 → S0 (distance 1)." in shown


def test_loops_outside_of_regions_are_told_with_autodetection() -> None:
    made = paged(
        SOURCE.replace(b"#pragma scop", b"").replace(b"#pragma endscop", b""),
        options=Options(autodetect=True, eager=True),
    )
    assert "Loops that are in no region" in made
    _Page(made)


def test_a_large_region_makes_no_large_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in (
        ("MAX_STATEMENTS", 3),
        ("MAX_DEPENDENCES", 2),
        ("MAX_GRAPH", 3),
        ("MAX_DRAWINGS", 2),
        ("MAX_NODES", 3),
    ):
        monkeypatch.setattr(collect, limit, value)
    found = view("\n".join(f"for (i = 0; i < n; i++) A[{k}][i] = A[{k + 1}][i] + x[i];" for k in range(5)))
    assert (len(found.statements), len(found.dependences), found.edges, len(found.drawings)) == (3, 2, (), 2)
    assert (found.before, found.after) == ((), ())
    told = " ".join(found.left_out)
    for what in (
        "2 statements of 5",
        "dependences of",
        "the dependence graph, which has 5 statements",
        "drawings of 3 statements",
        "nodes",
    ):
        assert what in told


# --- source ---


def test_bytes_become_text_line_by_line() -> None:
    assert decoded(b"caf\xc3\xa9\r\n\xe9\x80\x07\tx\x81\n") == "café\né€␇\tx\ufffd\n"


def test_highlighted_lines_are_those_of_the_source() -> None:
    lines = highlighted('/* a\n b */ int x = "<";\n\n#define N 3\n')
    assert [re.sub("<[^>]*>", "", line) for line in lines] == [
        "/* a",
        " b */ int x = &quot;&lt;&quot;;",
        "",
        "#define N 3",
    ]
    assert '<span class="c"> b */</span>' in lines[1]


def test_segments_are_whole_lines_on_both_sides() -> None:
    # Two pieces on one line, and one that only puts something in at the beginning of a line.
    source, result = b"a\nb c d\ne\n", b"a\nB1\nB2 c D\nnew\ne\n"
    found = segments(source, result, (Piece(2, 3, 2, 7), Piece(6, 7, 10, 11), Piece(8, 8, 12, 16)))
    seen = [(s.first, s.last, s.new_first, s.new_last, s.changed) for s in found]
    assert seen == [(0, 1, 0, 1, False), (1, 2, 1, 3, True), (2, 2, 3, 4, True), (2, 3, 4, 5, False)]


# --- drawings ---


def test_iterations_tiles_and_dependences_of_a_stencil() -> None:
    (drawing,) = view(STENCIL).drawings
    assert (drawing.rows, drawing.columns, drawing.first) == ("t", "i", (0, 1))
    assert drawing.setting == ("m = 14", "n = 14")
    assert len(drawing.points) == 14 * 12
    assert {(a.sink[0] - a.source[0], a.sink[1] - a.source[1]) for a in drawing.arrows if a.kind == "flow"} == {
        (0, 1),
        (1, -1),
    }
    assert 0 < len(drawing.arrows) <= MAX_ARROWS
    assert [text.rpartition(" by ")[0] for text in drawing.tiles] == ["t", "t + i"]
    at = {point.at: point.tile for point in drawing.points}
    assert at[(0, 1)] == (0, 0)
    assert at[(4, 4)] == (1, 2)
    assert drawing.waves == (0, 1)


def test_deep_nests_are_drawn_as_two_slices() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k <= j; k++) A[i][j] += B[i][k];"
    outer, inner = view(body).drawings
    assert (outer.rows, outer.columns) == ("i", "j")
    assert (inner.rows, inner.columns) == ("j", "k")
    assert [text.split(" = ")[0] for text in outer.setting] == ["n", "k"]
    assert {(a.sink[0] - a.source[0], a.sink[1] - a.source[1]) for a in inner.arrows} == {(0, 1)}
    assert all(k <= j for j, k in (point.at for point in inner.points))


def test_a_domain_of_constant_size_is_drawn_in_part() -> None:
    (drawing,) = view("for (i = 5; i < 90; i++) for (j = 7; j < 90; j++) A[i][j] = 0;").drawings
    assert (drawing.first, drawing.clipped, len(drawing.points)) == ((5, 7), True, 14 * 14)


def test_dependences_through_other_statements_are_drawn() -> None:
    body = (
        "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) y[i] = x[i - 1]; "
        "for (i = 1; i < n - 1; i++) x[i] = y[i]; }"
    )
    first, _ = view(body).drawings
    assert {(a.sink[0] - a.source[0], a.sink[1] - a.source[1]) for a in first.arrows if a.kind == "indirect"} == {
        (1, 1)
    }


def test_a_drawing_is_svg_and_says_what_was_chosen() -> None:
    points = tuple(Point((r, c), (r // 2, c // 2)) for r in range(4) for c in range(4))
    arrows = (Arrow((0, 0), (1, 0), "flow"), Arrow((0, 0), (3, 0), "anti"))
    drawing = Drawing(
        "S0", "i", "j<", (0, 0), ("n = 4",), points, arrows, tiles=("i by 32",), drawn=2, waves=(0, 1), left_out=3
    )
    root = ElementTree.fromstring(drawing_svg(drawing))
    assert len(root.findall("circle")) == 16
    assert len(root.findall("rect")) == 16
    assert len(root.findall("g")) == 2
    assert sorted(e.text for e in root.findall("text") if e.get("class") == "wave") == ["1", "2", "2", "3"]
    said = " ".join(notes(drawing))
    assert "edge of 2" in said
    assert "tiles of i by 32" in said
    assert "3 arrows left out" in said


# --- graph and trees ---


def test_the_graph_has_each_statement_and_edge_and_nothing_overlaps() -> None:
    statements = [StatementView(f"S{k}", k, "", f"a < {k};") for k in range(5)]
    edges = [
        Edge("S0", "S1", ("flow A", "anti B")),
        Edge("S0", "S4", ("output A",)),
        Edge("S1", "S4", ("flow A",)),
        Edge("S3", "S0", ("anti A",)),
    ]
    root = ElementTree.fromstring(graph_svg(statements, [*edges, Edge("S2", "S2", ("reduction s",))]))
    boxes = [(float(r.get("x", "")), float(r.get("y", ""))) for r in root.iter("rect")]
    assert len(boxes) == 5
    for k, (x, y) in enumerate(boxes):
        assert all(abs(x - a) >= 210 or abs(y - b) >= 44 for a, b in boxes[:k])
    kinds = [g.get("class") for g in root.findall("g") if (g.get("class") or "").startswith("edge")]
    assert kinds == ["edge flow", "edge output", "edge flow", "edge anti", "edge reduction"]
    # A statement is below those that it depends on.
    assert boxes[0][1] < boxes[1][1] < boxes[4][1]


def titles(nodes: tuple[TreeNode, ...]) -> list[str]:
    return [title for node in nodes for title in (node.title, *titles(node.children))]


def test_trees_before_and_after() -> None:
    found = view(STENCIL)
    assert titles(found.before) == ["d0 = t", "d1 = t + i", "S0"]
    (outer,) = found.before
    assert outer.badges == ("sequential",)
    assert any(note.startswith("carries flow") for note in outer.notes)
    after = titles(found.after)
    assert after[0].startswith("wavefront of tiles of")
    assert after[-1] == "S0"
    assert any("parallel" in node.badges for node in found.after[0].children)


def test_a_region_whose_view_fails_is_transformed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> RegionView:
        raise RuntimeError

    monkeypatch.setattr("scopt.tell.report.collect.view_of", fail)
    made = paged(SOURCE)
    assert "1 transformed" in made
    _Page(made)


# --- the command ---


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.c"
    path.write_bytes(SOURCE)
    return path


def test_report_alone_writes_no_c(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = file.with_suffix(".html")
    assert cli.main([str(file), "--report", str(out), "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_bytes().startswith(b"<!DOCTYPE html>")


def test_report_beside_the_output(file: Path) -> None:
    page_file, out = file.with_suffix(".html"), file.with_suffix(".out.c")
    assert cli.main([str(file), "--report", str(page_file), "-o", str(out), "-q"]) == 0
    assert page_file.exists()
    assert b"#pragma omp" in out.read_bytes()


def test_report_and_output_in_one_file_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([str(file), "--report", "x", "-o", "x"])
    assert "--report" in capsys.readouterr().err


def test_without_pygments_a_message_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    out = file.with_suffix(".html")
    assert cli.main([str(file), "--report", str(out)]) == 2
    assert "pip install 'scopt[report]'" in capsys.readouterr().err
    assert not out.exists()


def test_no_view_is_made_unless_asked_for() -> None:
    assert [region.view for region in optimize(SOURCE, Options(), file="in.c").regions] == [None, None]


def test_the_tree_of_a_plain_nest_is_shown_without_marks() -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = 0;")
    deps = dependences(scop)
    assert view_of(scop, deps, scop.schedule, MarkedSchedule(scop.schedule, {})).after[0].badges == ()
