"""The machine that was measured: processor, caches, memory, system. Ratios hold for one machine only."""

import glob
import os
import platform
import sys

import numpy

# Instruction sets that decide which kernels an engine can choose.
NOTED = "avx2 fma avx512f avx512_vnni avx512_bf16 avx512_fp16 amx_tile avx_vnni asimd asimddp i8mm bf16 sve".split()


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def cpu_fields():
    """Returns the fields of /proc/cpuinfo for the first processor."""
    first = read("/proc/cpuinfo").split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def caches():
    """Lists the caches of the first CPU, such as "L1d 48 KiB"; several CPUs may share a level."""
    found = []
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index[0-9]*")):
        level, kind, size = (read(os.path.join(folder, name)) for name in ("level", "type", "size"))
        if level and size and kind != "Instruction":
            found.append(f"L{level}{'d' if kind == 'Data' else ''} {size.replace('K', ' KiB')}")
    return ", ".join(found) or "caches unknown"


def describe():
    """Returns all facts as a table of texts, for the header and the JSON file."""
    fields = cpu_fields()
    model = fields.get("model name", platform.machine())
    if "cpu family" in fields:  # cloud machines hide the name, not the number
        numbers = (f"{name.split()[-1]} {fields.get(name, '?')}" for name in ("cpu family", "model", "stepping"))
        model += f" ({', '.join(numbers)})"
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    versions = f"Python {sys.version.split()[0]}, numpy {numpy.__version__}"
    return {
        "cpu": f"{model}, {os.cpu_count()} CPUs",
        "caches": caches(),
        "instructions": " ".join(name for name in NOTED if name in flags) or "unknown",
        "system": f"{platform.system()} {platform.release()}, {versions}",
    }
