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
    # jax2onnx sums over windows by a convolution over all axes of a tensor, behind an axis for the batch and one for the channel.
    summed = [node("Unsqueeze", ["x", "front"], ["u"]), node("Conv", ["u", "w"], ["c"], strides=[1, 2, 2, 1], pads=[0, 1, 0, 0, 0, 1, 1, 0]),
              node("Squeeze", ["c", "front"], ["y"])]
    yield own_case("conv_over_all_axes", summed, {"x": floats(2, 5, 6, 3)}, {"w": np.ones((1, 1, 1, 3, 3, 1), np.float32), "front": np.array([0, 1])},
                   free=("x",))
    yield own_case("conv_with_windows_apart", [node("Conv", ["x", "w", "b"], ["y"], pads=[1, 0, 0, 2, 1, 0, 0, 2], dilations=[1, 1, 1, 2])],
                   {"x": floats(2, 3, 5, 4, 3, 6)}, {"w": floats(4, 3, 3, 1, 1, 3), "b": floats(4)})
    yield own_case("conv_without_windows", [node("Conv", ["x", "w"], ["y"], group=2)], {"x": floats(2, 4, 2, 3, 2, 3)}, {"w": floats(6, 2, 1, 1, 1, 1)},
                   free=("x",))
