// mnn_interpreter_*: queries a model, and destroys it.
#include <span>

#include "c_api/guard.h"

using namespace mnnc;

namespace {

const Graph& mainGraph(const InterpreterObject& interpreter) {
    return interpreter.impl->model().mainGraph();
}

const Node& nodeAt(const InterpreterObject& interpreter, size_t index) {
    checkIndex(index, interpreter.ops.size(), "operator");
    const auto [graph, node] = interpreter.ops[index];
    return interpreter.impl->net->graphs[graph].nodes[node];
}

// Returns the outputs of an operator that a session can offer: those of the main graph.
std::span<const int> madeBy(const InterpreterObject& interpreter, size_t index) {
    const Node& node = nodeAt(interpreter, index);
    if (interpreter.ops[index].first != 0) return {};
    return node.outputs;
}

}  // namespace

mnn_status mnn_interpreter_destroy(mnn_interpreter_t** interpreter) {
    return guard([&] {
        if (!interpreter || !*interpreter) return;
        if (!InterpreterUse(*interpreter).destroy())
            fail(Status::BadHandle, "argument 'interpreter' is a destroyed handle");
        *interpreter = nullptr;
    });
}

mnn_status mnn_interpreter_uuid(const mnn_interpreter_t* interpreter, const char** uuid) {
    return guard([&] { required(uuid, "uuid") = InterpreterUse(interpreter)->impl->model().uuid().c_str(); });
}

mnn_status mnn_interpreter_model_version(const mnn_interpreter_t* interpreter, const char** version) {
    return guard([&] { required(version, "version") = InterpreterUse(interpreter)->impl->model().version().c_str(); });
}

mnn_status mnn_interpreter_biz_code(const mnn_interpreter_t* interpreter, const char** biz_code) {
    return guard(
        [&] { required(biz_code, "biz_code") = InterpreterUse(interpreter)->impl->model().bizCode().c_str(); });
}

mnn_status mnn_interpreter_input_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(*InterpreterUse(interpreter)).inputs.size(); });
}

mnn_status mnn_interpreter_output_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(*InterpreterUse(interpreter)).outputs.size(); });
}

mnn_status mnn_interpreter_output_name(const mnn_interpreter_t* interpreter, size_t index, const char** name) {
    return guard([&] {
        required(name, "name");
        const InterpreterUse net(interpreter);
        const Graph& graph = mainGraph(*net);
        checkIndex(index, graph.outputs.size(), "output");
        *name = graph.tensorNames[static_cast<size_t>(graph.outputs[index])].c_str();
    });
}

mnn_status mnn_interpreter_op_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = InterpreterUse(interpreter)->ops.size(); });
}

mnn_status mnn_interpreter_op_name(const mnn_interpreter_t* interpreter, size_t index, const char** name) {
    return guard([&] { required(name, "name") = nodeAt(*InterpreterUse(interpreter), index).name.c_str(); });
}

mnn_status mnn_interpreter_op_type(const mnn_interpreter_t* interpreter, size_t index, const char** type_name) {
    return guard([&] {
        required(type_name, "type_name");
        const InterpreterUse net(interpreter);
        checkIndex(index, net->typeNames.size(), "operator");
        *type_name = net->typeNames[index].c_str();
    });
}

mnn_status mnn_interpreter_op_supported(const mnn_interpreter_t* interpreter, size_t index, bool* supported) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        const Node& node = nodeAt(*net, index);
        const Net& parsed = *net->impl->net;
        required(supported, "supported") =
            node.def || net->operators.runs(parsed, parsed.graphs[net->ops[index].first], node);
    });
}

mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index, size_t* count) {
    return guard([&] { required(count, "count") = madeBy(*InterpreterUse(interpreter), index).size(); });
}

mnn_status mnn_interpreter_op_output_name(const mnn_interpreter_t* interpreter, size_t index, size_t output,
                                          const char** name) {
    return guard([&] {
        required(name, "name");
        const InterpreterUse net(interpreter);
        const std::span<const int> made = madeBy(*net, index);
        checkIndex(output, made.size(), "output");
        *name = mainGraph(*net).tensorNames[static_cast<size_t>(made[output])].c_str();
    });
}

mnn_status mnn_interpreter_parameter_count(const mnn_interpreter_t* interpreter, uint64_t* count) {
    return guard([&] {
        required(count, "count");
        const InterpreterUse net(interpreter);
        std::optional<uint64_t> counted;
        {
            const std::lock_guard lock(net->released.mutex);
            counted = net->released.parameters;
        }
        *count = counted ? *counted : net->impl->parameterCount();
    });
}
