"""What the exporters of TensorFlow, Paddle, JAX and scikit-learn write and those of torch do not."""
import numpy as np
from onnx import helper

from cases.packing import floats, own_case


def exporter_cases():
    node = helper.make_node
    # tf2onnx's Longformer: two searches find equally many places, which the importer cannot know.
    twice = [node("Greater", ["s", "low"], ["m"]), node("NonZero", ["m"], ["p"]), node("Transpose", ["p"], ["from"], perm=[1, 0]),
             node("GatherND", ["x", "from"], ["v"]), node("LessOrEqual", ["s", "low"], ["o"]), node("Not", ["o"], ["k"]),
             node("NonZero", ["k"], ["q"]), node("Transpose", ["q"], ["to"], perm=[1, 0]), node("Shape", ["x"], ["shape"]),
             node("ConstantOfShape", ["shape"], ["z"]), node("ScatterND", ["z", "to", "v"], ["w"]), node("Div", ["w", "two"], ["h"]),
             node("Transpose", ["h"], ["y"], perm=[2, 0, 1])]
    yield own_case("scatter_to_other_places", twice, {"x": floats(3, 4, 2), "s": floats(3, 4)}, {"low": np.float32(.2), "two": np.float32(2)},
                   free=("x", "s"))
    # Paddle's masked_select: the condition is no list.
    yield own_case("compress_by_mask", [node("Greater", ["x", "low"], ["m"]), node("Compress", ["x", "m"], ["y"])], {"x": floats(3, 4)},
                   {"low": np.float32(.1)}, free=("x",))
    # scikit-learn's KBinsDiscretizer: one column stays a matrix.
    yield own_case("feature_of_one_number", [node("ArrayFeatureExtractor", ["x", "i"], ["c"], domain="ai.onnx.ml"), node("Less", ["c", "r"], ["l"]),
                                             node("Cast", ["l"], ["y"], to=1)], {"x": floats(4, 6)}, {"i": np.array(2), "r": floats(3)}, free=("x",))
    # Paddle's circular padding, of pictures of any size.
    wrapped = {"x": floats(2, 3, 4)}
    for name, pads in ("circular", [0, 1, 2, 0, 0, 3]), ("circular_beyond_extent", [0, 4, 0, 0, 0, 9]), ("circular_cut", [0, -1, 1, 0, 2, -2]):
        yield own_case(f"{name}_free", [node("Pad", ["x", "p"], ["y"], mode="wrap")], wrapped, {"p": np.array(pads)}, opset=19, free=("x",))
    yield own_case("circular_cut_fed", [node("Pad", ["x", "p"], ["y"], mode="wrap")], wrapped | {"p": np.array([0, -1, 1, 0, 2, -2])}, opset=19)
