"""A header of the library as Python objects: functions, structs, callbacks, handles and constants, with their
comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import List, Tuple, Union

from pycparser import c_ast, c_parser

# Declarations of the types that come from the header's includes, put before its text.
BEFORE = "typedef int int32_t, int64_t, uint8_t, uint32_t, uint64_t, size_t, uintptr_t, bool, mnn_status; "


class HeaderError(Exception):
    """The header has a construct that the generator does not know."""


@dataclass(frozen=True)
class Named:
    """A type with a name: int32_t, char, void, mnn_session_t, mnn_finalizer."""

    name: str


@dataclass(frozen=True)
class Pointer:
    to: "Type"
    const: bool  # the memory that it points to is const


@dataclass(frozen=True)
class Array:
    of: "Type"
    count: str  # a number, or the name of a constant


Type = Union[Named, Pointer, Array]
Lines = Tuple[str, ...]  # of a comment, without its markers; () where there is none


@dataclass(frozen=True)
class Member:
    """A field of a struct, or an argument."""

    name: str
    type: Type
    comment: Lines = ()


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    arguments: Tuple[Member, ...]
    comment: Lines


@dataclass(frozen=True)
class Callback:
    """A function type that the host implements."""

    name: str
    result: Type
    arguments: Tuple[Member, ...]
    comment: Lines


@dataclass(frozen=True)
class Struct:
    name: str
    fields: Tuple[Member, ...]
    comment: Lines

    @property
    def sized(self) -> bool:
        """Returns whether the struct begins with its size."""
        return self.fields[0].name == "struct_size"


@dataclass(frozen=True)
class Handle:
    name: str
    comment: Lines


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    comment: Lines


@dataclass(frozen=True)
class Enum:
    """Constants that belong together. The group has no name in C; its first constant identifies it."""

    constants: Tuple[Constant, ...]
    comment: Lines

    @property
    def key(self) -> str:
        return self.constants[0].name


@dataclass
class Header:
    name: str  # mnn_c.h
    functions: List[Function] = field(default_factory=list)
    # ordered so that each is declared before its use
    types: List[Union[Struct, Callback]] = field(default_factory=list)
    handles: List[Handle] = field(default_factory=list)
    enums: List[Enum] = field(default_factory=list)
    macros: List[Constant] = field(default_factory=list)

    def structs(self) -> List[Struct]:
        return [kind for kind in self.types if isinstance(kind, Struct)]

    def constants(self) -> List[Constant]:
        return [constant for enum in self.enums for constant in enum.constants] + self.macros


class Text:
    """The text of a header, and its comments by their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.comments = [(match.start(), match.end()) for match in re.finditer(r"/\*.*?\*/", text, flags=re.S)]
        # The same text with comments and directives replaced by blanks, so that places stay the same.
        code = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)
        code = re.sub(r"#ifdef __cplusplus\n.*?#endif", lambda match: re.sub(r"[^\n]", " ", match[0]), code, flags=re.S)
        code = re.sub(r"^#[^\n]*", lambda match: " " * len(match[0]), code, flags=re.M)
        self.code = re.sub(r"\bMNN_C_API\b", lambda match: " " * len(match[0]), code)

    def place(self, node: c_ast.Node) -> int:
        """Returns the place of the name of a declaration; 0 for declarations that were put before the text."""
        line, column = int(node.coord.line), int(node.coord.column)
        return self.starts[line - 1] + column - 1 if line > 1 else 0

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place)

    def comment(self, place: int) -> Lines:
        """Returns the comment of the item whose name is at a place. The comment stands behind the item on its line, or
        on the lines directly before it."""
        item = re.compile(r"[^;,{}]*").match(self.code, place)[0].rstrip()  # type: ignore[index]
        behind = place + len(item)
        for start, stop in self.comments:
            mark = self.code[behind:start].strip()
            if start >= behind and mark in ("", ",", ";") and self.line(start) == self.line(behind + len(mark)):
                return frameless(self.text[start:stop])
        begin = max(self.code.rfind(mark, 0, place) for mark in ";{},") + 1
        first = begin + len(self.code[begin:]) - len(self.code[begin:].lstrip())
        for start, stop in self.comments:
            alone = not self.code[self.starts[self.line(start) - 1]:start].strip()
            if begin <= start < first and self.line(stop) == self.line(first) - 1 and alone:
                return frameless(self.text[start:stop])
        return ()


def frameless(comment: str) -> Lines:
    lines = comment[2:-2].strip(" \n").split("\n")
    starred = all(re.match(r"\s*\*|\s*$", line) for line in lines[1:])
    rest = [re.sub(r"^\s*\* ?", "", line).rstrip() if starred else line.strip() for line in lines[1:]]
    return (lines[0].strip(), *rest)


def type_of(node: c_ast.Node) -> Type:
    if isinstance(node, c_ast.PtrDecl):
        inner = node.type
        if isinstance(inner, c_ast.FuncDecl):
            raise HeaderError("a pointer to a function has no name, a typedef is needed")
        return Pointer(type_of(inner), "const" in inner.quals)
    if isinstance(node, c_ast.ArrayDecl):
        count = node.dim.name if isinstance(node.dim, c_ast.ID) else node.dim.value
        return Array(type_of(node.type), count)
    if isinstance(node, c_ast.TypeDecl):
        if isinstance(node.type, c_ast.Struct):
            return Named(node.type.name + "_t")
        return Named(node.type.names[0])
    raise HeaderError(f"the kind of type {type(node).__name__} is not known")


def arguments_of(function: c_ast.FuncDecl) -> Tuple[Member, ...]:
    found = tuple(Member(argument.name, type_of(argument.type)) for argument in function.args.params)
    return () if found == (Member(None, Named("void")),) else found  # type: ignore[arg-type]


def read(name: str, text: str) -> Header:
    """Parses the text of a header."""
    source = Text(text)
    header = Header(name)
    for match in re.finditer(r"^#define (MNN_\w+) (\d+)$", text, flags=re.M):
        line = source.line(match.start())
        comments = [frameless(text[start:stop]) for start, stop in source.comments if source.line(stop) == line - 1]
        before = header.macros[-1].comment if header.macros else ()
        header.macros.append(Constant(match[1], int(match[2]), comments[0] if comments else before))
    others = set(re.findall(r"\bmnn_\w+", source.code)) & {"mnn_cancel_t"} if name != "mnn_c.h" else set()
    known = BEFORE + "".join(f"typedef struct {other[:-2]} {other}; " for other in sorted(others))
    # The declarations are put on the first line, so that line numbers stay those of the header; only the columns of
    # that line are wrong.
    for node in c_parser.CParser().parse(known + re.sub(r"typedef int32_t mnn_status;", " " * 27, source.code), name).ext:
        place = source.place(node)
        if place:
            declare(header, source, node, place)
    check(header)
    return header


def declare(header: Header, source: Text, node: c_ast.Node, place: int) -> None:
    if isinstance(node, c_ast.Typedef):
        if isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.FuncDecl):
            function = node.type.type
            header.types.append(
                Callback(node.name, type_of(function.type), arguments_of(function), source.comment(place)))
        elif isinstance(node.type, c_ast.TypeDecl) and isinstance(node.type.type, c_ast.Struct):
            body = node.type.type
            if body.decls is None:
                header.handles.append(Handle(node.name, source.comment(place)))
            else:
                fields = tuple(
                    Member(one.name, type_of(one.type), source.comment(source.place(one))) for one in body.decls)
                header.types.append(Struct(node.name, fields, source.comment(source.place(body))))
        else:
            raise HeaderError(f"{header.name}: {node.name} is neither a struct nor a pointer to a function")
    elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
        function = node.type
        header.functions.append(
            Function(node.name, type_of(function.type), arguments_of(function), source.comment(place)))
    elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
        constants = tuple(
            Constant(one.name, int(one.value.value), source.comment(source.place(one)))
            for one in node.type.values.enumerators)
        header.enums.append(Enum(constants, source.comment(source.place(node.type))))
    else:
        raise HeaderError(f"{header.name}: line {node.coord.line} is neither a function, a type nor an enum")


def check(header: Header) -> None:
    """Checks that every part has a comment, because the comments are the documentation of all languages."""
    bare: List[str] = [
        one.name for one in [*header.functions, *header.types, *header.handles, *header.macros] if not one.comment]
    bare += [f"{struct.name}.{one.name}" for struct in header.structs() for one in struct.fields if not one.comment]
    bare += [f"the enum of {enum.key}" for enum in header.enums if not enum.comment]
    if bare:
        raise HeaderError(f"{header.name}: no comment stands before or behind {', '.join(bare)}")
