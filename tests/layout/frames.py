#!/usr/bin/env python3
"""Checks that executions of the CPU do not change their members while they run. It reads the text of the sources.

    frames.py SOURCE

No file of backends/cpu has a mutable or an atomic member: neither executions nor what they hold, such as plans of convolutions,
since the compiler lets a constant run() change those.
"""
import pathlib
import re
import sys

CHANGES = re.compile(r"\bmutable\b|\bstd::atomic\b|\batomic_\w+")
EXECUTION = re.compile(r"^\s*void run\(const Frame&", flags=re.M)
FEWEST_EXECUTIONS = 90

# (file, a part of the line): the reason why it is allowed.
CHANGES_ALLOWED = {
    ("kernels/w8a16/w8a16_input.cpp", "std::atomic<uint32_t> largest"): "a variable of one call, which threads share",
}


def code_of(path):
    """Returns the lines of a file without comments and texts."""
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', path.read_text())
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    return [re.sub(r"//.*", "", line) for line in text.split("\n")]


def changes(files):
    """Returns (file, number, line) of members that a constant function could change."""
    for name, lines in files.items():
        for number, line in enumerate(lines, 1):
            if CHANGES.search(re.sub(r"\)\s*mutable\b", ")", line)):  # a lambda's own copies
                yield name, number, line.strip()


def main():
    root = pathlib.Path(sys.argv[1]) / "backends/cpu"
    files = {path.relative_to(root).as_posix(): code_of(path) for path in sorted(root.rglob("*")) if path.suffix in {".h", ".cpp"}}
    wrong, used = [], set()
    for name, number, line in changes(files):
        allowed = [key for key in CHANGES_ALLOWED if key[0] == name and key[1] in line]
        used.update(allowed)
        if not allowed:
            wrong.append(f"backends/cpu/{name}:{number} has a member that a run could change: {line}\n"
                         f"    What a run changes lies in scratch, or in the frame.")
    wrong += [f"backends/cpu/{name} has no '{what}' any more: take it off the list of exceptions in tests/layout/frames.py"
              for name, what in sorted(CHANGES_ALLOWED.keys() - used)]
    executions = sum(len(EXECUTION.findall("\n".join(lines))) for lines in files.values())
    if executions < FEWEST_EXECUTIONS:
        wrong.append(f"only {executions} executions were found in backends/cpu, there should be {FEWEST_EXECUTIONS} at least")
    print(f"{executions} executions in {len(files)} files of backends/cpu")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
