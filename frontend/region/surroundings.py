"""What else runs where a region is run again and again, and what of it stays with one thread.

A time loop may do its work in functions. So the loop around a region is looked for where its function is called, too,
and what runs there is followed into the functions of the file. It is about time alone: what is seldom done (below a
condition), or takes less by an order of magnitude (fewer loops in one another), doesn't count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import facts_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.walks import walk

_LOOPS = (ir.For, ir.While, ir.DoWhile)
# Callers that are gone through to find a loop.
_CALLERS = 4
# Functions of the library that touch what they are given, if anything.
_LIBRARY = VALUE_FUNCTIONS | frozenset(
    """
        printf fprintf sprintf snprintf puts fputs putchar putc fputc fflush fwrite fread fscanf scanf sscanf fgets
        fopen fclose perror malloc calloc realloc free exit abort memcpy memmove memset memcmp strlen strcmp strncmp
        strcpy rand srand time clock clock_gettime gettimeofday omp_get_wtime atoi atof strtol strtod
    """.split()
)
# Iterations of a loop that is no time loop, but one over components.
_FEW = 16


def runs_alone(region: Region) -> bool:
    """Whether a loop around the region does nothing else that takes time: neither loops nor calls stand beside it. Not
    known, so False, of a function that is called again and again."""
    own = {id(node) for item in region.items for node in walk(item)}
    around = [node for node in walk(region.function.body) if isinstance(node, _LOOPS) and _holds(node, region.parent)]
    return bool(around) and not any(
        isinstance(node, (*_LOOPS, ir.FuncCall))
        for node in walk(around[-1])
        if id(node) not in own and node is not around[-1]
    )


def words_beside(region: Region) -> frozenset[str] | None:
    """Names by which one thread reaches memory between two runs of a region; None if that isn't known."""
    return frozenset() if region.beside is None and runs_alone(region) else region.beside


def with_surroundings(tu: TranslationUnit, regions: Sequence[Region]) -> tuple[Region, ...]:
    """Unmarked regions with what runs beside them. regions: all that the file has."""
    surroundings = _Surroundings.of(tu, (*tu.regions, *regions))
    return tuple(replace(region, beside=surroundings.beside(region)) for region in regions)


def beside_one_thread(tu: TranslationUnit, shared: Mapping[int, Region]) -> dict[int, Region]:
    """The unmarked ones of the regions that threads share indeed, where one thread reaches more of what they work on
    than was thought when all that the file has were taken to be shared."""
    surroundings, found = _Surroundings.of(tu, (*shared.values(),)), dict[int, Region]()
    for number, region in shared.items():
        words = None if region.marked else surroundings.beside(region)
        own = {name for item in region.items for name in identifiers(item)}
        if words is not None and not own.isdisjoint(words - (region.beside or frozenset())):
            found[number] = replace(region, beside=words)
    return found


class _Surroundings(Struct, frozen=True, eq=False):
    """functions: by name, with a body; those that have loops, or call others that have some. calls: of each, with the
    function that has the call and the nodes around it, outermost first. shared: loops that threads are likely to share.
    flat: loops over as many cells as a product says, which stand for two. found: for places and depths that were
    asked."""

    tu: TranslationUnit
    functions: Mapping[str, Any]
    calls: dict[str, list[tuple[Any, tuple[Any, ...]]]] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)
    flat: set[int] = field(default_factory=set)
    found: dict[tuple[int, int], frozenset[str] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, tu: TranslationUnit, shared: Sequence[Region]) -> _Surroundings:
        """shared: the regions that threads are likely to share."""
        found = cls(tu, _with_loops(tu))
        for function in found.functions.values():
            found.flat.update(map(id, _flat_loops(function)))
            for node in walk(function.body):
                if (name := _called(node)) in found.functions:
                    found.calls.setdefault(name, []).append((function, found.path(function, node)))
        floats: dict[int, frozenset[str]] = {}
        for region in shared:
            if id(region.function) not in floats:
                floats[id(region.function)] = _floats(region.function)
            found.shared.update(
                id(node)
                for item in region.items
                for node in walk(item)
                if isinstance(node, _LOOPS) and not (_sums(node, floats[id(region.function)]) or _copies(node))
            )
        return found

    def path(self, function: Any, node: Any) -> tuple[Any, ...]:
        """The nodes around one, outermost first."""
        return tuple(above for above, _ in facts_of(self.tu, function).path_to(node))

    def depth(self, node: Any) -> int:
        """How deep loops are nested."""
        own = isinstance(node, _LOOPS) + (id(node) in self.flat)
        return max(map(self.depth, node.parts), default=0) + own

    def beside(self, region: Region) -> frozenset[str] | None:
        depth = max(map(self.depth, region.items), default=0)
        path = (*self.path(region.function, region.parent), region.parent)
        key = (id(_time_loop(path) or region.function), depth)
        if key not in self.found:
            beside = _Beside(self, depth)
            known = beside.around(region.function, path, _CALLERS) and not beside.strange
            self.found[key] = frozenset(beside.words) if known else None
        return self.found[key]


class _Beside(Struct, frozen=True, eq=False):
    """depth: of the region's loops. words: found so far. seen: functions; strange: those of which nothing is known."""

    surroundings: _Surroundings
    depth: int
    words: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    strange: set[str] = field(default_factory=set)

    def around(self, function: Any, path: Sequence[Any], callers: int) -> bool:
        """Look through the loop around a place, in the function or where that is called; whether there is one.
        path: the nodes down to the place."""
        loop = _time_loop(path)
        if loop is not None:
            self.read(loop.stmt)
            return True
        name = function.decl.name
        sites = self.surroundings.calls.get(name, ()) if callers and name not in self.seen else ()
        self.seen.add(name)
        found = [self.around(caller, site, callers - 1) for caller, site in sites]
        if any(found):
            self.read(function.body)
        return any(found)

    def read(self, node: Any) -> None:
        """Note what one thread does in a statement."""
        match node:
            case ir.If() | ir.Switch():
                return
            case ir.FuncCall(name=ir.ID(name=called)):
                self.call(called, node)
            case ir.FuncCall():
                self.strange.add("")
            case ir.For() | ir.While() | ir.DoWhile():
                if id(node) in self.surroundings.shared:
                    return
                if self.holds_more(node):
                    self.read(node.stmt)
                elif self.surroundings.depth(node) >= self.depth:
                    self.words.update(_words(node))
            case _:
                for part in node.parts:
                    self.read(part)

    def call(self, called: str, node: Any) -> None:
        function = self.surroundings.functions.get(called)
        if function is None and called not in self.surroundings.tu.defined_functions:
            self.words.update(_words(node))
            if called not in _LIBRARY:
                self.strange.add(called)
        elif function is not None and called not in self.seen:
            self.seen.add(called)
            self.read(function.body)

    def holds_more(self, loop: Any) -> bool:
        """Whether there are loops of threads in a loop, or functions of the file, which may have some."""
        shared, functions = self.surroundings.shared, self.surroundings.functions
        return any(id(node) in shared or _called(node) in functions for node in walk(loop))


def _with_loops(tu: TranslationUnit) -> dict[str, Any]:
    """The functions of the file that have loops, or call such functions, by their names."""
    nodes = {function.decl.name: list(walk(function.body)) for function in tu.user_functions}
    found = {name for name, own in nodes.items() if any(isinstance(node, _LOOPS) for node in own)}
    called = {name: {_called(node) for node in own} for name, own in nodes.items()}
    while more := {name for name, others in called.items() if name not in found and not found.isdisjoint(others)}:
        found |= more
    return {function.decl.name: function for function in tu.user_functions if function.decl.name in found}


def _called(node: Any) -> str:
    """The name of the function that a node calls; empty for others."""
    return str(node.name.name) if isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID) else ""


def _time_loop(path: Sequence[Any]) -> Any:
    """The innermost loop of a path that isn't over a few components."""
    return next((node for node in reversed(path) if isinstance(node, _LOOPS) and not _is_short(node)), None)


def _is_short(loop: Any) -> bool:
    """Whether a loop runs a few times, as far as its condition tells."""
    match loop:
        case ir.For(cond=ir.BinaryOp(op="<" | "<=", right=ir.Constant(value=most))):
            return most.isdigit() and int(most) <= _FEW
    return False


def _sums(loop: Any, floats: Collection[str]) -> bool:
    """Whether a loop collects floating-point numbers in a variable, which keep their order."""
    inside = {node.name for node in walk(loop) if isinstance(node, ir.Decl)}
    asked = {name for node in walk(loop) if isinstance(node, ir.If | ir.TernaryOp) for name in identifiers(node.cond)}
    for node in walk(loop):
        match node:
            case ir.Assignment(lvalue=ir.ID(name=name)) if name in floats and name not in inside:
                if node.op != "=" or name in asked or name in identifiers(node.rvalue):
                    return True
    return False


def _copies(loop: Any) -> bool:
    """Whether a loop does nothing but what compilers make calls of the library of."""
    heads = {id(part) for node in walk(loop) if isinstance(node, ir.For) for part in (node.init, node.next)}
    done = [node for node in walk(loop) if isinstance(node, ir.Assignment) and id(node) not in heads]
    return bool(done) and all(node.op == "=" and isinstance(node.rvalue, ir.ArrayRef | ir.Constant) for node in done)


def _floats(function: Any) -> frozenset[str]:
    """Names that the function declares for floating-point numbers, or that it doesn't declare."""
    declared, floats = set[str](), set[str]()
    for node in walk(function):
        if isinstance(node, ir.Decl) and node.name:
            declared.add(node.name)
            kind = getattr(getattr(node.type, "type", None), "names", ())
            if not {"int", "long", "char", "short", "unsigned", "size_t"}.intersection(kind):
                floats.add(node.name)
    return frozenset(floats | (identifiers(function.body) - declared))


def _words(node: Any) -> set[str]:
    """Names of variables, and of members."""
    fields = {str(one.field) for one in walk(node) if isinstance(one, ir.StructRef)}
    return {*identifiers(node), *fields} - {loop_iterator(one) for one in walk(node) if isinstance(one, ir.For)}


def _flat_loops(function: Any) -> list[Any]:
    """The loops whose end is a product of variables, or a variable that is declared as one."""
    nodes = list(walk(function.body))
    names = {
        node.name for node in nodes if isinstance(node, ir.Decl) and node.init is not None and _is_product(node.init)
    }
    loops = (node for node in nodes if isinstance(node, ir.For) and node.cond is not None)
    return [node for node in loops if _is_product(node.cond) or not names.isdisjoint(identifiers(node.cond))]


def _is_product(node: Any) -> bool:
    """Whether variables are multiplied."""
    return any(
        isinstance(one, ir.BinaryOp) and one.op == "*" and all(identifiers(part) for part in (one.left, one.right))
        for one in walk(node)
    )


def _holds(root: Any, wanted: Any) -> bool:
    return any(node is wanted for node in walk(root))
