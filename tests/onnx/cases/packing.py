"""What every case is made with: random numbers, and models whose truth is onnxruntime's."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import corpus_files


MOST_BYTES = 40_000
LEARNED = "ai.onnx.ml"
NARROWED = {"int64": np.int32, "bool": np.int32, "float64": np.float32, "float16": np.float32, "uint32": np.int32,
            "int16": np.int32, "uint16": np.int32, "uint64": np.int32}


def narrow(array):
    array = np.asarray(array)
    kind = NARROWED.get(str(array.dtype))
    return array.astype(kind) if kind else array


def packed(name, array):
    array = narrow(array)
    return [name, str(array.dtype), list(array.shape), np.ascontiguousarray(array).tobytes()]


def case_of(name, model, inputs, outputs, tolerance=1e-4):
    """inputs, outputs: lists of name and array; returns None where a type cannot be packed."""
    sides = {"inputs": [packed(*one) for one in inputs], "outputs": [packed(*one) for one in outputs]}
    if any(kind not in corpus_files.TYPES for side in sides.values() for _, kind, _, _ in side):
        return None
    halves = any(str(np.asarray(array).dtype) == "float16" for _, array in inputs + outputs)
    data = model.SerializeToString()
    if len(data) + sum(len(blob) for side in sides.values() for *_, blob in side) > MOST_BYTES:
        return None
    ops = sorted({(node.domain + "." if node.domain not in ("", "ai.onnx") else "") + node.op_type for node in model.graph.node})
    return {"name": name, "ops": ops, "model": data, "tolerance": 2e-3 if halves else tolerance, **sides}


RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def codes(kind, *shape):
    low, high = (0, 256) if kind == np.uint8 else (-128, 128)
    return RANDOM.integers(low, high, shape).astype(kind)


KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(bool): TensorProto.BOOL,
         np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(np.float16): TensorProto.FLOAT16}


def own_case(name, nodes, feed, constants=None, outputs=("y",), opset=18, free=(), tolerance=1e-4, same=None, plain=False,
             declared=None, learned=3):
    """Adds a case with onnxruntime's results. same: nodes with the same meaning, where it does not run these. plain:
    without onnxruntime's optimisations, which turn float weights into codes. free: names of inputs whose extents have
    names in the model, or a dictionary of names with such axes. tolerance: for codes, their maximum difference. declared:
    the shapes that the model states for outputs. learned: the opset of ai.onnx.ml."""
    open_axes = free if isinstance(free, dict) else {key: range(feed[key].ndim) for key in free}
    shapes = {key: [f"{key}{i}" if i in open_axes.get(key, ()) else extent for i, extent in enumerate(array.shape)]
              for key, array in feed.items()}
    inputs = [helper.make_tensor_value_info(key, KINDS[array.dtype], shapes[key]) for key, array in feed.items()]
    others = [helper.make_opsetid(domain, learned if domain == LEARNED else 1) for domain in sorted({one.domain for one in nodes} - {""})]
    initializers = [value if isinstance(value, TensorProto) else numpy_helper.from_array(value, key) for key, value in (constants or {}).items()]

    def model(kinds, nodes=nodes):
        results = [helper.make_tensor_value_info(out, kind, (declared or {}).get(out)) for out, kind in zip(outputs, kinds)]
        graph = helper.make_graph(nodes, "g", inputs, results, initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *others])
        made.ir_version = 9
        return made

    made = model([TensorProto.UNDEFINED] * len(outputs), same or nodes)
    for out in made.graph.output:
        out.ClearField("type")
    options = onnxruntime.SessionOptions()
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    truth = session.run(list(outputs), feed)
    made = model([KINDS[array.dtype] for array in truth])
    case = case_of("own_" + name, made, list(feed.items()), list(zip(outputs, truth)), tolerance)
    if not case:
        raise ValueError(f"{name} cannot be packed")
    return case
