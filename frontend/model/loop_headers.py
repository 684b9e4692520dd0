"""`for` headers to iteration domains: start, condition and step of one loop,
with the wrap-around rules of its iterator's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.affine import NotAffine, Scope, affine, always, assured, condition, constant_of, converted
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.scop import CType
from scopt.ir.walks import used_names
from scopt.poly.isl_utils import PARAM, constant_pw_aff, param_pw_aff, project_out_params

_INT_BITS = 32


class NotALoop(Exception):
    """The `for` statement is none that the model can hold. `id` is the remark's id."""

    def __init__(self, id: str, message: str, node: Any, hint: str = "") -> None:
        super().__init__(message)
        self.id, self.message, self.node, self.hint = id, message, node, hint


class Loop(Struct, frozen=True, eq=False):
    """One `for` loop.

    domain: parameter set over the enclosing iterators, `iterator` and the parameters: the enclosing domain and this
      loop's values.
    step: the stride, negative for a loop that counts down; never 0.
    """

    iterator: str
    type: CType
    domain: isl.Set
    step: int


def parse_loop(node: ir.For, iterator_type: CType, scope: Scope, within: Callable[[isl.Set], Scope]) -> Loop:
    """The iteration domain of one loop inside `scope`.

    within(domain) gives the scope of the loop's condition, where the iterator is known. Raises NotALoop, NotAffine.
    """
    iterator = loop_iterator(node)
    if iterator is None:
        raise NotALoop(
            "loop.form",
            "the loop doesn't start with one assignment to its iterator",
            node,
            "write 'for (i = start; …)'",
        )
    if (counted := _counted_down(node, iterator)) is not None:
        return _countdown(node, iterator, iterator_type, counted, scope, within)
    if node.cond is None or node.next is None:
        raise NotALoop(
            "loop.form", "the loop has no condition or no step", node, "write 'for (i = start; i < end; i++)'"
        )
    step = _step(node.next, iterator, scope)
    start_node = node.init.decls[0].init if isinstance(node.init, ir.DeclList) else node.init.rvalue
    if start_node is None:
        raise NotALoop("loop.form", "the iterator has no initial value", node)
    start = converted(affine(start_node, scope), iterator_type, scope, start_node).aff
    own = param_pw_aff(iterator)
    inside = within(scope.domain.intersect(_reachable(own, start, step, scope.domain)).coalesce())
    if (
        step == -1
        and not iterator_type.signed
        and (end := _waits_for_wrap(node.cond, iterator, iterator_type, scope)) is not None
    ):
        values = own.ge_set(constant_pw_aff(0)).intersect(own.le_set(start)).intersect(start.lt_set(end))
        return Loop(iterator, iterator_type, scope.domain.intersect(values), step)
    # Of bounds that are the larger, or the smaller, of several values, each has a piece of its own; all further
    # questions would have as many times as many.
    domain = _steps_taken(node.cond, iterator, step, start, inside).coalesce()
    if not _bounded(domain, iterator):
        raise NotALoop(
            "loop.unbounded",
            f"'{iterator}' has no bound in the direction of its step",
            node.cond,
            "check the loop's condition",
        )
    _refuse_wrap(node, iterator, iterator_type, step, domain, inside)
    return Loop(iterator, iterator_type, domain, step)


def _reachable(own: isl.PwAff, start: isl.PwAff, step: int, around: isl.Set) -> isl.Set:
    """What steps from the start lead to. From ``1 + (i + c) % 2`` in steps of 2: all from 1 on with the parity of
    ``1 + i + c``, which takes no quotients besides the one of the steps."""
    forward, size = step > 0, abs(step)
    if size > 1 and start.n_piece() == 1:
        inside = start.intersect_params(around)
        same = isl.PwAff.from_aff(_without_multiples(start.get_pieces()[0][1], size))
        least, most = inside.min_val(), inside.max_val()
        if least.is_int() and most.is_int() and int(most.to_python()) - int(least.to_python()) < size:
            first = constant_pw_aff(int((least if forward else most).to_python()))
            steps = own.sub(same).mod_val(isl.Val(size)).eq_set(constant_pw_aff(0))
            place = own.ge_set(first) if forward else own.le_set(first)
            return place.intersect(steps).intersect(start.domain())
    reachable = own.ge_set(start) if forward else own.le_set(start)
    if size > 1:
        reachable = reachable.intersect(own.sub(start).mod_val(isl.Val(size)).eq_set(constant_pw_aff(0)))
    return reachable


def _without_multiples(value: isl.Aff, modulus: int) -> isl.Aff:
    """The value without quotients that change it by multiples of the modulus."""
    for position in range(value.dim(isl.dim_type.div)):
        factor = value.get_coefficient_val(isl.dim_type.div, position)
        if factor.is_int() and int(factor.to_python()) % modulus == 0:
            value = value.set_coefficient_val(isl.dim_type.div, position, isl.Val(0))
    return value


def _counted_down(node: ir.For, iterator: str) -> Any:
    """What ``i--`` is compared with in ``for (i = n; i-- > 0;)``, or ``!= 0``, or by itself; None for other loops."""
    match node.cond:
        case ir.UnaryOp(op="p--", expr=ir.ID(name=name)) if name == iterator and node.next is None:
            return ir.Constant("int", "0", node.coord)
        case ir.BinaryOp(op=">", left=ir.UnaryOp(op="p--", expr=ir.ID(name=name)), right=end) if (
            name == iterator and node.next is None
        ):
            return None if iterator in used_names(end) else end
        case ir.BinaryOp(
            op="!=", left=ir.UnaryOp(op="p--", expr=ir.ID(name=name)), right=ir.Constant(value="0") as end
        ) if name == iterator and node.next is None:
            return end
    return None


def _countdown(
    node: ir.For, iterator: str, ctype: CType, end_node: Any, scope: Scope, within: Callable[[isl.Set], Scope]
) -> Loop:
    """``for (i = start; i-- > end;)``: the body sees start - 1, …, end.
    The last test leaves end - 1 behind, which nothing sees."""
    start_node = node.init.decls[0].init if isinstance(node.init, ir.DeclList) else node.init.rvalue
    if start_node is None:
        raise NotALoop("loop.form", "the iterator has no initial value", node)
    start = converted(affine(start_node, scope), ctype, scope, start_node).aff
    own = param_pw_aff(iterator)
    # The comparison has the value that the iterator had before; this sees to what it takes for the comparison to be
    # that of the integers.
    condition(
        ir.BinaryOp(">", ir.ID(iterator, node.coord), end_node, node.coord),
        within(scope.domain.intersect(own.le_set(start))),
    )
    end = affine(end_node, scope).aff
    waits = not isinstance(node.cond, ir.BinaryOp) or node.cond.op == "!="
    if waits and not assured(scope, start.ge_set(end)):
        raise NotALoop(
            "loop.not-equal", "the iterator may already be past the value that is waited for", node.cond, "use '>'"
        )
    domain = scope.domain.intersect(own.lt_set(start)).intersect(own.ge_set(end))
    if ctype.bits < _INT_BITS and ctype.signed:
        raise NotALoop(
            "loop.wrap",
            f"'{iterator}' of type '{ctype.spelling}' may wrap around",
            node,
            "use an iterator of type int or wider",
        )
    return Loop(iterator, ctype, domain, -1)


def _waits_for_wrap(cond: Any, iterator: str, ctype: CType, scope: Scope) -> isl.PwAff | None:
    """The end in ``for (unsigned i = n - 1; i < end; i--)``, which the iterator reaches from 0 to its type's largest
    value; None for other loops."""
    if not isinstance(cond, ir.BinaryOp) or cond.op not in ("<", ">"):
        return None
    end = cond.right if cond.op == "<" else cond.left
    own = cond.left if cond.op == "<" else cond.right
    if not isinstance(own, ir.ID) or own.name != iterator or iterator in used_names(end):
        return None
    value = affine(end, scope)
    if value.type.bits > ctype.bits or ctype.bits < _INT_BITS:
        return None
    return value.aff if not value.type.signed or assured(scope, value.aff.ge_set(constant_pw_aff(0))) else None


def _step(node: Any, iterator: str, scope: Scope) -> int:
    """The constant that one iteration adds to the iterator."""
    match node:
        case ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=name)) if name == iterator:
            return 1
        case ir.UnaryOp(op="--" | "p--", expr=ir.ID(name=name)) if name == iterator:
            return -1
        case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ID(name=name)) if name == iterator:
            step = _constant_step(node.rvalue, scope)
            return step if op == "+=" else -step
        case ir.Assignment(
            op="=", lvalue=ir.ID(name=name), rvalue=ir.BinaryOp(op="+" | "-" as op, left=left, right=right)
        ) if name == iterator:
            if isinstance(left, ir.ID) and left.name == iterator:
                step = _constant_step(right, scope)
                return step if op == "+" else -step
            if op == "+" and isinstance(right, ir.ID) and right.name == iterator:
                return _constant_step(left, scope)
    raise NotALoop(
        "loop.step",
        "the loop's step is not the addition of a constant to its iterator",
        node,
        f"write '{iterator} += constant'",
    )


def _constant_step(node: Any, scope: Scope) -> int:
    value = constant_of(affine(node, scope).aff)
    if value is None:
        raise NotALoop("loop.step", "the loop's step is not a constant", node, "use a constant step")
    if value == 0:
        raise NotALoop("loop.step", "the loop's step is zero", node)
    return value


def _steps_taken(cond: Any, iterator: str, step: int, start: isl.PwAff, scope: Scope) -> isl.Set:
    """The iterator's values for which the loop's body runs: those before which the condition never failed."""
    if isinstance(cond, ir.BinaryOp) and cond.op == "!=" and (end := _other_side(cond, iterator)) is not None:
        return _until_equal(cond, end, iterator, step, start, scope)
    holds = condition(cond, scope)
    domain = scope.domain.intersect(holds)
    if _monotone(cond, iterator, step):
        return domain
    # Once the condition has failed, the loop is over, even where it would hold again later.
    failed = scope.domain.subtract(holds)
    name = f"{iterator}__before"
    position = failed.find_dim_by_name(PARAM, iterator)
    if position < 0:
        return domain
    before = failed.set_dim_name(PARAM, position, name)
    earlier = (
        param_pw_aff(name).lt_set(param_pw_aff(iterator))
        if step > 0
        else param_pw_aff(name).gt_set(param_pw_aff(iterator))
    )
    after_failure = project_out_params(before.intersect(earlier), [name])
    return domain.subtract(after_failure).coalesce()


def _other_side(cond: ir.BinaryOp, iterator: str) -> Any:
    """What a comparison compares the bare iterator with, None if it isn't of that form."""
    for side, other in ((cond.left, cond.right), (cond.right, cond.left)):
        if isinstance(side, ir.ID) and side.name == iterator and iterator not in used_names(other):
            return other
    return None


def _monotone(cond: Any, iterator: str, step: int) -> bool:
    """Whether the condition, once false, plainly stays false as the iterator advances:
    `i < e`, `e > i`, parts joined by &&."""
    match cond:
        case ir.BinaryOp(op="&&"):
            return _monotone(cond.left, iterator, step) and _monotone(cond.right, iterator, step)
        case ir.BinaryOp(op="<" | "<=" | ">" | ">=" as op):
            if iterator not in used_names(cond):
                return True
            if _other_side(cond, iterator) is None:
                return False
            upper = (
                op in ("<", "<=") if isinstance(cond.left, ir.ID) and cond.left.name == iterator else op in (">", ">=")
            )
            return upper == (step > 0)
        case _:
            return iterator not in used_names(cond)


def _until_equal(cond: Any, end_node: Any, iterator: str, step: int, start: isl.PwAff, scope: Scope) -> isl.Set:
    """`i != end`. A signed iterator that would run past `end` overflows, which is undefined; otherwise it has to be
    proved that it stops there."""
    end_value = affine(end_node, scope)
    end, own = end_value.aff, param_pw_aff(iterator)
    iterator_type = affine(ir.ID(iterator), scope).type
    distance = end.sub(start) if step > 0 else start.sub(end)
    exact = distance.mod_val(isl.Val(abs(step))).eq_set(constant_pw_aff(0))
    ahead = distance.ge_set(constant_pw_aff(0))
    outside = replace(scope, domain=project_out_params(scope.domain, [iterator]))
    if not always(outside, exact):
        raise NotALoop("loop.not-equal", "the step may jump over the value that '!=' waits for", cond, "use '<' or '>'")
    overflow_is_undefined = iterator_type.signed and iterator_type.bits >= 32
    if not overflow_is_undefined and not assured(outside, ahead):
        raise NotALoop(
            "loop.not-equal", "the iterator may already be past the value that '!=' waits for", cond, "use '<' or '>'"
        )
    return scope.domain.intersect(own.lt_set(end) if step > 0 else own.gt_set(end))


def _bounded(domain: isl.Set, iterator: str) -> bool:
    position = domain.find_dim_by_name(PARAM, iterator)
    if position < 0:
        return bool(domain.is_empty())
    one = project_out_params(
        isl.Set(f"[{iterator}] -> {{ [x] : x = {iterator} }}").intersect_params(domain), [iterator]
    )
    return bool(one.dim_is_bounded(isl.dim_type.set, 0))


def _refuse_wrap(node: ir.For, iterator: str, ctype: CType, step: int, domain: isl.Set, scope: Scope) -> None:
    """An unsigned or narrow iterator must not wrap around on its last step;
    a signed one of int's width or more may be trusted."""
    if ctype.signed and ctype.bits >= 32:
        return
    after = param_pw_aff(iterator).add(constant_pw_aff(step))
    low = -(1 << (ctype.bits - 1)) if ctype.signed else 0
    high = (1 << (ctype.bits - 1 if ctype.signed else ctype.bits)) - 1
    fits = after.ge_set(constant_pw_aff(low)).intersect(after.le_set(constant_pw_aff(high)))
    if not assured(replace(scope, domain=domain), fits):
        raise NotALoop(
            "loop.wrap",
            f"'{iterator}' of type '{ctype.spelling}' may wrap around",
            node,
            "use a signed iterator of type int or wider",
        )


__all__ = ["Loop", "NotALoop", "NotAffine", "parse_loop"]
