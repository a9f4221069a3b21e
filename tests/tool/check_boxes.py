#!/usr/bin/env python3
"""Boxes of detectors, as the tool prints and draws them: the models return boxes that the test provides.

    check_boxes.py MNN_TOOL FLATC
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from files import Net, ppm, read_png, write_npy

NAN, INF = math.nan, math.inf
WIDTH, HEIGHT = 60, 40  # of the picture; the input is 30 x 10, so a box grows by 2 and by 4
COLOURS = [(214, 39, 40), (31, 119, 180), (44, 140, 44)]  # of the classes 0, 1, 2
WHITE = (255, 255, 255)
# The letters of "1 0.90", with a dot of background around them.
WORDS = [".....................................",
         "...#..........###.........###...###..",
         "..##.........#...#.......#...#.#...#.",
         "...#.........#..##.......#...#.#..##.",
         "...#.........#.#.#........####.#.#.#.",
         "...#.........##..#...........#.##..#.",
         "...#.........#...#...#......#..#...#.",
         "..###.........###....#....##....###..",
         "....................................."]


class Detector:
    """A model whose outputs are its inputs; the values of a call are written to files."""

    def __init__(self, tool, flatc, folder, name, outputs):
        """outputs: name -> shape, as the file declares it."""
        net = Net()
        net.passed("seen", net.feed("image", [1, 3, 10, 30]))
        for output, shape in outputs.items():
            net.passed(output, net.feed(output + "_in", shape))
        net.outputs.remove("seen")
        self.tool, self.folder = tool, folder
        self.model = net.write(flatc, folder / name)

    def run(self, values, *flags, code=0):
        """values: name -> (shape, numbers)."""
        given = []
        for name, (shape, numbers) in values.items():
            given += ["--input", f"{name}_in={write_npy(self.folder / (name + '.npy'), shape, numbers)}"]
        done = subprocess.run([self.tool, "run", self.model, "--image", self.folder / "picture.ppm", *given, *map(str, flags)],
                              capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"{values} {flags}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def boxes(self, values, *flags):
        return json.loads(self.run(values, "--json", "--detect", *flags))["images"][0]["boxes"]


def background(x, y):
    return (x * 4, y * 6, 99)


def framed(picture, left, top, right, bottom, colour):
    for x in range(left, right):
        picture[top][x] = picture[bottom - 1][x] = colour
    for y in range(top, bottom):
        picture[y][left] = picture[y][right - 1] = colour


def check_picture(detector, folder):
    """Every pixel of a picture with two boxes."""
    values = {"boxes": ([2, 4], [10, 5, 20, 9, 2, 3, 8, 7]), "scores": ([2], [0.9, 0.6]), "labels": ([2], [1, 2])}
    detector.run(values, "--draw", folder / "out.png", "--min-score", 0.7)
    picture = [[background(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]
    framed(picture, 20, 20, 40, 36, COLOURS[1])
    for y, line in enumerate(WORDS):
        for x, dot in enumerate(line):
            picture[20 - len(WORDS) + y][20 + x] = WHITE if dot == "#" else COLOURS[1]
    found = read_png((folder / "out.png").read_bytes())
    wrong = [(x, y, found[y][x], picture[y][x]) for y in range(HEIGHT) for x in range(WIDTH) if found[y][x] != picture[y][x]]
    assert not wrong, f"{len(wrong)} pixels differ: {wrong[:5]}"
    # The second box has another colour, and its words lie inside of the picture, below its edge.
    detector.run(values, "--draw", folder / "both.png")
    both = read_png((folder / "both.png").read_bytes())
    assert both[27][15] == COLOURS[2] and both[20 + 10][39] == COLOURS[1], (both[27][15], both[30][39])
    text = detector.run(values, "--detect")
    assert "2 boxes" in text and "0.900  1                20,20 to 40,36" in text, text


def check_forms(detector):
    """One box in several forms."""
    wanted = [{"score": 0.875, "class": 1, "name": "1", "box": [20.0, 20.0, 40.0, 36.0]}]
    rest = {"scores": ([1], [0.875]), "labels": ([1], [1])}
    for numbers, flags in (([10, 5, 20, 9], []), ([5, 10, 9, 20], ["--columns", "y1,x1,y2,x2"]),
                           ([15, 7, 10, 4], ["--columns", "cx,cy,w,h"]), ([10, 5, 10, 4], ["--columns", "x1,y1,w,h"]),
                           ([10, 7, 20, 4], ["--columns", "x1,cy,x2,h"])):
        found = detector.boxes({"boxes": ([1, 4], numbers), **rest}, *flags)
        assert found == wanted, (flags, found)
    part = [10 / 30, 0.5, 20 / 30, 0.9]
    for flags in ([], ["--box-unit", "fractions"]):
        found = detector.boxes({"boxes": ([1, 4], part), **rest}, *flags)[0]["box"]
        assert all(abs(a - b) < 1e-4 for a, b in zip(found, wanted[0]["box"])), found
    found = detector.boxes({"boxes": ([1, 4], part), **rest}, "--box-unit", "pixels")[0]["box"]
    assert abs(found[2] - 40 / 30) < 1e-4, found


def check_letterbox(detector, folder):
    """The picture takes 15 x 10 pixels of the input, from 7 on: boxes grow by 4, also those in fractions of the input."""
    rest = {"scores": ([1], [0.875]), "labels": ([1], [1])}
    for numbers in ([10, 5, 20, 9], [10 / 30, 0.5, 20 / 30, 0.9]):
        found = detector.boxes({"boxes": ([1, 4], numbers), **rest}, "--letterbox", "--draw", folder / "boxed.png")[0]["box"]
        assert all(abs(a - b) < 1e-4 for a, b in zip(found, [12, 20, 52, 36])), found
    assert read_png((folder / "boxed.png").read_bytes())[35][30] == COLOURS[1]
    # Parts of a box beside the picture are cut off.
    values = {"boxes": ([2, 4], [0, 0, 6, 9, 3, 1, 30, 9]), "scores": ([2], [0.9, 0.8]), "labels": ([2], [1, 1])}
    assert [row["box"] for row in detector.boxes(values, "--letterbox")] == [[0, 4, WIDTH, 36]], detector.boxes(values, "--letterbox")


def check_hostile(detector, folder):
    """Values that no box can have are left out, and edges end at the picture."""
    rows = [[NAN, 1, 5, 5], [1, 1, INF, 5], [-INF, 1, 5, 5], [5, 5, 1, 1], [3, 3, 3, 9], [99, 99, 120, 120],
            [-90, -90, -50, -50], [-1e30, -1e30, 1e30, 1e30], [28, -3, 31, 4], [1, 1, 2, 2], [1, 1, 2, 2], [1, 1, 2, 2]]
    scores = [0.9] * 7 + [0.8, 0.7, NAN, INF, -INF]
    labels = [1] * 7 + [1e20, -7, 1, 1, 1]
    values = {"boxes": ([12, 4], sum(rows, [])), "scores": ([12], scores), "labels": ([12], labels)}
    found = detector.boxes(values, "--min-score", -1, "--draw", folder / "hostile.png")
    assert [one["box"] for one in found] == [[0, 0, WIDTH, HEIGHT], [56, 0, WIDTH, 16]], found
    assert [one["class"] for one in found] == [None, None], found
    picture = read_png((folder / "hostile.png").read_bytes())
    assert picture[39][0] == COLOURS[0] and picture[20][30] == background(30, 20)
    nothing = {"boxes": ([0, 4], []), "scores": ([0], []), "labels": ([0], [])}
    assert detector.boxes(nothing, "--draw", folder / "nothing.png") == []
    assert read_png((folder / "nothing.png").read_bytes())[7][9] == background(9, 7)
    # More than are ever drawn, and a name that is no ASCII and longer than the picture.
    count = 3000
    (folder / "names.txt").write_text("\u4e2d\u6587" * 100 + "\n")
    many = {"boxes": ([count, 4], [1, 1, 9, 9] * count), "scores": ([count], [0.9] * count), "labels": ([count], [0] * count)}
    found = detector.boxes(many, "--labels", folder / "names.txt", "--draw", folder / "many.png")
    assert len(found) == 1000 and found[0]["name"] == "\u4e2d\u6587" * 100, len(found)


def check_classes(detector):
    """Scores of each class: the best one counts, and boxes that overlap better ones of their class are dropped."""
    boxes = [[0, 0, 10, 10], [1, 0, 11, 10], [1, 0, 11, 10], [20, 0, 30, 10]]
    scores = [[0.0, 0.9, 0.1], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7], [0.95, 0.6, 0.3]]
    values = {"boxes": ([1, 4, 4], sum(boxes, [])), "scores": ([1, 4, 3], sum(scores, []))}

    def ask(*flags):
        return [(row["class"], round(row["score"], 2)) for row in detector.boxes(values, *flags)]

    assert ask() == [(0, 0.95), (1, 0.9), (2, 0.7)], ask()
    assert ask("--overlap", 1) == [(0, 0.95), (1, 0.9), (1, 0.8), (2, 0.7)], ask("--overlap", 1)
    assert ask("--background", 0) == [(1, 0.9), (2, 0.7), (1, 0.6)], ask("--background", 0)
    turned = [list(row) for row in zip(*scores)]
    values["scores"] = ([1, 3, 4], sum(turned, []))
    assert ask() == [(0, 0.95), (1, 0.9), (2, 0.7)], ask()


def check_rows(detector):
    """One output with all numbers, in rows or in columns."""
    rows = [[5, 5, 4, 4, 0.5, 0.1, 0.9], [20, 5, 4, 4, 0.9, 0.8, 0.1], [20, 5, 4, 4, 0.9, 0.7, 0.1]] + [[0] * 7] * 9
    wanted = [(0, 0.72, [36.0, 12.0, 44.0, 28.0]), (1, 0.45, [6.0, 12.0, 14.0, 28.0])]
    flags = ["--columns", "cx,cy,w,h,score,classes", "--min-score", 0.4, "--boxes", "rows"]
    turned = [list(row) for row in zip(*rows)]
    for shape, values in (([1, 12, 7], rows), ([1, 7, 12], turned)):
        found = detector.boxes({"rows": (shape, sum(values, []))}, *flags)
        assert [(row["class"], round(row["score"], 4), row["box"]) for row in found] == wanted, found
    found = detector.boxes({"rows": ([1, 1, 6], [10, 5, 20, 9, 0.75, 2])})  # recognised
    assert found == [{"score": 0.75, "class": 2, "name": "2", "box": [20.0, 20.0, 40.0, 36.0]}], found
    words = detector.run({"rows": ([1, 2, 7], [0] * 14)}, "--detect", code=2)
    assert "--columns" in words and "'rows' (1x2x7)" in words, words
    words = detector.run({"rows": ([1, 2, 7], [0] * 14)}, "--columns", "x1,y1,x2,y2,score", "--detect", code=1)
    assert "'rows'" in words and "shape 1x2x7" in words and "5 numbers" in words, words


def check_post_process(tool, flatc, folder):
    """The outputs of DetectionPostProcess are recognised, even with other names."""
    net = Net()
    net.passed("seen", net.feed("image", [1, 3, 10, 30]))
    inputs = [net.feed("codes", [1, 2, 4]), net.feed("marks", [1, 2, 3]),
              net.const("anchors", [2, 4], [0.5, 0.25, 4.0, 0.5, 0.7, 0.5, 0.4, 0.2])]  # cy, cx, h, w: one passes 2
    net.outputs = ["a", "b", "c", "d"]
    net.op("DetectionPostProcess", inputs, net.outputs, "DetectionPostProcessParam",
           {"maxDetections": 3, "maxClassesPerDetection": 1, "detectionsPerClass": 4, "nmsScoreThreshold": 0.2,
            "iouThreshold": 0.45, "numClasses": 2, "centerSizeEncoding": [10.0, 10.0, 5.0, 5.0]})
    model = net.write(flatc, folder / "post.mnn")
    codes = write_npy(folder / "codes.npy", [1, 2, 4], [0.0] * 8)
    marks = write_npy(folder / "marks.npy", [1, 2, 3], [0, 0.75, 0.1, 0, 0.1, 0.5])
    done = subprocess.run([tool, "run", model, "--image", folder / "picture.ppm", "--input", f"codes={codes}", "--input",
                           f"marks={marks}", "--detect", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["images"][0]["boxes"]
    assert [(row["class"], row["score"]) for row in found] == [(0, 0.75), (1, 0.5)], found
    wanted = [[0, 0, 30, 40], [24, 20, 36, 36]]
    assert all(abs(a - b) < 1e-3 for row, box in zip(found, wanted) for a, b in zip(row["box"], box)), found


def check_detection_output(tool, flatc, folder):
    """The output of DetectionOutput is recognised: rows of image, class, score, x1, y1, x2, y2, as fractions. It is
    also drawn."""
    net = Net()
    net.passed("seen", net.feed("image", [1, 3, 10, 30]))
    # x1, y1, x2, y2 of three priors, then their variances. One prior exceeds 2: fractions are known, not guessed.
    priors = [0.5, 0.25, 0.75, 0.75, 0.125, 0.5, 0.25, 1.0, -3.0, 0.0, 3.0, 1.0] + [0.1, 0.1, 0.2, 0.2] * 3
    inputs = [net.feed("codes", [1, 12]), net.feed("marks", [1, 9]), net.const("priors", [1, 2, 12], priors)]
    net.outputs = ["out"]
    net.op("DetectionOutput", inputs, net.outputs, "DetectionOutput",
           {"classCount": 3, "nmsThresholdold": 0.45, "nmsTopK": 10, "keepTopK": 5, "confidenceThreshold": 0.2,
            "shareLocation": 1, "backgroundLable": 0, "varianceEncodedTarget": 0, "codeType": 2})
    model = net.write(flatc, folder / "output.mnn")
    # The first prior of class 2 moves by half of its extents; a batch of zeros moves nothing.
    codes = write_npy(folder / "codes.npy", [1, 12], [5.0, 5.0, 0.0, 0.0] + [0.0] * 8)
    marks = write_npy(folder / "marks.npy", [1, 9], [0.1, 0.1, 0.875, 0.25, 0.625, 0.1, 0.0, 0.75, 0.0])
    (folder / "names.txt").write_text("nothing\ncat\ndog\n")
    flags = ["--image", folder / "picture.ppm", "--input", f"codes={codes}", "--input", f"marks={marks}"]
    done = subprocess.run([tool, "run", model, *flags, "--detect", "--json", "--draw", folder / "output.png",
                           "--labels", folder / "names.txt"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["images"][0]["boxes"]
    wanted = [(2, "dog", 0.875, [0.625 * WIDTH, 0.5 * HEIGHT, 0.875 * WIDTH, HEIGHT]),
              (1, "cat", 0.75, [0, 0, WIDTH, HEIGHT]), (1, "cat", 0.625, [7.5, 20, 15, 40])]
    assert [(row["class"], row["name"], row["score"]) for row in found] == [row[:3] for row in wanted], found
    assert all(abs(a - b) < 1e-3 for row, (*_, box) in zip(found, wanted) for a, b in zip(row["box"], box)), found
    picture = read_png((folder / "output.png").read_bytes())
    for x, y, colour in ((45, 39, COLOURS[2]), (37, 30, COLOURS[2]), (52, 30, COLOURS[2]), (0, 30, COLOURS[1]), (7, 35, COLOURS[1]),
                         (30, 39, COLOURS[1]), (30, 30, background(30, 30))):
        assert picture[y][x] == colour, (x, y, picture[y][x], colour)
    # There is no box at all: the list has no rows, and the picture is unchanged.
    marks = write_npy(folder / "marks.npy", [1, 9], [0.1] * 9)
    done = subprocess.run([tool, "run", model, *flags, "--detect", "--json", "--draw", folder / "output.png"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["images"][0]["boxes"] == [], (done.stdout, done.stderr)
    assert read_png((folder / "output.png").read_bytes())[39][30] == background(30, 39)


def check_errors(detector, folder):
    values = {"boxes": ([1, 4], [1, 1, 5, 5]), "scores": ([1], [0.9]), "labels": ([1], [1])}
    for flags, code, words in (
            (["--boxes", "none", "--detect"], 2, ["--boxes", "'none'", "'boxes' (1x4)", "'labels' (1)"]),
            (["--scores", "none", "--detect"], 2, ["--scores", "'none'"]),
            (["--columns", "x1,y1,x2", "--detect"], 2, ["--columns", "likewise y1"]),
            (["--columns", "x1,y1,x2,z2", "--detect"], 2, ["'z2'"]),
            (["--columns", "x1,y1,x2,y2,classes,score", "--detect"], 2, ["'classes'"]),
            (["--columns", "x1,x1,x2,y1,y2", "--detect"], 2, ["--columns"]),
            (["--columns", "x1,y1,x2,y2,score", "--detect"], 1, ["'boxes'", "shape 1x4"]),
            (["--scores", "boxes", "--boxes", "boxes", "--columns", "x1,y1,x2,y2,score,class", "--detect"], 1, ["6 numbers"]),
            (["--draw", "-", "--json"], 2, ["--draw -"]),
            (["--draw", "/no/such/folder/x.png"], 1, ["/no/such/folder/x.png"])):
        said = detector.run(values, *flags, code=code)
        missing = [word for word in words if word not in said]
        assert not missing, (flags, missing, said)
    said = detector.run({**values, "scores": ([1, 5], [0.5] * 5), "boxes": ([2, 4], [1] * 8)}, "--detect", code=1)
    assert "scores have the shape 1x5" in said and "2 boxes" in said, said


def check_stream(detector, folder):
    values = {"boxes": ([1, 4], [1, 1, 5, 5]), "scores": ([1], [0.9]), "labels": ([1], [1])}
    detector.run(values, "--draw", folder / "file.png")
    given = [word for name in values for word in ("--input", f"{name}_in={folder / (name + '.npy')}")]
    done = subprocess.run([detector.tool, "run", detector.model, "--image", "-", *given, "--draw", "-"],
                          input=(folder / "picture.ppm").read_bytes(), capture_output=True, check=True)
    assert done.stdout == (folder / "file.png").read_bytes() and not done.stderr, done.stderr


def main():
    tool, flatc = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "picture.ppm").write_bytes(ppm(WIDTH, HEIGHT, background))
        torchvision = Detector(tool, flatc, folder, "three.mnn", {"boxes": [1, 4], "scores": [1], "labels": [1]})
        check_picture(torchvision, folder)
        check_forms(torchvision)
        check_letterbox(torchvision, folder)
        check_hostile(torchvision, folder)
        check_errors(torchvision, folder)
        check_stream(torchvision, folder)
        check_classes(Detector(tool, flatc, folder, "two.mnn", {"boxes": [1, 1, 4], "scores": [1, 1, 3]}))
        check_rows(Detector(tool, flatc, folder, "one.mnn", {"rows": [1, 1, 6]}))
        check_post_process(tool, flatc, folder)
        check_detection_output(tool, flatc, folder)


if __name__ == "__main__":
    main()
