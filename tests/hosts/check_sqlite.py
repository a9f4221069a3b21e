#!/usr/bin/env python3
"""Runs SQL that uses the example extension of SQLite, with the program sqlite3, and looks at what it says.

    check_sqlite.py EXTENSION DIGITS_FOLDER VERSION [CASE_DIR...]

CASE_DIR: nets with expected outputs (tests/conformance); those of one input are run through mnn_run(). Exit status 77
without sqlite3 or without the extension.
"""
import array
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "conformance"))
import case_files  # noqa: E402

failures = []


class Shell:
    """The program sqlite3 with the extension loaded."""

    def __init__(self, program, extension, digits):
        self.program, self.extension, self.digits = program, extension, digits

    def run(self, script):
        prelude = f".load '{os.path.splitext(self.extension)[0]}'\n"
        done = subprocess.run([self.program, "-batch", "-list", ":memory:"], input=prelude + script,
                              capture_output=True, text=True)
        return done.stdout.strip(), done.stderr.strip()

    def gives(self, script, wanted):
        said, complaint = self.run(self.images() + script)
        if said != wanted or complaint:
            failures.append(f"{script}\n  gave {said!r} {complaint!r}, wanted {wanted!r}")

    def fails(self, script, pattern):
        said, complaint = self.run(script)
        if said or not re.search(pattern, complaint):
            failures.append(f"{script}\n  gave {said!r} {complaint!r}, wanted the error {pattern!r}")

    def images(self):
        """The held-out images in a table."""
        images, labels = (f"readfile('{self.digits}/test_{what}.bin')" for what in ("images", "labels"))
        return f"""
            CREATE TABLE images(id INTEGER PRIMARY KEY, pixels BLOB, label INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 539)
            INSERT INTO images
            SELECT i, substr({images}, i * 64 + 1, 64), CAST(hex(substr({labels}, i + 1, 1)) AS INTEGER) FROM n;
        """


def check_digits(shell, model, version):
    input_ = "mnn_floats(pixels, 1 / 16.0)"
    shell.gives("SELECT mnn_version();", version)
    # 533 of 540: what examples/c/classify_digits prints.
    shell.gives(f"SELECT sum(class = label), count(*) FROM images, mnn_topk('{model}', {input_}, 1);", "533|540")
    shell.gives(f"SELECT sum(class = label), count(*) FROM images LEFT JOIN mnn_topk"
                f" ON model = '{model}' AND input = {input_} AND k = 1;", "533|540")
    shell.gives(f"""SELECT count(*) FROM images WHERE label =
                    (SELECT key FROM json_each(mnn_vec(mnn_run('{model}', {input_}))) ORDER BY value DESC LIMIT 1);""",
                "533")
    # All images at once form a batch.
    batch = f"mnn_floats(readfile('{shell.digits}/test_images.bin'), 1 / 16.0)"
    shell.gives(f"SELECT sum(class = label), count(*), max(item) FROM mnn_topk('{model}', {batch}, 1)"
                " JOIN images ON id = item;", "533|540|539")
    shell.gives(f"SELECT length(mnn_run('{model}', {batch}));", str(540 * 40))
    # The table and the function agree, in value and order.
    one = f"(SELECT {input_} FROM images WHERE id = 7)"
    shell.gives(f"""SELECT count(*), sum(abs(score - value) < 1e-5), group_concat(rank) FROM
                    mnn_topk('{model}', {one}, 99),
                    json_each(mnn_vec(mnn_run('{model}', {one}, 'scores'))) WHERE key = class;""",
                "10|10|1,2,3,4,5,6,7,8,9,10")
    shell.gives(f"SELECT count(*), sum(score > lead) FROM (SELECT score, lead(score) OVER (ORDER BY rank) AS lead"
                f" FROM mnn_topk('{model}', {one}));", "5|4")
    shell.gives(f"SELECT count(*) FROM mnn_topk('{model}', {one}, '3');", "3")
    shell.gives(f"SELECT count(*), k, typeof(input), length(model) FROM mnn_topk('{model}', {one}, NULL);",
                f"5||blob|{len(model)}")
    # Two cursors at once.
    shell.gives(f"SELECT count(*), sum(a.class = b.class) FROM mnn_topk('{model}', {one}, 4) AS a,"
                f" mnn_topk('{model}', zeroblob(256), 10) AS b;", "40|4")


def check_values(shell, model):
    shell.gives("SELECT mnn_vec(x'0000803f0000c07f000000c00000807fcdcccc3d'), mnn_vec(x'');",
                "[1,null,-2,null,0.100000001]|[]")
    shell.gives("SELECT hex(mnn_floats(x'0001ff')), hex(mnn_floats(x'0410', 0.25)), typeof(mnn_floats(x''));",
                "000000000000803F00007F43|0000803F00008040|blob")
    shell.gives("SELECT mnn_run(NULL, x'00') IS NULL, mnn_run('m', NULL) IS NULL, mnn_run('m', x'', NULL) IS NULL,"
                " mnn_vec(NULL) IS NULL, mnn_floats(NULL) IS NULL, mnn_floats(x'00', NULL) IS NULL;", "1|1|1|1|1|1")
    shell.gives(f"SELECT count(*) FROM mnn_topk('{model}', NULL, 3), mnn_topk(NULL, x'00', 3);", "0")


def check_errors(shell, model, folder):
    blob = "zeroblob(256)"
    for call in ("SELECT mnn_run({});", "SELECT * FROM mnn_topk({});"):
        for arguments, pattern in (
                (f"'{folder}/none.mnn', {blob}", "none.mnn': No such file .*MNN_ERROR_FILE_NOT_EXIST"),
                (f"'{folder}', {blob}", "MNN_ERROR_FILE_OPEN_FAILED"),
                (f"'{__file__}', {blob}", "are not a model .*MNN_ERROR_BAD_FORMAT"),
                (f"'', {blob}", "MNN_ERROR_"),
                (f"7, {blob}", "the model must be text, not an integer"),
                (f"x'00', {blob}", "the model must be text, not a blob"),
                (f"'a' || char(0) || 'b', {blob}", "the model has a zero character inside"),
                (f"'{model}', 'text'", "the input must be a blob, not text"),
                (f"'{model}', 1.5", "the input must be a blob, not a real number"),
                (f"'{model}', x''", "a multiple of 256 bytes, the blob has 0"),
                (f"'{model}', zeroblob(255)", "'image' is 1x1x8x8, .* a multiple of 256 bytes, the blob has 255"),
        ):
            shell.fails(call.format(arguments), r"mnn_(run|topk): .*" + pattern)
    shell.fails(f"SELECT mnn_run('{model}', {blob}, 'none');", "'none'.*'scores'.*MNN_ERROR_NOT_FOUND")
    shell.fails(f"SELECT mnn_run('{model}', {blob}, 3);", "the output's name must be text")
    shell.fails("SELECT mnn_run('m');", "wrong number of arguments")
    for k in ("0", "-1", "2.5", "'many'", "x'01'"):
        shell.fails(f"SELECT * FROM mnn_topk('{model}', {blob}, {k});", "mnn_topk: k must be an integer of 1 or more")
    shell.fails(f"SELECT * FROM mnn_topk('{model}');", "mnn_topk: a model and an input are needed")
    shell.fails(f"SELECT * FROM mnn_topk('{model}', {blob}, 1, 2);", "too many arguments")
    shell.fails("CREATE VIRTUAL TABLE t USING mnn_topk;", "no such module")
    shell.fails("SELECT mnn_vec(x'000000');", "mnn_vec: .* multiple of 4 bytes, the blob has 3")
    shell.fails("SELECT mnn_vec('text');", "mnn_vec: the input must be a blob, not text")
    shell.fails("SELECT mnn_floats(x'00', 'much');", "mnn_floats: the scale must be a number")
    # SQL in a database file must not be able to read other files.
    unsafe = f"mnn_run('{model}', {blob})"
    shell.fails(f"CREATE VIEW v AS SELECT {unsafe}; SELECT * FROM v;", "unsafe use of mnn_run")
    shell.fails(f"CREATE VIEW v AS SELECT * FROM mnn_topk('{model}', {blob}); SELECT * FROM v;",
                "unsafe use of virtual table .mnn_topk")
    shell.fails(f"CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT {unsafe}; END;"
                " INSERT INTO t VALUES (1);", "unsafe use of mnn_run")
    shell.fails(f"CREATE TABLE t(a, b DEFAULT ({unsafe})); INSERT INTO t(a) VALUES (1);", "unsafe use of mnn_run")
    shell.fails("CREATE TABLE t(a); CREATE INDEX i ON t(mnn_run('m', a));", "prohibited in index expressions")
    shell.fails("CREATE TABLE t(a, b AS (mnn_run('m', a)));", "prohibited in generated columns")
    shell.gives("CREATE TABLE t(a); INSERT INTO t VALUES (x'0000803f'); CREATE INDEX i ON t(mnn_vec(a));"
                " SELECT count(*) FROM t WHERE mnn_vec(a) = '[1]';", "1")


def check_changed_file(shell, model, other):
    """A model file that is replaced, cut, removed and restored while a connection uses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.mnn"
        ask = f"SELECT length(mnn_run('{path}', zeroblob(1024)));\n"
        said, complaint = shell.run(f".shell cp '{model}' '{path}'\n{ask}{ask}"
                                    f".shell cp '{other}' '{path}'\n{ask}"
                                    f".shell truncate -s 100 '{path}'\n{ask}"
                                    f".shell rm '{path}'\n{ask}"
                                    f".shell cp '{model}' '{path}.new' && mv '{path}.new' '{path}'\n{ask}")
        if said.split() != ["160", "160", "160"]:
            failures.append(f"a model file that changes: {said!r} {complaint!r}")
        for word in ("it takes", "MNN_ERROR_BAD_FORMAT|MNN_ERROR_TRUNCATED", "MNN_ERROR_FILE_NOT_EXIST"):
            if not re.search(word, complaint):
                failures.append(f"a model file that changes: no {word} in {complaint!r}")


def check_readme(shell):
    """Runs the session of the README, from the top of the project."""
    project = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(f"{project}/examples/sqlite/README.md", encoding="utf-8") as file:
        session = re.search(r"```sql\n\.load .*?\n(.*?)```", file.read(), re.S).group(1)
    said, complaint = shell.run(f".cd '{project}'\n{session}")
    if complaint or not re.search(r"^0\|18\.50.*^533\|540$.*^\[18\.50", said, re.S | re.M):
        failures.append(f"the README's session says {said!r} {complaint!r}")


def check_exports(extension):
    if not shutil.which("nm"):
        print("nm is missing: what the extension exports is not looked at")
        return
    listing = subprocess.run(["nm", "-D", "--defined-only", extension], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in listing.stdout.splitlines()]
    if names != ["sqlite3_mnnsqlite_init"]:
        failures.append(f"the extension exports {names}")


def close_enough(got, wanted, kind, tolerance):
    if kind != "float32":
        return got == wanted
    got, wanted = array.array("f", got), array.array("f", wanted)
    largest = max((abs(value) for value in wanted), default=0)
    return len(got) == len(wanted) and all(abs(a - b) <= tolerance * largest for a, b in zip(got, wanted))


def check_shapes(shell, cases):
    """Nets whose extents are open, that have several inputs, or whose scores are NaN."""
    def path(name):
        return next(f"{folder}/model.mnn" for folder in cases if os.path.basename(folder) == name)
    shell.fails(f"SELECT mnn_run('{path('convolution__dynamic_batch')}', zeroblob(84));",
                r"'in0' is 1x3x\?x\?: more than one extent is open")
    shell.fails(f"SELECT mnn_run('{path('concat__axes')}', zeroblob(84));", "has 9 inputs, only models of one can be run")
    attention = f"'{path('matmul__attention')}'"  # 1x?x12: the extent in the middle follows from the blob
    shell.gives(f"SELECT length(mnn_run({attention}, zeroblob(7 * 48))), length(mnn_run({attention}, zeroblob(48)));",
                "336|48")
    shell.fails(f"SELECT mnn_run({attention}, zeroblob(49));", "a multiple of 48 bytes, the blob has 49")
    gelu = f"mnn_topk('{path('unary__gelu')}', x'0000c07f{'00000000' * 89}', 99)"  # NaN
    shell.gives(f"SELECT count(*), count(DISTINCT item) FROM {gelu};", "90|2")
    shell.gives(f"SELECT rank, score IS NULL FROM {gelu} WHERE item = 0 AND class = 0;", "45|1")


OPEN_EXTENTS = ("convolution__dynamic_batch", "matmul__attention", "reshape__dynamic", "shape_query__shape_size")


def readable(folder, case):
    """Returns whether the extension accepts the case: one input with elements, whose declared shape is the stored
    one."""
    kinds = {entry["dtype"] for entry in case["inputs"] + case["outputs"]}
    name = os.path.basename(folder)
    if any(0 in entry["shape"] for entry in case["inputs"]):
        return False  # an empty blob is no input
    return len(case["inputs"]) == 1 and kinds <= {"float32", "int32"} and name not in OPEN_EXTENTS


def check_cases(shell, folders):
    """Compares outputs by name, through SQL, with the stored ones. One connection opens all models: more than it
    keeps."""
    checks, script = [], ""
    for folder in folders:
        case = case_files.describe(folder)
        if not readable(folder, case):
            continue
        blob = case_files.elements(case_files.read(folder, case["inputs"][0]["file"])).hex()
        for output in case["outputs"]:
            script += f"SELECT hex(mnn_run('{folder}/{case['model']}', x'{blob}', '{output['name']}'));\n"
            checks.append((folder, output, case["tolerance"]["relative_to_max"]))
    said, complaint = shell.run(script)
    lines = said.split("\n")
    if complaint or len(lines) != len(checks) or not checks:
        failures.append(f"{len(lines)} answers of {len(checks)} outputs: {complaint}")
        return
    for (folder, output, tolerance), line in zip(checks, lines):
        wanted = case_files.elements(case_files.read(folder, output["file"]))
        if not close_enough(bytes.fromhex(line), wanted, output["dtype"], tolerance):
            failures.append(f"{folder}: output {output['name']} is another than expected")
    print(f"{len(checks)} outputs of stored nets agree")


def main(arguments):
    if len(arguments) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    extension, digits, version = arguments[:3]
    program = shutil.which("sqlite3")
    if not program or not os.path.exists(extension):
        print("skipped: " + ("the extension was not built" if program else "the program sqlite3 is missing"))
        return 77
    shell, model = Shell(program, extension, digits), f"{digits}/digits.mnn"
    check_exports(extension)
    check_digits(shell, model, version)
    check_values(shell, model)
    check_errors(shell, model, digits)
    check_readme(shell)
    if arguments[3:]:
        check_shapes(shell, arguments[3:])
        check_cases(shell, arguments[3:])
        check_changed_file(shell, model, next(f"{f}/model.mnn" for f in arguments[3:] if f.endswith("convolution__1d")))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
