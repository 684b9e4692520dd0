"""optimize(): what a whole file becomes."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import cast

import pytest

import scopt
import scopt.scheduler
from scopt import attempts
from scopt.diagnostics import InputError, Location
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.isolation import Failed, Finished, run_tasks
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.scheduler.base import UNSCHEDULED
from scopt.scheduler.constraints.scheduling_problem import Step
from scopt.scheduler.construct.dimensions import NoSchedule, Wish
from scopt.scheduler.construct.feautrier import FeautrierStrategy
from scopt.scheduler.construct.pluto import PlutoStrategy
from scopt.simpler_forms import any_order, quicker
from scopt.tell.results import Outcome, Result
from scopt.time_shares import in_time
from scopt.transform import transform
from scopt.wanted import Wanted
from tests.sources import source_of

LOOP = "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n      A[i][j] = 2 * B[j][i];"
REFUSED = "  for (i = 0; i < n; i++) { if (x[i] > 0) return; x[i] = 0; }"


def ids(result: Result) -> list[str]:
    return [remark.id for remark in result.remarks]


def test_bytes_outside_stay() -> None:
    before, after = b"/* caf\xe9 */\tint  odd ;\r\n", b"\r\n\r\n// the end"
    source = before + source_of(LOOP).replace(b"\n", b"\r\n") + after
    text = optimize(source).text
    start, end = source.index(b"#pragma scop"), source.index(b"#pragma endscop")
    helper_free = re.sub(rb"#if defined\(_OPENMP\) \|\| .*?return 1; \}\r\n#endif\r\n\r\n", b"", text, flags=re.DOTALL)
    assert helper_free.startswith(source[:start])
    assert text.endswith(source[end:])
    assert b"\n" not in text.replace(b"\r\n", b"")


def test_refused_region_is_verbatim_and_the_next_is_done() -> None:
    source = source_of(REFUSED) + source_of(LOOP).replace(b"void f", b"void g")
    result = optimize(source)
    assert REFUSED.encode() in result.text
    assert [region.transformed for region in result.regions] == [False, True]
    assert ids(result).count("control.return") == 1
    assert "region.transformed" in ids(result)


def test_remark_has_the_place_and_what_to_change() -> None:
    (remark,) = [r for r in optimize(source_of(REFUSED)).remarks if r.kind == "missed"]
    assert (remark.location.line, remark.location.column) == (6, 43)
    assert remark.text().startswith("<stdin>:6:43: remark: ")
    assert remark.hint


def test_comments_around_the_statements_stay() -> None:
    text = optimize(source_of(f"  /* above */\n{LOOP}\n  // below")).text
    assert b"/* above */\n  " in text
    assert b"  // below\n#pragma endscop" in text


def test_a_file_without_regions_needs_little_of_the_program() -> None:
    program = (
        "import sys; from scopt.pipeline import optimize; from scopt.options import Options;"
        "optimize(b'int f(int a) { return a + 1; }', Options(autodetect=True));"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scopt.transform', 'scopt.scheduler.passes')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_no_overlap_is_said() -> None:
    assert "alias.assumed-none" in ids(optimize(source_of(LOOP)))


def test_helpers_stand_before_the_function_once() -> None:
    source = source_of(LOOP, before="int first;\n/* of f */") + source_of(LOOP).replace(b"void f", b"void g")
    text = optimize(source, Options(tile_sizes=(3,))).text.decode()
    assert text.count("static inline long scopt_min(") == text.count("int (omp_get_max_threads)(void);") == 1
    assert (
        text.index("int first;") < text.index("static inline") < text.rindex("static inline") < text.index("/* of f */")
    )


def test_macros_stay_symbolic() -> None:
    text = optimize(
        b"#define N 40\ndouble x[N];\n" + source_of("for (i = 0; i < N; i++) x[i] = N;", params="double *x")
    ).text
    assert b"i < N" in text
    assert b"x[i] = N" in text


def test_macro_that_has_to_be_expanded_guards_the_result() -> None:
    text = optimize(b"#define BLOCK 4\n" + source_of("for (i = 0; i < n; i++) x[i / BLOCK] = 0;")).text.decode()
    assert "#if (BLOCK) == 4\n" in text
    assert "#else\nfor (i = 0; i < n; i++) x[i / BLOCK] = 0;\n#endif\n" in text


def test_directives_in_a_region_refuse_it() -> None:
    assert "region.directives" in ids(optimize(source_of("#if 1\nfor (i = 0; i < n; i++) x[i] = 0;\n#endif")))


def test_budget() -> None:
    result = optimize(source_of(LOOP), Options(budget=0.001))
    assert ids(result) == ["budget.exceeded"]
    assert result.text == source_of(LOOP)


def test_autodetection_takes_what_cannot_alias() -> None:
    plain = source_of(LOOP).replace(b"#pragma scop\n", b"").replace(b"#pragma endscop\n", b"")
    assert "assume.apart" in ids(optimize(plain, Options(autodetect=True, eager=True)))
    assert ids(optimize(plain, Options(autodetect=True, eager=True, assume=("noalias",))))[0] == "alias.assumed-none"
    distinct = plain.replace(b"double A[100][100], double B[100][100], ", b"").replace(
        b"void f", b"static double A[100][100], B[100][100];\nvoid f"
    )
    assert [region.transformed for region in optimize(distinct, Options(autodetect=True, eager=True)).regions] == [True]
    restrict = plain.replace(b"A[100][100], double B[100]", b"A[restrict 100][100], double B[restrict 100]")
    assert [region.transformed for region in optimize(restrict, Options(autodetect=True, eager=True)).regions] == [True]


@pytest.mark.parametrize(
    ("declared", "parameters", "before", "tested"),
    [
        ("double *restrict x, *y;", "", "", True),
        ("double *restrict x, *y;", "", "y = x;", True),
        ("double *restrict x, y[200];", "", "", True),
        ("double *y;", "double *restrict x", "", False),
        ("double *y;", "double *restrict x", "y = x;", True),
    ],
)
def test_what_copies_of_restrict_pointers_reach(declared: str, parameters: str, before: str, tested: bool) -> None:
    """A restrict pointer says nothing of its copies (C11 6.7.3.1), and anybody may have one of a global pointer."""
    loop = "for (int i = 0; i < 99; i++) x[i] = y[i + 1];"
    source = f"{declared}\nvoid f({parameters or 'void'}) {{ {before} {loop} }}\n"
    assert ("assume.apart" in ids(optimize(source.encode(), Options(autodetect=True, eager=True)))) == tested


def test_autodetection_finds_the_loops_inside_what_it_cannot_take() -> None:
    source = b"""static double a[9][9];
int g(int);
void f(int n) {
  for (int i = 0; i < 9; i++) {
    g(i);
    for (int j = 0; j < 9; j++)
      a[j][i] = 0;
  }
  while (g(n--)) {
    for (int j = 0; j < 9; j++)
      a[j][j] = 0;
  }
}
"""
    result = optimize(source, Options(autodetect=True, eager=True))
    assert [region.location.line for region in result.regions] == [6, 10]
    assert "call.unknown" in ids(result)


def test_syntax_error_is_the_compilers_message() -> None:
    with pytest.raises(InputError, match=r"bad\.c:2:\d+: error: expected"):
        optimize(b"int f(void) {\n  return ;; }}\n", file="bad.c")


def test_deterministic() -> None:
    source = source_of(
        "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++)"
        " for (j = 1; j < n - 1; j++) A[i][j] = A[i - 1][j] + A[i][j + 1];"
    )
    assert optimize(source).text == optimize(source).text


def test_api_of_the_package() -> None:
    result = scopt.optimize(source_of(LOOP).decode(), scopt.Options(scheduler="identity"))
    assert len(result.schedules) == 1
    assert result.timings["total"] > 0
    assert "generate" in result.regions[0].stages


class FailingScheduler:
    """A scheduler that never finds anything."""

    def schedule(self, *_: object) -> None:
        raise NoSchedule("no further dimension for S0")


def test_another_scheduler_steps_in_for_one_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n"
        "      for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j];"
    )
    monkeypatch.setitem(scopt.scheduler.REGISTRY, "pluto", (__name__, "FailingScheduler"))
    result = optimize(source)
    monkeypatch.undo()
    assert "schedule.simplified" in ids(result)
    assert result.text == optimize(source, Options(scheduler="isl")).text


def region_at(line: int) -> Region:
    """A region of which only the place matters."""
    return cast(Region, SimpleNamespace(location=Location("in.c", line), pragmas=SimpleNamespace(used=())))


def test_region_that_takes_too_long_tiled_is_tried_untiled() -> None:
    def work(options: Options) -> Outcome:
        while options.tile:
            pass
        return Outcome("loops")

    [done] = run_tasks([in_time(work, region_at(3), Options(budget=0.6))], 1)
    assert isinstance(done, Finished)
    assert done.value.text == "loops"
    assert [remark.id for remark in done.value.remarks] == ["schedule.simplified"]


def test_region_that_takes_too_long_to_schedule_keeps_its_order() -> None:
    def work(options: Options) -> Outcome:
        while options.scheduler != "identity":
            pass
        return Outcome("loops" if not options.tile else None)

    [done] = run_tasks([in_time(work, region_at(3), Options(budget=0.6))], 1)
    assert isinstance(done, Finished)
    assert done.value.text == "loops"


class CountingScheduler(FailingScheduler):
    """Counts how often it is asked."""

    asked = 0

    def schedule(self, *_: object) -> None:
        CountingScheduler.asked += 1
        super().schedule()


def test_a_schedule_that_fails_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setitem(scopt.scheduler.REGISTRY, "pluto", (__name__, "CountingScheduler"))
    monkeypatch.setattr(CountingScheduler, "asked", 0)
    monkeypatch.setattr(attempts, "with_compounds", lambda *_: asked.append("compounds"))
    text = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] += A[i - 1][j];"
    tu = parse(source_of(text), "in.c", Options())
    outcome = transform(tu, tu.regions[0], 0, Options(eager=True))
    assert "schedule.simplified" in {remark.id for remark in outcome.remarks}
    assert (CountingScheduler.asked, asked) == (1, ["compounds"])


def test_a_schedule_that_takes_too_long_is_looked_for_once() -> None:
    def work(options: Options) -> Outcome:
        if options.scheduler != "identity":
            if not options.schedule_budget:
                return Outcome("the same again")
            raise TimeoutError(UNSCHEDULED)
        return Outcome("loops")

    [done] = run_tasks([in_time(work, region_at(3), Options(budget=60))], 1)
    assert isinstance(done, Finished)
    assert done.value.text == "loops"


def test_what_comes_before_loops_is_done_in_haste_or_not_at_all() -> None:
    task = in_time(lambda options: Outcome("loops" if options.hasty else None), region_at(3), Options(budget=60))
    late = Failed("late", timed_out=True, stage="forms")
    first, second = next(task), task.send(late)
    assert (first.seconds, second.seconds) == (30, 30)
    assert second.work().text == "loops"
    with pytest.raises(StopIteration):
        task.send(late)


def test_what_comes_first_is_not_tried_again_in_as_much_time() -> None:
    task = in_time(lambda options: Outcome("loops"), region_at(3), Options(budget=60))
    next(task)
    with pytest.raises(StopIteration) as stop:
        task.send(Failed("late", timed_out=True, stage="dependences"))
    assert stop.value.value == Failed(
        "its dependences take more than 30 s of 60 s", timed_out=True, stage="dependences"
    )


def test_loops_of_a_region_that_takes_too_long_are_taken_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole_is_slow(tu: TranslationUnit, region: Region, number: int, options: Options, given: Wanted) -> Outcome:
        if region.marked or b"B[" in tu.source[region.start : region.end]:
            raise TimeoutError("late")
        return transform(tu, region, number, options, given)

    monkeypatch.setattr("scopt.transform.transform", whole_is_slow)
    nests = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] += 1; for (i = 0; i < n; i++) x[i] = 2 * y[i];"
    result = optimize(source_of(f"for (t = 0; t < n; t++) {{ {nests} }}"), Options(jobs=1, eager=True))
    assert [(one.part, one.transformed) for one in result.regions] == [(False, False), (True, True), (True, True)]
    assert "budget.exceeded" in ids(result)
    # those that are slow themselves are told of
    slow = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) B[i][j] = 2;"
    result = optimize(source_of(f"for (t = 0; t < n; t++) {{ {nests}\n {slow} }}"), Options(jobs=1, eager=True))
    told = {one.location.line for one in result.remarks if one.id == "budget.exceeded" and one.location is not None}
    assert len(told) > 1


def test_a_schedule_s_time_is_one_for_the_region(monkeypatch: pytest.MonkeyPatch) -> None:
    # Some machines count processor time in steps that are longer than a small schedule takes.
    monkeypatch.setattr("scopt.scheduler.construct.pluto.time", SimpleNamespace(process_time=lambda: math.inf))
    result = optimize(source_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 2 * x[j];"), Options(jobs=1))
    assert "schedule.simplified" in ids(result)
    assert b"omp parallel for" in result.text


def test_where_haste_gains_nothing_there_was_too_little_time() -> None:
    def work(options: Options) -> Outcome:
        if options.scheduler != "identity":
            raise TimeoutError(UNSCHEDULED)
        return Outcome(None)

    [done] = run_tasks([in_time(work, region_at(3), Options(budget=60))], 1)
    assert isinstance(done, Failed)
    assert done.timed_out


def test_a_scheduler_keeps_to_its_time() -> None:
    strategy = PlutoStrategy(deadline=0.0)
    with pytest.raises(TimeoutError, match=UNSCHEDULED):
        strategy.solve(Step({}, (), (), ()), Wish())
    with pytest.raises(TimeoutError, match=UNSCHEDULED):
        FeautrierStrategy(deadline=0.0).solve(Step({}, (), (), ()), Wish())


def test_who_wants_a_schedule_of_his_own_gets_no_other() -> None:
    assert [options.scheduler for options in quicker(Options(), wishes=True)] == ["pluto"] * 3
    assert [options.scheduler for options in quicker(Options(influence="vectorize"), wishes=False)] == ["pluto"] * 3
    assert [options.scheduler for options in quicker(Options(scheduler="isl"), wishes=False)] == ["isl"] * 3


def test_region_that_takes_too_long_untiled_too_is_given_up() -> None:
    def work(options: Options) -> Outcome:
        while True:
            pass

    [done] = run_tasks([in_time(work, region_at(3), Options(budget=0.6))], 1)
    assert isinstance(done, Failed)
    assert done.timed_out
    assert "0.6 s" in done.message


def test_too_many_operations_are_no_error_of_scopt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scopt.attempts.MAX_OPERATIONS", 10)
    result = optimize(source_of("  for (i = 0; i < n; i++)\n    A[i][0] = 2 * A[i][1];"), Options(jobs=1))
    assert [remark.id for remark in result.remarks if remark.kind == "missed"] == ["budget.exceeded"]


def test_helpers_do_not_come_between_a_function_and_its_pragma() -> None:
    before = "int first;\n// about f\n#pragma omp declare simd\n"
    text = optimize(
        source_of(
            "  for (i = 0; i < n; i++)\n    for (j = i; j < m; j++)\n      A[i][j] = 2 * A[i][j + 1];", before=before
        )
    ).text
    assert b"scopt_m" in text
    assert b"\n// about f\n#pragma omp declare simd\n\nvoid f(" in text


def test_the_alternative_for_other_macros_ends_with_a_line_inside_one() -> None:
    source = (
        b"#define STEP 3\nint A[9];\nvoid f(int n)\n{\n  if (n) { for (int i = 0; i < 9; i += STEP) A[i] = 3; }\n}\n"
    )
    text = optimize(source, Options(autodetect=True, eager=True)).text
    assert b"A[i] = 3;\n#endif\n }\n" in text


def test_const_locals_are_assigned_like_others() -> None:
    body = (
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++) {\n"
        "      const double t = 2 * B[j][i], u = t + 1;\n      A[i][j] = t * u;\n    }"
    )
    text = optimize(source_of(body)).text
    assert b"    double t;\n" in text
    assert b"t = 2 * B[j][i];" in text


def test_a_preference_is_given_up_before_the_scheduler_s_work() -> None:
    """Influence by vectorization asks for scopt's own schedulers; where they fail, isl's is tried without it, and then
    the original order."""
    tried = [(options.scheduler, options.influence) for options in any_order(Options(influence="vectorize"))]
    assert tried[0] == ("pluto", "vectorize")
    assert tried[-2:] == [("isl", ""), ("identity", "vectorize")]
    assert all(options.influence == "file.yaml" for options in any_order(Options(influence="file.yaml")))


def test_regions_of_many_statements_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("no scheduler is asked")

    monkeypatch.setattr(attempts, "MOST_STATEMENTS", 2)
    monkeypatch.setattr(attempts, "get_scheduler", lambda _name: SimpleNamespace(schedule=never))
    result = optimize(source_of("for (i = 0; i < n; i++) { x[i] = y[i]; y[i] = 2 * x[i]; A[i][0] = y[i]; }"))
    assert "region.transformed" in ids(result)
    assert b"omp parallel for" in result.text
