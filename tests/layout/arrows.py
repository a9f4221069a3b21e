#!/usr/bin/env python3
"""Files, folders, rooms and modules use one another in one direction. Read from the text of the sources, nothing is compiled.

    arrows.py SOURCE

- No circles of includes between files of C, C++ and GLSL, nor between folders.
- Rooms of impl/ include earlier ones alone, impl/base/os nothing else; a backend includes neither another one nor the rooms that drive backends.
- onnx/ uses the engine through its public functions: of impl/ it includes base, model and the arguments of functions.
- No circles between modules of a Rust crate, nor between Python files of a folder. (Go's compiler refuses circles of packages.)
"""
import ast
import pathlib
import re
import sys

ROOMS = ["base", "model", "tensor", "ir", "ops", "net", "backend", "plan", "schedule", "session", "c_api"]
BACKENDS = ["backends/cpu", "backends/vulkan"]
# The folder of the system is the lowest part of base, and the only part of impl/ that the tool uses.
SYSTEM = "impl/base/os/"
# The rooms that drive backends, which a backend must not include.
DRIVERS = ("impl/schedule/", "impl/session/", "impl/c_api/")
# The parts of impl/ that the library which converts models may include, and its own folders.
CONVERTER = ("onnx/", "include/", "impl/base/", "impl/model/", "impl/c_api/arguments.h")
# These files assemble a whole from parts that use its interface, which lies in the same folder: a backend from its
# operators and fusions, the table of kernels from their subjects. Their arrows are not counted between folders.
ASSEMBLIES = ["backends/cpu/cpu_backend.cpp", "backends/cpu/kernels/kernels.cpp", "backends/vulkan/vulkan_backend.cpp"]


def circles(arrows):
    """Returns the groups of names that use one another in a circle: names that use nothing else, or are used by nothing
    else, are removed, and the rest is divided by reachability."""
    arrows = {name: set(used) - {name} for name, used in arrows.items()}
    while True:
        used = set().union(*arrows.values()) if arrows else set()
        ends = [name for name in arrows if not arrows[name] or name not in used]
        if not ends:
            break
        for name in ends:
            del arrows[name]
        for name in arrows:
            arrows[name] &= arrows.keys()
    reached = {name: reachable(arrows, name) for name in arrows}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in arrows}
    return sorted(sorted(group) for group in groups if group)


def reachable(arrows, start):
    seen, work = set(), [start]
    while work:
        for used in arrows[work.pop()] - seen:
            seen.add(used)
            work.append(used)
    return seen


def files_of(root, folders, endings):
    return sorted(path for folder in folders for path in (root / folder).rglob("*")
                  if path.suffix in endings and "build" not in path.relative_to(root).parts)


def includes(root, folders, endings):
    """Returns {file: files of these folders that it includes}, as paths from root."""
    files = {path.relative_to(root).as_posix() for path in files_of(root, folders, endings)}
    bases = ["", "impl/", "image/", "onnx/", "tools/mnn/", "tests/", "tests/unit/", "tests/c_abi/"]
    arrows = {}
    for file in files:
        places = [file.rpartition("/")[0] + "/"] + bases
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', (root / file).read_text(), flags=re.M)
        found = (next((place + name for place in places if place + name in files), None) for name in names)
        arrows[file] = {name for name in found if name}
    return arrows


def between_folders(arrows):
    folders = {}
    for file, used in arrows.items():
        if file not in ASSEMBLIES:
            folders.setdefault(file.rpartition("/")[0], set()).update(name.rpartition("/")[0] for name in used)
    for used in list(folders.values()):
        for name in used:
            folders.setdefault(name, set())
    return folders


def against_order(arrows):
    """Returns the includes that no room may have."""
    wrong = []
    for file, used in sorted(arrows.items()):
        room = file.split("/")[1]
        backend = next((name for name in BACKENDS if file.startswith(name + "/")), None)
        for name in sorted(used):
            if file.startswith("impl/"):
                bad = (not name.startswith("impl/") or file.startswith(SYSTEM) and not name.startswith(SYSTEM)
                       or ROOMS.index(name.split("/")[1]) > ROOMS.index(room))
            elif backend:
                bad = name.startswith(DRIVERS) or name.startswith("backends/") and not name.startswith(backend + "/")
            elif file.startswith("onnx/"):
                bad = not name.startswith(CONVERTER)
            else:
                bad = name.startswith("onnx/") or room == "mnn" and name.startswith("impl/") and not name.startswith(SYSTEM)
            if bad:
                wrong.append(f"{file} includes {name}")
    return wrong


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


def rust_paths(text):
    """Returns the paths after `crate`, `super` and `pub use` in the text of a module: (head, names)."""
    for head, start, rest in re.findall(r"\b(crate|super|pub use)(?:::|\s+)((?:\w+::)*)(\w+|\*|\{[^}]*\})", text):
        names = rest[1:-1].split(",") if rest[0] == "{" else [rest]
        yield from ((head, tuple(start.split("::")[:-1]) + tuple(way.strip().split("::"))) for way in names if way.strip())


def rust_modules(crate):
    """Returns {module: modules that it names}. Names that a module exports again belong to the module that defines
    them; the export itself is no use."""
    texts = {}
    for path in sorted(crate.rglob("*.rs")):
        parts = path.relative_to(crate).with_suffix("").parts
        text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", without_comments(path.read_text()), flags=re.S)
        texts[() if parts == ("lib",) else parts] = text
    exported = {}
    for module, text in texts.items():
        for head, names in rust_paths(text):
            if head == "pub use" and module + names[:-1] in texts:
                exported[module + names[-1:]] = module + names[:-1]
    arrows = {"::".join(module) or "crate": set() for module in texts}
    for module, text in texts.items():
        for head, names in rust_paths(text):
            if head == "pub use":
                continue
            path = (() if head == "crate" else module[:-1]) + names
            used = max((path[:n] for n in range(len(path) + 1) if path[:n] in texts), key=len)
            used = exported.get(path[:len(used) + 1], used)
            arrows["::".join(module) or "crate"].add("::".join(used) or "crate")
    return arrows


def python_modules(folder):
    """Returns {file: files of its folder that it imports}. Imports for type checkers only are not counted."""
    names = {path.stem: path for path in folder.glob("*.py")}
    arrows = {name: set() for name in names}
    for name, path in names.items():
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                node.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                wanted = [node.module] if node.module else [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            else:
                continue
            arrows[name].update(other for other in wanted if other in names)
    return arrows


def main():
    root = pathlib.Path(sys.argv[1])
    library = includes(root, ["impl", "backends", "image", "onnx", "tools"], {".h", ".cpp", ".c"})
    others = includes(root, ["tests", "examples", "benchmarks"], {".h", ".cpp", ".c"})
    graphs = {
        "files": (library, 1500), "folders": (between_folders(library), 40), "shaders": (includes(root, ["glsl"], {".comp", ".glsl"}), 100),
        "files of tests": (others, 300), "modules of mnn-c": (rust_modules(root / "bindings/rust/mnn-c/src"), 60),
        "modules of mnn-c-sys": (rust_modules(root / "bindings/rust/mnn-c-sys/src"), 4),
    }
    for folder in sorted({path.parent for path in files_of(root, ["bindings", "tests", "benchmarks", "docs", "tools"], {".py"})}):
        graphs[str(folder.relative_to(root))] = (python_modules(folder), 0)
    graphs["bindings/python/src/mnn_c"] = (graphs["bindings/python/src/mnn_c"][0], 80)
    wrong = against_order(library)
    for what, (arrows, fewest) in graphs.items():
        count = sum(len(used - {name}) for name, used in arrows.items())
        if count >= max(fewest, 1):
            print(f"{what}: {count} arrows between {len(arrows)}")
        if count < fewest:
            wrong.append(f"only {count} arrows were found between {what}")
        wrong += [f"a circle of {what}: {', '.join(group)}" for group in circles(arrows)]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
