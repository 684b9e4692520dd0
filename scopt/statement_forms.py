"""The forms that a region's statements can have: as they were read, with cells in place of scalars, with cells for what
rows result in, with scalars for what they carry. The first one that gains what it was made for is taken, or the one
that somebody decides for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.emit.math_functions import is_math_declaration
from scopt.astgen.rewrite_setting import Watch
from scopt.attempts import given_up_remark
from scopt.diagnostics import InputError, Remark
from scopt.form_work import Cells, NotCarried
from scopt.frontend.syntax.unit import Region
from scopt.ir.decisions import Alternative
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.rewritten_scop import (
    carrying_scop,
    dependences_of,
    extrema_scops,
    own_scop,
    rewriting_fault,
    rewritten_scop,
    rolled_scop,
    rows_scops,
    same_statements,
    side_scop,
    tables_fault,
    tables_scop,
    tails_scop,
    totals_scop,
    values_scop,
    whole_blocks,
    with_memory,
    work_rows_scop,
    work_scop,
)
from scopt.row_hopes import may_run_together
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.passes.expansion import Expansion
from scopt.scheduler.passes.private_tables import Tabulated
from scopt.stage_clock import Clock
from scopt.tell.results import Outcome

# Of a region's time, what forms may take that have come to nothing, before its statements are taken as they were read:
# as much is left to these then (`scopt.time_shares`: half of the time is for the first attempt).
FORMS_SHARE = 0.25
# What is asked of a region, and the answers.
STATEMENTS = "statements"
READ, CELLS, CARRYING, TABLES = "as they are", "with cells", "with rows in scalars", "with tables"
SIDE = "with cells for sums side by side"
TOTALS = "with totals"
WORK = "with work arrays of lines' own"
ROLLED = "with cells for what rows hand on"
OWN = "with arrays of iterations' own"
WORK_ROWS = "with work arrays of rows' own, and their results in cells"
EXTREMA, EXTREMA_SPLIT = "with extrema of rows in cells", "with extrema of rows in cells, in order"
VALUES = "with cells for what rows are added with"
TAILS = "with what keeps the order behind loops"
ROWS, SPLIT = "with results of rows in cells", "with results of rows in cells, in order"


class Form(Struct, frozen=True, eq=False):
    """Statements in one form. made: how they were rewritten; None: they are as they were read. carried: the scalars
    that are for rows beside each other alone; tables: the arrays that are for threads' copies alone; apart: those that
    are for rows that run together alone; work: those that are for strips' buffers alone; own: local ones for threads
    alone; threads: the statements that threads are to share, shared: which do nearly all of the work; in_order: the
    schedule is its own. fault: why another form was given up."""

    name: str
    scop: Scop
    deps: Dependences
    made: Expansion | None = None
    carried: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    apart: frozenset[str] = frozenset()
    work: frozenset[str] = frozenset()
    lanes: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()
    shared: bool = False
    before: Scop | None = None
    in_order: bool = False
    fault: Exception | None = None


# What becomes of a form, as somebody decides. Raises InputError for wishes that it can't keep, and NotCarried.
AtWork = Callable[[Form, Decider], Outcome]


class Forms(Struct, frozen=True, eq=False):
    """The forms of one region. scop, deps: as they were read. fixed: there is a schedule of the user's, which may be
    one of the statements as they are. started: of `time.process_time`. shown: what `is_shown` has found out; sums:
    `is_for_sums`."""

    region: Region
    scop: Scop
    deps: Dependences
    options: Options
    fixed: bool
    clock: Clock
    watch: Watch
    started: float = field(default_factory=time.process_time)
    shown: list[tuple[Form, bool]] = field(default_factory=list)
    sums: list[tuple[Form, bool]] = field(default_factory=list)

    def outcome(self, at_work: AtWork, decider: Decider) -> Outcome:
        """Of the form that is taken. Raises InputError."""
        if not decider.is_open:
            return self.first(at_work, decider, self.in_time(self.listed()))[1]
        forms = [*self.listed()]
        best = self.first(at_work, Decider(), forms)[0] if len(forms) > 1 else forms[0]
        decider = decider.fresh()
        names = [Alternative(form.name) for form in forms]
        taken = forms[decider.choose(STATEMENTS, (), names, forms.index(best))]
        try:
            outcome = at_work(taken, decider)
        except NotCarried:
            message = "left as it was: rows don't come to stand beside each other, as was decided for the statements"
            return self.left("region.no-gain", message, "decide otherwise about the statements")
        return self.finished(taken, outcome)

    def left(self, reason: str, message: str, hint: str) -> Outcome:
        """The region as it was."""
        return Outcome(None, remarks=(Remark("missed", reason, message, self.region.location, hint),))

    def in_time(self, forms: Iterable[Form]) -> Iterator[Form]:
        """The forms, the one that was read next once those before it have taken their part of the time."""
        for form in forms:
            yield form
            if form.made is not None and self.is_late():
                yield Form(READ, self.scop, self.deps)
                return

    def is_late(self) -> bool:
        """Whether the statements as they were read would get too little of the time that there is at first."""
        limit = FORMS_SHARE * self.options.budget
        return bool(limit) and time.process_time() - self.started > limit

    def listed(self) -> Iterator[Form]:
        """Those that there are, the one that was read last."""
        if self.scop.exchanged == "rows":  # for diagonals alone
            yield from self.with_rolled()
        if self.options.hasty or self.scop.exchanged:  # what iterations share is asked of statements as they are
            yield Form(READ, self.scop, self.deps)
            return
        fault: Exception | None = None
        with self.clock("forms"):
            rewritten = self.watch("rewritten", rewritten_scop(self.scop, self.deps, self.options))
        if rewritten is not None and self.options.verify == "full":
            with self.clock("verify statements"):
                fault = rewriting_fault(self.scop, rewritten)
        cells: Form | None = None
        if rewritten is not None and fault is None:
            with self.clock("forms"):
                whole, fault = whole_blocks(rewritten.scop, self.options)
        if rewritten is not None and fault is None:
            cells = Form(CELLS, whole, dependences_of(whole, self.options), rewritten)
        if cells is not None and cells.made is not None and cells.made.extents:
            yield cells
            yield from self.with_side(cells)
            yield from self.with_work(self.scop, self.deps)
        elif cells is not None:  # lines may have both
            yield from self.with_work(cells.scop, cells.deps)
            yield cells
            yield from self.with_side(cells)
        else:
            yield from self.with_work(self.scop, self.deps)
        with self.clock("forms"):
            tables = self.watch("tables", tables_scop(self.scop, self.options))
        yield from self.with_own(tables)
        yield from self.with_totals()
        yield from self.with_extrema()
        yield from self.with_results()
        if tables is not None:
            made = Expansion(tables.scop, {})
            yield Form(
                TABLES,
                tables.scop,
                dependences_of(tables.scop, self.options),
                made,
                tables=tables.names,
                in_order=tables.several,
            )
        with self.clock("forms"):
            carrying = self.watch("carrying", carrying_scop(self.scop, self.deps, self.options))
        if carrying is not None:
            carried = frozenset(carrying.scop.arrays) - frozenset(self.scop.arrays)
            yield Form(
                CARRYING, carrying.scop, dependences_of(carrying.scop, self.options), carrying, carried, in_order=True
            )
        yield from self.with_rolled()
        yield from self.with_tails()
        yield from self.with_values()
        yield Form(READ, self.scop, self.deps, fault=fault)

    def with_side(self, cells: Form) -> Iterator[Form]:
        """The one with those cells alone in which sums run side by side, where no kernels came of others."""
        with self.clock("forms"):
            made = self.watch("side", side_scop(self.scop, self.deps, self.options))
        if made is not None and not same_statements(made.scop, cells.scop) and self.is_rewritten(made):
            yield Form(SIDE, made.scop, dependences_of(made.scop, self.options), made)

    def is_rewritten(self, made: Expansion) -> bool:
        """Whether the statements are shown to be the same computation, where that is asked for."""
        if self.options.verify != "full":
            return True
        with self.clock("verify statements"):
            return rewriting_fault(self.scop, made) is None

    def with_own(self, tables: Tabulated | None) -> Iterator[Form]:
        """Those with local arrays for what iterations of a loop share as memory alone: with tables besides, if there
        are any, and without, where such arrays are what tables would be for (a histogram for each pair of features)."""
        for counted in (tables, None) if tables is not None else (None,):
            before, names = (counted.scop, counted.names) if counted is not None else (self.scop, frozenset[str]())
            with self.clock("forms"):
                deps = self.deps if counted is None else dependences_of(before, self.options)
                found = own_scop(before, deps, self.options)
                made = self.watch("own", Expansion(found.scop, {}) if found is not None else None)
            if found is not None and made is not None:
                deps = dependences_of(made.scop, self.options).within(made.scop.context)
                yield Form(OWN, made.scop, deps, made, tables=names, own=found.names, before=before, in_order=True)

    def with_rolled(self) -> Iterator[Form]:
        """That with cells for what rows that take each other's place hand on."""
        with self.clock("forms"):
            found = rolled_scop(self.scop, self.deps, self.options)
            made = self.watch("rolled", found.expansion if found is not None else None)
        if found is not None and made is not None:
            deps = dependences_of(made.scop, self.options)
            yield Form(ROLLED, made.scop, deps, made, lanes=found.statements, before=found.before, in_order=True)

    def with_tails(self) -> Iterator[Form]:
        """The one with what keeps loops in order behind them."""
        with self.clock("forms"):
            found = tails_scop(self.scop, self.deps, self.options)
            made = self.watch("tails", found.expansion if found is not None else None)
        if found is not None and made is not None:
            deps = dependences_of(made.scop, self.options)
            yield Form(TAILS, made.scop, deps, made, threads=found.free, shared=found.most, in_order=True)

    def with_values(self) -> Iterator[Form]:
        """The one with cells for what is computed for each row that is added to a line."""
        with self.clock("forms"):
            found = values_scop(self.scop, self.deps, self.options)
            made = self.watch("values", found[0] if found is not None else None)
        if found is not None and made is not None:
            deps = dependences_of(made.scop, self.options)
            yield Form(VALUES, made.scop, deps, made, threads=found[1], in_order=True)

    def with_totals(self) -> Iterator[Form]:
        """The one with totals of what nests accumulate."""
        with self.clock("forms"):
            totals = self.watch("totals", totals_scop(self.scop, self.options))
        if totals is not None:
            deps, made = dependences_of(totals.scop, self.options), Expansion(totals.scop, {})
            yield Form(TOTALS, totals.scop, deps, made, tables=totals.numbers)

    def with_extrema(self) -> Iterator[Form]:
        """Those with cells for the extrema of rows."""
        with self.clock("forms"):
            found = extrema_scops(self.scop, self.deps, self.options)
        for made, in_order in found[1] if found is not None else ():
            made = self.watch("rows", made)
            deps, cells = dependences_of(made.scop, self.options), frozenset(made.extents)
            name = EXTREMA_SPLIT if in_order else EXTREMA
            yield Form(name, made.scop, deps, made, apart=cells, before=found[0] if found else None, in_order=in_order)

    def with_results(self) -> Iterator[Form]:
        """Those with cells for the results of rows, and with work arrays of their own besides."""
        with self.clock("forms"):
            both = work_rows_scop(self.scop, self.deps, self.options)
            both_made = self.watch("work", both[0] if both is not None else None)
        if both is not None and both_made is not None:
            cells = both[1]
            deps, own = dependences_of(both_made.scop, self.options), frozenset(both_made.extents) - cells
            yield Form(WORK_ROWS, both_made.scop, deps, both_made, apart=cells, work=own, in_order=True)
        with self.clock("forms"):
            rows = self.watch("rows", rows_scops(self.scop, self.deps, self.options))
            if rows and not may_run_together(self.scop, self.deps, rows[0][0].scop, rows[0][0].extents):
                rows = ()
        for made, in_order in rows:
            deps, cells = dependences_of(made.scop, self.options), frozenset(made.extents)
            yield Form(SPLIT if in_order else ROWS, made.scop, deps, made, apart=cells, in_order=in_order)

    def with_work(self, scop: Scop, deps: Dependences) -> Iterator[Form]:
        """That with work arrays of lines' own, in place of those of a SCoP."""
        with self.clock("forms"):
            made = self.watch("work", work_scop(scop, deps, self.options))
        if made is not None:
            deps, own = dependences_of(made.scop, self.options), frozenset(made.extents)
            yield Form(WORK, made.scop, deps, made, work=own, in_order=True)

    def first(self, at_work: AtWork, decider: Decider, forms: Iterable[Form]) -> tuple[Form, Outcome]:
        """The first form that gains what it was made for, and its outcome."""
        kept = False
        for form in forms:
            try:
                outcome = at_work(form, decider)
            except (InputError, NotCarried) as error:
                # wishes, and schedules, may be those of the statements as they are
                wishes = isinstance(error, InputError)
                if form.made is None or (wishes and form.name in (CELLS, SIDE) and not self.fixed):
                    raise
                kept = kept or (form.name in (CELLS, SIDE) and wishes)
                continue
            if self.gains(form, outcome):
                outcome = self.finished(form, outcome)
                if kept and form.made is None:
                    outcome = replace(outcome, remarks=(_statements_kept(self.region), *outcome.remarks))
                return form, outcome
        raise AssertionError("the statements as they are are a form")

    def gains(self, form: Form, outcome: Outcome) -> bool:
        """Whether a form brings what it was made for; one with scalars for rows has to be shown to compute the same."""
        if form.made is None:
            return True
        if form.name not in (CELLS, SIDE):
            return outcome.text is not None and self.is_shown(form)
        changed = self.changed(form)
        vectors = [gain for gain in outcome.gains if "vector" in gain.got]
        lanes = outcome.jammed or any(not changed or gain.statements & changed for gain in vectors)
        kernels = not all(map(is_math_declaration, outcome.definitions))
        # new arrays are for kernels alone
        return kernels or (lanes and not form.made.extents and (form.name == SIDE or self.is_for_sums(form)))

    def cells(self, form: Form) -> Cells | None:
        """What a form has to bring before it is generated, as `gains` has it; None where that isn't known. (What tests
        the program is functions, too.)"""
        tests = form.scop.guard is not None and bool(form.scop.guard.tests)
        if form.name != CELLS or form.made is None or tests or self.options.count_guards:
            return None
        return Cells(bool(form.made.extents) or not self.is_for_sums(form), self.changed(form))

    def changed(self, form: Form) -> frozenset[str]:
        """The statements that use what a form has given up."""
        given_up = self.scop.arrays.keys() - form.scop.arrays.keys()
        return frozenset(one.name for one in self.scop.statements if any(a.array in given_up for a in one.accesses))

    def is_for_sums(self, cells: Form) -> bool:
        """Whether all cells are such that sums run side by side: others are for kernels alone, and may keep rows from
        running together."""
        known = next((found for one, found in self.sums if one is cells), None)
        if known is None:
            made = side_scop(self.scop, self.deps, self.options)
            known = made is not None and same_statements(made.scop, cells.scop)
            self.sums.append((cells, known))
        return known

    def is_shown(self, form: Form) -> bool:
        """Whether a form is shown to be the same computation, where that is asked for; found out once."""
        known = next((found for one, found in self.shown if one is form), None)
        if known is None:
            known = self.shows(form)
            self.shown.append((form, known))
        return known

    def shows(self, form: Form) -> bool:
        if self.options.verify != "full" or form.made is None:
            return True
        counted = form.name in (TABLES, TOTALS)
        if form.before is not None and form.before is not self.scop:
            fault = tables_fault(self.scop, form.before) or rewriting_fault(form.before, form.made)
            return fault is None
        fault = tables_fault(self.scop, form.scop) if counted else rewriting_fault(self.scop, form.made)
        return fault is None

    def finished(self, form: Form, outcome: Outcome) -> Outcome:
        """The outcome of the form that is taken, with its memory, and with what became of another one."""
        if form.name in (CELLS, SIDE) and form.made is not None:
            return with_memory(outcome, form.made)
        if form.made is not None and outcome.text is not None and not self.is_shown(form):
            message = "left as it was: it can't be shown that scalars, or cells, hold what rows carry"
            return self.left("internal.error", message, "please report this")
        if (
            (form.apart or form.work or form.lanes or form.threads)
            and form.made is not None
            and outcome.text is not None
        ):
            return with_memory(outcome, form.made)
        if form.fault is None:
            return outcome
        return replace(outcome, remarks=(given_up_remark(self.region, form.fault), *outcome.remarks))


def _statements_kept(region: Region) -> Remark:
    message = "the schedule given is one of the source's statements: scalars and arrays keep their cells"
    return Remark("analysis", "schedule.statements-kept", message, region.location)
