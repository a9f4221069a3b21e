"""Finds the places of a C++ source where a small defect can be put, and what the defect is.

Works on the text: comments, strings and preprocessor lines are blanked first, and clang-format's spacing says what is
an operator (`a < b`) and what is a template or a pointer (`vector<int>`, `int* p`). What does not compile is dropped
by what builds it.
"""

import dataclasses
import hashlib
import re

# Places that are left out, because tests do not detect changes there or should not depend on them.
#
# Calls whose arguments are texts or hints: sentences of errors and logs, asserts, capacities, prefetches.
TEXT_CALLS = (
    "fail", "log", "logMessage", "warn", "assert", "static_assert", "describe", "snprintf", "reserve",
    "__builtin_prefetch", "alignas", "HWY_ALIGN", "HWY_UNROLL",
)
# Lines about cost: constants that choose between ways to the same result, or a block's size.
COST_LINES = re.compile(
    r"Cycles|cycles\(|costs->|costs_\.|costs\.|kMinPixelChunk|kMinRows|cacheUnits|cacheRows|taskGroups|minWork|"
    r"bestCost|\bcost\b|splitGemm|taskCount|__builtin_prefetch|4 \* pool\.threads"
)
# Default values of members, which the code that fills the struct overwrites; and lines that are not statements.
MEMBER_SCOPE = re.compile(r"\b(?:struct|class|union)\b[^;{}()]*$")
NO_STATEMENT = re.compile(r"= (?:default|delete)$")
# Functions that estimate costs, by file: everything in them.
COST_FUNCTIONS = {
    "backends/cpu/kernels/gemm/panels.h": ("tileCycles", "gemmCycles", "bestPanelBlocks", "splitGemm"),
    "backends/cpu/kernels/conv/conv_cost.cpp": ("withTraffic", "gemmConvCycles"),
    "backends/cpu/kernels/chunks.h": ("taskCount",),
    "backends/cpu/kernels/w8a16/w8a16_conv.cpp": ("isFasterThanExpanding", "cycles"),
    "backends/cpu/kernels/winograd/winograd_conv.cpp": ("winogradChunkCount", "cycles"),
    "backends/cpu/kernels/depthwise/depthwise_conv.cpp": ("cycles",),
    "backends/cpu/kernels/conv/grouped_planes_conv.cpp": ("cycles",),
    "backends/cpu/kernels/conv/first_layer_conv.cpp": ("cycles",),
    "backends/cpu/kernels/conv/pointwise_conv.cpp": ("cycles",),
    "backends/cpu/kernels/conv/deconvolution.cpp": ("cycles",),
    "backends/cpu/kernels/conv/direct_conv.cpp": ("cycles",),
}
# Exchanging the first two arguments of these changes nothing.
COMMUTATIVE = (
    "min", "max", "Min", "Max", "Add", "Mul", "MulAdd", "NegMulAdd", "And", "Or", "Xor", "Eq", "checkedAdd",
    "checkedMul", "add", "mul", "gcd",
)

OPERATORS = {
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",),
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "&&": ("||",), "||": ("&&",),
}  # fmt: skip
KEYWORDS = {
    "if", "while", "for", "switch", "return", "sizeof", "catch", "case", "constexpr", "else", "do", "throw", "new",
    "delete", "template", "operator", "alignas", "decltype", "noexcept", "static_cast", "const_cast",
    "reinterpret_cast", "dynamic_cast", "requires", "typename", "using", "namespace", "struct", "class", "enum",
}  # fmt: skip
LEXEMES = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>R"(?P<d>[^(\s]*)\(.*?\)(?P=d)")|(?P<string>"(?:\\.|[^"\\\n])*")|"""
    r"""(?P<number>(?<![\w.])\.?\d(?:[eEpP][+-]|[\w.']|'(?=\w))*)|(?P<char>'(?:\\.|[^'\\\n])+')|"""
    r"""(?P<line>^[ \t]*\#(?:\\\n|[^\n])*)""",
    re.S | re.M | re.X,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass(frozen=True)
class Mutation:
    file: str
    line: int  # from 1, of the first character
    text: str  # the line without its indentation
    kind: str
    change: str  # in words, unique within file and text
    begin: int
    end: int
    replacement: str

    @property
    def key(self):
        return f"{self.file}|{self.text}|{self.change}"

    @property
    def id(self):
        return hashlib.sha256(self.key.encode()).hexdigest()[:12]

    def apply(self, source):
        return source[: self.begin] + self.replacement + source[self.end :]


def blanked(source):
    """Returns the source with everything except code overwritten, at the same length and with the same lines."""

    def blank(match):
        kept = {"number": match.group()}.get(match.lastgroup if match.lastgroup != "d" else "raw")
        if kept is not None:
            return kept
        if match.group("string") or match.group("char"):
            return match.group()[0] + "_" * (len(match.group()) - 2) + match.group()[0]
        return re.sub(r"[^\n]", " ", match.group())

    return LEXEMES.sub(blank, source)


def closing(code, at):
    """Returns the index of the bracket that closes the one at `at`; -1 without one."""
    stack = []
    for i in range(at, len(code)):
        if code[i] in PAIRS:
            stack.append(PAIRS[code[i]])
        elif stack and code[i] == stack[-1]:
            stack.pop()
            if not stack:
                return i
        elif code[i] in ")]}":
            return -1
    return -1


def arguments(code, begin, end):
    """Returns the ranges between the commas of [begin, end) that are not inside of further brackets."""
    out, depth, first = [], 0, begin
    for i in range(begin, end):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        elif code[i] == "," and depth == 0:
            out.append((first, i))
            first = i + 1
    out.append((first, end))
    trimmed = []
    for a, b in out:
        part = code[a:b]
        trimmed.append((a + len(part) - len(part.lstrip()), a + len(part.rstrip())))
    return trimmed


class Finder:
    def __init__(self, file, source):
        self.file = file
        self.source = source
        self.code = blanked(source)
        self.lines = source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.found = []
        self.excluded = self.excluded_ranges()

    def excluded_ranges(self):
        out = []
        calls = re.compile(r"\b(?:" + "|".join(TEXT_CALLS) + r")\s*\(")
        for match in calls.finditer(self.code):
            end = closing(self.code, match.end() - 1)
            if end > 0:
                out.append((match.end(), end))
        for name in COST_FUNCTIONS.get(self.file, ()):
            for match in re.finditer(r"\b" + name + r"\(", self.code):
                end = closing(self.code, match.end() - 1)
                body = re.compile(r"\s*(?:const)?\s*\{").match(self.code, end + 1)
                if body:
                    out.append((match.start(), closing(self.code, body.end() - 1)))
        return out

    def line_of(self, at):
        low, high = 0, len(self.starts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= at:
                low = middle
            else:
                high = middle
        return low

    def add(self, kind, change, begin, end, replacement, at=None):
        at = begin if at is None else at
        line = self.line_of(at)
        text = self.lines[line]
        if COST_LINES.search(text) or any(a <= begin and end <= b for a, b in self.excluded):
            return
        self.found.append(
            Mutation(self.file, line + 1, text.strip(), kind, change, begin, end, replacement)
        )

    def is_member(self, at):
        """Returns whether the innermost open brace before `at` belongs to a struct or class."""
        depth = 0
        for i in range(at - 1, -1, -1):
            if self.code[i] == "}":
                depth += 1
            elif self.code[i] == "{":
                if depth == 0:
                    return MEMBER_SCOPE.search(self.code, 0, i) is not None
                depth -= 1
        return False

    def operators(self):
        for match in re.finditer(r"(?<=\s)([-+*/%]=?|[<>=!]=|[<>]|&&|\|\|)(?=\s)", self.code):
            for other in OPERATORS.get(match.group(), ()):
                self.add("operator", f"`{match.group()}` -> `{other}`", match.start(), match.end(), other)

    def constants(self):
        for match in LEXEMES.finditer(self.source):
            text = match.group("number")
            if not text or self.code[match.start() : match.end()] != text:
                continue
            line = self.line_of(match.start())
            before = self.code[self.starts[line] : match.start()]
            after = self.code[match.end() : self.starts[line + 1]]
            # The number is an argument of a template: <4>, <int, 4>.
            if re.search(r"\w<[^<>;()]*$", before) and re.match(r"[^<>;()]*>", after):
                continue
            if re.search(r"\w = -?$", before) and self.is_member(match.start()):
                continue
            for sign, step in (("+", 1), ("-", -1)):
                other = str(int(text) + step) if re.fullmatch(r"0|[1-9]\d*", text) else f"({text} {sign} 1)"
                self.add("constant", f"`{text}` -> `{other}`", match.start(), match.end(), other)

    def conditions(self):
        for match in re.finditer(r"\b(if|while)( constexpr)? \(", self.code):
            end = closing(self.code, match.end() - 1)
            if end < 0:
                continue
            begin = match.end()
            begin = max(begin, self.code.rfind(";", begin, end) + 1)
            condition = self.source[begin:end].strip()
            if re.match(r"(?:const )?[\w:<>, ]+[*&]* \w+ = ", condition):
                continue
            forms = [("negated", f"!({condition})"), ("always false", f"false && ({condition})")]
            if match.group(1) == "if":
                forms.append(("always true", f"true || ({condition})"))
            space = " " if begin > match.end() else ""
            for what, form in forms:
                self.add("condition", f"condition {what}", begin, end, space + form, at=match.start())

    def indices(self):
        for match in re.finditer(r"(?<=[\w)\]])\[", self.code):
            end = closing(self.code, match.start())
            inner = self.source[match.end() : end]
            name = re.search(r"([\w.>:()\]-]*)$", self.code[: match.start()]).group()
            before = self.code[: match.start() - len(name)].rstrip(" ")
            word = re.search(r"(\w+|[>*&])$", before)
            declared = word and word.group() not in KEYWORDS and re.fullmatch(r"\w+", name) and \
                self.code[match.start() - len(name) - 1] == " "
            if not inner.strip() or declared or "\n" in inner:
                continue
            for sign in "+-":
                self.add("index", f"`[{inner}]` -> `[{inner} {sign} 1]`", match.start(), end + 1,
                         f"[({inner}) {sign} 1]")

    def statements(self):
        # A statement begins after the end of another statement, of a block or of a condition.
        start = re.compile(r"(?<=[;{})])\s+(?=[A-Za-z_*+(-])|(?<=\belse)\s+(?=[A-Za-z_*+(-])")
        for match in start.finditer(self.code):
            begin = match.end()
            end, depth = begin, 0
            while end < len(self.code):
                c = self.code[end]
                if c in "([{":
                    close = closing(self.code, end)
                    if close < 0:
                        break
                    end = close
                elif c == ";" or c in ")]}":
                    break
                end += 1
            if end >= len(self.code) or self.code[end] != ";":
                continue
            text = self.code[begin:end]
            place = r"[*+-]*(?:[\w:]+|\([^()]*\))(?:(?:\.|->)\w+|\[[^\]]*\]|\([^()]*\))*"
            first = re.match(r"\w*", text).group()
            call = re.match(r"[\w:]+(?:(?:\.|->)\w+|\[[^\]]*\]|\((?:[^()]|\([^()]*\))*\))*$|[\w:.>\[\]-]+\(", text)
            assignment = re.match(place + r"\s*(?:[-+*/%|&^]|<<|>>)?= ", text)
            other = text in ("continue", "break") or re.match(r"(?:\+\+|--)" + place + "$", text)
            if (first in KEYWORDS and not other) or NO_STATEMENT.search(text):
                continue
            if not (call and "(" in text or assignment or other):
                continue
            self.add("statement", "statement removed", begin, end, "")

    def swaps(self):
        for match in re.finditer(r"([A-Za-z_]\w*)(\(|\{)", self.code):
            name = match.group(1)
            if name in KEYWORDS:
                continue
            end = closing(self.code, match.end() - 1)
            if end < 0:
                continue
            parts = arguments(self.code, match.end(), end)
            # A declaration or definition names types.
            if any(re.match(r"(?:const )?[\w:<>, ]+[*&]* [*&]*\w+$", self.code[a:b]) or a >= b for a, b in parts):
                continue
            for i in range(len(parts) - 1):
                (a, b), (c, d) = parts[i], parts[i + 1]
                left, right = self.source[a:b], self.source[c:d]
                if left == right or (i == 0 and name in COMMUTATIVE) or d - a > 300:
                    continue
                if '"' in left or '"' in right or ";" in left + right:
                    continue
                self.add("swap", f"arguments {i + 1} and {i + 2} of {name} swapped", a, d,
                         right + self.source[b:c] + left, at=match.start())

    def all(self):
        for find in (self.operators, self.constants, self.conditions, self.indices, self.statements, self.swaps):
            find()
        # Equal changes of equal text are numbered, so that keys are unique and do not depend on line numbers.
        count = {}
        out = []
        for mutation in sorted(self.found, key=lambda m: (m.begin, m.end, m.change)):
            seen = count[mutation.key] = count.get(mutation.key, 0) + 1
            out.append(mutation if seen == 1 else
                       dataclasses.replace(mutation, change=f"{mutation.change}, number {seen}"))
        return out


def mutations_of(file, source):
    return Finder(file, source).all()
