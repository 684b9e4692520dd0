"""Schedule tree → isl AST → simplified form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import islpy as isl
from msgspec import Struct, field

from scopt.astgen.emit.names import choose_names
from scopt.astgen.loops.bounds import plain_bounds
from scopt.astgen.loops.offsets import with_offsets
from scopt.astgen.loops.quotients import with_quotients
from scopt.astgen.loops.rounding import settle_divisions
from scopt.astgen.loops.simplify import simplify
from scopt.diagnostics import InternalError
from scopt.ir import expr as ex
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import And, Block, Call, Compare, Condition, Expr, For, If, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop

_AST_OPTIONS = {
    "ast_build_detect_min_max": 1,
    "ast_build_exploit_nested_bounds": 1,
    "ast_build_prefer_pdiv": 1,
    "ast_build_allow_else": 1,
    "ast_build_allow_or": 1,
    "ast_build_group_coscheduled": 0,
    "ast_build_scale_strides": 0,
}

# left op right as a distance that is >= 0: sign of right - left, and what is added.
_DISTANCES = {"<=": (1, 0), "<": (1, -1), ">=": (-1, 0), ">": (-1, -1)}


class _NotLinear(InternalError):
    """A loop condition that isn't a conjunction of linear upper bounds."""


def build(scop: Scop, schedule: MarkedSchedule) -> LoopNest:
    """The loops that run `scop` in the order of `schedule`, simplified and with final iterator names.

    A mark goes to the loops that the band right below it becomes; where that band's dimension has one value only, no
    loop is left and the mark is dropped. Raises InternalError if isl can't make loops of the tree (an unbounded
    domain).
    """
    nest = raw_loops(scop, schedule)
    for rewrite in (simplify, plain_bounds, settle_divisions, choose_names):
        nest = rewrite(scop, nest)
    return nest


def condition_of(scop: Scop, values: isl.Set) -> Condition:
    """The condition under which the parameters lie in a set. Raises InternalError where it is no plain one."""
    try:
        expression = isl.AstBuild.from_context(isl.Set.universe(values.get_space())).expr_from_set(values)
    except isl.Error as error:
        raise InternalError(f"{scop.location}: isl makes no condition of {values}: {error}") from error
    return _Converter(scop, {}).condition(expression, {})


def raw_loops(scop: Scop, schedule: MarkedSchedule) -> LoopNest:
    """isl's AST as a loop nest; the iterators, unique in the nest, are not C identifiers yet (``$0``, ``$1``, …)."""
    try:
        # A single upper bound made by isl may be a case distinction as long as
        # a page where the least of several bounds will do.
        return _converted(scop, schedule, single_bound=False)
    except _NotLinear:
        return _converted(scop, schedule, single_bound=True)


def _converted(scop: Scop, schedule: MarkedSchedule, single_bound: bool) -> LoopNest:
    tree, pending = _numbered_marks(schedule)
    tree, context, offsets = with_offsets(_plain_bands(tree), scop.context)
    tree, quotients = with_quotients(tree)
    # what one iteration alone copies out of a buffer, or of an array of its own, stays in its loop: another thread's is
    # behind it
    work = any(one.private and one.rank for one in scop.arrays.values())
    own = {"ast_build_atomic_upper_bound": int(single_bound), "ast_build_group_coscheduled": int(work)}
    with _ast_options(tree.get_ctx(), _AST_OPTIONS | own):
        try:
            ast = isl.AstBuild.from_context(context).set_iterators(_depth_ids(tree)).node_from_schedule(tree)
        except isl.Error as error:
            raise InternalError(f"{scop.location}: isl generates no loops for the schedule: {error}") from error
        own_build = isl.AstBuild.from_context(scop.context)
        converter = _Converter(scop, pending, quotients)
        begins = {name: converter.expr(own_build.expr_from_pw_aff(one), {}) for name, one in offsets.items()}
        return LoopNest(Block(tuple(converter.items(ast, begins, None))))


@contextmanager
def _ast_options(context: isl.Context, options: Mapping[str, int]) -> Iterator[None]:
    """Set isl's options on the context for a while."""
    before = {name: getattr(context, f"get_{name}")() for name in options}
    try:
        for name, value in options.items():
            getattr(context, f"set_{name}")(value)
        yield
    finally:
        for name, value in before.items():
            getattr(context, f"set_{name}")(value)


def _numbered_marks(schedule: MarkedSchedule) -> tuple[isl.Schedule, dict[str, _Pending]]:
    """The tree with a number for each place of a mark, and what it stands for: isl leaves out loops of a dimension with
    a single value, and then the first loop below a mark isn't its own. isl's iterators are numbered by depth, which
    tells."""
    found: dict[str, _Pending] = {}

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() != isl.schedule_node_type.mark:
            return node
        name = str(len(found))
        found[name] = _Pending(node.get_schedule_depth(), schedule.loop(node))
        return node.delete().insert_mark(isl.Id(name, context=node.get_ctx()))

    return schedule.tree.get_root().map_descendant_bottom_up(visit).get_schedule(), found


def _plain_bands(tree: isl.Schedule) -> isl.Schedule:
    """Bands without what their functions say of the domain: isl would take it into each of its steps."""
    domain = tree.get_domain()

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() != isl.schedule_node_type.band:
            return node
        options, permutable = node.band_get_ast_build_options(), node.band_get_permutable()
        plain = node.delete().insert_partial_schedule(node.band_get_partial_schedule().gist(domain))
        return plain.band_set_permutable(int(permutable)).band_set_ast_build_options(options)

    return tree.get_root().map_descendant_bottom_up(visit).get_schedule()


def _depth_ids(tree: isl.Schedule) -> isl.IdList:
    """Iterator ids ``$depth``, which no C identifier can collide with."""
    deepest = 0

    def visit(node: isl.ScheduleNode) -> bool:
        nonlocal deepest
        deepest = max(deepest, node.get_schedule_depth())
        return True

    tree.get_root().foreach_descendant_top_down(visit)
    context = tree.get_ctx()
    ids = isl.IdList.alloc(context, deepest + 1)
    for depth in range(deepest + 1):
        ids = ids.add(isl.Id(f"${depth}", context=context))
    return ids


class _Pending(Struct, frozen=True):
    """A mark that waits for the loop at its depth."""

    depth: int
    mark: LoopMark


Environment = dict[str, Expr]


def _conjuncts(condition: Condition) -> tuple[Condition, ...]:
    return condition.args if isinstance(condition, And) else (condition,)


class _Converter(Struct, frozen=True, eq=False):
    """isl AST nodes → items. The environment maps isl's iterators to expressions over ours.

    marks: by their numbers. quotients: how many arguments a statement's calls have in isl's AST in front of its own.
    """

    scop: Scop
    marks: Mapping[str, _Pending]
    quotients: Mapping[str, int] = field(default_factory=dict)
    fresh: Iterator[int] = field(default_factory=count)

    def items(self, node: isl.AstNode, env: Environment, pending: _Pending | None) -> Iterator[Item]:
        kind: Any = isl.ast_node_type  # islpy's stubs lack the names with an underscore
        match node.get_type():
            case kind.block:
                children = node.block_get_children()
                for k in range(children.n_ast_node()):
                    yield from self.items(children.get_at(k), env, pending)
            case kind.mark:
                yield from self.items(node.mark_get_node(), env, self.marks[node.mark_get_id().get_name()])
            case kind.if_:
                yield self.branch(node, env, pending)
            case kind.for_:
                yield from self.loop(node, env, pending)
            case kind.user:
                call = node.user_get_expr()
                statement = call.get_op_arg(0).get_id().get_name()
                first = 1 + self.quotients.get(statement, 0)
                yield Call(
                    statement, tuple(self.expr(call.get_op_arg(k), env) for k in range(first, call.get_op_n_arg()))
                )
            case other:
                raise InternalError(f"{self.scop.location}: isl AST node {other}")

    def block(self, node: isl.AstNode, env: Environment, pending: _Pending | None) -> Block:
        return Block(tuple(self.items(node, env, pending)))

    def branch(self, node: isl.AstNode, env: Environment, pending: _Pending | None) -> If:
        otherwise = self.block(node.if_get_else_node(), env, pending) if node.if_has_else_node() else None
        return If(self.condition(node.if_get_cond(), env), self.block(node.if_get_then_node(), env, pending), otherwise)

    def loop(self, node: isl.AstNode, env: Environment, pending: _Pending | None) -> Iterator[Item]:
        isl_name = node.for_get_iterator().get_id().get_name()
        lower = self.expr(node.for_get_init(), env)
        if node.for_is_degenerate():
            yield from self.items(node.for_get_body(), env | {isl_name: lower}, pending)
            return
        depth = int(isl_name[1:])
        mark = LoopMark()
        if pending is not None and pending.depth <= depth:
            mark = pending.mark if pending.depth == depth else mark
            pending = None
        name = f"${next(self.fresh)}"
        inner = env | {isl_name: Name(name)}
        step = node.for_get_inc().get_val().to_python()
        body = self.block(node.for_get_body(), inner, pending)
        yield For(name, lower, self.upper(node, env, isl_name), step, body, mark)

    def upper(self, node: isl.AstNode, env: Environment, name: str) -> Expr:
        """The inclusive upper bound: the least of those in a conjunction of
        comparisons that are linear in the iterator."""
        bounds = []
        iterator = Name("$")  # apart from the names of other loops, in isl's numbering or ours
        for condition in _conjuncts(self.condition(node.for_get_cond(), env | {name: iterator})):
            match condition:
                case Compare(left, op, right) if op in _DISTANCES:
                    sign, offset = _DISTANCES[op]
                    # the comparison says that distance >= 0
                    coefficients, constant = ex.linear(ex.plus(ex.scale(ex.subtract(right, left), sign), offset))
                    factor = coefficients.pop(iterator, 0)
                    rest = ex.from_linear(coefficients, constant)
                    if factor < 0 and iterator.name not in ex.names(rest):
                        bounds.append(ex.floor_div(rest, -factor))
                        continue
            raise _NotLinear(f"{self.scop.location}: isl AST loop condition {node.for_get_cond().to_C_str()}")
        if not bounds:
            raise InternalError(f"{self.scop.location}: isl AST loop without an upper bound")
        return ex.minimum(bounds)

    def expr(self, e: isl.AstExpr, env: Environment) -> Expr:
        kind = isl.ast_expr_type
        if e.get_type() == kind.int:
            return ex.weighted((), e.get_val().to_python())
        if e.get_type() == kind.id:
            name = e.get_id().get_name()
            return env.get(name, Name(name))
        op = isl.ast_expr_op_type
        if e.get_op_type() in (op.cond, op.select):
            condition, then, otherwise = (e.get_op_arg(k) for k in range(3))
            return ex.select(self.condition(condition, env), self.expr(then, env), self.expr(otherwise, env))
        args = tuple(self.expr(e.get_op_arg(k), env) for k in range(e.get_op_n_arg()))
        return self.operation(e, args)

    def operation(self, e: isl.AstExpr, args: tuple[Expr, ...]) -> Expr:
        op = isl.ast_expr_op_type
        match e.get_op_type():
            case op.max:
                return ex.maximum(args)
            case op.min:
                return ex.minimum(args)
            case op.minus:
                return ex.scale(args[0], -1)
            case op.add:
                return ex.add(*args)
            case op.sub:
                return ex.subtract(*args)
            case op.mul:
                factor, other = (args[0], args[1]) if not ex.names(args[0]) else (args[1], args[0])
                return ex.scale(other, self.integer(factor, e))
            case op.div | op.pdiv_q:  # div: exact; both are C's /
                return self.quotient(args, e, nonnegative=True)
            case op.fdiv_q:
                return self.quotient(args, e, nonnegative=False)
            case op.pdiv_r:
                return ex.modulo(args[0], self.integer(args[1], e), nonnegative=True)
            case op.zdiv_r:
                return ex.modulo(args[0], self.integer(args[1], e), zero_test=True)
            case other:
                raise InternalError(f"{self.scop.location}: isl AST operator {other} in {e.to_C_str()}")

    def quotient(self, args: tuple[Expr, ...], e: isl.AstExpr, nonnegative: bool) -> Expr:
        return ex.floor_div(args[0], self.integer(args[1], e), nonnegative)

    def integer(self, value: Expr, e: isl.AstExpr) -> int:
        _, constant = ex.linear(value)
        if ex.names(value):
            raise InternalError(
                f"{self.scop.location}: a constant is expected in the isl AST expression {e.to_C_str()}"
            )
        return constant

    def condition(self, e: isl.AstExpr, env: Environment) -> Condition:
        if e.get_type() == isl.ast_expr_type.int:
            return ex.FALSE if e.get_val().is_zero() else ex.TRUE
        op: Any = isl.ast_expr_op_type
        comparisons: dict[Any, str] = {op.eq: "==", op.le: "<=", op.lt: "<", op.ge: ">=", op.gt: ">"}
        match e.get_op_type():
            case op.and_ | op.and_then:
                return ex.conjunction(self.condition(e.get_op_arg(k), env) for k in range(e.get_op_n_arg()))
            case op.or_ | op.or_else:
                return ex.disjunction(self.condition(e.get_op_arg(k), env) for k in range(e.get_op_n_arg()))
            case other if other in comparisons:
                left, right = (self.expr(e.get_op_arg(k), env) for k in range(2))
                return ex.compare(left, comparisons[other], right)
            case other:
                raise InternalError(f"{self.scop.location}: isl AST operator {other} in the condition {e.to_C_str()}")
