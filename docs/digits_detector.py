"""Makes a detector of digits out of the digits net, for the picture of docs/tool.md: the net's convolutions slide over
a page, and a position counts where there is ink inside of the window and none around it. The standard library and flatc
suffice.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/tool"))
from files import Net, ppm  # noqa: E402

WIDTH, HEIGHT, WINDOW, STEP = 80, 48, 8, 2
FIRST = 40  # the first of the held-out digits on the page
ENLARGED = 8  # pixels of the page for each pixel of the net's input
PLACES = [(4, 4), (24, 4), (42, 6), (62, 4), (12, 20), (34, 20), (56, 24), (4, 36), (26, 36), (48, 36), (68, 36)]


def weights_of_digits(flatc):
    """Returns weights and biases of the three layers."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([flatc, "--json", "--raw-binary", "--strict-json", "--no-warnings", "-o", folder,
                        ROOT / "schema/mnn.fbs", "--", ROOT / "examples/digits/digits.mnn"], check=True)
        net = json.loads(pathlib.Path(folder, "digits.json").read_text())
    return [(op["main"]["weight"], op["main"]["bias"]) for op in net["oplists"] if op["type"] == "Convolution"]


def convolution(net, name, tensor, kernel, inputs, weight, bias, pad=0, step=1, relu=False):
    common = {"kernelX": kernel, "kernelY": kernel, "strideX": step, "strideY": step, "dilateX": 1, "dilateY": 1, "padX": pad,
              "padY": pad, "padMode": "CAFFE", "group": 1, "inputCount": inputs, "outputCount": len(bias), "relu": relu}
    return net.op("Convolution", [tensor], [name], "Convolution2D", {"common": common, "weight": weight, "bias": bias},
                  "NC4HW4")[0]


def clamped(net, name, tensor):
    return net.op("ReLU6", [tensor], [name], "Relu6", {"minValue": 0.0, "maxValue": 1.0}, "NC4HW4")[0]


def write_detector(flatc, path):
    (first, second, last), net = weights_of_digits(flatc), Net()
    page = net.op("ConvertTensor", [net.feed("page", [1, 1, HEIGHT, WIDTH])], ["packed"], "TensorConvertInfo",
                  {"source": "NCHW", "dest": "NC4HW4"}, "NC4HW4")[0]
    maps = convolution(net, "maps1", page, 3, 1, *first, pad=1, relu=True)
    maps = convolution(net, "maps2", maps, 3, 16, *second, pad=1, relu=True)
    pooled = net.op("Pooling", [maps], ["pooled"], "Pool", {"kernelX": 2, "kernelY": 2, "strideX": STEP, "strideY": STEP,
                                                            "type": "MAXPOOL", "padType": "CAFFE"}, "NC4HW4")[0]
    digits = convolution(net, "digits", pooled, WINDOW // 2, 32, *last)
    share = net.op("Softmax", [digits], ["share"], "Axis", {"axis": 1}, "NC4HW4")[0]
    ink = convolution(net, "ink", page, WINDOW, 1, [0.1] * WINDOW ** 2, [-0.3], step=STEP)
    edge = WINDOW + 2
    ring = [-0.5 if x in (0, edge - 1) or y in (0, edge - 1) else 0.0 for y in range(edge) for x in range(edge)]
    free = convolution(net, "free", page, edge, 1, ring, [1.0], pad=1, step=STEP)
    for name, gate in (("with_ink", ink), ("alone", free)):
        share = net.op("BinaryOp", [share, clamped(net, name + "_gate", gate)], [name], "BinaryOp",
                       {"opType": "MUL", "T": "DT_FLOAT"}, "NC4HW4")[0]
    plain = net.op("ConvertTensor", [share], ["plain"], "TensorConvertInfo", {"source": "NC4HW4", "dest": "NCHW"})[0]
    corners = [(x, y) for y in range(0, HEIGHT - WINDOW + 1, STEP) for x in range(0, WIDTH - WINDOW + 1, STEP)]
    net.op("Reshape", [plain, net.ints("extents", [1, 10, len(corners)])], ["scores"], "Reshape", {"dimType": "NCHW"})
    boxes = [float(edge) for x, y in corners for edge in (x, y, x + WINDOW, y + WINDOW)]
    net.passed("boxes", net.const("windows", [len(corners), 4], boxes))
    net.outputs.append("scores")
    return net.write(flatc, path)


def write_page(path):
    """Draws a page with held-out digits, dark on a light ground."""
    pixels = (ROOT / "examples/digits/test_images.bin").read_bytes()
    ink = {}
    for number, (left, top) in enumerate(PLACES):
        for at in range(WINDOW ** 2):
            ink[left + at % WINDOW, top + at // WINDOW] = pixels[(FIRST + number) * WINDOW ** 2 + at]
    path.write_bytes(ppm(WIDTH * ENLARGED, HEIGHT * ENLARGED,
                         lambda x, y: (255 - ink.get((x // ENLARGED, y // ENLARGED), 0) * 15,) * 3))
    return path


if __name__ == "__main__":
    write_detector(sys.argv[1], pathlib.Path(sys.argv[2]))
    write_page(pathlib.Path(sys.argv[3]))
