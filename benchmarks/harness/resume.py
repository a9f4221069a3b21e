"""A file of results that a run adds to after each net, and that a later run with --resume continues."""

import hashlib
import json
import os

import engines
from harness import machine

# These settings have to be equal: a table must not mix rows of different ones.
SETTINGS = ("precision", "clock", "rounds", "sets", "loads", "retries", "seed", "isa")


class Mismatch(Exception):
    """The file's rows and new ones cannot be in one table; the text says why."""


def library_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def conditions(args, chosen):
    """Returns the conditions that all rows of one file have in common."""
    found = {name: getattr(args, name) for name in SETTINGS}
    found["engines"] = chosen
    found["machine"] = machine.describe()
    for name, option in engines.LIBRARIES.items():
        if name in chosen:
            found[option + "_sha256"] = library_digest(getattr(args, option))
    return found


def write(path, document):
    """Writes the complete file or none: the process may be ended at any time."""
    with open(path + ".part", "w") as file:
        json.dump(document, file, indent=1)
    os.replace(path + ".part", path)


def rows_of(path, wanted):
    """Returns the rows of an earlier run under the same conditions; none without a file."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        try:
            document = json.load(file)
        except json.JSONDecodeError as error:
            raise Mismatch(f"{path} is no JSON file: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise Mismatch(f"{path} holds no results of this program")
    for name, value in wanted.items():
        if document.get(name) != value:
            raise Mismatch(f"{path} was measured with {name} {document.get(name)}, now it is {value}")
    return document["results"]


def refuse_other_versions(rows, row):
    """Refuses a row in which the version of an engine differs from that in the other rows."""
    for name, engine in row["engines"].items():
        for earlier in rows:
            version = earlier["engines"].get(name, engine)["version"]
            if version != engine["version"]:
                raise Mismatch(f"the file has {version}, now it is {engine['version']}")
