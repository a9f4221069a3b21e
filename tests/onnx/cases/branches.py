"""Sums of convolutions of one tensor, as nets like RepVGG and MobileOne are trained."""
from onnx import helper

from cases.packing import floats, own_case


def branch_cases():
    """Branches that become one convolution, and some that must not."""
    node = helper.make_node

    def conv(name, x="x", **attributes):
        return node("Conv", [x, f"w{name}", f"b{name}"], [name], **attributes)

    def weights(**shapes):
        named = {f"w{name}": floats(*shape) for name, shape in shapes.items()}
        return {**named, **{f"b{name}": floats(shape[0]) for name, shape in shapes.items()}}

    norm = node("BatchNormalization", ["x", "s", "t", "m", "v"], ["n"])
    statistics = {"s": floats(4), "t": floats(4), "m": floats(4), "v": floats(4) ** 2 + 1}
    pair = node("Add", ["a", "c"], ["y"])
    three = [node("Add", ["n", "c"], ["h"]), node("Add", ["h", "a"], ["i"]), node("Relu", ["i"], ["y"])]
    wide = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    for name, nodes, constants in (
            ("sizes", [conv("a", **wide), conv("c"), norm, *three], {**weights(a=(4, 4, 3, 3), c=(4, 4, 1, 1)), **statistics}),
            ("depthwise", [conv("a", group=4, pads=[2, 2, 2, 2]), conv("c", group=4, **wide), norm, *three],
             {**weights(a=(4, 1, 5, 5), c=(4, 1, 3, 3)), **statistics}),
            ("groups", [conv("a", group=2, **wide), conv("c", group=2), norm, *three],
             {**weights(a=(4, 2, 3, 3), c=(4, 2, 1, 1)), **statistics}),
            ("strides", [conv("a", strides=[2, 2], **wide), conv("c", strides=[2, 2]), pair], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1))),
            ("other_strides", [conv("a", strides=[2, 2], **wide), conv("c", strides=[2, 2], kernel_shape=[3, 3], pads=[2, 2, 0, 0]), pair],
             weights(a=(6, 4, 3, 3), c=(6, 4, 3, 3))),
            ("cross", [conv("a", **wide), conv("c", pads=[0, 1, 0, 1]), conv("d", pads=[1, 0, 1, 0]), node("Add", ["c", "a"], ["h"]),
                       node("Add", ["h", "d"], ["y"])], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 3), d=(6, 4, 3, 1))),
            ("lines", [conv("a", pads=[0, 1, 0, 1]), conv("c", pads=[1, 0, 1, 0]), pair], weights(a=(6, 4, 1, 3), c=(6, 4, 3, 1))),
            ("dilated", [conv("a", dilations=[2, 3], pads=[2, 3, 2, 3]), conv("c"), pair], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1))),
            ("between_taps", [conv("a", dilations=[2, 2], pads=[1, 1, 3, 3]), conv("c"), pair], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1))),
            ("corner", [conv("a", pads=[0, 2, 2, 0]), conv("c"), pair], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1))),
            ("zero", [norm, node("Add", ["zero", "n"], ["o"]), conv("a", **wide), node("Add", ["o", "a"], ["y"])],
             {**weights(a=(4, 4, 3, 3)), **statistics, "zero": floats() * 0}),
            ("number", [conv("a", **wide), node("Add", ["one", "a"], ["h"]), node("Mul", ["h", "two"], ["y"])],
             {**weights(a=(6, 4, 3, 3)), "one": floats(1), "two": floats(1, 1)}),
            ("other_input", [node("Neg", ["x"], ["z"]), conv("a", **wide), conv("c", x="z"), pair], weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1)))):
        yield own_case(f"branches_{name}", nodes, {"x": floats(2, 4, 9, 8)}, constants, free={"x": (0, 2, 3)})
    yield own_case("branches_seen", [conv("a", **wide), conv("c"), pair], {"x": floats(1, 4, 5, 6)}, weights(a=(6, 4, 3, 3), c=(6, 4, 1, 1)),
                   outputs=("y", "c"))
    yield own_case("branches_of_lines", [conv("a", pads=[2, 2]), conv("c", pads=[1, 1]), pair], {"x": floats(2, 4, 9)},
                   weights(a=(6, 4, 5), c=(6, 4, 3)))
    yield own_case("branches_broadcast", [conv("a"), conv("c"), pair], {"x": floats(1, 4, 3, 1)}, weights(a=(6, 4, 3, 1), c=(6, 4, 1, 1)))
