"""What nodes are called in C."""

from __future__ import annotations

from typing import Any

_NAMES = {
    "ArrayRef": "an array element",
    "Assignment": "an assignment",
    "Break": "'break'",
    "Case": "'case'",
    "Cast": "a cast",
    "CompoundLiteral": "a compound literal",
    "Continue": "'continue'",
    "Default": "'default'",
    "DoWhile": "a do loop",
    "EmptyStatement": "an empty statement",
    "FuncCall": "a function call",
    "Goto": "'goto'",
    "InitList": "an initializer list",
    "Label": "a label",
    "Return": "'return'",
    "StaticAssert": "a static assertion",
    "StructRef": "a member of a structure",
    "Switch": "'switch'",
    "While": "a while loop",
}


def construct_text(node: Any) -> str:
    """A node's kind as the subject of a sentence: ``a while loop``, ``'goto'``."""
    name = type(node).__name__
    return _NAMES.get(name, f"this kind of C ({name})")
