#!/usr/bin/env python3
"""Calls `mnn verify` on cases in both of their forms, and on damaged case.npz files.

    check_cases.py MNN_TOOL CASE_DIR FLATC

CASE_DIR: a case with several arrays. Each damage has to end with exit code 1 and with its own sentence.
"""
import io
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "conformance"))
import case_files  # noqa: E402
from files import Net, write_npy  # noqa: E402

ENTRY = b"PK\1\2"  # of the directory
failures = []


class Case:
    """A folder with the model of a case, and with the files that a test adds."""

    def __init__(self, tool, original, folder):
        self.tool, self.folder = tool, folder
        self.model = case_files.describe(original)["model"]
        shutil.copy(os.path.join(original, self.model), os.path.join(folder, self.model))
        description = case_files.describe(original)
        files = [entry["file"] for entry in description["inputs"] + description["outputs"]]
        self.outputs = len(description["outputs"])
        self.members = {name: case_files.read(original, name) for name in [case_files.DESCRIPTION, *files]}

    def clear(self):
        for name in os.listdir(self.folder):
            if name != self.model:
                os.remove(os.path.join(self.folder, name))

    def put(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def verify(self, what, sentence=None):
        """Without a sentence the case must pass, otherwise it must fail with the sentence."""
        done = subprocess.run([self.tool, "verify", self.folder], capture_output=True, text=True, errors="replace")
        if sentence is None:
            right = done.returncode == 0 and done.stdout.count("pass ") == self.outputs and not done.stderr
        else:
            right = done.returncode == 1 and sentence in done.stderr and done.stdout.endswith("0 passed, 1 failed\n")
        if not right:
            failures.append(f"{what}: exit code {done.returncode}, wanted {sentence or 'a pass'!r}\n"
                            f"{done.stdout}{done.stderr}")

    def verify_archive(self, what, content, sentence=None):
        self.put(case_files.ARCHIVE, content)
        self.verify(what, sentence)


def changed(data, at, form, value):
    """Returns the bytes with one number replaced."""
    data = bytearray(data)
    struct.pack_into(form, data, at, value)
    return bytes(data)


def zipped(members, method=zipfile.ZIP_STORED, comment=b"", **options):
    """Returns a zip file made by Python's library. options: of ZipFile.open."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file:
        for name, content in members.items():
            with file.open(name, "w", **options) as member:
                member.write(content)
        file.comment = comment
    return packed.getvalue()


class Unseekable(io.RawIOBase):
    """A file to which zipfile writes the sizes of a member behind it."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def check_forms(case):
    for name, content in case.members.items():
        case.put(name, content)
    case.verify("files of their own")
    case.put(case_files.ARCHIVE, b"")
    case.verify("an archive beside the files", "does not end as a zip file does")
    case.clear()
    case.verify("a folder with a model only", "no case.npz and no case.json in ")
    packed = case_files.pack(case.members)
    if packed != case_files.pack(dict(reversed(case.members.items()))):
        failures.append("the same members in another order give other bytes")
    case.verify_archive("as the generators write it", packed)
    case.verify_archive("members in another order", zipped(dict(reversed(case.members.items()))))
    case.verify_archive("sizes in zip64 fields, as numpy.savez writes them", zipped(case.members, force_zip64=True))
    case.verify_archive("a member that the case does not name", zipped({**case.members, "more/h\u00e9.txt": b"x"}))
    os.truncate(os.path.join(case.folder, case_files.ARCHIVE), 1 << 32)  # a sparse file
    case.verify("a file of 4 GiB", "is larger than a zip file without zip64 fields can be")
    case.clear()
    os.mkdir(os.path.join(case.folder, case_files.ARCHIVE))
    case.verify("a folder in place of the archive", "cannot open '")
    os.rmdir(os.path.join(case.folder, case_files.ARCHIVE))


def check_members(case):
    """Well-formed archives with wrong contents."""
    first = json.loads(case.members[case_files.DESCRIPTION])["inputs"][0]["file"]
    for what, name, content, sentence in (
            ("no case.json", case_files.DESCRIPTION, None, "case.npz' has no member 'case.json'"),
            ("no array", first, None, f"case.npz' has no member '{first}'"),
            ("an empty case.json", case_files.DESCRIPTION, b"", "case.npz:case.json': "),
            ("a case.json without outputs", case_files.DESCRIPTION, b'{"model": "model.mnn", "inputs": []}',
             "case.npz:case.json': key 'outputs' not found"),
            ("the case of a language model", case_files.DESCRIPTION, b'{"tokens": [1], "logits": "logits.npy"}',
             "is about a language model, which 'mnn generate' runs"),
            ("a case.json without lists", case_files.DESCRIPTION, b'{"model": "model.mnn", "inputs": null}',
             "a value is null, but no list"),
            ("an empty array", first, b"", f"case.npz:{first}' is no .npy file"),
            ("a cut array", first, case.members[first][:-1], f"case.npz:{first}' "),
            ("an array that ends in its header", first, case.members[first][:40], f"case.npz:{first}' ends inside")):
        members = dict(case.members)
        del members[name]
        if content is not None:
            members[name] = content
        case.verify_archive(what, case_files.pack(members), sentence)


def check_damages(case):
    data = case_files.pack(case.members)
    end, entry = len(data) - 22, data.index(ENTRY)
    second = data.index(ENTRY, entry + 1)
    count, directory_bytes, directory = struct.unpack_from("<HII", data, end + 10)
    name_bytes = struct.unpack_from("<H", data, entry + 28)[0]
    most16, most32 = 0xffff, 0xffffffff
    no_end, no_directory = "does not end as a zip file does", "has a directory that does not lie before the end record"
    no_entry, differs = "in its directory of ", "has a header that differs from its entry in the directory"
    no_header, beyond = "has no header where the directory says", "goes beyond the members' part of the file"
    zip64, parts = "is a zip64 file", "is a part of a zip file of several files"
    damages = [
        # Around the end record.
        ("nothing", b"", no_end),
        ("the end record without its last byte", data[end:-1], no_end),
        ("a byte behind the end", data + b"\0", no_end),
        ("the last byte is missing", data[:-1], no_end),
        ("another word at the end record", changed(data, end, "<I", 0x06054b51), no_end),
        ("the length of a comment", changed(data, end + 20, "<H", 1), "announces a comment that is not there"),
        ("a comment", zipped(case.members, comment=b"words"), no_end),
        ("a disk's number", changed(data, end + 4, "<H", 1), parts),
        ("the directory's disk", changed(data, end + 6, "<H", 1), parts),
        ("members on this disk", changed(data, end + 8, "<H", count - 1), parts),
        ("zip64 for the number of members", changed(data, end + 10, "<H", most16), zip64),
        ("zip64 for the directory's size", changed(data, end + 12, "<I", most32), zip64),
        ("zip64 for the directory's place", changed(data, end + 16, "<I", most32), zip64),
        ("zip64 records before the end record",
         data[:end] + struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, directory_bytes, directory) +
         struct.pack("<4sIQI", b"PK\6\7", 0, end, 1) + data[end:], no_directory),
        ("a directory that begins earlier", changed(data, end + 16, "<I", directory - 1), no_directory),
        ("a directory that begins behind the end", changed(data, end + 16, "<I", most32 - 1), no_directory),
        ("a longer directory", changed(data, end + 12, "<I", directory_bytes + 1), no_directory),
        ("a directory of the largest size", changed(data, end + 12, "<I", most32 - 1), no_directory),
        ("bytes before the first member", b"MZ" + data, no_directory),
        ("more members than fit", changed(changed(data, end + 8, "<H", 60000), end + 10, "<H", 60000),
         "announces 60000 members in a directory of"),
        ("a member less", changed(changed(data, end + 8, "<H", count - 1), end + 10, "<H", count - 1),
         "has a directory that is longer than its entries"),
        ("a member more", changed(changed(data, end + 8, "<H", count + 1), end + 10, "<H", count + 1),
         f"has no entry {count} {no_entry}"),
        ("a directory that ends in an entry",
         changed(changed(changed(data[:end] + ENTRY + bytes(6) + data[end:], end + 18, "<H", count + 1), end + 20, "<H",
                         count + 1), end + 22, "<I", directory_bytes + 10), f"has no entry {count} {no_entry}"),
        # In the directory.
        ("another word at an entry", changed(data, entry, "<I", 0x02014b51), f"has no entry 0 {no_entry}"),
        ("a longer name", changed(data, entry + 28, "<H", name_bytes + 1), f"has no entry 1 {no_entry}"),
        ("a name beyond the directory", changed(data, entry + 28, "<H", most16),
         "has an entry 0 that does not end in its directory"),
        ("an extra field beyond the directory", changed(data, entry + 30, "<H", most16),
         "has an entry 0 that does not end in its directory"),
        ("a comment beyond the directory", changed(data, entry + 32, "<H", most16),
         "has an entry 0 that does not end in its directory"),
        ("a zero in a name", changed(data, entry + 46, "<B", 0), "whose name is empty or holds control characters"),
        ("no name", changed(changed(data, entry + 28, "<H", 0), entry + 30, "<H", name_bytes),
         "whose name is empty or holds control characters"),
        ("encrypted", changed(data, entry + 8, "<H", 1), "is encrypted"),
        ("strong encryption", changed(data, entry + 8, "<H", 1 << 6), "has the flags 0x0040, which are not read"),
        ("compressed", zipped(case.members, zipfile.ZIP_DEFLATED), "is compressed (method 8); store it without"),
        ("an unknown method", changed(data, entry + 10, "<H", most16), "is compressed (method 65535)"),
        ("zip64 for a size", changed(data, entry + 24, "<I", most32), "has zip64 fields in the directory"),
        ("zip64 for a compressed size", changed(data, entry + 20, "<I", most32), "has zip64 fields in the directory"),
        ("zip64 for a place", changed(data, entry + 42, "<I", most32), "has zip64 fields in the directory"),
        ("two sizes", changed(data, entry + 20, "<I", 1), "has 1 bytes in the file and "),
        ("a member of another disk", changed(data, entry + 34, "<H", 1), "lies in another file"),
        # Places of members.
        ("a header in the directory", changed(data, entry + 42, "<I", directory), no_header),
        ("a header just before the directory", changed(data, entry + 42, "<I", directory - 29), no_header),
        ("a header behind the file", changed(data, entry + 42, "<I", most32 - 1), no_header),
        ("no header at the place", changed(data, entry + 42, "<I", 1), no_header),
        ("the size of a member that goes into the directory",
         changed(changed(data, entry + 20, "<I", directory), entry + 24, "<I", directory), beyond),
        ("the largest size of a member",
         changed(changed(data, entry + 20, "<I", most32 - 1), entry + 24, "<I", most32 - 1), beyond),
        ("a header's long name", changed(data, 26, "<H", most16), beyond),
        ("a header's long extra field", changed(data, 28, "<H", most16), beyond),
        ("two entries of one member", changed(data, second + 42, "<I", 0), differs),
        # Headers that contradict the directory.
        ("a header's name", changed(data, 30, "<B", ord("K")), differs),
        ("a header's flags", changed(data, 6, "<H", 1), differs),
        ("a header's method", changed(data, 8, "<H", 8), differs),
        ("a header's checksum", changed(data, 14, "<I", 0), differs),
        ("a header's compressed size", changed(data, 18, "<I", 0), differs),
        ("a header's size", changed(data, 22, "<I", 0), differs),
        ("zip64 sizes without their field", changed(changed(data, 18, "<I", most32), 22, "<I", most32), differs),
        # Contents.
        ("a changed byte of a member", changed(data, 30 + name_bytes + 9, "<B", 0xee), "is damaged: its contents do not"),
    ]
    large = zipped(case.members, force_zip64=True)  # its first member: a field of 20 bytes behind the name
    field = 30 + struct.unpack_from("<H", large, 26)[0]
    damages += [("a size in a zip64 field", changed(large, field + 4, "<I", 1), differs),
                ("a large size in a zip64 field", changed(large, field + 8, "<I", 1), differs),
                ("a compressed size in a zip64 field", changed(large, field + 12, "<Q", 1), differs),
                ("another field in place of zip64's", changed(large, field, "<H", 2), differs),
                ("a zip64 field of another length", changed(large, field + 2, "<H", 8), differs),
                ("a zip64 field that ends behind its space", changed(large, 28, "<H", 19), differs)]
    # The word of a header, in the last bytes before the directory.
    word = case_files.pack({**case.members, "zz": b"PK\3\4"})
    place = word.index(ENTRY)
    damages += [("a header that goes into the directory", changed(word, word.rindex(ENTRY) + 42, "<I", place - 4),
                 no_header)]
    # A name twice, which zipfile writes only with a warning: two entries of different members become equal.
    twins = case_files.pack({**case.members, "aa": b"1", "ab": b"2"})
    damages += [("a name twice", twins.replace(b"ab", b"aa"), "the member 'aa' is there twice")]
    # A member whose contents are another member with its header.
    inner = case_files.pack({"bb": b"inner"})
    inner = inner[:inner.index(ENTRY)]
    nested = case_files.pack({**case.members, "aa": inner, "bb": b"inner"})
    place = next(at for at in range(len(nested)) if nested[at:at + 4] == ENTRY and nested[at + 46:at + 48] == b"bb")
    damages += [("a member in a member", changed(nested, place + 42, "<I", nested.index(inner)),
                 "shares bytes with the member 'aa'")]
    # Sizes behind the members.
    unseekable = Unseekable()
    with zipfile.ZipFile(unseekable, "w") as file:
        for name, content in case.members.items():
            file.writestr(name, content)
    damages += [("sizes behind the members", unseekable.data, "has the flags 0x0008, which are not read")]
    for what, content, sentence in damages:
        case.verify_archive(what, content, sentence)
    return len(damages)


def check_infinite(tool, flatc, folder):
    """An infinite element does not make other differences small."""
    net = Net()
    net.passed("out", net.feed("x", [4]))
    net.write(flatc, folder / "model.mnn")
    write_npy(folder / "x.npy", [4], [math.inf, -math.inf, 1, 2])
    arrays = [{"name": name, "file": name + ".npy", "shape": [4], "dtype": "float32"} for name in ("x", "out")]
    (folder / "case.json").write_text(json.dumps({"model": "model.mnn", "tolerance": {"relative_to_max": 1e-3},
                                                  "inputs": arrays[:1], "outputs": arrays[1:]}))
    for expected, code in (([math.inf, -math.inf, 1, 2], 0), ([math.inf, -math.inf, 1, 7e9], 1),
                           ([math.inf, math.inf, 1, 2], 1), ([0, -math.inf, 1, 2], 1)):
        write_npy(folder / "out.npy", [4], expected)
        done = subprocess.run([tool, "verify", folder], capture_output=True, text=True)
        if done.returncode != code:
            failures.append(f"expected {expected}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tool, original, flatc = arguments
    with tempfile.TemporaryDirectory() as folder:
        check_infinite(tool, flatc, pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        case = Case(tool, original, folder)
        check_forms(case)
        check_members(case)
        count = check_damages(case)
    for failure in failures:
        print(failure)
    print(f"{count} damaged archives, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
