#!/usr/bin/env python3
"""Counts the instructions that one inference takes on 64-bit Arm, under qemu.

    python3 benchmarks/arm/instructions.py --library build/arm/libmnn_c.so [--before OTHER.so] --cpus cortex-a53,max NETS

NETS are model files, each with words after colons: "low" (precision) and "weights" (memory Low, which keeps weights
quantised), as in net.mnn:low. Each runs with one thread, once and three times, in a program for Arm; half of the
difference is one inference. qemu's CPUs differ in their instructions: cortex-a53 has only NEON, cortex-a76 also the dot
product and fp16, max all. Counts do not include the effects of caches or the time of an instruction.

Needs qemu-aarch64 with plugins, gcc and aarch64-linux-gnu-gcc.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def build(work, library):
    """Builds the plugin for this machine, and the program for Arm."""
    plugin, program = os.path.join(work, "count_instructions.so"), os.path.join(work, "run_net")
    source = os.path.join(HERE, "count_instructions.c")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", source, "-o", plugin], check=True)
    subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-I" + os.path.join(ROOT, "include"), os.path.join(HERE, "run_net.c"),
                    library, "-o", program], check=True)
    return plugin, program


def executed(plugin, program, library, cpu, net, runs):
    path, *words = net.split(":")
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", cpu, "-plugin", plugin, "-d", "plugin",
               "-E", "LD_LIBRARY_PATH=" + os.path.dirname(os.path.abspath(library)), program, path, str(runs), *words]
    result = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"instructions (\d+)", result.stderr)
    if result.returncode or not found:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libmnn_c.so for Arm")
    parser.add_argument("--before", help="another one to compare with, of the same file name")
    parser.add_argument("--cpus", default="cortex-a53,cortex-a76,max")
    parser.add_argument("nets", nargs="+", help="model files with words behind colons")
    args = parser.parse_args()
    libraries = [args.before, args.library] if args.before else [args.library]
    with tempfile.TemporaryDirectory() as work:
        plugin, program = build(work, args.library)
        for net in args.nets:
            for cpu in args.cpus.split(","):
                counts = []
                for library in libraries:
                    one, three = (executed(plugin, program, library, cpu, net, runs) for runs in (1, 3))
                    counts.append((three - one) / 2e6)
                ratio = f"   {counts[-1] / counts[0]:.3f}" if args.before else ""
                print(f"{net}   {cpu}   {'   '.join(f'{count:.1f} M' for count in counts)}{ratio}", flush=True)


if __name__ == "__main__":
    main()
