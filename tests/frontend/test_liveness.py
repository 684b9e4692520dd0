"""Liveness after a region: cases by hand, and a random program's executions as the judge."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from scopt import ir
from scopt.diagnostics import Location
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.liveness import may_be_read_after
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.unit import Region
from scopt.frontend.text.gnu import PREAMBLE, clean
from scopt.ir.from_pycparser import parse_c


def regions_of(function: Any) -> Iterator[Region]:
    todo = [function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.Compound):
            items = node.block_items or []
            begin = next(
                (k for k, item in enumerate(items) if isinstance(item, ir.Pragma) and item.string == "scop"), None
            )
            if begin is not None:
                end = next(
                    k for k, item in enumerate(items) if isinstance(item, ir.Pragma) and item.string == "endscop"
                )
                yield Region(
                    function, tuple(items[begin + 1 : end]), node, begin + 1, end, 0, 0, Location("x.c", 1), True
                )
        todo.extend(node.parts)


def function_of(source: str) -> Any:
    ast = parse_c(PREAMBLE + "\n" + clean(source).text)
    return next(node for node in ast.ext if isinstance(node, ir.FuncDef))


def live(source: str, name: str = "x") -> bool:
    function = function_of(source)
    return may_be_read_after(FunctionFacts.of(function), next(regions_of(function)), name)


REGION = "\n#pragma scop\nx = 1;\n#pragma endscop\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int x; @", False),
        ("int x; @ g(x);", True),
        ("int x; @ return x;", True),
        ("int x; @ x = 2; g(x);", False),
        ("int x; @ x = x + 2;", True),
        ("int x; @ x += 2;", True),
        ("int x; @ x++;", True),
        ("int x; @ for (x = 0; x < 3; x++) g(x);", False),
        ("int x; @ for (; x < 3; x++) g(x);", True),
        ("int x; @ if (c) x = 2; g(x);", True),
        ("int x; @ if (c) x = 2; else x = 3; g(x);", False),
        ("int x; @ if (c) x = 2; else return; g(x);", False),
        ("int x; @ if (c) return; g(x);", True),
        ("int x; @ return; g(x);", False),
        ("int x; @ while (c) x = 2; g(x);", True),
        ("int x; @ do x = 2; while (c); g(x);", False),
        ("int x; @ do { if (c) continue; x = 2; } while (c); g(x);", True),
        ("int x; @ for (;;) { if (c) break; x = 2; } g(x);", True),
        ("int x; @ for (i = 0; i < 3; i++) x = 2; g(x);", True),
        ("int x; @ for (i = 0; i < 3; i++) { x = 2; g(x); }", False),
        ("int x; @ { int x; g(x); }", False),
        ("int x; @ { int x = 3; g(x); } g(x);", True),
        ("int x; @ { int y = x; }", True),
        ("int x; @ { int x = x; }", True),
        ("int x; @ for (int x = 0; x < 3; x++) g(x);", False),
        ("int x; @ (x = 2, g(x));", False),
        ("int x; @ c ? (x = 2) : 0; g(x);", True),
        ("int x; @ s.x = 2; g(s.x);", False),
        ("int x; @ s.y = x;", True),
        ("int x; @ a[x] = 1;", True),
        ("int x; @ x = 2, x = x;", False),
        ("int x; for (i = 0; i < 3; i++) { @ }", False),
        ("int x; for (i = 0; i < 3; i++) { @ } g(x);", True),
        ("int x; for (i = 0; i < 3; i++) { g(x); @ }", True),
        ("int x; for (i = 0; i < 3; i++) { x = 0; g(x); @ }", False),
        ("int x; for (i = 0; i < 3; i++) { if (c) x = 0; g(x); @ }", True),
        ("int x; for (i = 0; i < x; i++) { @ }", True),
        ("int x; for (i = x; i < 3; i++) { @ }", False),
        ("int x; for (i = 0; i < 3; i += x) { @ }", True),
        ("int x; for (i = 0; i < 3; x = 0) { @ } g(x);", False),
        ("int x; while (g(x)) { @ }", True),
        ("int x; do { @ } while (x);", True),
        ("int x; do { g(x); @ } while (c);", True),
        ("for (i = 0; i < 3; i++) { int x; g(x); @ }", False),
        ("for (i = 0; i < 3; i++) { int x; @ { g(x); } }", True),
        ("for (int x = 0; x < 3; ) { @ }", True),
        ("for (int x = 0; c; ) { @ }", False),
        ("for (int x = 0; c; ) { @ } { int x; g(x); }", False),
        ("int x; if (c) { @ } else { g(x); }", False),
        ("int x; if (c) { @ } g(x);", True),
        ("int x; if (c) { @ x = 1; } g(x);", False),
        ("int x; if (c) { g(x); @ }", False),
        ("int x; { @ } { { g(x); } }", True),
        ("int x; for (;;) { for (;;) { @ } x = 2; g(x); }", False),
        ("int x; for (;;) { for (;;) { @ } } g(x);", False),
        ("int x; for (;;) { for (;;) { @ if (c) break; } if (c) break; } g(x);", True),
        ("int x; for (;;) { g(x); for (;;) { x = 3; @ if (c) break; } }", True),
        ("int x; for (;;) { g(x); for (;;) { x = 3; @ } }", False),
        ("int x; while (1) { @ if (c) break; x = 2; } x = 3; g(x);", False),
        ("int x; do { @ if (c) continue; x = 2; } while (1); g(x);", False),
        ("int x; for (i = 0; i < 3; i++) { if (c) continue; g(x); x = 2; @ }", True),
        ("int x; for (i = 0; i < 3; i++) { if (c) continue; x = 2; @ } x = 2;", False),
        ("int x; for (i = 0; i < 3; i++) { @ if (c) break; x = 2; } g(x);", True),
        ("int x; @ ;;;", False),
        ("int x;\n@\n#pragma omp parallel firstprivate(x)\nfor (i = 0; i < 3; i++) ;", True),
        ("int x;\n@\n#pragma omp parallel for firstprivate(x)\nfor (i = 0; i < 3; i++) g(x);", True),
        ("int x;\n@\n#pragma omp parallel for private(x)\nfor (i = 0; i < 3; i++) { x = i; g(x); }", False),
        ("int x;\n@\n#pragma omp parallel for num_threads(2) private(x)\nfor (i = 0; i < 3; i++) x = i;", False),
        # storage, addresses, jumps
        ("static int x; @", True),
        ("extern int x; @", True),
        ("@", True),
        ("int x; g(&x); @", True),
        ("int x; @ p = &x;", True),
        ("int x; l: ; @ if (c) goto l;", False),
        ("int x; l: g(x); @ if (c) goto l;", True),
        ("int x; @ if (c) goto l; x = 2; l: g(x);", True),
        ("int x; @ if (c) goto l; g(x); l: x = 2; g(x);", True),
        ("int x; @ goto l; g(x); l: x = 2; g(x);", False),
        ("int x; { l: { @ } } if (c) { g(x); } else goto l;", True),
        ("int x; @ switch (c) { case 1: ; }", False),
        ("int x; @ switch (c) { case 1: g(x); }", True),
        ("int x; @ switch (c) { case 1: x = 2; break; default: return; } g(x);", False),
        ("int x; @ switch (c) { case 1: x = 2; break; case 2: return; } g(x);", True),
        ("int x; @ switch (c) { case 1: x = 2; case 2: g(x); default: x = 3; } g(x);", True),
        ("int x; @ switch (c) { g(x); default: x = 3; } g(x);", False),
        ("int x; @ switch (c) { case 0: x = 2; for (;;) { default: g(x); } }", True),
        ("int x; for (;;) { @ switch (c) { case 1: continue; default: break; } x = 2; g(x); }", False),
        ("int x; for (;;) { if (c) break; switch (c) { case 1: { @ } break; default: x = 3; } } g(x);", True),
        ("int x; for (;;) { x = 1; switch (c) { case 1: { @ } break; default: x = 3; } }", False),
        ("int x; @ switch (c) { int x; case 1: g(x); }", False),
        ("int x; @ switch (c) { case 1: ; int x; default: x = 2; } g(x);", True),
        ("int x; switch (c) { case 1: ; int x; { @ } g(x); }", True),
        ("int x; setjmp(j); @", True),
        ('int x; @ asm("" : : "r"(x));', True),
        ('int x; @ asm("" : : "r"(c));', False),
        ("int x; @ ({ g(x); });", True),
        ("int x; @ ({ if (c) return; });", True),
        # arrays
        ("int x[3]; @", False),
        ("int x[3]; @ g(x[0]);", True),
        ("int x[3]; @ x[0] = 1;", True),
        ("int x[3]; g(x); @", True),
        ("int x[3]; x[0] = 1; @", False),
        ("int x[3][2]; g(x[0]); @", True),
        ("struct s x; @", True),
        ("_Float32 x; @", False),
        ("__int128_t x; x[0]; @", True),
    ],
)
def test_cases(body: str, expected: bool) -> None:
    region = REGION.replace("x =", "x[0] =") if "int x[3]" in body else REGION
    assert live("struct s { int m; }; void f(int c) { int i, a[3], *p; " + body.replace("@", region) + " }") == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [("int x", False), ("double *x", False), ("double x[3]", True), ("int y", True), ("double x[n][n]", True)],
)
def test_parameters(parameters: str, expected: bool) -> None:
    assert live(f"void f(int n, {parameters}) {{ {REGION} }}") == expected


def test_old_style_parameters() -> None:
    assert not live(f"void f(x) int x; {{ {REGION} }}")


def test_a_region_of_loops() -> None:
    source = (
        "void f(int n) { int i, t; while (n--) {\n#pragma scop\n"
        "for (i = 0; i < n; i++) { t = i; g(t); }\n#pragma endscop\n} }"
    )
    assert not live(source, "i")
    assert not live(source, "t")


def test_identifiers() -> None:
    node = function_of("void f(void) { a.m = b[c] + g(d->e); }").body.block_items[0]
    assert identifiers(node) == {"a", "b", "c", "g", "d"}


# --- against executions -----------------------------------------------------------------------------------------------


STATEMENTS = {"read": "use(x);", "write": "x = c();", "update": "x += 1;", "other": ";"}
# Heads of loops, and what stands behind their bodies.
LOOPS = {
    "while": ("while (c())", ""),
    "do": ("do", " while (c());"),
    "ever": ("while (1)", ""),
    "forx": ("for (int x = 0; c(); use(x))", ""),
}
LABELS = ["case 0:", "case 1:", "default:"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A random body with one variable x, one region,
    conditions c() and all control flow that the analysis walks through."""
    placed = [False]

    def statement(depth: int, loop: bool) -> str:
        kinds = ["read", "write", "update", "other"]
        if depth > 0:
            kinds += ["if", "ifelse", "for", "while", "do", "block", "shadow", "forx", "return", "switch", "ever"]
            kinds += ["break", "continue"] if loop else []
            if not placed[0]:
                kinds += ["region", "region"]
        kind = draw(st.sampled_from(kinds))
        inner = depth - 1
        if kind in LOOPS:
            head, end = LOOPS[kind]
            return f"{head} {block(inner, True)}{end}"
        match kind:
            case "if":
                return f"if (c()) {block(inner, loop)}"
            case "ifelse":
                return f"if (c()) {block(inner, loop)} else {block(inner, loop)}"
            case "for":
                head = "for (x = 0; c(); use(x))" if draw(st.booleans()) else "for (; c(); x = 1)"
                return f"{head} {block(inner, True)}"
            case "switch":
                labels = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3, unique=True))
                end = draw(st.sampled_from(["", "break;"]))
                return "switch (c()) { " + " ".join(f"{label} {block(inner, loop)} {end}" for label in labels) + " }"
            case "block":
                return block(inner, loop)
            case "shadow":
                return f"{{ {block(inner, loop)} int x = 0; use(x); {block(inner, loop)} }}"
            case "region":
                placed[0] = True
                read = "use(x); " if draw(st.booleans()) else ""
                return f"{{ ;\n#pragma scop\n{read}mark();\n#pragma endscop\n; }}"
            case "return" | "break" | "continue":
                return f"if (c()) {kind};"
        return STATEMENTS[kind]

    def block(depth: int, loop: bool) -> str:
        return "{ " + " ".join(statement(max(depth, 0), loop) for _ in range(draw(st.integers(1, 3)))) + " }"

    body = " ".join(statement(3, False) for _ in range(draw(st.integers(1, 4))))
    if not placed[0]:
        body = "{\n#pragma scop\nmark();\n#pragma endscop\n}" + body
    return f"void f(void) {{ int x; {body} }}"


class _Jump(Exception):
    pass


class _Break(_Jump):
    pass


class _Run:
    """One execution with random conditions: is the value that x has at mark() read afterwards?"""

    def __init__(self, seed: int) -> None:
        self.random, self.steps = random.Random(seed), 0
        self.scopes: list[dict[str, str]] = [{}]
        self.marked: str | None = None
        self.seen = False

    def cell(self) -> dict[str, str]:
        return next(scope for scope in reversed(self.scopes) if "x" in scope)

    def run(self, node: Any) -> None:
        self.steps += 1
        if self.steps > 300:
            raise _Jump("return")
        match node:
            case None | ir.EmptyStatement() | ir.Pragma() | ir.Constant():
                return
            case ir.Compound():
                self.scopes.append({})
                try:
                    for item in node.block_items or ():
                        self.run(item)
                finally:
                    self.scopes.pop()
            case ir.Decl():
                self.scopes[-1]["x"] = "new"
            case ir.DeclList():
                self.run(node.decls[0])
            case ir.If():
                self.run(node.iftrue if self.random.random() < 0.5 else node.iffalse)
            case ir.For() | ir.While() | ir.DoWhile():
                self.loop(node)
            case ir.Switch():
                self.switch(node.stmt.block_items or [])
            case ir.Case() | ir.Default():
                for item in node.stmts or ():
                    self.run(item)
            case ir.Assignment():
                if node.op != "=":
                    self.read()
                self.cell()["x"] = "new"
            case ir.FuncCall():
                if node.name.name == "use":
                    self.read()
                elif node.name.name == "mark":
                    # One execution of the region is watched: from here on its value of x is "marked".
                    for scope in self.scopes:
                        for name in scope:
                            scope[name] = "old"
                    self.cell()["x"] = "marked"
            case ir.Break():
                raise _Break("break")
            case ir.Return() | ir.Continue():
                raise _Jump(type(node).__name__.lower())

    def read(self) -> None:
        self.seen = self.seen or self.cell()["x"] == "marked"

    def switch(self, labels: list[Any]) -> None:
        """From one of the labels on, or none of them if there is no default."""
        default = any(isinstance(label, ir.Default) for label in labels)
        first = self.random.randrange(len(labels) + (not default))
        with contextlib.suppress(_Break):
            for label in labels[first:]:
                self.run(label)

    def loop(self, node: Any) -> None:
        self.scopes.append({})
        try:
            if isinstance(node, ir.For):
                self.run(node.init)
            first = isinstance(node, ir.DoWhile)
            ever = isinstance(node.cond, ir.Constant)
            while first or ever or self.random.random() < 0.6:
                first = False
                try:
                    self.run(node.stmt)
                except _Jump as jump:
                    if jump.args[0] == "return":
                        raise
                    if jump.args[0] == "break":
                        break
                if isinstance(node, ir.For):
                    self.run(node.next)
        finally:
            self.scopes.pop()


@settings(max_examples=300, deadline=None)
@given(programs())
def test_what_is_read_in_some_execution_is_live(source: str) -> None:
    function = function_of(source)
    region = next(regions_of(function))
    if may_be_read_after(FunctionFacts.of(function), region, "x"):
        return
    for seed in range(40):
        run = _Run(seed)
        with contextlib.suppress(_Jump):
            run.run(function.body)
        assert not run.seen, source
