"""Symbolic values: each is a number, the same for the same operation on the same operands."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import count

from msgspec import Struct, field

Term = int


class Table(dict[tuple[Term, ...], Term]):
    """The results of one operation, by operands; new ones are made when they are asked for. commutes: of operands in
    either order they are the same."""

    __slots__ = ("commutes", "numbers")

    def __init__(self, numbers: Iterator[Term], *, commutes: bool = False) -> None:
        super().__init__()
        self.numbers = numbers
        self.commutes = commutes

    def __missing__(self, operands: tuple[Term, ...]) -> Term:
        other = self.get(operands[::-1]) if self.commutes else None
        result = self[operands] = next(self.numbers) if other is None else other
        return result


class Terms(Struct, frozen=True, eq=False):
    """All terms of a check. tables: by operator and type. leaves: inputs, by what they are called; constants by their
    type and value.
    """

    tables: dict[tuple[str, str], Table] = field(default_factory=dict)
    leaves: dict[tuple[object, ...], Term] = field(default_factory=dict)
    numbers: Iterator[Term] = field(default_factory=count)

    def table(self, op: str, type_: str) -> Table:
        """Of the results of an operator whose operands have this type."""
        key = op, type_
        found = self.tables.get(key)
        if found is None:
            # only of integers does C say that
            commutes = op in ("+", "*") and type_.startswith("unsigned")
            found = self.tables[key] = Table(self.numbers, commutes=commutes)
        return found

    def leaf(self, *name: object) -> Term:
        found = self.leaves.get(name)
        if found is None:
            found = self.leaves[name] = next(self.numbers)
        return found

    def floating(self, type_: str, value: float) -> Term:
        """A constant; a float's is rounded to one."""
        return self.leaf(
            "constant", type_, value if type_ == "double" else struct.unpack("f", struct.pack("f", value))[0]
        )

    def integer(self, bits: int, value: int) -> Term:
        """A constant. Signed and unsigned ones with the same bits are the same."""
        return self.leaf("constant", bits, value % (1 << bits))

    def text(self, term: Term | None, depth: int = 4) -> str:
        """For messages."""
        for name, found in self.leaves.items():
            if found == term:
                return (
                    str(name[-1])
                    if name[0] == "constant"
                    else f"{name[0]}[{', '.join(map(str, name[1:]))}]"
                    if name[1:]
                    else str(name[0])
                )
        for (op, _), table in self.tables.items():
            for operands, found in table.items():
                if found == term:
                    inner = [self.text(operand, depth - 1) if depth else "…" for operand in operands]
                    return f"({f' {op} '.join(inner)})" if len(inner) == 2 else f"{op}({', '.join(inner)})"
        return "nothing"
