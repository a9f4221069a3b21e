"""Branches, loops and sequences."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from cases.packing import case_of, floats, own_case


def control_cases():
    node = helper.make_node
    tensor = helper.make_tensor_value_info

    def body(nodes, inputs, outputs, constants=None):
        made = {key: tensor(key, kind, shape) for key, kind, shape in inputs}
        results = [tensor(key, kind, shape) for key, kind, shape in outputs]
        return helper.make_graph(nodes, "body", list(made.values()), results,
                                 [numpy_helper.from_array(value, key) for key, value in (constants or {}).items()])

    real, whole, true = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    for chosen in (True, False):
        yes = body([node("Add", ["x", "w"], ["t"])], [], [("t", real, None)], {"w": floats(3)})
        no = body([node("Mul", ["x", "z"], ["u"]), node("Sub", ["u", "x"], ["e"])], [], [("e", real, None)])
        yield own_case(f"if_{chosen}".lower(), [node("If", ["c"], ["y"], then_branch=yes, else_branch=no)],
                       {"c": np.array(chosen), "x": floats(2, 3), "z": floats(2, 3)})
    counting = body([node("Add", ["a", "w"], ["b"]), node("Mul", ["b", "x"], ["s"]), node("Identity", ["k"], ["m"])],
                    [("i", whole, []), ("k", true, []), ("a", real, [2, 3])], [("m", true, []), ("b", real, [2, 3]), ("s", real, [2, 3])],
                    {"w": floats(3)})
    yield own_case("loop", [node("Loop", ["n", "", "x"], ["f", "y"], body=counting)], {"n": np.array(4), "x": floats(2, 3)},
                   outputs=("f", "y"))
    growing = body([node("Concat", ["a", "x"], ["b"], axis=0), node("Less", ["i", "n"], ["m"])],
                   [("i", whole, []), ("k", true, []), ("a", real, None)], [("m", true, []), ("b", real, None)], {"n": np.array(2)})
    yield own_case("loop_growing", [node("Loop", ["", "c", "x"], ["y"], body=growing)], {"c": np.array(True), "x": floats(1, 3)})
    inner = body([node("Mul", ["a", "x"], ["t"])], [], [("t", real, None)])
    other = body([node("Add", ["a", "x"], ["e"])], [], [("e", real, None)])
    nested = body([node("Equal", ["i", "one"], ["q"]), node("If", ["q"], ["b"], then_branch=inner, else_branch=other),
                   node("Identity", ["k"], ["m"])],
                  [("i", whole, []), ("k", true, []), ("a", real, [3])], [("m", true, []), ("b", real, [3])], {"one": np.array(1)})
    yield own_case("loop_with_branch", [node("Loop", ["n", "", "x"], ["y"], body=nested)], {"n": np.array(3), "x": floats(3)})
    summing = body([node("Add", ["a", "e"], ["b"]), node("Mul", ["b", "w"], ["o"])],
                   [("a", real, [2]), ("e", real, [2])], [("b", real, [2]), ("o", real, [2])], {"w": floats(2)})
    yield own_case("scan_backwards", [node("Scan", ["a0", "x"], ["f", "y"], num_scan_inputs=1, body=summing, scan_input_axes=[1],
                                           scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1])],
                   {"a0": floats(2), "x": floats(2, 5)}, outputs=("f", "y"))
    zero, one = np.array(0), np.array(-1)
    yield own_case("sequences", [node("SequenceConstruct", ["x", "z"], ["s"]), node("SequenceInsert", ["s", "x", "zero"], ["t"]),
                                 node("SequenceErase", ["t", "one"], ["u"]), node("ConcatFromSequence", ["u"], ["y"], axis=1),
                                 node("SequenceLength", ["u"], ["l"]), node("SequenceAt", ["t", "one"], ["v"]),
                                 node("SplitToSequence", ["x", "two"], ["p"], axis=1), node("ConcatFromSequence", ["p"], ["r"], axis=0)],
                   {"x": floats(2, 4), "z": floats(2, 4)}, {"zero": zero, "one": one, "two": np.array(2)}, ("y", "l", "v", "r"))
    yield own_case("sequence_empty", [node("SequenceEmpty", [], ["s"]), node("SequenceInsert", ["s", "x"], ["t"]),
                                      node("SequenceAt", ["t", "zero"], ["y"])], {"x": floats(2)}, {"zero": zero})
    yield own_case("optional", [node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["e"]), node("Relu", ["e"], ["y"]),
                                node("OptionalHasElement", ["o"], ["h"])], {"x": floats(2, 3)}, outputs=("y", "h"))
    yield own_case("scatter", [node("Scatter", ["x", "i", "u"], ["y"], axis=1)],
                   {"x": floats(3, 4), "i": np.array([[1, 0], [2, 3], [0, 2]]), "u": floats(3, 2)}, opset=10)


def unrun_cases():
    """Loops without an iteration: scan outputs keep their rank, their other extents and their type."""
    node, tensor = helper.make_node, helper.make_tensor_value_info
    real, whole, true = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

    def body(nodes, kind, shape, carried=(), inner=""):
        inputs = [tensor("i" + inner, whole, []), tensor("k" + inner, true, []), *(tensor(name, real, [3]) for name in carried)]
        results = [tensor("m" + inner, true, []), *(tensor(name + "2", real, [3]) for name in carried), tensor("s" + inner, kind, shape)]
        return helper.make_graph([node("Identity", ["k" + inner], ["m" + inner]), *nodes], "body", inputs, results)

    rows = body([node("Gather", ["x", "i"], ["s"], axis=0)], real, [4])
    counts = body([node("Add", ["i", "i"], ["s"])], whole, [])
    first = {"a": np.array([0])}
    for trips in (0, 2):
        feed = {"n": np.array(trips), "x": floats(5, 4)}
        loop = node("Loop", ["n", ""], ["t"], body=rows)
        yield own_case(f"unrun_joined_{trips}", [loop, node("Concat", ["x", "t"], ["y"], axis=0)], feed, free=("x",))
        yield own_case(f"unrun_summed_{trips}", [loop, node("ReduceSum", ["t", "a"], ["y"], keepdims=0)], feed, first, free=("x",))
        yield own_case(f"unrun_product_{trips}", [loop, node("MatMul", ["t", "w"], ["y"])], feed, {"w": floats(4, 3)}, free=("x",))
        loop = node("Loop", ["n", ""], ["t"], body=counts)
        yield own_case(f"unrun_integers_{trips}", [loop, node("Concat", ["x", "t"], ["y"], axis=0)],
                       {"n": np.array(trips), "x": np.array([1, 2])}, free=("x",))
        yield own_case(f"unrun_indices_{trips}", [loop, node("Gather", ["x", "t"], ["y"], axis=0)], feed, free=("x",))
    inner = body([node("Add", ["b", "b"], ["b2"]), node("Mul", ["b", "b"], ["s_"])], real, [3], "b", "_")
    outer = body([node("Loop", ["i", "", "c"], ["c2", "t"], body=inner), node("ReduceSum", ["t", "a"], ["s"], keepdims=0)], real, [3], "c")
    yield own_case("unrun_inside", [node("Loop", ["n", "", "x"], ["f", "y"], body=outer)], {"n": np.array(4), "x": floats(3)}, first,
                   ("f", "y"))


def border_cases():
    """What bodies know about values of the graph around them, and what that graph knows about their results."""
    node, tensor = helper.make_node, helper.make_tensor_value_info
    real, whole, true = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

    def branch(result, *nodes):
        return helper.make_graph(list(nodes), result, [], [tensor(result, real, None)])

    def body(nodes, result, carried="a", more=()):
        inputs = [tensor("i", whole, []), tensor("k", true, []), tensor(carried, real, None)]
        return helper.make_graph(list(nodes), "body", inputs, [tensor("m", true, []), tensor(result, real, None), *more])

    # The condition of the rounds is a value of the graph, whose number there is that of the formal condition in the body.
    for keep in (False, True):
        rounds = body([node("Identity", ["keep"], ["m"]), node("Add", ["a", "x"], ["b"]), node("Neg", ["b"], ["s"])], "b",
                      more=[tensor("s", real, None)])
        yield own_case(f"loop_outer_condition_{keep}".lower(), [node("Loop", ["n", "", "x"], ["f", "y"], body=rounds)],
                       {"x": floats(2, 3), "keep": np.array(keep)}, {"n": np.array(10)}, ("f", "y"))
    # An end that lies within the free extent for the numbers that stand for it, and beyond it in a run.
    c = {"z": np.array([0]), "e": np.array([32]), "one": np.array([1]), "w": np.ones((1, 32), np.float32), "n": np.array(2)}
    cut = node("Slice", ["x", "z", "e", "one"], ["t"])
    behind = [node("Shape", ["y"], ["s"]), node("ConstantOfShape", ["s"], ["o"])]
    yes = branch("t", cut)
    no = branch("u", node("Neg", ["x"], ["v"]), node("Slice", ["v", "z", "e", "one"], ["u"]))
    x = {"x": floats(1, 10)}
    for chosen in (False, True):
        yield own_case(f"cut_in_branch_{chosen}".lower(), [node("If", ["c"], ["y"], then_branch=yes, else_branch=no), *behind],
                       {"c": np.array(chosen), **x}, c, ("y", "o"), free={"x": (1,)})
    goes_on = node("Identity", ["k"], ["m"])
    extent = [node("Shape", ["a"], ["q"]), node("Cast", ["q"], ["r"], to=1), node("ReduceSum", ["r"], ["h"], keepdims=0)]
    yield own_case("cut_is_carried", [cut, node("Loop", ["n", "", "t"], ["y"], body=body([goes_on, *extent, node("Add", ["a", "h"], ["b"])], "b")),
                                      *behind], x, c, ("y", "o"), free={"x": (1,)})
    yield own_case("cut_by_round", [node("Loop", ["n", "", "w"], ["y", "k2"], body=body([goes_on, cut, *extent, node("Add", ["t", "h"], ["b"])], "b",
                                                                                        more=[tensor("t", real, None)])),
                                    *behind, node("Shape", ["k2"], ["p"])], x, c, ("y", "o", "p"), free={"x": (1,)})
    # A chance that reaches one more carried value with each round.
    moved = helper.make_graph([goes_on, node("Add", ["t", "t"], ["d0"]), *(node("Identity", [f"c{i}"], [f"d{i + 1}"]) for i in range(4))], "body",
                              [tensor("i", TensorProto.INT64, []), tensor("k", TensorProto.BOOL, [])] + [tensor(f"c{i}", real, None) for i in range(5)],
                              [tensor("m", TensorProto.BOOL, [])] + [tensor(f"d{i}", real, None) for i in range(5)])
    yield own_case("cut_moves_on", [cut, node("Loop", ["n", "", *["w"] * 5], ["f0", "f1", "f2", "f3", "y"], body=moved), *behind],
                   x, {**c, "n": np.array(6)}, ("y", "o"), free={"x": (1,)})
    # Rows of both branches that are equally many for one of two batches.
    turned = node("Transpose", ["x"], ["t"], perm=[1, 0])
    yes = branch("u", node("Concat", ["t", "t"], ["u"], axis=1))
    no = branch("v", node("Concat", ["t", "more"], ["v"], axis=1))
    yield own_case("branches_meet", [turned, node("If", ["c"], ["y"], then_branch=yes, else_branch=no), *behind],
                   {"c": np.array(True), "x": floats(5, 4)}, {"more": floats(4, 3)}, ("y", "o"), free={"x": (0,)})
    # A step that the format has no operator for, over a free length: its rows are as many as those of the input.
    squares = helper.make_graph([node("Mul", ["e", "e"], ["o"]), node("Add", ["o", "a"], ["b"])], "body",
                                [tensor("a", real, [3]), tensor("e", real, [3])], [tensor("b", real, [3]), tensor("o", real, [3])])
    yield own_case("scan_beside_input", [node("Scan", ["a0", "x"], ["f", "t"], num_scan_inputs=1, body=squares), node("Add", ["t", "x"], ["y"])],
                   {"x": floats(7, 3)}, {"a0": floats(3)}, ("f", "y"), free={"x": (0,)})
    # A state that starts with a free extent and grows: behind the loop it has another one.
    grown = body([goes_on, node("Concat", ["a", "w"], ["b"], axis=0)], "b")
    yield own_case("loop_grows_free", [node("Loop", ["n", "", "x"], ["f"], body=grown), node("Shape", ["f"], ["s"]), node("Shape", ["x"], ["sx"]),
                                       node("Sub", ["s", "sx"], ["y"])], {"x": floats(3, 32)}, c, ("f", "y"), free={"x": (0,)})
    # The call in G passes on an attribute that the call of G leaves out, so that F has its own default.
    outer, inner = node("LeakyRelu", ["p"], ["q"]), node("F", ["p"], ["q"], domain="own")
    outer.attribute.add(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT)
    inner.attribute.add(name="slope", ref_attr_name="given", type=AttributeProto.FLOAT)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    functions = [helper.make_function("own", "F", ["p"], ["q"], [outer], opsets, attribute_protos=[helper.make_attribute("slope", 0.5)]),
                 helper.make_function("own", "G", ["p"], ["q"], [inner], opsets, attributes=["given"])]
    x = floats(2, 5)
    graph = helper.make_graph([node("G", ["x"], ["y"], domain="own")], "g", [tensor("x", real, [2, 5])], [tensor("y", real, [2, 5])])
    model = helper.make_model(graph, opset_imports=opsets, functions=functions)
    model.ir_version = 9
    yield case_of("own_attribute_of_no_call", model, [("x", x)], [("y", np.where(x < 0, x / 2, x))])
