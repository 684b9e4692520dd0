"""Parameters that lead to whole arrays, whose types bound what is touched."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.frontend.syntax.whole_arrays import whole_array
from scopt.options import Options
from tests.sources import optimize

BEFORE = """#define N 4000
#define M 4000
#define VECTOR(x, n) x[n]
void *get(int); void put(void *);
static double table[N], other[2 * N];
"""
HEAD = "static void f(int n, double VECTOR(x, N), double y[N], const int at[N])"
BODY = "{ for (int k = 0; k < n; k++) y[k] = 2 * x[at[k]]; }"
MAIN = "double (*a)[N] = get(1), (*b)[N] = get(2); int (*p)[N] = get(3);"


def of(calls: str, head: str = HEAD, body: str = BODY, more: str = "") -> str | None:
    """The type of the array that `x` leads to."""
    text = f"{BEFORE}{head}\n{body}\n{more}\nint main(void) {{ {MAIN} {calls} put(a); put(b); }}\n"
    tu = parse(text.encode(), "in.c", Options(autodetect=True))
    assert tu.complete
    region = find_autodetected(tu)[0]
    assert region.function.decl.name == "f"
    return whole_array(tu, region, "x")


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        ("f(9, *a, *b, *p);", ""),
        ("f(9, table, *b, *p); f(9, *a, table, *p);", ""),
        ("g(9, *a, *b, *p);", "static void g(int n, double u[N], double *v, int *p) { f(n, u, v, p); }"),
    ],
)
def test_known(calls: str, more: str) -> None:
    assert of(calls, more=more) == "double VECTOR ( , N )"


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        ("f(9, *a + 1, *b, *p);", ""),
        ("f(9, *a, *b, *p); f(9, get(1), *b, *p);", ""),
        ("f(9, *a, *b, *p); put(f);", ""),
        ("f(9, other, *b, *p);", ""),
        ("double (*c)[M] = get(1); f(9, *c, *b, *p);", ""),  # another macro
        ("double (*c)[2 * N] = get(1); f(9, *c, *b, *p);", ""),
        ("float (*c)[N] = get(1); f(9, *c, *b, *p);", ""),
        ("g(9, *a, *b, *p);", "static void g(int n, double *u, double *v, int *p) { f(n, u, v, p); }"),
        ("g(9, *a, *b, *p);", "static void g(int n, double u[N], double *v, int *p) { u++; f(n, u, v, p); }"),
        ("g(9, *a, *b, *p);", "void g(int n, double u[N], double *v, int *p) { f(n, u, v, p); }"),
        ("g(9, *a, *b, *p);", "static void g(int n, double u[N], double *v, int *p) { g(n, u, v, p); f(n, u, v, p); }"),
        ("for (int k = 0; k < 9; k++) f(9, a[k], *b, *p);", ""),
    ],
)
def test_unknown(calls: str, more: str) -> None:
    assert of(calls, more=more) is None


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (HEAD.replace("static", ""), BODY),
        (HEAD, BODY.replace("{ for", "{ if (n > 9) x = y; for")),
        (HEAD, BODY.replace("{ for", "{ put(&x); for")),
        (HEAD, BODY.replace("{ for", "{\n#undef N\n#define N 8000\nfor")),
        (HEAD.replace("double VECTOR(x, N)", "double VECTOR(x, )"), BODY),
        (HEAD.replace("double VECTOR(x, N)", "double x[restrict N]"), BODY),
        (HEAD.replace("double VECTOR(x, N)", "double x[static N]"), BODY),
    ],
)
def test_unknown_heads(head: str, body: str) -> None:
    assert of("f(9, *a, *b, *p);", head, body) is None


def test_region() -> None:
    """What is read where data say: by its type it is told from what is written. With other sizes at compile time the
    test has these."""
    cells = "y[k] = 2 * x[at[k] & 4095 & k] + x[at[(k + 1) % 4000]] * x[at[k]];"
    heads = "for (int t = 0; t < 50; t++) for (int k = 0; k < n; k++)"
    loop = f"{heads} {{ int q = at[k] < 7 ? 0 : at[k]; {cells} y[k] *= x[q]; }}"
    main = f"int main(void) {{ {MAIN} f(9, *a, *b, *p); put(a); put(b); }}\n"
    for calls, told in ((main, True), (main.replace("f(9, *a", "f(9, *a + 1"), False)):
        result = optimize(f"{BEFORE}{HEAD}\n{{ {loop} }}\n{calls}", options=Options(autodetect=True, eager=True))
        assert ("sizeof(double VECTOR ( , N ))" in result.text.decode()) is told


def test_room() -> None:
    """Where data say which elements are written, the array's size does; the text is right for that size alone."""
    cells = "x[at[t]] = 1; y[t] = x[7] + x[at[n - t]];"
    loop = f"for (int t = 0; t < n; t++) {{ for (int k = 0; k < 4000; k++) x[k] = t; {cells} }}"
    main = f"int main(void) {{ {MAIN} f(9, *a, *b, *p); put(a); put(b); }}\n"
    for calls, told in ((main, True), (main.replace("f(9, *a", "f(9, *a + 1"), False)):
        source = f"{BEFORE}{HEAD}\n{{ {loop} }}\n{calls}"
        assert ("(N) == 4000" in optimize(source, Options(autodetect=True, eager=True)).text.decode()) is told
