"""Draws random programs that are free of undefined behaviour by construction.

Earlier choices of every draw are the simpler ones, so that a failing program shrinks towards a plain one.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.decision_file import RANDOM
from scopt.options import Options
from tests.fuzz.choices import Choices
from tests.fuzz.control import data_condition, with_jump
from tests.fuzz.draft import MAX_INSTANCES, Draft
from tests.fuzz.exchanges import exchange
from tests.fuzz.expressions import Condition, Data, DataType, Ref
from tests.fuzz.integers import condition, element, followed
from tests.fuzz.kinds import KINDS, Kind
from tests.fuzz.loops import open_loop
from tests.fuzz.memory import NAMES, add_shapes, calls, finished, value_range, wide_range
from tests.fuzz.program import Kernel, Macro, Parameter, Program, ScalarModel
from tests.fuzz.reductions import reduction
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Assign, Branch, Declare, Line, Loop, Stmt
from tests.fuzz.streams import stream
from tests.fuzz.typed import TYPES
from tests.fuzz.values import leaf, update, value

ITERATORS = ("i", "j", "k", "l")


def program(choices: Choices, kind: str) -> Program:
    """A program of a kind; made of the choices alone."""
    chosen = KINDS[kind]
    options = _options(choices, chosen)
    if not options.autodetect:
        # What is marked is taken not to overlap, as pointers into arrays do.
        chosen = replace(chosen, aliases=0, streams=0, exchanges=0)
    macros, scope = _macros(choices, chosen)
    count = choices.pick(*chosen.kernels)
    kernels = tuple(_kernel(choices, chosen, part, macros if not part else (), scope) for part in list(NAMES)[:count])
    return Program(kernels, macros, options, kind)


def _options(choices: Choices, kind: Kind) -> Options:
    tile = choices.chance(75)
    # small tiles, of which there are several even in small loops;
    # or the model's, with register tiles, jammed rows and strips
    sizes = tuple(2 + choices.up_to(6) for _ in range(1 + choices.up_to(2))) if tile and not choices.chance(40) else ()
    return Options(
        autodetect=choices.chance(kind.autodetect),
        eager=True,
        scheduler=choices.pick("pluto", "pluto", "pluto", "pluto", "isl", "isl", "feautrier", "identity", "sample"),
        fusion=choices.pick("auto", "auto", "max", "smart", "no", "typed"),
        seed=choices.up_to(1000),
        influence=choices.pick("", "", "", "vectorize"),
        reassociate=kind.exact,
        tile=tile,
        tile_sizes=sizes,
        # plain tiles of a few sizes, too, where contractions would have register tiles
        register_tile=not (sizes and choices.chance(40)),
        parallel=not choices.chance(10),
        simd=not choices.chance(20),
        # any legal leaf of the space of decisions, too
        decisions=choices.pick("", "", RANDOM),
        verify="full",
    )


def _macros(choices: Choices, kind: Kind) -> tuple[tuple[Macro, ...], Scope]:
    """Macros, and a scope that knows what they stand for."""
    if not choices.chance(kind.macros):
        return (), Scope({}, {})
    first, second = 4 + choices.up_to(6), 3 + choices.up_to(8)
    macros = [Macro("N", str(first), symbol=True), Macro("M", choices.pick(str(second), f"({second})"), symbol=True)]
    n, m = (min(first, 5), max(first, 11)), (min(second, 3), max(second, 9))
    ranges = {
        "N": n,
        "M": m,
        "HALF": (n[0] // 2, n[1] // 2),
        "NEXT": (n[0] + 1, n[1] + 1),
        "BLOCK": (4, 4),
        "LESS": (-2, -2),
    }
    types = dict.fromkeys(ranges, "int")
    macros += [Macro("HALF", "(N / 2)"), Macro("NEXT", "(N + 1)"), Macro("BLOCK", "0x4"), Macro("LESS", "(-2)")]
    for name, text, type, number in (
        ("LEN", "9u", "unsigned", 9),
        ("DEEP", "6L", "long", 6),
        ("TINY", "sizeof(int)", "size_t", 4),
    ):
        macros.append(Macro(name, text))
        ranges[name], types[name] = (number, number), type
    return tuple(macros), Scope(ranges, types)


def _kernel(choices: Choices, kind: Kind, part: str, macros: tuple[Macro, ...], known: Scope) -> Kernel:
    draft = Draft(choices, kind, part)
    draft.statements_left = choices.pick(*kind.statements)
    # Strides, `/`, `%` and bounds of two parts: each is wanted, many in one program take isl too long.
    draft.spices_left = choices.pick(*kind.spices)
    draft.iterator_type = choices.pick(*kind.iterators)
    signed, parameters, scope = _parameters(draft, macros, known)
    size_type = choices.pick(*kind.parameters)
    scope = add_shapes(draft, scope, size_type)
    _add_scalars(draft)
    body: tuple[Stmt, ...] = ()
    for _ in range(1 + choices.pick(0, 0, 1, 1, 2)):
        exchanged = exchange(draft, scope) if choices.chance(kind.exchanges) else None
        if exchanged is not None:
            body += (exchanged,)
        elif draft.statements_left > 0:
            body += (_loop(draft, scope),) if not choices.chance(8) else (_assignment(draft, scope),)
    symbol = ("N", scope.ranges["N"][0]) if macros else None
    arrays = tuple(finished(draft, shape, size_type, symbol) for shape in draft.shapes)
    outermost = [s.iterator for s in body if isinstance(s, Loop) and not s.inside]
    return Kernel(
        arrays=arrays,
        scalars=(*draft.scalars, *draft.sums),
        body=body,
        parameters=parameters,
        calls=calls(draft, parameters, arrays, signed=signed),
        part=part,
        inductions=tuple(draft.inductions),
        streams=tuple(draft.streams),
        ends=tuple(draft.ends),
        live_iterator=outermost[-1] if outermost and choices.chance(5) else None,
        static=not choices.chance(40),
    )


def _parameters(draft: Draft, macros: tuple[Macro, ...], known: Scope) -> tuple[bool, tuple[Parameter, ...], Scope]:
    """Whether they may be negative, the kernel's integers, and what is known of them and of the macros."""
    choices, kind = draft.choices, draft.kind
    natural = len(kind.parameters) > 1 or "flat" in kind.forms or bool(macros)
    signed = not choices.chance(85 if natural else 10)
    types = [choices.pick(*kind.parameters) for _ in range(2)]
    if signed:
        types = [type if TYPES[type][1] else "int" for type in types]
    names = [f"q->{name}" if choices.chance(kind.members) else name for name in ("n", "m")]
    parameters = [Parameter(name, type) for name, type in zip(names, types, strict=True)]
    ranges = known.ranges | dict(zip(names, value_range(signed=signed), strict=True))
    draft.sizes = tuple(names)
    if macros:
        draft.sizes = choices.pick(("N", "M"), ("N", names[0]), (names[0], "N"), ("NEXT", "N"), ("M", "HALF")) + tuple(
            names
        )
        draft.constants = ("BLOCK", "LEN", "DEEP", "LESS", "HALF", "TINY")
    scope = Scope(ranges, known.types | dict(zip(names, types, strict=True)))
    if len(kind.parameters) > 1 and choices.chance(40):
        draft.wide = "w"
        type = choices.pick("unsigned", "size_t", "long", "int")
        parameters.append(Parameter("w", type))
        scope = replace(scope, ranges=scope.ranges | {"w": wide_range(type)}, types=scope.types | {"w": type})
    return signed, tuple(parameters), scope


def _add_scalars(draft: Draft) -> None:
    choices, kind = draft.choices, draft.kind
    for number in range(choices.pick(0, 0, 1, 2) if not kind.exact else 0):
        place = "member" if choices.chance(kind.members) else choices.pick("live", "dead", "global")
        draft.scalars.append(
            ScalarModel(f"s{draft.part}{number}", choices.pick("double", "double", "unsigned"), place, draft.part)
        )
    for number in range(choices.pick(1, 1, 2) if choices.chance(min(100, 2 * kind.reductions)) else 0):
        place = choices.pick("live", "live", "global", "pointer")
        if choices.chance(kind.aliases):
            place = "pointer"
        elif choices.chance(kind.members):
            place = "member"
        type: DataType = choices.pick(*(type for type in kind.types if type != "short"))
        draft.sums.append(ScalarModel(f"r{draft.part}{number}", type, place, draft.part))


# --- statements -------------------------------------------------------------------------------------------------------


def _loop(draft: Draft, scope: Scope) -> Loop:
    depth = len(scope.iterators)
    opened = open_loop(draft, scope, ITERATORS[depth])
    loop = replace(opened.loop, body=_body(draft, opened.scope, depth + 1))
    if loop.form != "wraparound" and draft.choices.chance(draft.kind.control // 2):
        loop = with_jump(draft, loop, opened.scope)
    return loop


def _body(draft: Draft, scope: Scope, depth: int) -> tuple[Stmt, ...]:
    """The inside of a loop or branch: at least one statement, locals first."""
    choices = draft.choices
    statements: tuple[Stmt, ...] = ()
    if choices.chance(15):
        local = _local(draft, scope)
        scope = replace(scope, locals=(*scope.locals, local))
        statements = (local,)
    for _ in range(1 + choices.pick(0, 0, 0, 1, 1, 2)):
        if draft.statements_left <= 0 and statements:
            break
        may_nest = depth < draft.kind.depth and scope.instances < MAX_INSTANCES and draft.statements_left > 0
        if may_nest and choices.chance(60 if depth < 2 else 35):
            statements += (_loop(draft, scope),)
        elif draft.statements_left > 0 and choices.chance(20):
            statements += (_branch(draft, scope, depth),)
        else:
            statements += (_assignment(draft, scope),)
    return statements


def _branch(draft: Draft, scope: Scope, depth: int) -> Branch:
    choices = draft.choices
    test: Condition | Data
    if scope.iterators and not choices.chance(25):
        test, then_depth = condition(draft, scope), depth
    else:
        # A data-dependent branch becomes one opaque statement: no loops inside, or everything around it is refused.
        test, then_depth = data_condition(draft, scope), draft.kind.depth
    then = _body(draft, scope, then_depth)
    otherwise = _body(draft, scope, then_depth) if draft.statements_left > 0 and choices.chance(35) else ()
    return Branch(test, then, otherwise)


def _local(draft: Draft, scope: Scope) -> Declare:
    choices = draft.choices
    kind: DataType = choices.pick("double", "double", "unsigned")
    drawn = leaf(draft, scope, kind) if choices.chance(30) else value(draft, scope, kind)
    draft.locals_made += 1
    return Declare(kind, f"x{draft.locals_made}", drawn, choices.pick(None, None, None, 2, 3))


def _assignment(draft: Draft, scope: Scope) -> Stmt:
    choices = draft.choices
    draft.statements_left -= 1
    if scope.iterators and choices.chance(draft.kind.streams) and (walked := stream(draft, scope)) is not None:
        return walked
    accumulators = [shape for shape in draft.shapes if shape.role == "accumulator"]
    if (draft.sums or accumulators) and (draft.kind.exact or choices.chance(draft.kind.reductions)):
        return reduction(draft, scope)
    writable = [declared for declared in scope.locals if declared.extent is None]
    if writable and not draft.kind.exact and choices.chance(15):
        local = choices.pick(*writable)
        return Assign(Ref(local.name), *update(draft, scope, local.type))
    if draft.scalars and choices.chance(25):
        scalar = choices.pick(*draft.scalars)
        return Assign(Ref(scalar.text), *update(draft, scope, scalar.type))
    shape = choices.pick(*(accumulators if draft.kind.exact and accumulators else draft.data()))
    # Data of programs whose sums are reordered are only read: rounding would depend on the order.
    operator, drawn = update(draft, scope, shape.type)
    if draft.kind.exact:
        operator, drawn = "=", leaf(draft, scope, shape.type)
    elif draft.kind.followed and choices.chance(draft.kind.followed):
        declaration, target = followed(draft, scope, shape)
        return Line(f"{{ {declaration} {target} {operator} {drawn}; }}")
    return Assign(element(draft, scope, shape, write=True), operator, drawn)
