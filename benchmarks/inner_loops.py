#!/usr/bin/env python3
"""Lists the hot inner loops of the CPU's kernels, from object files, and estimates their cost on processors that are
not at hand.

    python3 benchmarks/inner_loops.py build/release [--files panel_kernels,winograd] [--isa AVX2] [--cpu haswell,znver2]
    python3 benchmarks/inner_loops.py build/release --check

A hot loop is a backward jump without another one inside whose body has at least --min vector multiply-adds. The
program prints for each loop the instructions, the multiply-adds, and for each multiply-add the memory operands, stores
to the stack and prefetches; then the cycles that llvm-mca (Debian package llvm) gives for one iteration on each
processor, and their ratio to the bound, which is two multiply-adds a cycle. --check looks only at the largest tiles of
products of AVX2, those of 12 sums in two or three vectors a row, and fails where the main loop of one takes more than
1.05 of its bound on a processor, or keeps a vector on the stack.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

KERNELS = "CMakeFiles/mnn_c*_kernels.dir/backends/cpu/kernels/**/*.o"
CPUS = ("haswell", "skylake", "znver2")
MULTIPLY_ADD = re.compile(r"^(vf(n?m)(add|sub)\d+[ps][sd]|vpdpbusds?|vdpbf16ps|vpmaddwd|vpmaddubsw)$")
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")
HEAD = re.compile(r"^([0-9a-f]+) <(.*)>:$")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")
TILE = re.compile(r"N_AVX2::.*\b(gemmTile\w*)<(\d+), (\d+)")
TIGHT = 1.05  # relative to the bound
WHOLE = 12  # smaller tiles have too few independent sums to hide the latency of multiply-adds


class Loop:
    def __init__(self, function, body):
        self.function = function
        self.body = body  # texts of instructions, including the jump
        names = [text.split()[0] for text in body]
        self.multiply_adds = sum(bool(MULTIPLY_ADD.match(name)) for name in names)
        self.memory = sum("(" in text and not name.startswith(("lea", "prefetch", "nop")) for text, name in zip(body, names))
        self.prefetches = sum(name.startswith("prefetch") for name in names)
        self.stores = sum(bool(re.search(r"%[xyz]mm\d+,[^,]*\(%r[sb]p", text)) for text in body)
        self.reloads = sum(bool(re.search(r"\(%r[sb]p[^)]*\),.*%[xyz]mm", text)) for text in body)

    def assembly(self):
        return "\n".join(re.sub(r"\s+#.*$", "", text) for text in self.body[:-1]) + "\n"


def functions(path):
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", path], check=True, capture_output=True, text=True).stdout
    name, lines = None, []
    for line in listing.splitlines():
        if head := HEAD.match(line):
            if name:
                yield name, lines
            name, lines = head[2], []
        elif (found := LINE.match(line)) and name:
            lines.append((int(found[1], 16), re.sub(r"\s*<.*?>+\s*$", "", found[2]).strip()))
    if name:
        yield name, lines


def loops(name, lines, min_multiply_adds):
    place = {address: i for i, (address, _) in enumerate(lines)}
    back = []
    for i, (address, text) in enumerate(lines):
        jump = JUMP.match(text)
        if jump and int(jump[1], 16) <= address and int(jump[1], 16) in place:
            back.append((place[int(jump[1], 16)], i))
    for first, last in back:
        if any(first <= a and b <= last and (a, b) != (first, last) for a, b in back):
            continue
        loop = Loop(name, [text for _, text in lines[first : last + 1]])
        if loop.multiply_adds >= min_multiply_adds:
            yield loop


def cycles(loop, cpu, mca):
    """Returns the cycles of one iteration in the steady state."""
    result = subprocess.run(
        [mca, f"-mcpu={cpu}", "-mtriple=x86_64", "-iterations=200", "-instruction-info=0", "-resource-pressure=0"],
        input=loop.assembly(), capture_output=True, text=True, check=False)
    found = re.search(r"Total Cycles:\s+(\d+)", result.stdout)
    if not found:
        sys.exit(f"llvm-mca does not take a loop of {loop.function}: {result.stderr.strip().splitlines()[:1]}")
    return int(found[1]) / 200


def short(name):
    name = name.replace("(anonymous namespace)::", "").replace("mnnc::", "")
    return re.sub(r"^(?:\w+ )?(N_\w+::[\w:]*(?:<[^(]*?>)?).*", r"\1", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--files", default="", help="parts of the names of object files, separated by commas; all without")
    parser.add_argument("--isa", default="", help="a part of the namespace: SSE4, AVX2, AVX3")
    parser.add_argument("--cpu", default=",".join(CPUS))
    parser.add_argument("--min", type=int, default=8, help="multiply-adds of a loop")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    mca = shutil.which("llvm-mca") or shutil.which("llvm-mca-14")
    if not mca or not shutil.which("objdump"):
        print("llvm-mca or objdump is missing: install llvm and binutils")
        sys.exit(77)
    objects = sorted(args.build.glob(KERNELS))
    if args.check:
        args.files, args.isa = "panel_kernels", "AVX2"
    objects = [path for path in objects if any(part in path.name for part in args.files.split(","))]
    if not objects:
        sys.exit(f"there are no object files {KERNELS} in {args.build}")
    cpus = args.cpu.split(",")
    wrong, tiles = [], 0
    print("loop" + 48 * " " + "instr  FMA  mem/FMA  stack  prefetch/FMA  " + "  ".join(f"{cpu} (of bound)" for cpu in cpus))
    for path in objects:
        for name, lines in functions(path):
            if args.isa not in name:
                continue
            tile = TILE.search(name)
            if args.check and not tile:
                continue
            found = list(loops(name, lines, args.min))
            largest = max((loop.multiply_adds for loop in found), default=0)
            for loop in found:
                times = {cpu: cycles(loop, cpu, mca) for cpu in cpus}
                bound = loop.multiply_adds / 2
                row = "  ".join(f"{times[cpu]:7.1f} ({times[cpu] / bound:4.2f})" for cpu in cpus)
                print(f"{short(name):52s}{len(loop.body):5d}{loop.multiply_adds:5d}{loop.memory / loop.multiply_adds:9.2f}"
                      f"{loop.stores:7d}{loop.prefetches / loop.multiply_adds:14.2f}  {row}", flush=True)
                # loads limit tiles of one vector a row
                whole = tile and int(tile[2]) * int(tile[3]) >= WHOLE and int(tile[3]) > 1
                if not args.check or not whole or loop.multiply_adds < largest:
                    continue
                tiles += 1
                if loop.stores or loop.reloads:
                    wrong.append(f"{short(name)} keeps a vector on the stack inside of its loop")
                wrong += [f"{short(name)} takes {times[cpu] / bound:.2f} of its bound on {cpu}"
                          for cpu in cpus if times[cpu] > TIGHT * bound]
    if args.check and not tiles:
        wrong.append("no tile of AVX2 was found")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
