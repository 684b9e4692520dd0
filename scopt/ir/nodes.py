"""C as scopt has it: declarations, statements and expressions."""

from __future__ import annotations

from scopt.ir.tree_node import Child, Node, Nodes, Words

# --- types and declarations -------------------------------------------------------------------------------------------


class FileAST(Node):
    """A translation unit: declarations, definitions of functions, types' names."""

    ext: Nodes


class FuncDef(Node):
    """A function with its body; param_decls: as C was written before prototypes, or None."""

    decl: Child
    param_decls: Nodes
    body: Child


class Decl(Node):
    """A declared name, or a type alone; bitsize: of a member. align holds nodes too."""

    name: Words
    quals: Words
    align: Words
    storage: Words
    funcspec: Words
    type: Child
    init: Child
    bitsize: Child


class DeclList(Node):
    """What a for loop declares."""

    decls: Nodes


class Typedef(Node):
    name: Words
    quals: Words
    storage: Words
    type: Child


class TypeDecl(Node):
    """The innermost part of a declared type, with the name."""

    declname: Words
    quals: Words
    align: Words
    type: Child


class ArrayDecl(Node):
    type: Child
    dim: Child
    dim_quals: Words


class PtrDecl(Node):
    quals: Words
    type: Child


class FuncDecl(Node):
    args: Child
    type: Child


class ParamList(Node):
    params: Nodes


class EllipsisParam(Node):
    """`...`"""


class Typename(Node):
    """A type without a name: of a cast, of sizeof, of a parameter."""

    name: Words
    quals: Words
    align: Words
    type: Child


class IdentifierType(Node):
    """names: `unsigned int`, or a type's name."""

    names: Words


class Struct(Node):
    """decls: None where the tag is only named."""

    name: Words
    decls: Nodes


class Union(Node):
    """decls: None where the tag is only named."""

    name: Words
    decls: Nodes


class Enum(Node):
    """values: None where the tag is only named."""

    name: Words
    values: Child


class EnumeratorList(Node):
    enumerators: Nodes


class Enumerator(Node):
    name: Words
    value: Child


class Alignas(Node):
    alignment: Child


class StaticAssert(Node):
    cond: Child
    message: Child


# --- statements -------------------------------------------------------------------------------------------------------


class Compound(Node):
    """A block; as an expression the GNU one, in parentheses."""

    block_items: Nodes


class EmptyStatement(Node):
    """`;`"""


class If(Node):
    cond: Child
    iftrue: Child
    iffalse: Child


class Switch(Node):
    cond: Child
    stmt: Child


class Case(Node):
    """stmts: up to the next label."""

    expr: Child
    stmts: Nodes


class Default(Node):
    stmts: Nodes


class For(Node):
    init: Child
    cond: Child
    next: Child
    stmt: Child


class While(Node):
    cond: Child
    stmt: Child


class DoWhile(Node):
    cond: Child
    stmt: Child


class Label(Node):
    name: Words
    stmt: Child


class Goto(Node):
    name: Words


class Break(Node):
    """`break;`"""


class Continue(Node):
    """`continue;`"""


class Return(Node):
    expr: Child


class Pragma(Node):
    """string: what follows `#pragma`, or the Constant of `_Pragma`."""

    string: Words


# --- expressions ------------------------------------------------------------------------------------------------------


class ID(Node):
    name: Words


class Constant(Node):
    """type: `int`, `double`, `char`, `string` …; value: as the source spells it."""

    type: Words
    value: Words


class ArrayRef(Node):
    """name[subscript]"""

    name: Child
    subscript: Child


class StructRef(Node):
    """type: `.` or `->`; field: the member's name."""

    name: Child
    type: Words
    field: Words


class FuncCall(Node):
    """args: an ExprList, or None."""

    name: Child
    args: Child


class UnaryOp(Node):
    """op: `-`, `!`, `*`, `&`, `sizeof`, `++`, `p++` (behind its operand) …"""

    op: Words
    expr: Child


class BinaryOp(Node):
    op: Words
    left: Child
    right: Child


class Assignment(Node):
    """op: `=`, `+=` …"""

    op: Words
    lvalue: Child
    rvalue: Child


class TernaryOp(Node):
    cond: Child
    iftrue: Child
    iffalse: Child


class Cast(Node):
    """to_type: a Typename."""

    to_type: Child
    expr: Child


class ExprList(Node):
    """Expressions with commas between them: one after the other, or a call's arguments."""

    exprs: Nodes


class CompoundLiteral(Node):
    """(type){init}"""

    type: Child
    init: Child


class InitList(Node):
    """`{…}` as a value."""

    exprs: Nodes


class NamedInitializer(Node):
    """name: the designators, FieldDesignators and ArrayDesignators."""

    name: Nodes
    expr: Child


class FieldDesignator(Node):
    """`.name`"""

    name: Words


class ArrayDesignator(Node):
    """`[expr]`"""

    expr: Child


class GenericSelection(Node):
    expr: Child
    associations: Nodes


class GenericAssociation(Node):
    """type: None for `default`."""

    type: Child
    expr: Child
