"""Translates C functions into Python: statements, and the variables that they declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import field

from scopt import ir
from scopt.check.functions.conversions import Signature
from scopt.check.functions.expressions import Expressions, numbers
from scopt.check.functions.faults import Fault
from scopt.check.functions.values import Element, Opaque, Pointer, Type, Value, Vector, Void, Whole
from scopt.ir.effects import effects

_COMPOUND = ("+=", "-=", "*=", "/=")
_STEPS = {"++": "+", "p++": "+", "--": "-", "p--": "-"}


class Functions(Expressions, eq=False):
    """numbered: how many variables there were so far. result: of the function at hand."""

    numbered: int = 0
    result: Type = field(default_factory=Void)

    def function(self, n: ir.FuncDef, signature: Signature) -> Iterator[str]:
        """The lines of a function that is given values of these types; for a pointer, the buffer that it leads to the
        beginning of.
        """
        parameters = n.decl.type.args.params if n.decl.type.args is not None else []
        parameters = [
            one for one in parameters if not (isinstance(one, ir.Typename) and isinstance(self.type(one), Void))
        ]
        if len(parameters) != len(signature.parameters):
            raise Fault(f"the function has {len(parameters)} parameters")
        scope: dict[str, Value] = {}
        for parameter, ctype in zip(parameters, signature.parameters, strict=True):
            name = self.new(parameter.name)
            if parameter.name in scope or self.declared(parameter.type, ctype) != ctype:
                raise Fault(f"the parameter '{parameter.name}' has another type, or there are two")
            pointer = Value("0", ctype, base=name, atomic=True)
            scope[parameter.name] = pointer if isinstance(ctype, Pointer) else Value(name, ctype, degree=1, atomic=True)
        self.result = signature.result
        names = ", ".join(value.base or value.code for value in scope.values())
        yield f"def {n.decl.name}({names}):"
        self.scopes = [scope]
        # a variable of the outermost block can't have the name of a parameter
        missing = () if isinstance(self.result, Void) else ("_missing()",)
        yield from self.indented((*self.block(n.body.block_items or [], scope), *missing))

    def new(self, name: str) -> str:
        self.numbered += 1
        return f"{name}__{self.numbered}"

    def declared(self, n: ir.Node, like: Type) -> Type:
        """A declaration's type, as far as it tells numbers that are known from those that aren't: that depends on what
        it is for.
        """
        ctype = self.type(n)
        match ctype, like:
            case Whole(name), Element():
                return Element(name)
            case Pointer(Whole(name), const), _ if not self.exact:
                return Pointer(Element(name), const)
        return ctype

    # --- blocks -------------------------------------------------------------------------------------------------------

    def indented(self, lines: Iterable[str]) -> Iterator[str]:
        for line in (*lines, "pass"):
            yield f" {line}"

    def block(self, items: Sequence[ir.Node], scope: dict[str, Value]) -> Iterator[str]:
        self.scopes.append(scope)
        for item in items:
            yield from self.statement(item)
        self.scopes.pop()

    def statement(self, n: ir.Node) -> Iterator[str]:
        match n:
            case ir.Compound(block_items=items):
                yield from self.block(items or [], {})
            case ir.Decl():
                yield self.declaration(n)
            case ir.DeclList(decls=declarations):
                for one in declarations:
                    yield self.declaration(one)
            case ir.For():
                yield from self.loop(n)
            case ir.While(cond=condition, stmt=body):
                yield f"while {self.condition(condition)}:"
                yield from self.indented(("_tick()", *self.block([body], {})))
            case ir.If(cond=condition, iftrue=then, iffalse=otherwise):
                if not self.exact:
                    raise Fault("a condition on values that are only tried")
                yield f"if {self.condition(condition)}:"
                yield from self.indented(self.block([then], {}))
                yield "else:"
                yield from self.indented(self.block([otherwise] if otherwise is not None else [], {}))
            case ir.Return(expr=None) if isinstance(self.result, Void):
                yield "return"
            case ir.Return(expr=expression) if expression is not None:
                yield f"return {self.converted(self.value(expression), self.result).code}"
            case ir.EmptyStatement():
                pass
            case _:
                yield from self.effect(n)

    def effect(self, n: ir.Node) -> Iterator[str]:
        """An expression whose value isn't used."""
        match n:
            case ir.Assignment(op=op, lvalue=target, rvalue=value):
                yield from self.assignment(op, target, value)
            case ir.UnaryOp(op=op, expr=ir.ID() as target) if op in _STEPS:
                yield from self.assignment(f"{_STEPS[op]}=", target, ir.Constant("int", "1"))
            case ir.ExprList(exprs=parts):
                for part in parts:
                    yield from self.effect(part)
            case ir.FuncCall(name=ir.ID(name="__builtin_prefetch"), args=ir.ExprList(exprs=[place])) if _is_quiet(
                place
            ):
                pass  # whatever the address is, it does nothing
            case ir.FuncCall() | ir.Cast():
                yield self.value(n).code
            case _:
                raise Fault(f"a statement that isn't understood: {type(n).__name__}")

    def condition(self, n: ir.Node) -> str:
        """Of a loop or a branch. Sizes are compared with numbers that have to be tried."""
        value = self.value(n)
        if not isinstance(value.type, Whole | Opaque):
            raise Fault("a condition on values that aren't known")
        if not self.exact:
            if not (isinstance(n, ir.BinaryOp) and value.degree <= 1):
                raise Fault("a condition that isn't a linear comparison")
            if any(self.is_long(self.value(side)) for side in (n.left, n.right)):
                self.thresholds.update(numbers(n))
        return value.code

    def is_long(self, value: Value) -> bool:
        return isinstance(value.type, Whole) and value.type.name != "int"

    def loop(self, n: ir.For) -> Iterator[str]:
        self.scopes.append({})
        if isinstance(n.init, ir.DeclList):
            yield from self.statement(n.init)
        elif n.init is not None:
            yield from self.effect(n.init)
        yield f"while {self.condition(n.cond) if n.cond is not None else '1'}:"
        yield from self.indented(
            ("_tick()", *self.block([n.stmt], {}), *(self.effect(n.next) if n.next is not None else ()))
        )
        self.scopes.pop()

    # --- variables ----------------------------------------------------------------------------------------------------

    def declaration(self, n: ir.Decl) -> str:
        """A variable with its initializer; others have no value to compute with."""
        if n.init is None or n.storage or n.name in self.scopes[-1]:
            raise Fault(f"a declaration of '{n.name}' that isn't understood")
        value = self.value(n.init)
        ctype = self.declared(n.type, value.type)
        value = self.converted(value, ctype)
        name = self.new(n.name)
        if isinstance(ctype, Whole):
            if value.degree > 1 and not self.exact:
                raise Fault(f"'{n.name}' isn't linear")
            if self.is_long(value):
                self.thresholds.update(numbers(n.init))
        degree = max(1, value.degree) if isinstance(ctype, Whole) else value.degree
        self.scopes[-1][n.name] = Value(name, ctype, degree=degree, base=value.base, atomic=True)
        return f"{name} = {value.code}"

    def assignment(self, op: str, target: ir.Node, source: ir.Node) -> Iterator[str]:
        if op != "=" and op not in _COMPOUND:
            raise Fault(f"the operator '{op}' isn't understood")
        value = self.value(source)
        match target:
            case ir.ID(name=name):
                variable = self.name(name)
                yield f"{variable.code} = {self.updated(op, variable, value, source).code}"
            case ir.ArrayRef(name=ir.ID(name=name) as array, subscript=subscript) if isinstance(
                self.value(array).type, Vector
            ):
                variable, lane = self.name(name), self.value(subscript)
                made = self.updated(op, self.value(target), value, source)
                yield f"{variable.code} = _with_lane({variable.code}, {lane.code}, {made.code})"
            case ir.ArrayRef(name=array, subscript=subscript):
                yield from self.store(op, self.sum("+", self.value(array), self.value(subscript)), value, source)
            case ir.UnaryOp(op="*", expr=pointer):
                yield from self.store(op, self.value(pointer), value, source)
            case _:
                raise Fault("an assignment that isn't understood")

    def store(self, op: str, place: Value, value: Value, source: ir.Node) -> Iterator[str]:
        if not isinstance(place.type, Pointer) or place.type.const:
            raise Fault("writes what it has no right to")
        offset = Value("_offset", place.type, base=place.base, degree=place.degree, atomic=True)
        code = self.updated(op, self.loaded(offset), value, source).code
        yield f"_offset = {place.code}"
        if isinstance(place.type.target, Vector):
            yield f"_write_vector({place.base}, _offset, {self.lanes(place.type.target)}, {code})"
        else:
            yield f"_write({place.base}, _offset, {code})"

    def updated(self, op: str, old: Value, value: Value, source: ir.Node) -> Value:
        """What a variable or an element becomes."""
        if isinstance(old.type, Whole) and not self.exact:
            if op not in ("+=", "-=") or value.degree:
                raise Fault("an integer that doesn't move by constants")
            if self.is_long(old):
                self.thresholds.update(numbers(source))
        elif not isinstance(old.type, Whole | Element | Vector):
            raise Fault("an assignment of what isn't a number")
        made = value if op == "=" else self.binary(op[0], old, value)
        return self.converted(made, old.type)


def _is_quiet(node: ir.Node) -> bool:
    """Whether evaluating an expression does nothing."""
    done = effects(node)
    return not (done.assigned or done.through or done.called or done.opaque or done.unnamed)
