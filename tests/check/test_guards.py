"""Texts of guards: real ones pass; with a fault planted they are refused, unless they still imply what they have to."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from scopt.astgen.guard import guard_text
from scopt.astgen.guard_counters import counter_name
from scopt.check.guards import check_guard
from scopt.diagnostics import InternalError
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.ir.scop import Scop
from scopt.options import Options

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\w*|<=|>=|==|!=|&&|\|\||\S")
FUNCTIONS = [
    "void f(int n, double *x, double *y) {\n  for (int i = 0; i < n; i++)\n    y[i] = 2.0 * x[i] + y[i];\n}\n",
    "void f(int n, int m, double *a, double *b) {\n"
    "  for (int i = 2; i < n; i++)\n    b[2 * i + 1] = a[i - 2] + a[m - i];\n}\n",
    "int count;\nvoid f(int *p) {\n  for (int i = 0; i < count; i++)\n    p[i] = p[i] * i;\n}\n",
    "void f(int n, int m, double *a, double *b) {\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n"
    "      b[i * m + j] = a[i * m + j] + b[i * m];\n}\n",
    "void f(unsigned long n, double *x, double *y) {\n"
    "  for (unsigned long i = 0; i < n; i++)\n    y[i] = 2.0 * x[i];\n}\n",
    "void f(int n, int m, double (*x)[m], double *y) {\n  for (int i = 1; i < n; i++)\n"
    "    for (int j = 0; j < m; j++)\n      x[i][j] = x[i - 1][j] * y[j];\n}\n",
    "void f(unsigned long n, unsigned long m, double *x, double *y) {\n"
    "  for (unsigned long i = 0; i < n && i < m; i++)\n    y[i] = 2.0 * x[i];\n}\n",
    "void f(int n, int m, int k, double *a, double *b) {\n  for (int i = 0; i < n; i++)\n"
    "    for (int j = 0; j < k; j++)\n      b[i * m + j] = a[i * m + j] + 1.0;\n}\n",
    "struct s { int n; };\nvoid f(int *x, struct s *y) {\n  for (int i = 0; i < y->n; i++)\n    x[i] += x[i] * 3;\n}\n",
    "void f(unsigned n, unsigned m, float *x, float *y) {\n"
    "  for (unsigned i = m; i < n; i++)\n    y[i - m] = x[i + 1];\n}\n",
    "void f(int n, int m, double *x, double *y) {\n  for (int i = 0; i < n; i++)\n"
    "    for (int j = 0; j <= i; j++)\n      y[i] += x[i * (i + 1) / 2 + j] * x[j % m];\n}\n",
    "void f(int n, double *x, double *y, double *z) {\n  for (int i = 0; i < n; i++)\n"
    "    for (int j = 0; j <= i; j++)\n      y[i] += x[i * (i + 1) / 2 + j] * z[j];\n}\n",
]


def scop_of(function: str) -> Scop:
    tu = parse(function.encode(), "f.c", Options(autodetect=True))
    region = find_autodetected(tu)[0]
    return extract(tu, region, "scop0")


def joined(tokens: list[str]) -> str:
    return re.sub(r"\( ?(unsigned long|long|double) ?\)", r"(\1)", " ".join(tokens))


def mutants(text: str, names: list[str]) -> Iterator[str]:
    """Comparisons turned and weakened, literals changed, names swapped, operators replaced, conjuncts dropped."""
    tokens = _TOKEN.findall(text)
    other = {
        "<=": (">=", "<", "=="),
        ">=": ("<=", "!="),
        "&&": ("||",),
        "||": ("&&",),
        "+": ("-",),
        "-": ("+",),
        "*": ("+",),
    }
    for k, token in enumerate(tokens):
        found: tuple[str, ...] = other.get(token, ())
        if token[0].isdigit():
            digits = re.match(r"\d+", token)
            assert digits is not None
            found = tuple(f"{int(digits[0]) + d}{token[digits.end() :]}" for d in (1, -1) if int(digits[0]) + d >= 0)
            found += (digits[0],) if token.endswith("UL") else ()
        elif token in names:
            found = tuple(name for name in names if name != token)
        elif token == "unsigned":
            found = ("", "short")
        yield from (joined([*tokens[:k], new, *tokens[k + 1 :]]) for new in found)
        if token in ("&&", "||"):
            yield from (joined(rest) for rest in _without_side(tokens, k))
    yield f"!({text})"
    yield f"{text} || 1"
    yield f"{text} || n > 0"


def _without_side(tokens: list[str], place: int) -> Iterator[list[str]]:
    """The tokens without one of an operator's sides, as far as the parentheses around it reach or the"
    " next such operator."""
    for step in (1, -1):
        depth, end = 0, place
        while 0 <= end + step < len(tokens):
            token = tokens[end + step]
            depth += (token == "(") - (token == ")")
            if depth * step < 0 or (depth == 0 and token in ("&&", "||")):
                break
            end += step
        low, high = sorted((place, end))
        yield [*tokens[:low], *tokens[high + 1 :]]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("worth", ["", "n > 1000", "(double)n * n > 40000"])
def test_guards_hold_what_is_taken_for_granted(function: str, worth: str) -> None:
    scop = scop_of(function)
    if any(p.spelling == "n" for p in scop.parameters) or not worth:
        check_guard(scop, guard_text(scop, worth), worth)
        check_guard(scop, guard_text(scop, worth, counter_name(scop.location)), worth)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_faults_are_refused(function: str) -> None:
    scop = scop_of(function)
    assert scop.guard is not None
    text = guard_text(scop)
    names = sorted({name for name in re.findall(r"[a-z]\w*", text) if name not in ("unsigned", "long", "sizeof")})
    accepted, refused = [], 0
    for mutant in mutants(text, names):
        try:
            check_guard(scop, mutant)
        except InternalError:
            refused += 1
        else:
            accepted.append(mutant)
    assert refused > 10
    parameters = [p.spelling for p in scop.parameters]
    # What is left is the same test, or one that allows fewer parameters.
    assert [one for one in accepted if not _stronger(one, text, parameters)] == []


def _stronger(mutant: str, text: str, names: list[str]) -> bool:
    """Whether what differs is about parameters alone, and nowhere holds where the text doesn't; or a suffix is missing
    from what is multiplied by a size."""
    if re.sub(r"\s|(?<=\d)UL", "", re.sub(r"(sizeof \( \*? ?\w+ \) \* \d+)\b", r"\1UL", mutant)) == re.sub(
        r"\s|(?<=\d)UL", "", text
    ):
        return bool(re.search(r"sizeof \( \*? ?\w+ \) \* \d+ ", mutant))
    addresses = [
        sorted(re.sub(r"\s", "", part) for part in one.split("&&") if "sizeof" in part) for one in (mutant, text)
    ]
    if addresses[0] != addresses[1]:
        return False
    changed, given = (_python([part for part in one.split("&&") if "sizeof" not in part]) for one in (mutant, text))
    worlds = [dict(zip(names, values, strict=True)) for values in _values(len(names))]
    return all(eval(given, {}, world) or not eval(changed, {}, world) for world in worlds)


def _python(tests: list[str]) -> str:
    """A conjunction of comparisons of parameters, without C's types."""
    parts = [re.sub(r"[(](unsigned )?long[)]|(?<=[0-9])U?L", "", part) for part in tests]
    return " and ".join(f"({part})" for part in parts) or "True"


def _values(count: int) -> Iterator[tuple[int, ...]]:
    if not count:
        yield ()
        return
    for rest in _values(count - 1):
        yield from ((value, *rest) for value in range(-4, 9))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "n > 0",
        "f()",
        "{text} && f()",
        "{text} && n++",
        "{text} && x[0] > 1",
        "{text}, 1",
        "({text}) == 0",
        "other({text})",
        "{counter}(({text}) - 1)",
        "{text}; } int g(void) { return 1",
        # computed in int, in a signed type, in a narrower one
        "(unsigned long)x + (unsigned long)(sizeof(*x) * n) <= (unsigned long)y || (unsigned long)y +"
        " sizeof(*y) * n <= (unsigned long)x",
        "(unsigned long)x + 8 * n <= (unsigned long)y || (unsigned long)y + sizeof(*y) * n <= (unsigned long)x",
        "(long)x + sizeof(*x) * n <= (unsigned long)y || (unsigned long)y + sizeof(*y) * n <= (unsigned long)x",
        "(unsigned long)x + sizeof(*x) * (n + 0) <= (unsigned long)y || (unsigned long)y + sizeof(*y) * n <="
        " (unsigned long)x",
        "x + n <= y || y + n <= x",
        # one order twice
        "(unsigned long)x + sizeof(*x) * n <= (unsigned long)y || (unsigned long)x + sizeof(*x) * n <="
        " (unsigned long)y",
        "(unsigned long)x + sizeof(*x) * n <= (unsigned long)y && (unsigned long)y + sizeof(*y) * n <="
        " (unsigned long)x",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    scop = scop_of(FUNCTIONS[0])
    given = guard_text(scop)
    with pytest.raises(InternalError):
        check_guard(scop, text.replace("{text}", given).replace("{counter}", counter_name(scop.location)))


def test_the_gain_has_to_be_tested_too() -> None:
    scop = scop_of(FUNCTIONS[0])
    text = guard_text(scop)
    check_guard(scop, f"n > 5 && ({text})", "n > 5")
    with pytest.raises(InternalError):
        check_guard(scop, text, "n > 5")
    with pytest.raises(InternalError):
        check_guard(scop, f"n > 6 || {text}", "n > 6")
    with pytest.raises(InternalError):
        check_guard(scop, f"f(n) && ({text})", "f(n)")


def test_all_ends_are_told_apart() -> None:
    scop = scop_of(FUNCTIONS[1])
    assert scop.guard is not None
    (one, _), *_ = scop.guard.apart
    assert (len(one.first), len(one.beyond)) == (2, 2)
    text = guard_text(scop)
    check_guard(scop, text)
    with pytest.raises(InternalError):
        check_guard(
            scop,
            text.replace(" && (unsigned long)a + sizeof(*a) * (m - 1UL) <= (unsigned long)b + sizeof(*b) * 5UL", ""),
        )
