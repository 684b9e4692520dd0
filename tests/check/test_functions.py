"""The functions in front of the user's are what they are meant to be, and what is wrong with one is seen and told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import pytest
from msgspec.structs import replace

from scopt import transform as region
from scopt.astgen.emit.c_expr import ALL_HELPERS, LANES
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.guard_counters import counter_definitions
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.rewrite_setting import Watch
from scopt.check.functions import definitions
from scopt.check.functions.conditionals import branches
from scopt.check.functions.definitions import check_functions
from scopt.check.functions.faults import Fault
from scopt.check.functions.kernels import check_kernel
from scopt.check.functions.transposed import check_transposed
from scopt.check.functions.workshop import Workshop, forms
from scopt.diagnostics import InternalError, Location
from scopt.frontend.region.parse import parse
from scopt.ir.marked_schedule import Extremum
from scopt.options import Options
from scopt.polybench.catalog import load_suite, own_suite, select
from tests.check.definitions import checked, kernel, mutants, paired, transposed
from tests.conftest import EVERYTHING

T = TypeVar("T")

PLACE = Location('a "b"\\c.c', 3, 7)
KERNELS = {
    "product": kernel("+=", "row0 * column0"),
    "float": kernel("-=", "row0 * column0", "float"),
    "scaled": kernel("+=", "scalar0 * row0 * column0 * scalar1", rows=16, blocks=2),
    "products": kernel("+=", "row0 * column0 + row1 * column1"),
    "relaxation": kernel("=", "0x1.8p-1 * (cell - row0 / column0) + .5"),
    "longer": replace(kernel("+=", "row0 * column0", "float"), long_type="long long"),
    "integers": kernel("+=", "row0 * column0 + 0x10 * scalar0 - 010", "int"),
    "unsigned": kernel("=", "cell - -row0 * (column0 - 2)", "unsigned int"),
    "long": kernel("*=", "row0 + column0", "long"),
    "minimum": kernel("=", "row0 + column0", "int", Extremum("<=", True)),
    "maximum": kernel("=", "row0 * column0", "double", Extremum("<", False)),
    "pairs": paired(),
    "fewer pairs": paired(24, 8, 4),
    "lowest": kernel("=", "row0 + column0", "unsigned int", Extremum(">", False), blocks=2),
}
COPIES = {
    "plain": transposed("A[i][k]"),
    "narrow": transposed("A[i][k]", "float", 8),
    "scaled": transposed("A[i][k] * alpha"),
    "integers": transposed("2 * (-A[i][k] - n)", "int", 8),
    "wide": transposed("x / A[i][k] + 1.5", "double", 48),
    "back": transposed("A[i][k]", "int", 65, back=True),
    "shorts": transposed("A[i][k]", "short", 21, 16),
    "bytes": transposed("A[i][k]", "short", 48, 16, narrow="signed char"),
}


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have found right is looked at again."""
    monkeypatch.setattr(definitions, "_RIGHT", set())


def check(*texts: str, **options: object) -> None:
    check_functions(PLACE, texts, **{"long_type": "long", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compute_what_is_meant(name: str) -> None:
    check(KERNELS[name].text, kernels=(KERNELS[name],), long_type=KERNELS[name].long_type)


@pytest.mark.parametrize("name", COPIES)
def test_copies_copy_what_is_meant(name: str) -> None:
    check(COPIES[name].text, transposed=(COPIES[name],))


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_is_another(name: str) -> None:
    """Each text is checked against the data of all kernels of the type: it is right for one."""
    own = KERNELS[name]
    for other in KERNELS.values():
        if other.type == own.type:
            assert bool(checked(check_kernel, Workshop(), other, own.text)) == (other is not own)


@pytest.mark.parametrize("extremum", [Extremum("<", True), Extremum("<=", False), Extremum(">", False)])
def test_comparisons_are_those_of_the_source(extremum: Extremum) -> None:
    """Equal zeros of two signs, and what can't be compared, are told apart by the operator and by what is kept."""
    own = KERNELS["maximum"]
    other = replace(own, operation=replace(own.operation, extremum=extremum))
    with pytest.raises(InternalError, match=r"cell \(0, 0\) becomes"):
        check(own.text, kernels=(other,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pmaddwd256", "pmaddwd128"),
        ("column0 + k * 48 + 48 + j", "column0 + k * 48 + j"),
        ("x3_0 = *(const scopt_tile_0_0_p *)(row0 + (3) * 64 + k)", "x3_0 = *(const scopt_tile_0_0_p *)(row0 + k)"),
        ("k + 2 <= count", "k + 1 <= count"),
        ("0, 16, 1, 17,", "0, 17, 1, 16,"),
        ("#if defined(__AVX512BW__) && defined(__AVX512VNNI__)", "#if defined(__AVX512VNNI__)"),
        ("vector_size(4)", "vector_size(8)"),
        ("_y)((scopt_tile_0_0_v){0}", "_y)((scopt_tile_0_0_v){1}"),
    ],
)
def test_pairs_are_those_of_two_steps_and_of_the_target(old: str, new: str) -> None:
    own = KERNELS["pairs"]
    assert old in own.text
    assert checked(check_kernel, Workshop(), own, own.text.replace(old, new, 1))


def test_messages_tell_function_configuration_and_cell() -> None:
    own = KERNELS["product"]
    text = own.text.replace("c2_1 += x2_0 * y0_1;", "c2_1 += x2_0 * y0_2;", 1)
    with pytest.raises(InternalError) as error:
        check(text, kernels=(own,))
    words = str(error.value)
    assert "'scopt_tile_0_0'" in words
    assert "-D__GNUC__=1" in words
    assert (
        "cell (2, 2) becomes (cell[2, 2] + (row0[2] * column0[4])) in 1 steps,"
        " not (cell[2, 2] + (row0[2] * column0[2]))" in words
    )


def test_a_fault_in_one_configuration_is_enough() -> None:
    own = KERNELS["product"]
    for line in (line for line in own.text.splitlines() if " += x" in line or "+= row0" in line):
        assert checked(check_kernel, Workshop(), own, own.text.replace(line, line.replace("+=", "-="), 1))


def test_configurations_are_those_of_the_conditions() -> None:
    found = [form.source for form in forms(KERNELS["product"].text)]
    assert len(found) == 5  # plain loops; small blocks of 16 and 32 bytes; large ones of 16, as on AArch64, and of 64
    assert sorted(vector.bytes for source in found for vector in source.vectors.values()) == [16, 16, 32, 64]
    known = branches("#if defined(A) && B >= 12\nint x;\n#elif !defined(__AVX__) || defined(__AVX512F__)\n#endif\n")
    configurations = list(known.configurations())
    assert {one["B"] for one in configurations} == {None, 11, 12, 13}
    assert not any(one["__AVX512F__"] is not None and one["__AVX__"] is None for one in configurations)


@pytest.mark.parametrize(
    "broken",
    [
        "#if defined(A)\n",
        "#else\n",
        "#endif\n",
        "#define A 1\n#define A 2\n",
        "#error no\n",
        "#if A + 1\n#endif\n",
        "#include <math.h>\n",
        "#pragma omp simd\n",
    ],
)
def test_other_directives_are_faults(broken: str) -> None:
    with pytest.raises(Fault):
        list(forms(broken))


# --- the interpreter --------------------------------------------------------------------------------------------------

CELLS = "for (int i = 0; i < 8; i++) for (int j = 0; j < 24; j++)"
PLAIN = f"for (long k = 0; k < count; k++) {CELLS}"
UPDATE = "cell[i * length + j] += row0[k * 8 + i] * column0[k * 24 + j];"
HEAD = (
    "static void scopt_tile_0_0(long count, const double *restrict row0, const double *restrict column0,"
    " double *restrict cell, long length)"
)


def wrong(body: str, head: str = HEAD, own: Kernel = KERNELS["product"]) -> str:
    return checked(check_kernel, Workshop(), own, f"{head} {{ {body} }}\n")


@pytest.mark.parametrize(
    "body",
    [
        f"{PLAIN} {UPDATE}",
        f"long n = count; {PLAIN.replace('count', 'n')} {{ double *c = cell + i * length;"
        " c[j] = c[j] + row0[k * 8 + i] * *(column0 + k * 24 + j); }",
        "for (int i = 7; i >= 0; i--) for (int j = 0; j < 24; j++) { long k = 0; double c = cell[i * length + j];"
        " while (k < count) { c += row0[8 * k + i] * column0[24 * k + j]; k += 1; } cell[i * length + j] = c; }",
        "long k = 0; for (; k + 4 <= count; k += 4) {"
        f" {' '.join(CELLS + UPDATE.replace('k *', f'(k + {u}) *') for u in range(4))} }}"
        f" for (; k < count; k++) {CELLS} {UPDATE}",
    ],
    ids=["loops", "pointers", "other order of cells", "unrolled"],
)
def test_other_texts_that_compute_the_same_are_right(body: str) -> None:
    assert not wrong(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"{PLAIN} {{ {UPDATE} double unused = row0[k * 8 + 8]; }}", "reads element"),
        (f"{PLAIN} {{ {UPDATE} double unused = cell[i * length + 24]; }}", "reads element"),
        (f"{PLAIN} {{ {UPDATE} double c; }}", "declaration"),
        (f"{PLAIN.replace('long k', 'int k')} {UPDATE}", "two types"),
        (f"{PLAIN} {UPDATE} cell[24] = cell[0];", "24 elements|becomes"),
        (f"if (count < 64) {PLAIN} {UPDATE}", "only tried"),
        (f"for (long k = 0; k < count; k++) {{ {PLAIN} {UPDATE} }}", "becomes"),
        (f"long k = 0; while (k < count) {{ {PLAIN} {UPDATE} }}", "doesn't end"),
        (f"{PLAIN.replace('k < count', 'k + 70 <= count')} {UPDATE}", "compared with 70"),
        (
            f"{PLAIN.replace('k < count', 'k + 9 <= count')} {UPDATE}"
            f" for (long k = count - 8; k < count; k++) {CELLS} {UPDATE}",
            "of 0",
        ),
        (
            f"for (long k = 0; k < count; k += 12) for (long n = k; n < k + 12; n++) {CELLS}"
            f" {UPDATE.replace('k *', 'n *')}",
            "of 8",
        ),
        (f"{PLAIN} {UPDATE.replace('k * 8', 'k * k * k * 8')}", "polynomial"),
        (f"{PLAIN} {UPDATE.replace('k * 8', 'k % 3 * 8')}", "only tried"),
        (
            f"{PLAIN} cell[i * length + j] += column0[k * 24 + j] * row0[k * 8 + i];",
            "becomes",
        ),
        (f"double *c = row0; {PLAIN} {UPDATE}", "conversion"),
        (f"row0[0] = 1; {PLAIN} {UPDATE}", "right"),
        (f"{PLAIN} {UPDATE} goto end; end: ;", "statement|understood"),
        (f'puts(""); {PLAIN} {UPDATE}', "isn't declared"),
    ],
)
def test_what_is_wrong_is_seen(body: str, message: str) -> None:
    found = wrong(body)
    assert any(part in found for part in message.split("|")), found


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(
            "const double *restrict row0, const double *restrict column0",
            "const double *restrict column0, const double *restrict row0",
        ),
        HEAD.replace("long count", "int count"),
        HEAD.replace("double *restrict cell", "float *restrict cell"),
        HEAD.replace(", long length", ", long length, long other"),
        HEAD.replace("static ", ""),
        HEAD.replace("static void", "static long"),
        HEAD.replace("scopt_tile_0_0", "other"),
    ],
)
def test_functions_are_called_as_they_are_declared(head: str) -> None:
    assert wrong(f"{PLAIN} {UPDATE}", head)


def test_signed_sums_may_overflow_in_cells_that_do_not_exist() -> None:
    own = kernel("+=", "row0 * column0", "int")
    text = own.text.replace("(unsigned int)row0[k * 8 + i] * (unsigned int)column0", "row0[k * 8 + i] * column0")
    assert text != own.text
    assert "becomes" in checked(check_kernel, Workshop(), own, text)


# --- all definitions of a file ----------------------------------------------------------------------------------------

PLAIN_MEMORY = "static inline void *scopt_rows_0(__SIZE_TYPE__ bytes) { return __builtin_malloc(bytes); }\n"
MEMORY = f"""#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
void *(aligned_alloc)(__SIZE_TYPE__, __SIZE_TYPE__);
static inline void *scopt_rows_0(__SIZE_TYPE__ bytes) {{ return (aligned_alloc)(64, (bytes + 63) / 64 * 64); }}
#else
{PLAIN_MEMORY}#endif
"""
OWN = "int thread = (omp_get_thread_num)(); return thread < threads ? thread : 0;"
THREADS = f"""#ifdef _OPENMP
int (omp_get_max_threads)(void);
int (omp_get_thread_num)(void);
static inline int scopt_threads_0_most(void) {{ return (omp_get_max_threads)(); }}
static inline int scopt_thread_0(int threads) {{ {OWN} }}
#else
static inline int scopt_threads_0_most(void) {{ return 1; }}
static inline int scopt_thread_0(int threads) {{ return (void)threads, 0; }}
#endif
"""
# one of each kind
HELPERS = tuple(one for one in ALL_HELPERS if one not in LANES.values() or one in ("scopt_laneu8", "scopt_lanef"))
HELPER_TEXTS = tuple(helper_definitions((helper,), "long", frozenset()) for helper in HELPERS)
HELPER_TEXT = "".join(HELPER_TEXTS)


def test_all_definitions_of_a_file() -> None:
    product, copy = KERNELS["product"], COPIES["plain"]
    workshop = Workshop()
    texts = (HELPER_TEXT, MEMORY, PLAIN_MEMORY, THREADS, *counter_definitions(PLACE), copy.text, product.text)
    check(*texts, kernels=(product,), transposed=(copy,), helpers=HELPERS, workshop=workshop)
    other = replace(product, name="scopt_tile_1_0")
    known = len(workshop.translations)
    check(other.text, kernels=(other,), workshop=workshop)
    assert len(workshop.translations) == known  # the same but for its name: it isn't looked at again


def test_what_was_found_right_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(definitions, "check_kernel", lambda _, kernel, text: looked.append(kernel.name))
    own = KERNELS["product"]
    named, wider = replace(own, name="scopt_tile_1_0"), replace(own, columns=own.columns * 2)
    for one, text in ((own, own.text), (named, named.text), (own, own.text + " "), (wider, own.text)):
        check(text, kernels=(one,))
    assert looked == [own.name] * 3  # but for its name, the second one is the first one


def test_what_is_refused_is_looked_at_again() -> None:
    own = KERNELS["product"]
    for _ in range(2):
        with pytest.raises(InternalError):
            check(own.text.replace("+=", "-=", 1), kernels=(own,))


def test_aligned_memory_is_the_library_s() -> None:
    for text, taken in ((MEMORY, "malloc"), (PLAIN_MEMORY, "aligned_alloc")):
        check(text, taken=frozenset({taken}))
    with pytest.raises(InternalError):
        check(MEMORY, taken=frozenset({"aligned_alloc"}))


def test_helpers_have_the_names_that_the_file_leaves_and_the_type_that_it_needs() -> None:
    reserved = frozenset({"scopt_min", "scopt_product"})
    text = helper_definitions(("scopt_min", "scopt_product"), "long long", reserved)
    check(text, long_type="long long", reserved=reserved, helpers=("scopt_min", "scopt_product"))
    for options in ({"long_type": "long", "reserved": reserved}, {"long_type": "long long"}):
        with pytest.raises(InternalError):
            check(text, **options)


def test_texts_that_are_not_known_are_refused() -> None:
    product = KERNELS["product"]
    both = product.text + replace(product, name="scopt_tile_1_0").text
    for texts, kernels in (
        (("static int f(void) { return 0; }\n",), ()),
        (("#include <math.h>",), ()),
        ((HELPER_TEXT + MEMORY,), ()),
        ((product.text,), ()),
        ((), (product,)),
        ((both,), (product,)),
        (("#include <stdlib.h>",), ()),
        (("#include <stdlib.h>\n" + MEMORY,), ()),
        ((MEMORY.replace("__builtin_", ""),), ()),
        ((MEMORY.replace("void *(aligned_alloc)(__SIZE_TYPE__, __SIZE_TYPE__);\n", ""),), ()),
        ((MEMORY.replace("(aligned_alloc)(__SIZE_TYPE__", "(aligned_alloc)(int"),), ()),
        ((THREADS.replace("int (omp_get_thread_num)(void)", "int (omp_get_thread_num)(int)"),), ()),
        (("#define count 1\n" + product.text,), (product,)),
        ((HELPER_TEXT.replace("return busy ? 1 : most;", "busy = used[2]; return busy ? 1 : most;"),), ()),
    ):
        with pytest.raises(InternalError):
            check(*texts, kernels=kernels)
    with pytest.raises(InternalError, match="aren't defined: scopt_max"):
        check(helper_definitions(("scopt_min",), "long", frozenset()), helpers=("scopt_min", "scopt_max"))


# What changes nothing in a helper that it is done to.
HARMLESS = (
    "3, column 57: < → <=",
    "4, column 57: > → >=",  # equal values are the same
    "column 16: > → >=",
    "column 16: < → <=",
    "column 49: < → <=",  # of 0, which is its own negation
    "column 51: 0 → 1",
    "dropped: static inline",
    "dropped: __asm__",
    "doubled",  # a helper that isn't called; what only a compiler's vectors depend on
    "1, column 51: >= → >",
    "column 37: >= → >",
    "column 40: 12 → 13",  # for another version of a compiler
    "201112L → 201113L",  # memory that isn't aligned
    "line 1, column 44: 2 → 3",  # a number that isn't used
    "column 22: || → &&",  # the form for one thread
    "column 23: && → ||",  # another form of the same
    "dropped: value = (value | (holds - 1)) + (1 - holds);",  # what isn't to count is 0, which is no maximum
)


@pytest.mark.parametrize(
    "texts",
    [HELPER_TEXTS, (MEMORY,), (THREADS,), *((text,) for text in counter_definitions(PLACE))],
    ids=["helpers", "memory", "threads", "told", "counter"],
)
def test_faults_in_helpers_are_seen(texts: Sequence[str]) -> None:
    """Of several texts, each one alone: the others are right."""
    check(*texts)
    seen = 0
    lines = accumulate((text.count("\n") for text in texts), initial=1)
    made = [one for text, first in zip(texts, lines, strict=False) for one in mutants(text, first)]
    for what, mutant in made if EVERYTHING or len(made) < 150 else made[::3]:
        try:
            check(mutant)
        except InternalError:
            seen += 1
        else:
            assert any(words in what for words in HARMLESS), what
    assert seen > 10


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_for_its_width_and_operand(name: str) -> None:
    own = COPIES[name]
    assert checked(check_transposed, Workshop(), replace(own, width=own.width + 8), own.text)
    other = next(one for one in COPIES.values() if one is not own)
    assert checked(check_transposed, Workshop(), other, own.text)


@pytest.mark.parametrize("name", ["gemm", "gramschmidt", "nussinov", "cholesky"])
def test_definitions_of_real_files(name: str) -> None:
    """As they are written, with the memory and the threads that the region needs."""
    lowered: list[Lowered] = []

    class Noted(Watch):
        def __call__(self, step: str, made: T) -> T:
            if isinstance(made, Lowered):
                lowered.append(made)
            return made

    (kernel_file,) = select(load_suite(own_suite()), [name])
    options = Options(cpp_flags=tuple(f"-I{folder}" for folder in kernel_file.includes))
    tu = parse(kernel_file.source.read_bytes(), str(kernel_file.source), options)
    outcome = region.transform(tu, tu.regions[0], 0, options, watch=Noted())
    texts = (helper_definitions(outcome.helpers, tu.long_type, tu.reserved), *outcome.definitions)
    functions = {"kernels": lowered[-1].kernels, "transposed": lowered[-1].transposed, "helpers": outcome.helpers}
    check(*texts, **functions, long_type=tu.long_type, reserved=tu.reserved)
    assert any("scopt_tile" in text or "scopt_rows" in text for text in texts)
