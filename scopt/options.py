"""Everything a user can set, in one frozen object that is passed along; there is no global state."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from scopt.diagnostics import InputError
from scopt.machine import Machine

Fusion = Literal["auto", "max", "smart", "no", "typed"]
VerifyLevel = Literal["off", "schedule", "full"]
Assumption = Literal["noalias"]
Walk = Literal["uniform", "bias_select_dep", "bias_coeff_0"]

SCHEDULERS = ("isl", "pluto", "feautrier", "identity", "sample")
"""What `--scheduler` takes; `scopt.scheduler.REGISTRY` says which classes they are."""


class Options(Struct, frozen=True):
    """Options of one `optimize` call.

    cc: the C compiler whose preprocessor is run (``cc -E``).
    cpp_flags: flags for it, in order: -I -D -U -std= -include -isystem -iquote …
    autodetect: also find maximal SCoPs without pragmas.
    eager: no tests of sizes; the regions of autodetect are transformed even where the cost model sees no gain.
    file_budget: seconds that a file may take; regions whose turn comes later stay as they are; 0 means no limit.
    jobs: processes that work at a time: on regions, and on the proof of one. memory: bytes that the work on one region
      may take in each; 0 means no limit.
    assume: what is taken for granted without a test at run time: ``noalias``, different pointers lead to different
      memory.
    count_guards: the program counts how often what is tested at run time holds, and says so when it ends
      (`scopt.astgen.guard_counters`).
    ignore_openmp: the file is compiled without OpenMP, so that its own pragmas say nothing; they are left out of a
      result, in which they would say something.
    decide_conditionals: the result is only compiled with these flags, so that conditionals of the preprocessor inside
      of functions are decided, and what they leave out is left out of it.
    scheduler: one of `SCHEDULERS`.
    fusion: which statements share loops: ``max`` as many as legal, ``smart`` those in nests of the same depth,
      ``typed`` parallel with parallel ones, ``no`` only those that depend on each other in a cycle; ``auto``: what was
      measured to be good for the scheduler.
    influence: a file with influence constraint trees, or ``vectorize`` for trees made for vector loops; empty for none.
    quasi_affine: dates of the scheduler ``feautrier`` may be rounded quotients ⌊(t·x + a) / c⌋, where that lowers the
      latency.
    seed, walk: which point of the schedule space the scheduler ``sample`` takes: the random generator's seed, and how
      likely which action is (`scopt.scheduler.space.walk`).
    inputs: keep reads of the same cell close together too (input dependences).
    tile: tile permutable bands. tile_sizes: one per level, outermost first, the last one repeated;
      empty means sizes computed from the machine's caches (`scopt.scheduler.locality.tile_sizes`).
    register_tile: compute contractions in register tiles over packed operands (only with tile).
    hasty: statements stay as they were read, where cells in place of scalars, or rows beside each other, may gain more
      and take longer to find; and what comes of them has to pay, in marked regions too.
    reassociate: reductions may be computed in another order, so that floating-point results may differ in their last
      digits.
    machine: what sizes and costs are computed for.
    parallel: emit ``omp parallel for``; simd: emit ``omp simd``.
    verify: ``schedule`` checks the schedule tree; ``full`` also reads back the loops and the printed C.
    check_passes: hold each pass over the schedule tree to what it says that it keeps.
    budget: seconds of processor time that one SCoP may take before it is left as it was, in each of the processes that
      work on it; 0 means no limit.
    schedule_budget: seconds of processor time that the schedules of one SCoP may take before its loops stay in the
      order of the source; 0 means no limit.
    schedule_file: path of a file with a schedule tree for each region, used in place of the scheduler's (see
      `scopt.schedule_file`); empty for none.
    decisions: path of a file with decisions for each region (see `scopt.decision_file`); ``random`` for any legal ones,
      drawn by `seed`; empty: the model decides. tell_decisions: also tell all that was decided
      (`RegionResult.decisions`).
    line_directives: write ``#line`` before and after the text that changed, so that all other text keeps its line
      numbers.
    explain: also say, for people, what was found and done (`RegionResult.explanation`).
    print_after: name of a step (`scopt.steps`): also tell what it makes (`RegionResult.explanation`); empty for none.
    report: also gather what `scopt.tell.report` shows (`RegionResult.view`).
    """

    cc: str = "cc"
    cpp_flags: tuple[str, ...] = ()
    autodetect: bool = False
    eager: bool = False
    file_budget: float = 0.0
    jobs: int = 1
    memory: int = 4 << 30
    assume: tuple[Assumption, ...] = ()
    count_guards: bool = False
    ignore_openmp: bool = False
    decide_conditionals: bool = False
    scheduler: str = "pluto"
    fusion: Fusion = "auto"
    influence: str = ""
    quasi_affine: bool = False
    seed: int = 0
    walk: Walk = "bias_coeff_0"
    inputs: bool = False
    tile: bool = True
    tile_sizes: tuple[int, ...] = ()
    register_tile: bool = True
    hasty: bool = False
    reassociate: bool = False
    machine: Machine = field(default_factory=Machine)
    parallel: bool = True
    simd: bool = True
    verify: VerifyLevel = "full"
    check_passes: bool = False
    budget: float = 20.0
    schedule_budget: float = 0.0
    schedule_file: str = ""
    decisions: str = ""
    tell_decisions: bool = False
    line_directives: bool = False
    explain: bool = False
    print_after: str = ""
    report: bool = False

    @property
    def assume_apart(self) -> bool:
        return "noalias" in self.assume


def check_options(options: Options) -> None:
    """Raises InputError for options that don't go together."""
    if options.quasi_affine and options.scheduler != "feautrier":
        raise InputError(
            f"scopt: error: --quasi-affine: dates are those of --scheduler feautrier, "
            f"the scheduler '{options.scheduler}' has none"
        )
