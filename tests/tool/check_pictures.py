#!/usr/bin/env python3
"""Several pictures in one call of `mnn run`: each has the result that it has alone, with its file in front.

    check_pictures.py MNN_TOOL FLATC MODEL

MODEL takes a picture of 8 x 8 pixels and one channel, and gives ten scores.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from files import Net, read_npy, write_npy


class Tool:
    def __init__(self, program):
        self.program = program

    def __call__(self, *arguments, code=0, given=None, text=True):
        done = subprocess.run([self.program, "run", *map(str, arguments)], capture_output=True, input=given)
        if done.returncode != code:
            sys.exit(f"mnn run {' '.join(map(str, arguments))}: exit code {done.returncode}, wanted {code}\n"
                     f"{done.stdout[:999]}{done.stderr.decode()}")
        self.errors = done.stderr.decode()
        return done.stdout.decode() if text else done.stdout

    def images(self, *arguments, **options):
        return json.loads(self(*arguments, "--json", **options))["images"]


def near(a, b):
    """Batches may sum up in another order."""
    return len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b)) <= 1e-5 * max(map(abs, b))


def make_pictures(folder):
    """Eleven pictures: more than a batch, and not a multiple of it. path -> the net's result for it alone."""
    folder.mkdir()
    for number in range(11):
        pixels = bytes((x * 29 + number * 57) % 256 for x in range(64))
        (folder / f"p{number:02}.pgm").write_bytes(b"P5 8 8 255\n" + pixels)
    return sorted(folder.iterdir())


def values_of(images, output="scores"):
    return [image["outputs"][output]["values"] for image in images]


def check_results(run, model, folder):
    paths = make_pictures(folder)
    alone = [json.loads(run(model, "--input", path, "--json"))["outputs"]["scores"] for path in paths]
    assert len({tuple(one["values"]) for one in alone}) == len(paths), "the pictures give the same scores"
    for arguments in (["--image", folder], ["--image", folder / "p*.pgm"], ["--image", folder, "--batch", 1],
                      ["--image", folder, "--batch", 3], [word for path in paths for word in ("--image", path)],
                      ["--image", folder, "--batch", 11]):
        images = run.images(model, *arguments)
        # Windows has another separator, too.
        assert [image["file"].replace("\\", "/") for image in images] == [str(path) for path in paths], images
        assert [image["outputs"]["scores"]["shape"] for image in images] == [[1, 10]] * len(paths)
        assert all(near(a, one["values"]) for a, one in zip(values_of(images), alone)), arguments
    # A folder may also have other files, which are no pictures; two files may have the same stem.
    (folder / "notes.txt").write_text("words")
    assert len(run.images(model, "--image", folder)) == len(paths)
    run(model, "--image", folder, "--output", folder / "results")
    for path, one in zip(paths, alone):
        assert near(read_npy(folder / "results" / path.stem / "scores.npy"), one["values"])
    text = run(model, "--image", paths[3], "--image", paths[1], "--top", 1)
    lines = [line for line in text.splitlines() if "top 1 of 'scores':" in line]
    assert [line.split(": ")[0] for line in lines] == [str(paths[3]), str(paths[1])], text
    best = max(range(10), key=lambda k: alone[3]["values"][k])
    assert text.splitlines()[1].split()[0] == str(best), text
    # A name of dots does not lead out of the folder.
    dots = folder / "dots"
    dots.mkdir()
    for name in ("...pgm", "a.pgm"):
        (dots / name).write_bytes(paths[0].read_bytes())
    run(model, "--image", dots, "--output", dots / "results")
    names = sorted(path.name for path in (dots / "results").iterdir())
    assert names in (["_..", "a"], ["__", "a"]), names  # names of Windows do not end with dots
    # For a single picture, the file is written without a folder.
    run(model, "--image", paths[2], "--output", folder / "one")
    assert near(read_npy(folder / "one" / "scores.npy"), alone[2]["values"])
    data = run(model, "--image", paths[2], "--output", "-", text=False)
    (folder / "stream.npy").write_bytes(data)
    assert near(read_npy(folder / "stream.npy"), alone[2]["values"])
    return paths, alone


def check_streams(run, model, paths, alone):
    """A picture and a model on standard input."""
    picture = paths[4].read_bytes()
    for arguments in (["--image", "-"], ["--input", "image=-"], ["--input", "-"]):
        result = json.loads(run(model, *arguments, "--json", given=picture))
        result = result.get("images", [result])[0]
        assert near(result["outputs"]["scores"]["values"], alone[4]["values"]), arguments
    images = run.images("-", "--image", paths[4], given=pathlib.Path(model).read_bytes())
    assert near(values_of(images)[0], alone[4]["values"])
    run("-", "--image", "-", code=2, given=pathlib.Path(model).read_bytes())
    assert "given twice" in run.errors, run.errors


def check_errors(run, model, folder, paths):
    (folder / "p05.png").write_bytes(b"\x89PNG no picture")
    images = run.images(model, "--image", folder, code=1)
    assert len(images) == len(paths) + 1
    (bad,) = [image for image in images if "error" in image]
    assert bad["file"].replace("\\", "/") == str(folder / "p05.png") and set(bad) == {"file", "error"}, bad
    for word in ("p05.png", "'image'", "1x1x8x8", "cannot read"):
        assert word in bad["error"] and word in run.errors, (word, bad)
    assert all(image["outputs"] for image in images if image is not bad)
    run(model, "--image", folder, "--output", folder / "results", code=2)  # p05.png and p05.pgm
    assert "p05.png" in run.errors and "p05.pgm" in run.errors
    (folder / "p05.png").unlink()
    empty = folder / "empty"
    empty.mkdir()
    for arguments, code, word in ((["--image", folder / "none*.pgm"], 1, "none*.pgm"), (["--image", empty], 1, "empty"),
                                  (["--image", paths[0], "--input", paths[1]], 2, "--image"),
                                  (["--image", folder, "--output", "-"], 2, "one picture"),
                                  (["--image", paths[0], "--batch", 0], 2, "--batch"),
                                  (["--image", paths[0], "--mean", "1,2,3"], 2, "--mean"),
                                  (["--image", paths[0], "--shape", "image=1x2x8x8"], 1, "")):
        run(model, *arguments, code=code)
        assert word in run.errors, (arguments, run.errors)


def check_writing(run, flatc, model, folder, paths, alone):
    """Results of one picture that cannot be written do not keep those of the others from being written."""
    results = folder / "hindered"
    results.mkdir()
    (results / paths[3].stem).write_text("a file in place of a folder")
    run(model, "--image", folder, "--output", results, code=1)
    assert [path for path in paths if path.name in run.errors] == [paths[3]], run.errors
    assert run.errors.count("\n") == 1, run.errors
    for path, one in zip(paths, alone):
        assert path == paths[3] or near(read_npy(results / path.stem / "scores.npy"), one["values"])
    net = Net()
    image = net.feed("image", [1, 1, 8, 8])
    net.passed("a/b", image)
    net.passed("a_b", image)
    same = net.write(flatc, folder / "same.mnn")
    run(same, "--input", paths[0], "--output", folder / "same", code=1)
    assert "'a/b' and 'a_b' would both write 'a_b.npy'" in run.errors, run.errors


def check_shapes(run, flatc, folder, paths):
    """The shapes of files replace those of the model, which need not be possible."""
    net = Net()
    net.passed("rows", net.op("Reshape", [net.feed("image", [1, 1, 3, 5])], ["flat"], "Reshape",
                              {"dims": [-1, 64], "dimType": "NCHW"})[0])
    model = net.write(flatc, folder / "declared.mnn")
    values = list(range(128))
    found = json.loads(run(model, "--input", write_npy(folder / "large.npy", [2, 1, 8, 8], values), "--json"))
    assert found["outputs"]["rows"]["values"] == values, found
    run(model, "--image", paths[0], code=1)
    images = run.images(model, "--image", folder, "--shape", "image=1x1x8x8")
    assert values_of(images, "rows") == [list(path.read_bytes()[-64:]) for path in paths]
    net = Net()
    net.passed("wide", net.feed("image", [1, 1, 1, 65535]))
    found = run.images(net.write(flatc, folder / "widest.mnn"), "--image", paths[0])
    assert len(values_of(found, "wide")[0]) == 65535
    net = Net()
    net.passed("wide", net.feed("image", [1, 1, 1, 65536]))
    run(net.write(flatc, folder / "wider.mnn"), "--image", paths[0], code=1)
    assert "extents up to 65535" in run.errors, run.errors


def check_state(run, flatc, folder, paths):
    """A net that keeps keys and values does not keep them from one picture to the next."""
    net = Net()
    heads = net.op("Reshape", [net.feed("image", [1, 1, 8, 8])], ["heads"], "Reshape",
                   {"dims": [1, 8, 1, 8], "dimType": "NCHW"})
    mask = net.const("mask", [], [0])
    found = net.op("Attention", heads * 3 + [mask], ["found"], "AttentionParam", {"kv_cache": True})
    net.passed("seen", found[0])
    model = net.write(flatc, folder / "state.mnn")
    alone = [values_of(run.images(model, "--image", path, "--scale", 0.01), "seen")[0] for path in paths]
    assert len({tuple(values) for values in alone}) == len(paths)
    assert values_of(run.images(model, "--image", folder, "--scale", 0.01), "seen") == alone


def check_fixed(run, flatc, folder, paths):
    """Nets that cannot take several pictures get one after another: with a fixed batch inside, and with another
    input."""
    net = Net()
    image = net.feed("image", [1, 1, 8, 8])
    flat = net.op("Reshape", [image, net.ints("extents", [1, -1])], ["flat"], "Reshape", {"dims": [], "dimType": "NCHW"})
    net.passed("all", flat[0])
    model = net.write(flatc, folder / "fixed.mnn")
    for image, path in zip(run.images(model, "--image", folder), paths):
        assert image["outputs"]["all"]["shape"] == [1, 64], image["outputs"]
        assert image["outputs"]["all"]["values"] == list(path.read_bytes()[-64:]), path
    net = Net()
    net.passed("picture", net.feed("image", [1, 1, 8, 8]))
    net.passed("other", net.feed("more", [1, 2]))
    model = net.write(flatc, folder / "two.mnn")
    (folder / "more.json").write_text("[[5, 6]]")
    images = run.images(model, "--image", folder, "--input", f"more={folder / 'more.json'}")
    assert len(images) == len(paths) and all(image["outputs"]["other"]["values"] == [5, 6] for image in images)
    assert values_of(images, "picture") == [list(path.read_bytes()[-64:]) for path in paths]
    run(model, "--image", folder, code=2)
    assert "'image'" in run.errors and "'more'" in run.errors, run.errors
    # NaN in an output is no sign of a net that mixes pictures.
    net = Net()
    image = net.feed("image", [1, 1, 8, 8])
    zero = net.const("zero", [1], [0])
    nothing = net.op("BinaryOp", [image, zero], ["nothing"], "BinaryOp", {"opType": "MUL", "T": "DT_FLOAT"})
    net.op("BinaryOp", nothing + nothing, ["nan"], "BinaryOp", {"opType": "REALDIV", "T": "DT_FLOAT"})
    net.outputs = ["nan"]
    run(net.write(flatc, folder / "nan.mnn"), "--image", folder)
    assert run.errors == "", run.errors
    # An open batch holds several pictures; other open extents do not.
    net = Net()
    net.passed("picture", net.feed("image", [-1, 1, 8, 8]))
    images = run.images(net.write(flatc, folder / "open.mnn"), "--image", folder)
    assert values_of(images, "picture") == [list(path.read_bytes()[-64:]) for path in paths]
    net = Net()
    net.passed("picture", net.feed("image", [-1, 1, 8, -1]))
    run(net.write(flatc, folder / "wide.mnn"), "--image", folder, code=1)
    assert "--shape" in run.errors and "1x1x8x?" in run.errors, run.errors


def check_letterbox(run, flatc, folder):
    """Pictures keep their proportions: the rest of the input is 114, before mean and scale."""
    net = Net()
    net.passed("picture", net.feed("image", [1, 1, 8, 8]))
    model = net.write(flatc, folder / "boxed.mnn")
    for width, height, left, top in ((8, 4, 0, 2), (5, 8, 1, 0), (8, 8, 0, 0)):
        pixels = [(x * 7) % 100 for x in range(width * height)]
        (folder / "boxed.pgm").write_bytes(b"P5 %d %d 255\n" % (width, height) + bytes(pixels))
        wanted = [114.0] * 64
        for y in range(height):
            wanted[(top + y) * 8 + left:(top + y) * 8 + left + width] = pixels[y * width:(y + 1) * width]
        found = run.images(model, "--image", folder / "boxed.pgm", "--letterbox")
        assert values_of(found, "picture") == [wanted], (width, height, found)
    found = run.images(model, "--image", folder / "boxed.pgm", "--letterbox", "--mean", 100, "--scale", 0.5)
    assert values_of(found, "picture") == [[(value - 100) * 0.5 for value in wanted]]
    # A line of pixels is not lost where it takes less than a pixel of the input.
    (folder / "boxed.pgm").write_bytes(b"P5 200 1 255\n" + bytes([50] * 200))
    found = values_of(run.images(model, "--image", folder / "boxed.pgm", "--letterbox"), "picture")[0]
    assert sorted(set(found)) == [50, 114] and found.count(50) == 8, found
    (folder / "boxed.pgm").unlink()


def check_mixed(run, flatc, folder, paths):
    """Nets whose outputs have the shapes of a batch, but not a part for each picture: each is run alone."""
    pixels = [list(path.read_bytes()[-64:]) for path in paths]

    def expect(model, name, shape, wanted, *flags):
        images = run.images(model, "--image", folder, *flags)
        assert [image["outputs"][name]["shape"] for image in images] == [shape] * len(paths), images
        assert values_of(images, name) == wanted, (name, flags)
        assert "one after another" in run.errors and f"'{name}' of '" in run.errors, run.errors

    net = Net()  # the first pixel of each picture, then the second of each, ...
    image = net.feed("image", [1, 1, 8, 8])
    rows = net.op("Reshape", [image], ["rows"], "Reshape", {"dims": [-1, 64], "dimType": "NCHW"})
    turned = net.op("Permute", rows, ["turned"], "Permute", {"dims": [1, 0]})
    net.passed("in_turn", net.op("Reshape", turned, ["column"], "Reshape", {"dims": [-1, 1], "dimType": "NCHW"})[0])
    model = net.write(flatc, folder / "in_turn.mnn")
    expect(model, "in_turn", [64, 1], pixels)
    expect(model, "in_turn", [64, 1], pixels, "--batch", 3)
    net = Net()  # the difference from the mean of all pictures
    image = net.feed("image", [1, 1, 8, 8])
    mean = net.op("Reduction", [image], ["mean"], "ReductionParam", {"operation": "MEAN", "dim": [0], "keepDims": True})
    net.passed("apart", net.op("BinaryOp", [image] + mean, ["difference"], "BinaryOp", {"opType": "SUB"})[0])
    expect(net.write(flatc, folder / "apart.mnn"), "apart", [1, 1, 8, 8], [[0] * 64] * len(paths))
    # A batch that was requested, but is not possible: the reason is printed.
    for flags, printed in ((["--batch", 3], True), ([], False)):
        run(folder / "two.mnn", "--image", folder, "--input", f"more={folder / 'more.json'}", *flags)
        assert ("'other' has no part for each picture" in run.errors) == printed, run.errors


def main():
    run, flatc, model = Tool(sys.argv[1]), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "pictures"
        paths, alone = check_results(run, model, folder)
        check_streams(run, model, paths, alone)
        check_errors(run, model, folder, paths)
        check_writing(run, flatc, model, folder, paths, alone)
        check_shapes(run, flatc, folder, paths)
        check_state(run, flatc, folder, paths)
        check_fixed(run, flatc, folder, paths)
        check_letterbox(run, flatc, folder)
        check_mixed(run, flatc, folder, paths)


if __name__ == "__main__":
    main()
