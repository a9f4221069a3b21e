#!/usr/bin/env python3
"""Doxygen's input filter for include/mnn_c.h: turns its plain comments into Doxygen's.

    doxygen_filter.py mnn_c.h      prints the header as Doxygen wants it

The comment before a declaration is read by the header's own rules: "name: text" at the start of a sentence documents an
argument of that name; "Returns", "Use:", "Cost:" and "Since" begin their parts. A handle that a comment does not
mention is documented as the object of the function, unless another argument's text names it in backticks; Doxygen
reports any other argument without a text. Without "Returns" the first sentence documents the result.
A line "---- Section ----" begins a group. A comment after a field or constant, or on lines before a field, documents
it; a constant without one is documented by its number.
"""
import re
import sys

HANDLES = {
    "mnn_interpreter_t": "interpreter",
    "mnn_session_t": "session",
    "mnn_tensor_t": "tensor",
    "mnn_cancel_t": "cancellation token",
}
PARTS = {"Returns ": "@return ", "Use:": "@par Use\n", "Cost:": "@par Cost\n", "Since ": "@since "}


def plain(comment):
    """Returns the lines of a comment without its frame."""
    text = re.sub(r"\A/\*|\*/\Z", "", comment)
    return [re.sub(r"^ ?\* ?|^ (?=\S)", "", line).rstrip() for line in text.split("\n")]


def escaped(text):
    return re.sub(r"([*<>@\\#%])", r"\\\1", text)


def listed(lines):
    """Turns rows "  MNN_ERROR_X, MNN_ERROR_Y    when" into items of a list, and the text after them into a
    paragraph."""
    result, in_list = [], False
    for line in lines:
        if re.match(r"  MNN_\w+", line) and not (result and result[-1].endswith(",")):
            line, in_list = "- " + re.sub(r"  +", ": ", line.strip(), count=1), True
        elif in_list and re.match(r"  \w", line):
            line, in_list = "\n" + line.strip(), False
        else:
            line = line.strip()
        result.append(line)
    return "\n".join(result)


def arguments_of(declaration):
    """Returns name -> type for the arguments of a prototype, or of a typedef of a function pointer."""
    inside = re.search(r"\(([^()]*)\)\s*;?\s*$", declaration)
    found = {}
    for argument in inside.group(1).split(",") if inside else []:
        match = re.fullmatch(r"(.*?)(\w+)", argument.strip(), flags=re.S)
        if match and match.group(1):
            found[match.group(2)] = match.group(1)
    return found


def block(lines, declaration):
    """Returns a Doxygen block for the comment before a declaration."""
    text = escaped(listed(lines)).strip()
    arguments = arguments_of(declaration)
    names = "|".join(map(re.escape, arguments)) or r"(?!)"
    start = r"(?:\A|(?<=\n)|(?<=\.[ \n])|(?<=;[ \n]))"
    marker = re.compile(rf"{start}((?:{names})(?:,\s(?:{names}))*:|Returns\s|Use:|Cost:|Since\s(?=\d))")
    pieces = marker.split(text)
    brief, *rest = re.split(r"(?<!e\.g)\.(?:\s+|$)", pieces[0].strip(), maxsplit=1)
    out = [f"@brief {brief}."] + list(filter(None, rest))
    about = len(out)
    described = {}
    for word, body in zip(pieces[1::2], pieces[2::2]):
        key = re.sub(r"\s", " ", word)
        if key in PARTS:
            out.append(PARTS[key] + body.strip())
        else:
            for name in re.split(r",\s*", key.rstrip(":")):
                out.append(f"@param {name} {body.strip()}")
                described[name] = body
    first = [f"@param {name} The {HANDLES[kind]}." for name, type_ in arguments.items() if name not in described
             for kind in HANDLES if re.search(rf"\b{kind}\s*\*\s*$", type_)]
    more = [f"@param {name} See {other}." for name in arguments if name not in described
            for other, body in described.items() if f"`{name}`" in body]
    if declaration.startswith("MNN_C_API") and not any(part.startswith("@return") for part in out):
        more.append(f"@return {brief}.")
    return "\n".join(["\n\n".join(out[:about]), *first, *out[about:], *more])


def framed(text, height):
    """Formats a comment with at least as many lines as the one it replaces: line numbers stay near the header's."""
    return f"/** {text} */" + "\n" * max(0, height - text.count("\n") - 1)


def group(match):
    title = match.group(1)
    identifier = re.sub(r"\W.*", "", title.lower())
    end = "/** @} */ " if identifier != "status" else ""
    return f"{end}/** @defgroup {identifier} {title} */ /** @{{ */"


def filtered(text):
    head, _, rest = text.partition("*/")
    manual = head.removeprefix("/*\n")
    manual = "\n".join(plain("/*" + manual + "*/"))
    # The guards and the macro in front of every function are not part of the interface.
    guards, opening, body = rest.partition('extern "C" {\n#endif\n')
    body, closing, end = body.rpartition("#ifdef __cplusplus\n}")

    # Comments after a field or a constant.
    body = re.sub(r"([;,]|\d|\w)([ \t]+)/\* (?!----)(?=[^\n])", r"\1\2/**< ", body)
    body = re.sub(r"\b(MNN_\w+\s*=\s*(\d+)\b,?)(?!,|\s*/\*\*<)", r"\1 /**< \2 */", body)
    # Comments before a field, on lines of their own.
    body = re.sub(r"^( +)/\*(?!\*) (?=(?:(?!\*/).)*\*/\n +\w)", r"\1/** ", body, flags=re.M | re.S)
    # Comments before a declaration: the comment and the declaration up to ; or {.
    body = re.sub(r"^/\*(?!\*| ----)(?:(?!\*/).)*\*/(?=\n(\S[^;{]*[;{]))",
                  lambda match: framed(block(plain(match.group(0)), match.group(1)), match.group(0).count("\n") + 1),
                  body, flags=re.M | re.S)
    body = re.sub(r"^/\* ---- (.*?) -+ \*/$", group, body, flags=re.M)
    return (f"/** @mainpage\n@verbatim\n{manual}\n@endverbatim */\n"
            f"/** @file\n@brief The whole public interface of libmnn_c. */\n"
            f"/** @cond */{guards}{opening}/** @endcond */{body}/** @}} */\n"
            f"/** @cond */{closing}{end}/** @endcond */\n")


if __name__ == "__main__":
    sys.stdout.write(filtered(open(sys.argv[1], encoding="utf-8").read()))
