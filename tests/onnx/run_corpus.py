#!/usr/bin/env python3
"""Converts and runs the packed node tests. A case that is listed in refused.txt has to be refused, every other one has to be
right; every operator of the table has a case that is right.

    run_corpus.py RUNNER TABLE CORPUS REFUSED
    run_corpus.py --truncate COUNT RUNNER CORPUS
    run_corpus.py --mutate COUNT RUNNER CORPUS
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import corpus_files

# No two libraries produce the same random numbers; check_hostile.py checks their shapes.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def run(*command):
    """Returns name -> (result, the rest of the line)."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace")
    results, begun = {}, None
    for line in done.stdout.splitlines():
        result, _, rest = line.partition(" ")
        name, _, rest = rest.partition(" ")
        if result == "begin":
            begun = name
        elif result in ("ok", "refused", "wrong"):
            results[name] = (result, rest)
    if done.returncode:
        sys.exit(f"the runner ended with {done.returncode} in {begun}\n{done.stderr}")
    return results


def truncate(count, runner, corpus):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "corpus"
        corpus_files.unpack(corpus, file)
        results = run(runner, "truncate", file, count)
    wrong = [f"{name}: {rest} beginnings were taken for models" for name, (result, rest) in results.items() if result != "ok"]
    lengths = sum(int(rest) for _, rest in results.values())
    print(f"{len(results)} models cut at {lengths} lengths")
    if len(results) < int(count) * 2 // 3 or lengths < 1000:
        wrong.append("too few models were tried")
    sys.exit("\n".join(wrong) or 0)


def mutate(count, runner, corpus):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "corpus"
        corpus_files.unpack(corpus, file)
        refused = int(run(runner, "mutate", file, count)["mutated"][1])
    print(f"{refused} of {count} changed models were refused")
    # Some changes only affect names or numbers.
    sys.exit(None if int(count) // 4 < refused < int(count) else "changes have no effect, or nothing else")


def main():
    if sys.argv[1] == "--mutate":
        mutate(*sys.argv[2:5])
    if sys.argv[1] == "--truncate":
        truncate(*sys.argv[2:5])
    runner, table, corpus, refused_list = sys.argv[1:5]
    refused = set(pathlib.Path(refused_list).read_text().split())
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "corpus"
        operators = corpus_files.unpack(corpus, file)
        results = run(runner, "corpus", file)
    wrong = [f"{name}: no result" for name in operators if name not in results]
    wrong += [f"{name} is listed as refused, and is no case" for name in sorted(refused - set(operators))]
    right = set()
    for name, (result, rest) in results.items():
        if result == "ok":
            right.update(operators[name])
        wanted = "refused" if name in refused else "ok"
        if result != wanted:
            wrong.append(f"{name}: {result} in place of {wanted}: {rest}")
        elif result == "refused" and len(rest) < 10:
            wrong.append(f"{name}: refused without a reason")
    entries = [json.loads(line) for line in subprocess.run([table], capture_output=True, text=True, check=True).stdout.splitlines()]
    names = {(entry["domain"] + "." if entry["domain"] else "") + entry["name"] for entry in entries}
    wrong += [f"{name} has an entry in the table, and no case of it is right" for name in sorted(names - right - RANDOM)]
    if len(names) < 150 or len(results) < 1500:
        wrong.append(f"only {len(names)} operators and {len(results)} cases were found")
    counts = {kind: sum(result == kind for result, _ in results.values()) for kind in ("ok", "refused", "wrong")}
    print(f"{len(results)} cases: {counts}, {len(names)} operators in the table")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
