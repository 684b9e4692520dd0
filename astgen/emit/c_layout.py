"""How loops and branches are laid out: K&R style, no braces around a single statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cgen

Lines = Sequence[cgen.Generable]


def _braced(head: str, body: Lines, braces: bool) -> Iterator[str]:
    """A head with its body: the opening brace on the head's line, no braces around a single statement."""
    yield f"{head} {{" if braces else head
    for item in body:
        for line in item.generate():
            yield f"  {line}"
    if braces:
        yield "}"


class ForStatement(cgen.For):
    """cgen's for loop in K&R style."""

    def __init__(self, start: str, condition: str, update: str, body: Lines, braces: bool) -> None:
        super().__init__(cgen.Line(start), cgen.Line(condition), cgen.Line(update), cgen.Collection(body))
        self.lines, self.braces = body, braces

    def generate(self, with_semicolon: bool = False) -> Iterator[str]:
        return _braced(str(self.intro_line()), self.lines, self.braces)


class IfStatement(cgen.If):
    """cgen's if in K&R style, with ``else if`` on one line."""

    def __init__(self, condition: str, then: Lines, otherwise: Lines, braces: bool) -> None:
        super().__init__(cgen.Line(condition), cgen.Collection(then), cgen.Collection(otherwise) if otherwise else None)
        self.lines, self.other_lines, self.braces = then, otherwise, braces

    def generate(self, with_semicolon: bool = False) -> Iterator[str]:
        lines = list(_braced(f"if ({self.condition})", self.lines, self.braces))
        if self.other_lines:
            head = f"{lines.pop()} else" if self.braces else "else"
            if len(self.other_lines) == 1 and isinstance(self.other_lines[0], IfStatement):
                first, *others = self.other_lines[0].generate()
                lines += [f"{head} {first}", *others]
            else:
                lines += _braced(head, self.other_lines, self.braces)
        return iter(lines)
