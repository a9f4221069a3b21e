"""Reads and writes the parts of a case besides its model. The standard library suffices.

A case is a folder with a model and case.npz, a zip file without compression that holds case.json and one .npy for each
array. Folders in which these are files of their own are read as well.
"""
import io
import json
import os
import re
import struct
import zipfile

ARCHIVE, DESCRIPTION = "case.npz", "case.json"


def is_case(folder):
    return any(os.path.exists(os.path.join(folder, name)) for name in (ARCHIVE, DESCRIPTION))


def read(folder, name):
    """Returns the bytes of case.json or of an array's .npy."""
    archive = os.path.join(folder, ARCHIVE)
    if os.path.exists(archive):
        with zipfile.ZipFile(archive) as file:
            return file.read(name)
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def describe(folder):
    """Returns the contents of case.json."""
    return json.loads(read(folder, DESCRIPTION))


def elements(npy):
    """Returns the raw elements in the bytes of a .npy of version 1, the form that numpy writes for plain numbers."""
    return npy[10 + struct.unpack("<H", npy[8:10])[0]:]


def pack(members):
    """Returns the bytes of a zip file with these members (name: bytes); the same members give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16  # on every machine as on Unix
            file.writestr(info, members[name])
    return packed.getvalue()


def write(folder, description, arrays):
    """Writes case.npz. arrays: the bytes of the .npy that the entries of the description name as their file."""
    text = re.sub(r"\[\s+([\d,\s]+?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]",
                  json.dumps(description, indent=1)) + "\n"
    with open(os.path.join(folder, ARCHIVE), "wb") as file:
        file.write(pack({DESCRIPTION: text.encode(), **arrays}))
