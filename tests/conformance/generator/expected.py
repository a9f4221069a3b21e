"""Expected values: single outputs of an ONNX graph, evaluated in float64 or by ONNX Runtime."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def as_double(graph):
    """Turns the float tensors of the graph into double ones, in place (Resize and the like keep float scales)."""
    keep = {i for node in graph.node if node.op_type in ("Resize", "Upsample", "NonMaxSuppression")
            for i in list(node.input)[1:]}
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name not in keep:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for info in list(graph.input) + list(graph.output):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    del graph.value_info[:]
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type in ("Cast", "EyeLike") and attribute.name in ("to", "dtype"):
                attribute.i = TensorProto.DOUBLE if attribute.i == TensorProto.FLOAT else attribute.i
            if attribute.HasField("g"):
                as_double(attribute.g)
            if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64)))


def only_output(model, name):
    needed, nodes = {name}, []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            nodes.insert(0, node)
            needed |= {i for i in node.input if i}
            for attribute in node.attribute:
                for inner in attribute.g.node if attribute.HasField("g") else []:
                    needed |= set(inner.input)
    part = onnx.ModelProto()
    part.CopyFrom(model)
    graph = part.graph
    for field, kept in (("node", nodes), ("input", [i for i in graph.input if i.name in needed]),
                        ("initializer", [i for i in graph.initializer if i.name in needed]),
                        ("output", [o for o in graph.output if o.name == name])):
        kept = [type(k).FromString(k.SerializeToString()) for k in kept]
        graph.ClearField(field)
        getattr(graph, field).extend(kept)
    return part


def evaluate(model, feed, name, engine, double):
    """Returns one output of the model, or None where the engine does not have the operators."""
    part = only_output(model, name)
    feed = {i.name: feed[i.name] for i in part.graph.input}
    if double:
        as_double(part.graph)
        feed = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feed.items()}
    try:
        if engine == "ort":
            import onnxruntime
            onnxruntime.set_default_logger_severity(4)
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            part.graph.ClearField("value_info")
            for output in part.graph.output:
                kind = output.type.tensor_type.elem_type
                output.CopyFrom(helper.make_tensor_value_info(output.name, kind, None))
            session = onnxruntime.InferenceSession(part.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            return np.asarray(session.run([name], feed)[0])
        from onnx.reference import ReferenceEvaluator
        return np.asarray(ReferenceEvaluator(part).run([name], feed)[0])
    except Exception:
        return None


def stored(array):
    """Returns the array in the type that the converted model has."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array.astype(np.float32)).reshape(array.shape)
    return np.ascontiguousarray(array.astype(np.int32)).reshape(array.shape)


def apart(a, b):
    if a is None or b is None:
        return float("nan")
    if a.shape != b.shape:
        return float("inf")
    if a.dtype.kind != "f":
        return float(np.count_nonzero(a != b))
    if a.size == 0:
        return 0.0
    scale = np.abs(b.astype(np.float64)).max() or 1.0
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64)).max() / scale
    return float("inf") if np.isnan(difference) else float(difference)
