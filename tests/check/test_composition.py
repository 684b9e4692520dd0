"""What takes a region's place: what scopt puts together passes; with a fault planted it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest
from msgspec.structs import replace

from scopt.astgen.allocation import Allocation
from scopt.astgen.alternative import Original, in_braces, with_original
from scopt.check.composition import Parts, check_composed, tokens_of
from scopt.diagnostics import InternalError
from scopt.frontend.text.tokens import scan
from scopt.line_directives import with_line_directives
from tests.conftest import EVERYTHING

TEXT = "#pragma omp parallel for\nfor (long i = 0; i < n; i++)\n  b[i] = a[i]; // both\n"
OWN = b"  for (i = 0; i < n; i++) /* in\n place */\n    b[i] = a[i];\n"
GUARD = (
    "n > 5 && ((unsigned long)a + sizeof(*a) * n <= (unsigned long)b"
    " || (unsigned long)b + sizeof(*b) * n <= (unsigned long)a)"
)
PROLOGUE = ("const int s_n = s->n;", "__typeof__(s->a[0]) *s_a = n > 0 ? s->a : 0;")
MEMORY = (
    Allocation(
        "rows",
        "const int scopt_threads_0 = scopt_threads_0_most();\n"
        "double (*rows)[n][8] = scopt_rows_0(scopt_threads_0 * sizeof(double[n][8]));",
    ),
    Allocation("cells", "double *cells = __builtin_malloc(sizeof(double[n]));"),
)
_WORDS = "void f double a b i n for int if else long const sizeof unsigned s N M struct sum free malloc"
RESERVED = frozenset(re.findall(r"\w+", _WORDS))
CASES = [
    (macros, guard, memory, prologue)
    for macros, guard, memory, prologue in product(
        ({}, {"N": 100}, {"N": 100, "M": -5}), ("", GUARD), ((), MEMORY[:1], MEMORY), ((), PROLOGUE)
    )
]


def composed(
    macros: dict[str, int],
    guard: str,
    memory: tuple[Allocation, ...],
    prologue: tuple[str, ...],
    *,
    whole: bool = True,
    bare: bool = False,
) -> tuple[bytes, Parts]:
    """What scopt writes, and what is known of it."""
    own = OWN if whole else OWN.strip()
    original = Original(own, "  ", "\n", whole, RESERVED)
    condition = " && ".join(f"({name}) == {value}" for name, value in sorted(macros.items()))
    new = with_original(TEXT, original, macros=condition, guard=guard, needed=memory, prologue=prologue)
    parts = Parts(TEXT, scan(own).tokens, guard, macros, memory, prologue, RESERVED, bare)
    return in_braces(new, original) if bare else new, parts


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("bare", [True, False])
def test_what_is_put_together_passes(
    case: tuple[dict[str, int], str, tuple[Allocation, ...], tuple[str, ...]], whole: bool, bare: bool
) -> None:
    new, parts = composed(*case, whole=whole, bare=bare)
    check_composed(new, parts)
    check_composed(new.replace(b"\n", b"\r\n"), parts)
    source = scan(b"void f(void)\n{\n" + OWN + b"}\n")
    _, _, numbered = with_line_directives(source, (len(b"void f(void)\n{\n"), len(source.text) - 2, new), "\n", "f.c")
    check_composed(numbered, parts)


SMALL = "b[0] = a[0];\n"


def nested(case: tuple[dict[str, int], str, tuple[Allocation, ...], tuple[str, ...]]) -> tuple[bytes, Parts]:
    """The same inside of a text for one value of a variable."""
    inner, known = composed(*case)
    condition = " && ".join(f"({name}) == {value}" for name, value in sorted(case[0].items()))
    original = Original(inner, "  ", "\n", True, RESERVED)
    new = with_original(SMALL, original, macros=condition, guard="n == 1", needed=(), prologue=())
    return new, Parts(SMALL, scan(inner).tokens, "n == 1", case[0], reserved=RESERVED, inner=known)


@pytest.mark.parametrize("case", CASES)
def test_texts_in_one_another_pass(case: tuple[dict[str, int], str, tuple[Allocation, ...], tuple[str, ...]]) -> None:
    new, parts = nested(case)
    check_composed(new, parts)
    for old, other in (
        (b"n == 1", b"n == 2"),
        (b"} else", b"}"),
        (b"b[0]", b"b[1]"),
        (b"__builtin_free(rows);", b""),
        (b"n > 5", b"n > 4"),
    ):
        if old in new:
            changed = new.replace(old, other, 1)
            inner = parts.original if old in (b"n == 1", b"} else", b"b[0]") else scan(nested_part(changed)).tokens
            with pytest.raises(InternalError):
                check_composed(changed, replace(parts, original=inner))


def nested_part(new: bytes) -> bytes:
    """The text in the other one's place."""
    return new[new.index(b"{", new.index(b"else")) + 1 : new.rindex(b"}")]


def mutants(text: str) -> Iterator[str]:
    """Each token dropped or doubled, neighbours exchanged, words and numbers changed."""
    tokens = scan(text.encode()).tokens
    for k, token in enumerate(tokens):
        if token.kind == "comment":
            continue
        before, after = text[: token.start], text[token.end :]
        yield before + after
        # a pragma may stand there twice only if it is the same one twice
        yield f"{before}{token.text}{chr(10) if token.kind == 'directive' else ' '}{token.text}{after}"
        changed = {
            "0": "1",
            "1": "0",
            "==": "!=",
            "!": "",
            "&&": "||",
            "<=": ">",
            "100": "101",
            "5": "4",
            "if": "while",
        }
        if token.text in changed or token.kind == "word":
            yield before + changed.get(token.text, f"{token.text}_") + after
        if token.kind == "directive":
            yield (
                before + token.text.replace("==", "!=") + after
                if "==" in token.text
                else f"{before}{token.text} x{after}"
            )
            yield before + re.sub("100", "101", token.text) + after if "100" in token.text else before + "#if 0" + after
        if (
            k + 1 < len(tokens)
            and tokens[k + 1].text != token.text
            and "directive" not in (token.kind, tokens[k + 1].kind)
        ):
            following = tokens[k + 1]
            yield before + following.text + text[token.end : following.start] + token.text + text[following.end :]


# Of a case's mutants, in everyday's runs every so many: others of each case, so that all kinds are at all tokens.
SHARE = 1 if EVERYTHING else 4


@pytest.mark.parametrize(
    ("number", "case"), [*enumerate(case for case in CASES if len(case[0]) < 2 and len(case[2]) != 1)]
)
def test_faults_are_refused(
    number: int, case: tuple[dict[str, int], str, tuple[Allocation, ...], tuple[str, ...]]
) -> None:
    new, parts = composed(*case)
    some = [one for one in mutants(new.decode()) if one != new.decode()][number % SHARE :: SHARE]
    assert len(some) > 20
    accepted = [one for one in some if _passes(one, parts)]
    # What is left is the same to a compiler.
    assert [one for one in accepted if tokens_of(one) != tokens_of(new.decode())] == []


def _passes(text: str, parts: Parts) -> bool:
    try:
        check_composed(text.encode(), parts)
    except InternalError:
        return False
    return True


REPLACED = [
    # branches
    (f"if ({GUARD}) {{\nTEXT}} else {{\nOWN}}", True),
    (f"if ({GUARD}) {{\nOWN}} else {{\nTEXT}}", False),
    (f"if ({GUARD}) {{\nTEXT}} {{\nOWN}}", False),
    (f"if ({GUARD}) {{\nTEXT}}", False),
    (f"if ({GUARD}) {{\nTEXT TEXT}} else {{\nOWN}}", False),
    (f"if ({GUARD}) {{\nTEXT}} else {{\nOWN OWN}}", False),
    (f"if ({GUARD}) {{\nTEXT}} else {{\n}}", False),
    (f"if ({GUARD})\nTEXT else {{\nOWN}}", False),
    (f"if ({GUARD}) {{\nTEXT}} else\nOWN", False),
    (f"if (!({GUARD})) {{\nTEXT}} else {{\nOWN}}", False),
    (f"if ({GUARD} || 1) {{\nTEXT}} else {{\nOWN}}", False),
    (f"if ({GUARD}) {{\nTEXT n = 0;}} else {{\nOWN}}", False),
    (f"TEXT if ({GUARD}) {{\n}} else {{\nOWN}}", False),
    (f"n++; if ({GUARD}) {{\nTEXT}} else {{\nOWN}}", False),
    (f"if ({GUARD}) {{\nTEXT}} else if ({GUARD}) {{\n}} else {{\nOWN}}", False),
    (f"{{ int done = 0; if ({GUARD}) {{\nTEXT done = 1; }} if (!done) {{\nOWN}} }}", True),
    (f"{{ int done = 1; if ({GUARD}) {{\nTEXT done = 1; }} if (!done) {{\nOWN}} }}", False),
    (f"{{ int done = 0; if ({GUARD}) {{\nTEXT done = 0; }} if (!done) {{\nOWN}} }}", False),
    (f"{{ int done = 0; if ({GUARD}) {{\nTEXT }} if (!done) {{\nOWN}} }}", False),
    (f"{{ int done = 0; if ({GUARD}) {{\nTEXT }} done = 1; if (!done) {{\nOWN}} }}", False),
    (f"{{ int done = 0; if ({GUARD}) {{\nTEXT done = 1; }} if (done) {{\nOWN}} }}", False),
    (f"{{ int done; if ({GUARD}) {{\nTEXT done = 1; }} if (!done) {{\nOWN}} }}", False),
    (f"{{ int sum = 0; if ({GUARD}) {{\nTEXT sum = 1; }} if (!sum) {{\nOWN}} }}", False),
    (f"{{ int done = 0; if ({GUARD}) {{ int done = 0;\nTEXT done = 1; }} if (!done) {{\nOWN}} }}", False),
]


@pytest.mark.parametrize(("text", "right"), REPLACED)
def test_control(text: str, right: bool) -> None:
    new = text.replace("TEXT", TEXT).replace("OWN", OWN.decode())
    assert _passes(new, Parts(TEXT, scan(OWN).tokens, GUARD, reserved=RESERVED)) is right


HINT = "#ifdef __clang__\n#pragma clang loop unroll(disable)\n#endif\n"


@pytest.mark.parametrize(
    ("hint", "right"),
    [
        (HINT, True),
        (HINT.replace("#pragma", "  #pragma"), True),
        (HINT.replace("ifdef", "ifndef"), False),
        (HINT.replace("__clang__", "n"), False),
        (HINT.replace("unroll(disable)", "unroll(full)"), False),
        (HINT.replace("(disable)", "(disable) vectorize_width(8) interleave_count(2)"), True),
        (HINT.replace("(disable)", "(disable) vectorize_width(8) interleave_count(2) distribute(enable)"), False),
        (HINT.replace("#endif", "n++;\n#endif"), False),
        (HINT.replace("#endif\n", ""), False),
        (HINT.replace("#endif", "#else"), False),
    ],
)
def test_what_clang_alone_is_told_of_a_loop(hint: str, right: bool) -> None:
    new = TEXT.replace("for (", f"{hint}for (", 1)
    assert _passes(new, Parts(TEXT, scan(OWN).tokens, "", reserved=RESERVED)) is right
    assert _passes(new, Parts(new, scan(OWN).tokens, "", reserved=RESERVED)) is right


OTHERS = "#if defined(__clang__) || !defined(__AVX512F__)\n#pragma omp simd\n"
LONGER = f"{OTHERS}#else\n#pragma omp simd simdlen(16)\n#endif\n"


@pytest.mark.parametrize(
    ("directive", "right"),
    [
        (LONGER, True),
        (LONGER.replace("#pragma", "  #pragma"), True),
        (LONGER.replace("||", "&&"), False),
        (LONGER.replace("simd\n#else", "simd private(n)\n#else"), False),
        (LONGER.replace("#else\n", "#else\nn++;\n"), False),
        (LONGER.replace("#endif\n", ""), False),
    ],
)
def test_vectors_of_another_length_for_other_compilers(directive: str, right: bool) -> None:
    plain, new = (TEXT.replace("for (", f"{lines}for (", 1) for lines in ("#pragma omp simd simdlen(16)\n", directive))
    assert _passes(new, Parts(plain, scan(OWN).tokens, "", reserved=RESERVED)) is right
    assert _passes(new, Parts(new, scan(OWN).tokens, "", reserved=RESERVED)) is right


WITH_MEMORY = [
    ("{ ALLOCATE if (cells) {\nTEXT} else {\nOWN} __builtin_free(cells); }", True),
    ("{ ALLOCATE if (cells) {\nTEXT __builtin_free(cells); } else {\nOWN __builtin_free(cells); } }", True),
    ("{ ALLOCATE if (cells) {\nTEXT} else {\nOWN} }", False),
    ("{ ALLOCATE if (cells) {\nTEXT} else {\nOWN} __builtin_free(cells); __builtin_free(cells); }", False),
    ("{ ALLOCATE if (cells) {\nTEXT __builtin_free(cells); } else {\nOWN} __builtin_free(cells); }", False),
    ("{ ALLOCATE __builtin_free(cells); if (cells) {\nTEXT} else {\nOWN} }", False),
    ("{ ALLOCATE if (cells) { __builtin_free(cells);\nTEXT} else {\nOWN __builtin_free(cells); } }", False),
    ("{ ALLOCATE if (cells) {\nTEXT __builtin_free(cells); } else {\nOWN} }", False),
    ("{ ALLOCATE TEXT __builtin_free(cells); }", False),
    ("{ ALLOCATE if (!cells) {\nTEXT} else {\nOWN} __builtin_free(cells); }", False),
    ("{ ALLOCATE if (cells) {\nTEXT} else {\nOWN} __builtin_free(b); }", False),
    ("{ ALLOCATE if (cells) {\nTEXT} else {\nOWN} free(cells); }", False),
    ("{ { ALLOCATE } if (cells) {\nTEXT} else {\nOWN} __builtin_free(cells); }", False),
    ("{ ALLOCATE { ALLOCATE } if (cells) {\nTEXT} else {\nOWN} __builtin_free(cells); }", False),
    ("{ if (cells) {\nTEXT} else {\nOWN} ALLOCATE __builtin_free(cells); }", False),
]


@pytest.mark.parametrize(("text", "right"), WITH_MEMORY)
def test_memory(text: str, right: bool) -> None:
    new = text.replace("ALLOCATE", MEMORY[1].declaration).replace("TEXT", TEXT).replace("OWN", OWN.decode())
    assert _passes(new, Parts(TEXT, scan(OWN).tokens, allocations=MEMORY[1:], reserved=RESERVED)) is right


@pytest.mark.parametrize("name", ["s_n", "s_a", "rows", "cells", "scopt_threads_0"])
def test_names_that_are_declared_have_to_be_new(name: str) -> None:
    new, parts = composed({"N": 100}, GUARD, MEMORY, PROLOGUE)
    check_composed(new, parts)
    with pytest.raises(InternalError):
        check_composed(new, Parts(TEXT, parts.original, GUARD, {"N": 100}, MEMORY, PROLOGUE, RESERVED | {name}))


CHANGES = [
    "const int k = n++;",
    "const int k = f(n);",
    "int k = n = 0;",
    "n = 0;",
    "int k = 0; f();",
    "int k;",
    "int k = 0, j = 0;",
]


@pytest.mark.parametrize("line", CHANGES)
def test_the_prologue_changes_nothing(line: str) -> None:
    new, parts = composed({}, "", (), (line,))
    with pytest.raises(InternalError):
        check_composed(new, parts)


@pytest.mark.parametrize("text", ["}\n{\n", "for (;;) {\n", "if (n)\n  n--; }\n"])
def test_pieces_are_whole(text: str) -> None:
    with pytest.raises(InternalError):
        check_composed(text.encode(), Parts(text, scan(OWN).tokens, reserved=RESERVED))


def test_one_statement_takes_the_place_of_one() -> None:
    for whole in (True, False):
        new, parts = composed({"N": 100}, "", (), (), whole=whole, bare=True)
        check_composed(new, parts)
        new, _ = composed({"N": 100}, "", (), (), whole=whole)
        with pytest.raises(InternalError):
            check_composed(new, parts)


def test_a_text_may_be_empty() -> None:
    parts = Parts("", scan(OWN).tokens, GUARD, reserved=RESERVED)
    assert _passes(f"if ({GUARD}) {{\n}} else {{\n{OWN.decode()}}}", parts)
    assert not _passes(f"if ({GUARD}) {{\n{OWN.decode()}}} else {{\n{OWN.decode()}}}", parts)
    assert not _passes(f"if ({GUARD}) {{\n{OWN.decode()}}} else {{\n}}", parts)
    assert _passes("", Parts("", scan(OWN).tokens, reserved=RESERVED))
    assert not _passes(OWN.decode(), Parts("", scan(OWN).tokens, reserved=RESERVED))
