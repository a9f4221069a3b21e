"""The node tests of the package onnx."""
from onnx.backend.test.case.node import collect_testcases

from cases.packing import case_of


# Tests with random results, and tests for which onnx itself defines another result than onnxruntime, or a rounded one.
LEFT_OUT = {"test_bernoulli", "test_bernoulli_double", "test_bernoulli_seed", "test_bernoulli_expanded",
            "test_bernoulli_double_expanded", "test_bernoulli_seed_expanded",
            "test_training_dropout", "test_training_dropout_mask", "test_training_dropout_default",
            "test_training_dropout_default_mask",
            "test_averagepool_2d_ceil_last_window_starts_on_pad",
            "test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners"}


def node_tests():
    for test in collect_testcases(None):
        if test.name in LEFT_OUT:
            continue
        try:
            inputs, outputs = test.data_sets[0]
            if len(inputs) != len(test.model.graph.input):
                continue
            names = [[one.name for one in side] for side in (test.model.graph.input, test.model.graph.output)]
            case = case_of(test.name, test.model, list(zip(names[0], inputs)), list(zip(names[1], outputs)))
        except (TypeError, ValueError, AttributeError):
            continue  # sequences, optional values, types of other packages
        if case:
            yield case


# Node tests that are repeated with free extents of inputs: their axes.
FREED = {"attention_4d": {"Q": "0123", "K": "0123", "V": "0123"}, "attention_4d_gqa": {"Q": "0123", "K": "0123", "V": "0123"},
         "rotary_embedding": {"input": "0123", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"},
         "rotary_embedding_interleaved": {"input": "0123", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"},
         "rotary_embedding_3d_input": {"input": "012", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"}}


def freed_node_tests():
    tests = {test.name: test for test in collect_testcases(None)}
    linear = {name.removeprefix("test_"): {"query": "1", "key": "1", "value": "1", "decay": "1", "beta": "1"}
              for name in tests if name.startswith("test_linear_attention") and not name.endswith("_expanded")}
    for name, axes in (FREED | linear).items():
        test = tests["test_" + name]
        graph = test.model.graph
        for value in graph.input:
            for axis in axes.get(value.name, ""):
                value.type.tensor_type.shape.dim[int(axis)].dim_param = f"{value.name}{axis}"
        inputs, outputs = test.data_sets[0]
        names = [[one.name for one in side] for side in (graph.input, graph.output)]
        yield case_of(f"own_free_{name}", test.model, list(zip(names[0], inputs)), list(zip(names[1], outputs)))
