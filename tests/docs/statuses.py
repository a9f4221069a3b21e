#!/usr/bin/env python3
"""Checks that the comments of the header list the statuses that its functions return.

    statuses.py CC HEADER UNPROVOKED PROGRAM...

Runs the programs, which are tests, with a library in front of libmnn_c.so that notes which function returns which status.
Every status that was returned has to be in the comment of its function, and every status in a comment has to be
returned by that function or one that refers to it ("what mnn_session_create() returns"), but for those that the file
UNPROVOKED lists with the reason. The statuses that any function may return are in the introduction of the header.
Prints what differs; the exit status is 1 then.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# The introduction of the header has these for all functions.
GENERAL = {"MNN_ERROR_NULL_ARGUMENT", "MNN_ERROR_BAD_HANDLE", "MNN_ERROR_OUT_OF_MEMORY", "MNN_ERROR_INTERNAL"}
BUSY = "MNN_ERROR_BUSY"
REFERENCES = (r"what (?:the last )?(mnn_\w+)\(\) return", r"Returns as (mnn_\w+)\(\)", r"codes of (mnn_\w+)\(\)")
PLANNING = "planning"
HOST = re.compile(r"what (?:the host's|a callback of the host|options->external_weight_reader)")
# Callbacks of these programs return statuses of their own.
HOSTS = re.compile(r"(operators|backend|backend_runs|host_weights|host_bytes)_test")
SKIPPED = 77  # the exit status of a program that needs a device where there is none
PRELUDE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mnn_c.h"
static char record[4096];
static mnn_status note(const char* function, mnn_status status, unsigned char* seen) {
    if (status <= 0 || status > 255 || seen[status]) return status;
    seen[status] = 1;
    const int before = errno;
    char path[4352]; /* an empty file, which a limit on the size of files does not keep from being made */
    snprintf(path, sizeof path, "%s/%s.%d", record, function, (int)status);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) abort();
    close(file);
    errno = before;
    return status;
}
"""


def without_stars(comment):
    return " ".join(line.strip().lstrip("*").strip() for line in comment.splitlines())


class Header:
    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        comment = r"/\*((?:(?!\*/).)*?)\*/\s*"
        self.functions = {}  # name: (parameters, comment)
        for found in re.finditer(comment + r"MNN_C_API mnn_status (mnn_\w+)\(([^;]*?)\);", self.text, flags=re.S):
            self.functions[found[2]] = (found[3], without_stars(found[1]))
        self.numbers = {int(number): name for name, number in re.findall(r"\b(MNN_ERROR_\w+) = (\d+)", self.text)}
        planning = re.search(r"/\* Planning a model for shapes((?:(?!\*/).)*?)\*/", self.text, flags=re.S)
        self.own, self.references, self.host = {}, {}, set()
        self.add(PLANNING, without_stars(planning[1]))
        for name, (_, comment) in self.functions.items():
            if "Returns" not in comment:
                sys.exit(f"the comment of {name} has no sentence that begins with 'Returns'")
            self.add(name, comment[comment.index("Returns"):])

    def add(self, name, text):
        self.own[name] = set(re.findall(r"MNN_ERROR_\w+", text))
        self.references[name] = {other for pattern in REFERENCES for other in re.findall(pattern, text)} - {name}
        if "what planning returns" in text:
            self.references[name].add(PLANNING)
        if HOST.search(text):
            self.host.add(name)
        if "Use: alone" in text or "Use: reads" in text or "Use of the session: reads" in text:
            self.own[name].add(BUSY)

    def behind(self, name):
        """Returns the name and all functions that its comment refers to."""
        found, left = set(), [name]
        while left:
            next_name = left.pop()
            if next_name not in found:
                found.add(next_name)
                left += self.references[next_name]
        return found

    def listed(self, name):
        return set().union(*(self.own[other] for other in self.behind(name)))

    def may_be_the_hosts(self, name):
        return bool(self.behind(name) & self.host)


def recorder(header):
    """Returns the source of a library whose functions call those of the next one."""
    source, pointers = PRELUDE, ""
    for name, (parameters, _) in header.functions.items():
        names = [] if parameters == "void" else [re.search(r"(\w+)$", each)[1] for each in parameters.split(",")]
        source += f"static mnn_status (*next_{name})({parameters});\n"
        source += f"mnn_status {name}({parameters}) {{\n    static unsigned char seen[256];\n"
        source += f"    return note(\"{name}\", next_{name}({', '.join(names)}), seen);\n}}\n"
        pointers += f"    *(void**)&next_{name} = dlsym(RTLD_NEXT, \"{name}\");\n"
    return source + ("__attribute__((constructor)) static void begin(void) {\n    const char* path = getenv("
                     f"\"MNN_C_STATUSES\");\n    if (path) strncpy(record, path, sizeof record - 1);\n{pointers}}}\n")


def run(program, library, folder):
    """Returns the statuses that a program provoked, as (function, number), and its exit status."""
    record = pathlib.Path(folder) / f"{program.name}.statuses"
    record.mkdir()
    done = subprocess.run([program], env={**os.environ, "LD_PRELOAD": str(library), "MNN_C_STATUSES": str(record)},
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode not in (0, SKIPPED):
        sys.exit(f"{program} failed with {done.returncode}:\n{done.stdout.decode(errors='replace')}")
    pairs = (path.name.split(".") for path in record.iterdir())
    return {(name, int(number)) for name, number in pairs}, done.returncode


def excuses(path):
    """Returns statuses that no program provokes: {(function or "*", status)}, and their lines."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(mnn_\w+|planning|\*) (MNN_ERROR_\w+): .+", line)
        if not match:
            sys.exit(f"{path}: this is no 'FUNCTION STATUS: REASON': {line}")
        found.add((match[1], match[2]))
    return found


def main():
    compiler, unprovoked = sys.argv[1], pathlib.Path(sys.argv[3])
    header = Header(pathlib.Path(sys.argv[2]))
    programs = [pathlib.Path(argument).resolve() for argument in sys.argv[4:]]
    if len(header.functions) < 100 or len(header.numbers) < 30 or len(programs) < 30:
        sys.exit(f"only {len(header.functions)} functions, {len(header.numbers)} statuses or {len(programs)} programs")
    provoked, problems, skipped = {name: set() for name in header.functions}, [], False
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "librecorder.so"
        subprocess.run([compiler, "-std=c11", "-O1", "-shared", "-fPIC", "-w", f"-I{pathlib.Path(sys.argv[2]).parent}",
                        "-x", "c", "-", "-o", made, "-ldl"], input=recorder(header), text=True, check=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda program: (program.name, *run(program, made, folder)), programs)
            for program, pairs, status in results:
                skipped |= status == SKIPPED
                for name, number in pairs:
                    text = header.numbers.get(number, str(number))
                    if text in GENERAL:
                        continue
                    provoked[name].add(text)
                    hosts = HOSTS.fullmatch(program) and header.may_be_the_hosts(name)
                    if text not in header.listed(name) and not hosts:
                        problems.append(f"{name} returned {text} in {program}, which its comment does not list")
    for name in header.own:
        users = [other for other in header.functions if name in header.behind(other)]
        missing = header.own[name] - GENERAL - set().union(*(provoked[user] for user in users))
        for status in sorted(missing):
            problems.append(f"no program made {name} return {status}, which its comment lists")
    excused, used, left = excuses(unprovoked), set(), []
    for problem in sorted(set(problems)):
        match = re.match(r"no program made (\w+) return (\w+),", problem)
        keys = {(match[1], match[2]), ("*", match[2])} & excused if match else set()
        used |= keys
        if not keys:
            left.append(problem)
    if not skipped:
        left += [f"{unprovoked} excuses {each}, which a program provokes" for each in excused - used]
    print("\n".join(sorted(left)))
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
