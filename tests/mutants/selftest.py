#!/usr/bin/env python3
"""Tests mutate.py on a project of one file, and mutations.py on snippets."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import mutate
import mutations


def changes(source, kind=None, file="x.cpp"):
    return [
        (m.line, m.change)
        for m in mutations.mutations_of(file, textwrap.dedent(source).lstrip("\n"))
        if kind in (None, m.kind)
    ]


class Places(unittest.TestCase):
    def test_operators(self):
        self.assertEqual(
            changes("return a < b && c - d;\n", "operator"),
            [(1, "`<` -> `<=`"), (1, "`<` -> `>=`"), (1, "`&&` -> `||`"), (1, "`-` -> `+`")],
        )

    def test_what_looks_like_operators(self):
        self.assertEqual(changes("const std::vector<int>& a = f<int, 4>(*p, &q, -r);\nint* b = &c;\n", "operator"), [])

    def test_constants(self):
        self.assertEqual(
            changes("x = 0;\ny = 1.5f;\nz = a1 + std::array<int, 4>{};\n", "constant"),
            [(1, "`0` -> `-1`"), (1, "`0` -> `1`"), (2, "`1.5f` -> `(1.5f + 1)`"), (2, "`1.5f` -> `(1.5f - 1)`")],
        )

    def test_conditions(self):
        source = "if (int* p = f(); p && (q || r)) {\n}\nwhile (more(1)) {\n}\nif (const auto* t = f()) {\n}\n"
        self.assertEqual(
            changes(source, "condition"),
            [(1, "condition always false"), (1, "condition always true"), (1, "condition negated"),
             (3, "condition always false"), (3, "condition negated")],
        )

    def test_indices(self):
        self.assertEqual(
            changes("    float row[8];\n    row[i] = f([] { return 1; });\n", "index"),
            [(2, "`[i]` -> `[i + 1]`"), (2, "`[i]` -> `[i - 1]`")],
        )

    def test_statements(self):
        source = """
            void f(int n) {
                const int a = 1;
                b = a;
                g(a);
                if (n)
                    fail("no");
                return;
            }
            """
        self.assertEqual([line for line, _ in changes(source, "statement")], [3, 4, 6])

    def test_swaps(self):
        source = "void f(int a, int b) {\n    g(a, b);\n    std::min(a, b);\n    h(a, a);\n    k(a, b, \"text\");\n}\n"
        self.assertEqual(
            changes(source, "swap"),
            [(2, "arguments 1 and 2 of g swapped"), (5, "arguments 1 and 2 of k swapped")],
        )

    def test_left_out(self):
        source = """
            // if (a < b) return 1;
            #include "a + b"
            #define TWO (1 + 1)
            fail(Status::BadRange, "a < b: %d", a + 1);
            static_assert(a == 4);
            const double cost = a + b;
            out.reserve(n + 1);
            say("1 + 1");
            struct Sizes {
                Sizes() = default;
                int rows = 0, columns = -1;
            };
            """
        found = changes(source)
        self.assertEqual([kind for kind in found if "removed" not in kind[1]], [])
        cost = "int tileCycles(int m) {\n    return m + 1;\n}\nint other(int m) {\n    return m + 1;\n}\n"
        found = changes(cost, "operator", "backends/cpu/kernels/gemm/panels.h")
        self.assertEqual(found, [(5, "`+` -> `-`")])

    def test_keys_do_not_depend_on_lines(self):
        source = "x = a + b;\ny = c + d;\nx = a + b;\n"
        found = mutations.mutations_of("x.cpp", source)
        self.assertEqual(len({m.key for m in found}), len(found))
        moved = mutations.mutations_of("x.cpp", "\n\n" + source)
        self.assertEqual([m.key for m in found], [m.key for m in moved])

    def test_apply(self):
        source = 'if (a < b) f(x[i], "s");\n'
        made = {m.apply(source) for m in mutations.mutations_of("x.cpp", source)}
        self.assertIn('if (a <= b) f(x[i], "s");\n', made)
        self.assertIn('if (false && (a < b)) f(x[i], "s");\n', made)
        self.assertIn('if (a < b) f(x[(i) - 1], "s");\n', made)
        self.assertIn("if (a < b) ;\n", made)


LIBRARY = """
extern "C" int sum(const int* from, int count) {
    int total = 0;
    for (int i = 0; i < count; ++i) total += from[i];
    return total;
}
extern "C" int larger(int a, int b) {
    return a < b ? b : a;
}
extern "C" int nobody(int a) {
    return a * 3;
}
"""
TEST = """
extern "C" int sum(const int*, int), larger(int, int);
int main() {
    const int values[] = {1, 2, 4, 0, 0};
    return !(sum(values, 3) == 7 && larger(3, 5) == 5 && larger(5, 3) == 5);
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(tiny CXX)
add_library(tiny SHARED lib/tiny.cpp)
add_executable(tiny_test test.cpp)
target_link_libraries(tiny_test PRIVATE tiny)
"""
PLAN = {
    "folders": ["lib"],
    "kernels": "lib/kernels",
    "configure": [],
    "same_code": {"target": "tiny", "file": "libtiny.so"},
    "patience": 0.5,
    "steps": [{"name": "test", "target": "tiny_test", "command": ["{build}/tiny_test"]}],
}
EQUIVALENT = """
# A comment.
lib/tiny.cpp
return a < b ? b : a;
`<` -> `<=`
Of two equal numbers either is the larger.
"""


class Run(unittest.TestCase):
    def test_verdicts_and_resuming(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "project"
            (root / "lib").mkdir(parents=True)
            (root / "lib/tiny.cpp").write_text(LIBRARY)
            (root / "test.cpp").write_text(TEST)
            (root / "CMakeLists.txt").write_text(CMAKE)
            (root.parent / "plan.json").write_text(json.dumps(PLAN))
            (root.parent / "equivalent.txt").write_text(EQUIVALENT)
            work = root.parent / "work"

            def run(*more):
                words = ["mutate.py", "--source", root, "--work", work, "--plan", root.parent / "plan.json",
                         "--equivalent", root.parent / "equivalent.txt", "--all-of-a-line", *more]
                out = io.StringIO()
                with mock.patch.object(sys, "argv", [str(word) for word in words]), contextlib.redirect_stdout(out):
                    status = mutate.main()
                return status, out.getvalue()

            def verdicts():
                lines = (work / "results.jsonl").read_text().splitlines()
                return {(r["text"], r["change"]): r["verdict"] for r in map(json.loads, lines)}

            status, out = run("--count", 4)
            self.assertIn("\n4 mutants: ", out)
            before = (work / "results.jsonl").read_text()
            status, out = run("--resume", "--count", 1000)
            self.assertTrue((work / "results.jsonl").read_text().startswith(before), "the first four are kept")
            self.assertEqual(status, 1, out)
            found = verdicts()
            loop = "for (int i = 0; i < count; ++i) total += from[i];"
            self.assertEqual(found[loop, "`+=` -> `-=`"], "killed")
            self.assertEqual(found[loop, "`0` -> `1`"], "killed")
            # 4 values are summed, and the one behind is 0.
            self.assertEqual(found[loop, "`<` -> `<=`"], "survived")
            self.assertEqual(found["return a < b ? b : a;", "`<` -> `>=`"], "killed")
            self.assertEqual(found["return a * 3;", "`*` -> `/`"], "survived")
            self.assertNotIn(("return a < b ? b : a;", "`<` -> `<=`"), found)
            self.assertIn("equivalent lib/tiny.cpp:8: `<` -> `<=`", out)
            self.assertEqual((work / "tree/lib/tiny.cpp").read_text(), LIBRARY)
            # With a test for them the survivors are killed.
            (root / "test.cpp").write_text(
                TEST.replace("larger(int, int)", "larger(int, int), nobody(int)")
                .replace("0, 0}", "8, 0}").replace("!(", "!(nobody(1) == 3 && "))
            status, out = run("--resume", "--again", "survived", "--count", 1000)
            self.assertEqual(status, 0, out)
            self.assertNotIn("survived", verdicts().values())
            self.assertIn("100.0 percent", out)
            self.assertEqual(run("--report", "--count", 1000)[0], 0)

    def test_a_test_that_never_ends_is_killed(self):
        status, _ = mutate.run(["sh", "-c", "while :; do :; done"], 0.3)
        self.assertIsNone(status)
        with mock.patch.object(mutate, "IDLE_SECONDS", 0.5):
            status, _ = mutate.run(["sleep", "60"], 10)
        self.assertIsNone(status)
        self.assertEqual(mutate.run(["sh", "-c", "echo told; exit 3"], 10), (3, "told\n"))


if __name__ == "__main__":
    unittest.main()
