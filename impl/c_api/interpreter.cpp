// mnn_interpreter_*: loading a model and asking about it.
#include <span>

#include "base/stopwatch.h"
#include "c_api/guard.h"
#include "ops/source.h"

using namespace mnnc;

namespace {

// The size of the first version, which stays when the struct grows.
constexpr size_t kOptionsSize = sizeof(mnn_interpreter_options_t);

mnn_interpreter_options_t readOptions(const mnn_interpreter_options_t* options) {
    mnn_interpreter_options_t result{};
    if (options) result = readStruct(*options, kOptionsSize, "options");
    if (result.log_level < MNN_LOG_DEFAULT || result.log_level > MNN_LOG_DEBUG)
        fail(Status::InvalidValue, "options.log_level is %d, it goes from 0 to 4", result.log_level);
    return result;
}

ModelBytes::Access accessOf(int32_t loadMode) {
    switch (loadMode) {
        case MNN_LOAD_MAPPED:
            return ModelBytes::Access::Map;
        case MNN_LOAD_CHUNKED:
            return ModelBytes::Access::Read;
        default:
            return ModelBytes::Access::OnDemand;
    }
}

// The message of a load at MNN_LOG_INFO.
void logLoaded(const InterpreterObject& interpreter, const char* path, const Stopwatch& watch) {
    const LogSink& log = interpreter.log->sink;
    if (!log.wants(LogLevel::Info)) return;
    const Model& model = interpreter.impl->model();
    log(LogLevel::Info,
        format("model %s%s%s loaded in %.1f ms: %zu operators, %zu inputs, %zu outputs, %zu bytes",
               path ? "'" : "", path ? path : "from memory", path ? "'" : "", watch.milliseconds(),
               interpreter.ops.size(), model.mainGraph().inputs.size(), model.mainGraph().outputs.size(),
               model.byteSize()));
}

// `read` gets the bytes of the model.
template <typename Read>
mnn_interpreter_t* create(const Read& read, const char* path, const mnn_interpreter_options_t& options) {
    const Stopwatch watch;
    const CancelUse cancel(options.cancel);
    ModelOptions model;
    model.cancel = cancel.cancellation();
    model.cancel.check();
    auto log = std::make_shared<LogOwner>();
    log->sink.callback = options.log_callback;
    log->sink.userData = options.log_user_data;
    if (options.log_level != MNN_LOG_DEFAULT) log->sink.level = static_cast<LogLevel>(options.log_level);
    if (path) model.modelPath = path;
    if (options.external_weight_path) model.externalWeightPath = options.external_weight_path;
    model.access = accessOf(options.load_mode);
    model.log = log->sink;
    auto object = std::make_unique<InterpreterObject>();
    object->impl = std::make_shared<const Interpreter>(read(model.cancel), model);
    const Net& net = *object->impl->net;
    for (size_t graph = 0; graph < net.graphs.size(); ++graph)
        for (size_t node = 0; node < net.graphs[graph].nodes.size(); ++node) {
            object->ops.emplace_back(graph, node);
            const OpType type = net.graphs[graph].nodes[node].type;
            const char* name = opTypeName(type);
            object->typeNames.push_back(name ? name : format("Unknown(%d)", static_cast<int>(type)));
        }
    object->log = log;
    logLoaded(*object, path, watch);
    const uint64_t handle =
        handles::create({HandleKind::Interpreter, reinterpret_cast<uint64_t>(object.get())});
    // From here on nothing fails: the object belongs to the handle, the finalizer to the object.
    static_cast<void>(object.release());
    log->finalizer = options.log_finalizer;
    return handleOf<mnn_interpreter_t>(handle);
}

const Graph& mainGraph(const InterpreterObject& interpreter) {
    return interpreter.impl->model().mainGraph();
}

const InputParams& inputParams(const InterpreterObject& interpreter, size_t index) {
    const Graph& graph = mainGraph(interpreter);
    checkIndex(index, graph.inputs.size(), "input");
    for (const Node& node : interpreter.impl->net->graphs[0].nodes)
        if (node.type == OpType::Input && node.params && node.outputs[0] == graph.inputs[index])
            return node.paramsAs<InputParams>();
    fail(Status::Internal, "input %zu has no declaration", index);
}

const Node& nodeAt(const InterpreterObject& interpreter, size_t index) {
    checkIndex(index, interpreter.ops.size(), "operator");
    const auto [graph, node] = interpreter.ops[index];
    return interpreter.impl->net->graphs[graph].nodes[node];
}

// Tensors that a session may be asked for.
std::span<const int> madeBy(const InterpreterObject& interpreter, size_t index) {
    const Node& node = nodeAt(interpreter, index);
    if (interpreter.ops[index].first != 0) return {};
    return node.outputs;
}

}  // namespace

mnn_status mnn_interpreter_options_init(mnn_interpreter_options_t* options, size_t struct_size) {
    return guard([&] {
        required(options, "options");
        initStruct(options, struct_size, kOptionsSize, "options");
    });
}

mnn_status mnn_interpreter_create_from_file(const char* path, const mnn_interpreter_options_t* options,
                                            mnn_interpreter_t** out) {
    return guard([&] {
        required(path, "path");
        required(out, "out");
        const mnn_interpreter_options_t read = readOptions(options);
        if (read.load_mode != MNN_LOAD_DEFAULT && read.load_mode != MNN_LOAD_MAPPED &&
            read.load_mode != MNN_LOAD_CHUNKED)
            fail(Status::InvalidValue, "options.load_mode is %d; a file is mapped (1) or read in chunks (2)",
                 read.load_mode);
        const auto access = accessOf(read.load_mode);
        *out = create([&](const Cancellation& cancel) { return ModelBytes::fromFile(path, access, cancel); },
                      path, read);
    });
}

mnn_status mnn_interpreter_create_from_memory(const void* data, size_t size,
                                              const mnn_interpreter_options_t* options,
                                              mnn_interpreter_t** out) {
    return guard([&] {
        if (!data) fail(Status::NullArgument, "argument 'data' is NULL");
        required(out, "out");
        const mnn_interpreter_options_t read = readOptions(options);
        if (read.load_mode != MNN_LOAD_DEFAULT && read.load_mode != MNN_LOAD_COPY &&
            read.load_mode != MNN_LOAD_BORROW)
            fail(Status::InvalidValue, "options.load_mode is %d; memory is copied (3) or borrowed (4)",
                 read.load_mode);
        const bool borrow = read.load_mode == MNN_LOAD_BORROW;
        *out = create(
            [&](const Cancellation&) {
                return borrow ? ModelBytes::borrowed(data, size) : ModelBytes::copied(data, size);
            },
            nullptr, read);
    });
}

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
    return guard(
        [&] { required(version, "version") = InterpreterUse(interpreter)->impl->model().version().c_str(); });
}

mnn_status mnn_interpreter_biz_code(const mnn_interpreter_t* interpreter, const char** biz_code) {
    return guard([&] {
        required(biz_code, "biz_code") = InterpreterUse(interpreter)->impl->model().bizCode().c_str();
    });
}

mnn_status mnn_interpreter_input_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(*InterpreterUse(interpreter)).inputs.size(); });
}

mnn_status mnn_interpreter_input_name(const mnn_interpreter_t* interpreter, size_t index, const char** name) {
    return guard([&] {
        required(name, "name");
        const InterpreterUse net(interpreter);
        const Graph& graph = mainGraph(*net);
        checkIndex(index, graph.inputs.size(), "input");
        *name = graph.tensorNames[static_cast<size_t>(graph.inputs[index])].c_str();
    });
}

mnn_status mnn_interpreter_input_shape(const mnn_interpreter_t* interpreter, size_t index, int32_t* dims,
                                       size_t capacity, size_t* rank) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        fillShape(dims, capacity, rank, inputParams(*net, index).shape, "the input's shape");
    });
}

mnn_status mnn_interpreter_input_type(const mnn_interpreter_t* interpreter, size_t index, int32_t* type) {
    return guard(
        [&] { required(type, "type") = publicType(inputParams(*InterpreterUse(interpreter), index).type); });
}

mnn_status mnn_interpreter_input_format(const mnn_interpreter_t* interpreter, size_t index, int32_t* format) {
    return guard([&] {
        required(format, "format") =
            static_cast<int32_t>(inputParams(*InterpreterUse(interpreter), index).format);
    });
}

mnn_status mnn_interpreter_output_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(*InterpreterUse(interpreter)).outputs.size(); });
}

mnn_status mnn_interpreter_output_name(const mnn_interpreter_t* interpreter, size_t index,
                                       const char** name) {
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

mnn_status mnn_interpreter_op_type(const mnn_interpreter_t* interpreter, size_t index,
                                   const char** type_name) {
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

mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index,
                                           size_t* count) {
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
    return guard([&] { required(count, "count") = InterpreterUse(interpreter)->impl->parameterCount(); });
}
