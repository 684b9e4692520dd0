"""Every id that a remark can have: what it means, and what to do about it.

The one list that help texts of SARIF's rules, suggestions of remarks without one, and `docs/remarks.md` come from. A
test compares it with the source; ``python -m scopt.remark_ids`` prints it. An id that was released doesn't change.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

RemarkKind = Literal["passed", "missed", "analysis"]


class RemarkId(Struct, frozen=True):
    """title: what is the case, in a few words. meaning: why that matters, in a sentence or two. advice: what the user
    can do, in the imperative, without a full stop; never empty for a `missed` one."""

    id: str
    kind: RemarkKind
    title: str
    meaning: str
    advice: str = ""

    @property
    def topic(self) -> str:
        """The part before the dot."""
        return self.id.partition(".")[0]


# An id and its title; below it what it means, and behind a `>` what to do.
_MISSED = """\
access.address: an address is taken
  What a pointer to the object does later can't be followed.
  > take the address before the region
access.form: this is no reference to a named scalar or array
  Each access has to name the object that it reads or writes.
  > give the object a name before the region, such as a restrict pointer to it
access.out-of-bounds: a subscript leaves its array
  For some iteration, the subscript is no element's, which C doesn't define. Other orders would fail in other places.
  > correct the loop's bounds or the array's extent
access.partial: an array has fewer subscripts than dimensions
  A row of an array, used as a pointer, can't be followed.
  > give a subscript for each dimension
access.pointer-modified: a pointer is modified in the region
  Where it points to follows from the iterators only if each iteration steps it by the same amount, and nothing reads
  it after the loop; or if each iteration of a loop exchanges it with others (`tmp = a; a = b; b = tmp;`), and tiles
  hold several of these iterations: where they can't, the loops inside are transformed by themselves.
  > use subscripts on a pointer that stays as it is
access.pointer-to-pointer: rows that may overlap
  The rows of an array of pointers are found at run time, and two of them may be the same. In a marked region
  they are taken not to overlap; elsewhere that is tested, where what is touched of them has simple bounds.
  > mark the region, or use an array of several dimensions
access.struct: a member that can't be followed
  Nothing is known of the structure, or the member comes before all subscripts of an array of whole structures.
  > copy the member to a local variable before the region
access.type: elements of a type that is not supported
  The size and the meaning of the type are not known.
  > use integers or floating-point numbers
access.volatile: a volatile or atomic object
  Its accesses may neither be reordered nor left out.
  > copy it to a plain variable before the region, if that is what you mean
access.thread-local: a variable that each thread has its own of
  The loops may run in threads, which would see variables of their own by that name.
  > copy it to a plain variable, or give the region a pointer to it
affine.name: a name that the integer set library keeps for itself
  Iterators and parameters can't have it.
  > rename the variable
affine.narrowing: a conversion that may change the value
  The value might not fit into the narrower type, and would wrap around.
  > use a wider signed type
affine.unsigned-wrap: unsigned arithmetic that may wrap around
  Where it wraps around, the value is no affine function any more.
  > use a signed type, or add a bound that rules it out
affine.volatile: a volatile variable in a bound or subscript
  Its value may differ each time it is read.
  > copy it to a plain variable before the region
alias.may-overlap: pointers that may overlap
  If two pointers lead to the same cells, another order of the iterations may change the result. The program can test
  that they don't, but not here: there are too many of them, or the bounds of what is touched depend on data.
  > declare the pointers restrict, mark the region, or use --assume=noalias
budget.exceeded: the region takes too long
  The analysis, the scheduler or the generator didn't end within its limit. The loops inside are tried by themselves.
  > allow more with --budget, or split the region
budget.file: the time for the file is over
  Regions whose turn comes later stay as they are, so that a build goes on. Those with the deepest loops come first.
  > allow more with --file-budget, or split the file
call.pointer: a pointer is passed to a function
  The function may read or write what it points to.
  > pass values, or write the function's body here
call.unknown: a call that may have side effects
  A function whose body isn't known may read and write anything, so that calls can't change places.
  > declare it with __attribute__((const)) if it only computes a value from its arguments
control.break: the loop may end early
  Which iterations run is only known while they do.
  > put the condition into the loop's bounds
control.continue: the rest of an iteration may be skipped
  Jumps leave it open which statements run.
  > use an 'if' around the rest of the body
control.goto: a jump, or a label
  Jumps leave it open which statements run.
  > use structured control flow
control.return: the function may end inside of the region
  Which iterations run is only known while they do.
  > leave the function after the region
control.switch: a switch one of whose ways goes on with the next one
  Jumps leave it open which statements run. Up to eight ways that end with 'break' each are conditions.
  > end each of its ways with 'break', or use 'if' statements
control.while: a loop without a known number of iterations
  Iterations can only be put into another order if it is known which there are.
  > write it as a 'for' loop with affine bounds
decl.form: a declaration of a kind that is not supported
  Only scalars and arrays of constant size can be declared inside a region.
  > put the declaration before the region
decl.initializer: an initializer list that can't be taken apart
  Up to 32 elements are assigned one by one, without designators, with braces where types have some.
  > assign the elements
decl.used-after: a declaration that is used after the region
  Declarations move into a block of the region's own, which ends with it.
  > declare it before the region
decl.variable-length: a local array of variable length
  Its size may differ from iteration to iteration.
  > declare it before the region
expression.unsupported: an expression of a kind that is not supported
  It is not known what it reads and writes.
  > compute the value before the region, or write it with arithmetic, subscripts and ?:
internal.error: a fault of scopt
  One of its own checks failed, so that nothing was changed. Your program is not at fault.
  > please report this with the input
loop.form: a loop of another form
  A loop needs one integer iterator, a start, a condition and a constant step.
  > write 'for (i = start; i < end; i++)'
loop.iterator-live-out: the iterator is used outside of its loop
  Its last value would have to be the same in any order.
  > declare the iterator in the loop
loop.iterator-modified: the iterator is modified in its loop
  The number of iterations then depends on what the body does.
  > use a copy of it
loop.not-equal: a loop that ends with '!=' might not end
  The iterator may step over the value, or start behind it.
  > use '<' or '>'
loop.stages: the loop goes in stages, at distances that change around it
  In one stage, iterations may have nothing to do with each other.
  > mark the loop inside
loop.step: the step is not the addition of a constant
  Iterations have to be numbered evenly.
  > use a constant step
loop.unbounded: the loop has no bound in the direction of its step
  It would run until the iterator wraps around.
  > check the loop's condition
loop.wrap: the iterator may wrap around
  The bound may exceed the iterator's largest value; such a loop never ends.
  > use a signed iterator of type int or wider
name.undeclared: a name without a declaration
  It is not known what it stands for.
  > declare it, or include the header that does
openmp.clause: a pragma of OpenMP says what a variable is, or who runs the loop
  scopt reads the program without the pragma. Clauses such as num_threads, linear or nowait have no meaning there,
  and a private variable whose value is read behind the loop has another one.
  > leave the clause out, or declare the variables in the loop
openmp.construct: threads run what is below a pragma
  Loops of a parallel block, a task and the like, or of a function that a team calls, are parts of each thread's work.
  > put '#pragma omp parallel for' right above the loop
openmp.sequential: a loop that the program itself runs in threads or vectors
  What would take its place may not, by what scopt can show (floating-point sums keep their order), or by the options.
  > with --reassociate sums need not be computed in order
parse.unsupported: C that is not supported around the region
  The function could not be parsed.
  > move the region into a function of its own
pragma.misplaced: a pragma that belongs to nothing
  '#pragma scopt' stands neither before a SCoP nor before a loop of one.
  > put it before '#pragma scop' or a loop of the region
region.directives: preprocessor directives inside of the region
  Its text differs from build to build, or comes from other files.
  > move them out of the region; for one build, use --decide-conditionals, as scoptcc does
region.cold: code that hardly ever runs
  It ends the program or belongs to a function that is declared cold, so that nothing is gained by making it faster.
  > mark the region if it matters
region.library: loops that compilers make calls of
  They fill or copy memory, for which compilers call memset and memcpy: nothing that C can say is faster.
  > mark the region if it is to run in parallel
region.no-gain: nothing would be gained
  The transformed region would be neither parallel nor tiled nor a vector loop where
  there was none. What is only written in another way stays; so does a region, a marked one too, whose loops that gain
  something have less than a tenth of its work by the model.
  > mark the region if you want to see it, or the loops that gain something alone
region.large: more statements than are taken together
  The time of schedulers grows fast with the number of statements. The loops inside are tried each by itself.
  > mark the region, split the loop, or allow more with --budget
region.tiny: too little work
  For any size that the arrays have room for, the loops are too short for threads and tiles to gain what they cost.
  > mark the region if it matters
region.empty: the region contains no statement
  There is nothing to do.
  > put the pragmas around loops
region.in-header: a region in an included file
  Only the file that scopt was given is changed.
  > run scopt on that file
region.openmp: OpenMP directives in the region
  They say how threads run what is below; those above loops that only say that these are parallel are no hindrance.
  > remove them
region.own-malloc: a function of the file's own in place of `malloc` or `free`
  The region's text needs memory, and the linker would take the file's function for the library's.
  > give the file's function another name
region.pragma-line: something besides white space before '#pragma endscop'
  The region is replaced by whole lines.
  > put the pragma on a line of its own
region.pragma-operator: pragmas that are not lines
  A region has to be marked by '#pragma scop' and '#pragma endscop' lines.
  > write the pragmas as lines of the file, not with _Pragma or in a macro
region.static-macro: a macro in place of `static`
  Helper functions would be seen by other files, or not be there where the compiler doesn't inline them.
  > give the macro another name, or leave it out for this file
region.unbalanced: pragmas that don't belong together
  '#pragma scop' and '#pragma endscop' have to stand in the same block.
  > put both pragmas into the same block, one pair after the other
region.unstable-macro: a macro whose expansion depends on its place
  The text is written in another place.
  > don't use it in a SCoP
statement.unsupported: a statement of a kind that is not supported
  A region holds for loops, ifs, assignments and declarations; jumps leave it open which iterations run.
  > put the statement outside of the region, or write it with for and if
affine.nonlinear-bound: a loop bound is not affine
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > write it as a sum of loop iterators and parameters with constant factors
affine.rows-and-whole: an array is used by its rows and as a whole
  Some loops go through an array row by row (a[i * m + j]), others through all of it (a[i]): they stay apart.
  > write the other loops row by row too
affine.indirect-bound: a loop bound depends on the value of an array element
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a loop iterator or a parameter there
affine.variant-bound: a loop bound depends on a variable that changes inside the region
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a loop iterator, or a variable that the region doesn't write
affine.call-bound: a loop bound depends on a function call
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a ternary expression or a macro, or compute the value before the region
affine.nonlinear-subscript: the subscript of a written array is not affine
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > write it as a sum of loop iterators and parameters with constant factors
affine.indirect-subscript: the subscript of a written array depends on the value of an array element
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a loop iterator or a parameter there
affine.variant-subscript: the subscript of a written array depends on a variable that changes inside the region
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a loop iterator, or a variable that the region doesn't write
affine.call-subscript: the subscript of a written array depends on a function call
  Loop bounds, conditions and written subscripts have to be sums of loop iterators and parameters with
  constant factors, so that it is known before the program runs which cells an iteration touches.
  > use a ternary expression or a macro, or compute the value before the region
"""

_PASSED = """\
region.transformed: the region has new loops
  The message counts them, those that run in parallel, and those that can be vectorized.
reduction.reordered: updates run in another order
  A sum, product or extremum has another order: the same value, but for rounding where --reassociate is given.
"""

_ANALYSIS = """\
access.unknown-cell: which element is written depends on data
  Any element of the array may be written, so that the loops around keep their order wherever the array is concerned.
  Where nothing but updates by one operator touches a small array, or a part of one that the subscripts' types
  bound (histograms), threads may have copies of it.
  > write to an element whose subscript is a sum of loop iterators and parameters with constant factors
alias.assumed-none: pointers are taken not to overlap
  Parameters' arrays and pointers don't overlap, as '#pragma scop' promises by convention, or --assume=noalias says.
  > declare the pointers restrict, which says the same to the compiler; if they may overlap, remove the pragmas
assume.apart: the program tests that pointers don't overlap
  Where the region begins, it compares all pointers' first and last bytes. If they overlap, the original loops run.
  > declare the pointers restrict, which makes the test needless
assume.rows: the program tests that rows don't overlap
  An array of one dimension is used as one of several, such as in `a[i * n + j]`. That needs inner
  subscripts within their rows and, for unsigned types, sizes that don't wrap around. The message says for
  which parameters this is so; for others, the original loops run. What all subscripts of an array add, and nothing
  else asks for (`a[o + i * n + j]`), may be anything: rows are counted from there.
assume.size: arrays have no more elements than declared
  In a marked region, a parameter such as 'int count[256]' is taken to be an array of that size, and one of several
  dimensions to have rows of the declared size, where data name the elements: C itself would let a parameter be larger.
  > declare it without a size if it may be larger
assume.values: the program tests values of its variables
  Where the region begins, it is tested that no unsigned arithmetic in bounds and subscripts wraps around,
  and that conversions keep values. Elsewhere the original loops run.
  > use signed types of one width for iterators and bounds, which makes the test needless
assume.writable: in a marked region, memory is taken to be writable where data decide whether it is written
  Cells that are exchanged where they aren't in order are written in any case, so that this takes no branches.
  > declare the array where it can be seen, as an object of its own
band.choice: what becomes of a band
  Each mechanism says what it would make of the loops and for how many cycles, by the machine's model; the message names
  what was taken, and what came next. Told with --explain.
band.restricted: a wish costs time
  A loop that a pragma or influence constraint tree asks for keeps something faster (by the model) from being made.
  > leave the wish out if it needn't be
influence.backtrack: another branch of the influence constraint tree
  A dimension had no solution with the wishes that led to it.
influence.carried: a new band begins
  The wishes had no solution within the band.
influence.cut: components are cut apart
  The wishes had no solution for statements that share loops.
influence.dropped: the wishes can't be had
  No scenario of the influence constraint tree is feasible.
  > loosen the tree's constraints
influence.lost: the wishes hold in the schedule, but not in the loops
  A scenario of the influence constraint tree asks for a vector loop that the emitted loops don't have: nothing lets it
  be one, or something else becomes of the loops.
  > see what --explain says of the choices
influence.progression: a dimension that needs no progress
  No dependence is left there.
influence.reached: the wishes hold
  A scenario of the influence constraint tree holds.
influence.sibling: the next branch is tried
  A node of the influence constraint tree is infeasible.
machine.native: the machine model of this host
  What the running system tells, see --machine.
pragma.own-function: no threads
  The region's text would ask OpenMP which thread runs, by the name of something that is the file's own.
pragma.macro: loops without directives of OpenMP
  The file has a macro for a word of such directives (`private`, `schedule`), which would be expanded there, too.
  > give the macro another name
reduction.in-order: a reduction keeps the order of its source
  A sum or product of floating-point numbers is rounded differently in another order, of two zeros an extremum is the
  first one, and a signed sum may overflow: one step has to wait for the one before.
  > give --reassociate if last digits don't matter, or no signed sum overflows; -fwrapv if the build has it
schedule.bands-apart: loops of the given schedule stand in bands of their own
  Only loops of one band are interchanged and tiled, so that register tiles and wavefronts need several in one.
  > put loops whose order doesn't matter into one band
schedule.statements-kept: scalars and arrays keep their cells
  The given schedule isn't one of the statements with cells in place of scalars, which register tiles would need.
  > write the schedule with --emit=schedule and the same options, and change that one
schedule.sampled: a schedule drawn at random
  Which point of the schedule space --scheduler sample took.
statement.stages: a loop goes in stages
  Its parts are looked at by themselves.
statement.opaque: a loop or switch that is executed as a whole
  Its own iterations depend on data, and stay as they are; the loops around it may be transformed.
  > give the loop affine bounds, and no jumps out of it
tiles.rounded: tiles of other sizes than those asked for
  Blocks of register tiles, rows that run together and strips have the sizes that the user gives, as far as these are
  whole tiles of registers or whole vectors, and there is room for what is packed.
schedule.simplified: the first choice of transformation was given up
  It took too long, or failed one of scopt's checks; a simpler one was taken, and verified.
  > allow more with --budget if it took too long; else please report this
"""


def _parsed(text: str, kind: RemarkKind) -> Iterator[RemarkId]:
    for entry in re.split(r"\n(?=\S)", text.strip()):
        head, _, body = entry.partition("\n")
        id, _, title = head.partition(": ")
        meaning, _, advice = " ".join(body.split()).partition("> ")
        yield RemarkId(id, kind, title, meaning.rstrip(), advice)


def known_ids() -> Mapping[str, RemarkId]:
    """All ids, sorted."""
    found = (*_parsed(_MISSED, "missed"), *_parsed(_PASSED, "passed"), *_parsed(_ANALYSIS, "analysis"))
    return {one.id: one for one in sorted(found, key=lambda one: one.id)}


def advice(id: str) -> str:
    """What can be done about a remark, in general; empty if there is nothing, or no such id."""
    found = known_ids().get(id)
    return found.advice if found is not None else ""


_HEADINGS = {
    "missed": (
        "Left as it was",
        "Nothing was changed, and this is why. What to do is told in general here; the remark itself may know better.",
    ),
    "analysis": ("Found and assumed", "What scopt took for granted, or wants you to know."),
    "passed": ("Done", ""),
}


def reference() -> str:
    """`docs/remarks.md` from its second part on: all ids by kind and topic, with what they mean and what to do."""
    lines: list[str] = []
    for kind, (heading, introduction) in _HEADINGS.items():
        lines += [f"## {heading}", "", *([introduction, ""] if introduction else [])]
        for one in known_ids().values():
            if one.kind == kind:
                advice = f" *To do:* {one.advice}." if one.advice else ""
                lines += [f"**`{one.id}`**: {one.title}. {one.meaning}{advice}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
