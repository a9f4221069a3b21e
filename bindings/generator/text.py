"""Turns a header's comments into text for other languages: sentences, paragraphs, Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Callable, Iterable, List, Sequence

from .header import Constant, Enum, Lines

SENTENCE = re.compile(r"(?<!e\.g)\.(?=\s|$)")
# A row of a list of statuses: "  MNN_ERROR_BAD_INDEX     when".
ROW = re.compile(r"  (MNN_ERROR_\w+(?:, (?:and )?MNN_ERROR_\w+)*)(?:  +(.*))?$")


def sentence(text: str) -> str:
    """Returns the text with a capital at its beginning and a full stop at its end. A name of C keeps its case."""
    text = " ".join(text.split())
    first = text.split(" ", 1)[0]
    if not re.search(r"_|[A-Z]|\d", first) and not text.startswith("`"):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", ":")) else text + "."


def first_sentence(comment: Lines) -> str:
    text = " ".join(" ".join(comment).split())
    match = SENTENCE.search(text)
    return text[:match.end()] if match else text


def paragraphs(comment: Lines) -> List[str]:
    """Returns paragraphs, each in one line; an indented line begins a new one."""
    found: List[List[str]] = [[]]
    for line in comment:
        if not line.strip() or re.match(r"  \S", line):
            found.append([])
        found[-1].append(line.strip())
    return [" ".join(filter(None, lines)) for lines in found if any(lines)]


def of_constant(constant: Constant, enum: Enum) -> str:
    """Returns a sentence about a constant: its own, else the first one of its group."""
    return sentence(" ".join(constant.comment)) if constant.comment else sentence(first_sentence(enum.comment))


def wrap(text: str, width: int, first: str = "", rest: str = "") -> List[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def renamed(text: str, names: Callable[[str], str]) -> str:
    """Replaces the names of constants by those of another language."""
    return re.sub(r"\bMNN_[A-Z0-9_]+\b(?!_?\*)", lambda match: names(match[0]), text)


def escaped(text: str) -> str:
    """Turns plain text into Markdown, with names of C as code."""
    parts = re.split(r"(`[^`]*`|\b(?:MNN|mnn)_\w+\*?(?:\(\))?|\b\w+->\w+|\bsizeof\(\w+\)|\b[a-z0-9]+_\w+)", text)
    parts[::2] = [re.sub(r"([\[\]*<>\\#])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [part if part.startswith("`") else f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def markdown(comment: Lines, arguments: Iterable[str]) -> List[str]:
    """Returns lines of Markdown for the comment of a function or a type: text, a list of arguments, and the results."""
    names = "|".join(map(re.escape, arguments)) or r"(?!)"
    result: List[str] = []
    prefix, rows, verbatim = "", False, False
    for line in comment:
        argument = re.match(rf"((?:{names})(?:, (?:{names}))*): (.*)", line)
        row = ROW.match(line)
        indent = len(line) - len(line.lstrip())
        if verbatim and indent < 4:
            result += [prefix + "```", ""]
            verbatim = False
        if not line:
            result.append("")
            rows = False
        elif argument:
            result += [] if prefix == "  " and not rows else [""]
            words = ", ".join(f"`{name}`" for name in argument[1].split(", "))
            result.append(f"- {words}: {escaped(argument[2])}")
            prefix, rows = "  ", False
        elif re.match(r"(Returns?|Errors:|Use:|Use of|Cost:|Since) ?", line) and indent == 0:
            result += ["", escaped(line)]
            prefix, rows = "", line.endswith((";", "and", "and:"))
        elif row and (rows or row[2]):
            result += [] if rows and result[-1].startswith(("- ", "  ")) else [""]
            result.append(f"- {escaped(row[1])}: {escaped(row[2] or '')}".rstrip(": "))
            prefix, rows = "  ", True
        elif rows and indent == 2 and re.match(r"(what|and) ", line.strip()):
            result.append(f"- {escaped(line.strip())}")
            prefix = "  "
        elif indent >= 4 and not rows and (verbatim or result and result[-1].endswith(":")):
            result += [] if verbatim else [prefix + "```text"]
            result.append(prefix + line.strip())
            verbatim = True
        elif indent == 2 and (rows or not prefix) and re.match(r"(?!MNN_)[A-Z]", line.strip()):
            result += ["", escaped(line.strip())]
            prefix, rows = "", False
        elif indent == 0 and prefix and not rows:
            result += ["", escaped(line)]
            prefix = ""
        else:
            result.append(prefix + escaped(line.strip()))
    if verbatim:
        result.append(prefix + "```")
    while result and not result[0]:
        del result[0]
    return [line for i, line in enumerate(result) if line or i and result[i - 1]]


def block(lines: Sequence[str], prefix: str) -> List[str]:
    """Returns the lines of a comment, each with a prefix."""
    return [f"{prefix} {line}".rstrip() for line in lines]
