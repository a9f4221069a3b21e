"""Makes shrink.mnn: y = SoftShrink(2 * x) + 1, where SoftShrink is an operator that neither ONNX nor this library has.

    pip install onnx MNN
    python3 make_model.py
"""
import pathlib
import subprocess
import tempfile

import onnx
from onnx import TensorProto, helper

shape = ["batch", 3, 4]
nodes = [
    helper.make_node("Mul", ["x", "two"], ["doubled"]),
    helper.make_node("SoftShrink", ["doubled"], ["shrunk"], name="shrink", domain="com.example", lambd=0.5),
    helper.make_node("Add", ["shrunk", "one"], ["y"]),
]
constants = [
    helper.make_tensor("two", TensorProto.FLOAT, [1, 1, 4], [2.0] * 4),
    helper.make_tensor("one", TensorProto.FLOAT, [1, 1, 4], [1.0] * 4),
]
graph = helper.make_graph(
    nodes, "shrink",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], constants)
model = helper.make_model(
    graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.example", 1)], ir_version=8)

out = pathlib.Path(__file__).parent / "shrink.mnn"
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "shrink.onnx"
    onnx.save(model, source)
    # --allowCustomOp: an operator that the converter does not know becomes an Extra node with its attributes.
    subprocess.run(["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", out, "--bizCode", "example",
                    "--allowCustomOp"], check=True)
