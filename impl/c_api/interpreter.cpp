// mnn_interpreter_*: loading a model and asking about it.
#include <algorithm>
#include <cstring>
#include <span>

#include "c_api/guard.h"
#include "ops/source.h"

using namespace mnnc;

namespace {

constexpr size_t kOptionsSize = sizeof(mnn_interpreter_options_t);

mnn_interpreter_options_t readOptions(const mnn_interpreter_options_t* options) {
    mnn_interpreter_options_t result{};
    result.struct_size = kOptionsSize;
    if (options) {
        checkStructSize(options->struct_size, kOptionsSize, "options");
        std::memcpy(&result, options, std::min(options->struct_size, kOptionsSize));
    }
    if (result.log_level < MNN_LOG_DEFAULT || result.log_level > MNN_LOG_DEBUG)
        fail(Status::InvalidValue, "options.log_level is %d, it goes from 0 to 4", result.log_level);
    return result;
}

mnn_interpreter* create(ModelBytes bytes, const char* path, const mnn_interpreter_options_t& options) {
    auto log = std::make_shared<LogOwner>();
    log->sink.callback = options.log_callback;
    log->sink.userData = options.log_user_data;
    if (options.log_level != MNN_LOG_DEFAULT) log->sink.level = static_cast<LogLevel>(options.log_level);
    ModelOptions model;
    if (path) model.modelPath = path;
    if (options.external_weight_path) model.externalWeightPath = options.external_weight_path;
    if (options.load_mode == MNN_LOAD_CHUNKED) model.access = ModelBytes::Access::Read;
    model.log = log->sink;
    auto handle = std::make_unique<mnn_interpreter>();
    handle->impl = std::make_shared<const Interpreter>(std::move(bytes), std::move(model));
    const Net& net = *handle->impl->net;
    for (size_t graph = 0; graph < net.graphs.size(); ++graph)
        for (size_t node = 0; node < net.graphs[graph].nodes.size(); ++node) {
            handle->ops.emplace_back(graph, node);
            const OpType type = net.graphs[graph].nodes[node].type;
            const char* name = opTypeName(type);
            handle->typeNames.push_back(name ? name : format("Unknown(%d)", static_cast<int>(type)));
        }
    // From here on nothing fails: the finalizer belongs to the handle.
    log->finalizer = options.log_finalizer;
    handle->log = std::move(log);
    return handle.release();
}

const Graph& mainGraph(const mnn_interpreter& interpreter) {
    return interpreter.impl->model().mainGraph();
}

const InputParams& inputParams(const mnn_interpreter& interpreter, size_t index) {
    const Graph& graph = mainGraph(interpreter);
    checkIndex(index, graph.inputs.size(), "input");
    for (const Node& node : interpreter.impl->net->graphs[0].nodes)
        if (node.type == OpType::Input && node.params && node.outputs[0] == graph.inputs[index])
            return *node.paramsAs<InputParams>();
    fail(Status::Internal, "input %zu has no declaration", index);
}

const Node& nodeAt(const mnn_interpreter& interpreter, size_t index) {
    checkIndex(index, interpreter.ops.size(), "operator");
    const auto [graph, node] = interpreter.ops[index];
    return interpreter.impl->net->graphs[graph].nodes[node];
}

// Tensors that a session may be asked for.
std::span<const int> madeBy(const mnn_interpreter& interpreter, size_t index) {
    const Node& node = nodeAt(interpreter, index);
    if (interpreter.ops[index].first != 0) return {};
    return node.outputs;
}

}  // namespace

mnn_status mnn_interpreter_options_init(mnn_interpreter_options_t* options, size_t struct_size) {
    return guard([&] {
        required(options, "options");
        checkStructSize(struct_size, kOptionsSize, "options");
        std::memset(options, 0, struct_size);
        options->struct_size = struct_size;
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
        const auto access =
            read.load_mode == MNN_LOAD_CHUNKED ? ModelBytes::Access::Read : ModelBytes::Access::Map;
        *out = create(ModelBytes::fromFile(path, access), path, read);
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
        *out =
            create(borrow ? ModelBytes::borrowed(data, size) : ModelBytes::copied(data, size), nullptr, read);
    });
}

mnn_status mnn_interpreter_destroy(mnn_interpreter_t** interpreter) {
    return guard([&] {
        if (!interpreter || !*interpreter) return;
        mnn_interpreter& handle = checked(*interpreter);
        handle.tag = HandleTag::Dead;
        delete &handle;
        *interpreter = nullptr;
    });
}

mnn_status mnn_interpreter_uuid(const mnn_interpreter_t* interpreter, const char** uuid) {
    return guard([&] { required(uuid, "uuid") = checked(interpreter).impl->model().uuid().c_str(); });
}

mnn_status mnn_interpreter_model_version(const mnn_interpreter_t* interpreter, const char** version) {
    return guard(
        [&] { required(version, "version") = checked(interpreter).impl->model().version().c_str(); });
}

mnn_status mnn_interpreter_biz_code(const mnn_interpreter_t* interpreter, const char** biz_code) {
    return guard(
        [&] { required(biz_code, "biz_code") = checked(interpreter).impl->model().bizCode().c_str(); });
}

mnn_status mnn_interpreter_input_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(checked(interpreter)).inputs.size(); });
}

mnn_status mnn_interpreter_input_name(const mnn_interpreter_t* interpreter, size_t index, const char** name) {
    return guard([&] {
        required(name, "name");
        const Graph& graph = mainGraph(checked(interpreter));
        checkIndex(index, graph.inputs.size(), "input");
        *name = graph.tensorNames[static_cast<size_t>(graph.inputs[index])].c_str();
    });
}

mnn_status mnn_interpreter_input_shape(const mnn_interpreter_t* interpreter, size_t index, int32_t* dims,
                                       size_t capacity, size_t* rank) {
    return guard([&] {
        required(rank, "rank");
        const Shape& shape = inputParams(checked(interpreter), index).shape;
        const auto count = static_cast<size_t>(shape.rank());
        if (capacity > 0) {
            required(dims, "dims");
            if (capacity < count)
                fail(Status::BufferTooSmall, "input %zu has %zu extents, the buffer holds %zu", index, count,
                     capacity);
            for (size_t i = 0; i < count; ++i) dims[i] = static_cast<int32_t>(shape[static_cast<int>(i)]);
        }
        *rank = count;
    });
}

mnn_status mnn_interpreter_input_type(const mnn_interpreter_t* interpreter, size_t index, int32_t* type) {
    return guard([&] { required(type, "type") = publicType(inputParams(checked(interpreter), index).type); });
}

mnn_status mnn_interpreter_input_format(const mnn_interpreter_t* interpreter, size_t index, int32_t* format) {
    return guard([&] {
        required(format, "format") = static_cast<int32_t>(inputParams(checked(interpreter), index).format);
    });
}

mnn_status mnn_interpreter_output_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = mainGraph(checked(interpreter)).outputs.size(); });
}

mnn_status mnn_interpreter_output_name(const mnn_interpreter_t* interpreter, size_t index,
                                       const char** name) {
    return guard([&] {
        required(name, "name");
        const Graph& graph = mainGraph(checked(interpreter));
        checkIndex(index, graph.outputs.size(), "output");
        *name = graph.tensorNames[static_cast<size_t>(graph.outputs[index])].c_str();
    });
}

mnn_status mnn_interpreter_op_count(const mnn_interpreter_t* interpreter, size_t* count) {
    return guard([&] { required(count, "count") = checked(interpreter).ops.size(); });
}

mnn_status mnn_interpreter_op_name(const mnn_interpreter_t* interpreter, size_t index, const char** name) {
    return guard([&] { required(name, "name") = nodeAt(checked(interpreter), index).name.c_str(); });
}

mnn_status mnn_interpreter_op_type(const mnn_interpreter_t* interpreter, size_t index,
                                   const char** type_name) {
    return guard([&] {
        required(type_name, "type_name");
        const mnn_interpreter& handle = checked(interpreter);
        checkIndex(index, handle.typeNames.size(), "operator");
        *type_name = handle.typeNames[index].c_str();
    });
}

mnn_status mnn_interpreter_op_supported(const mnn_interpreter_t* interpreter, size_t index, bool* supported) {
    return guard([&] {
        const Node& node = nodeAt(checked(interpreter), index);
        required(supported, "supported") = node.def && !(node.type == OpType::While && !node.params);
    });
}

mnn_status mnn_interpreter_op_output_count(const mnn_interpreter_t* interpreter, size_t index,
                                           size_t* count) {
    return guard([&] { required(count, "count") = madeBy(checked(interpreter), index).size(); });
}

mnn_status mnn_interpreter_op_output_name(const mnn_interpreter_t* interpreter, size_t index, size_t output,
                                          const char** name) {
    return guard([&] {
        required(name, "name");
        const mnn_interpreter& handle = checked(interpreter);
        const std::span<const int> made = madeBy(handle, index);
        checkIndex(output, made.size(), "output");
        *name = mainGraph(handle).tensorNames[static_cast<size_t>(made[output])].c_str();
    });
}

mnn_status mnn_interpreter_parameter_count(const mnn_interpreter_t* interpreter, uint64_t* count) {
    return guard([&] { required(count, "count") = checked(interpreter).impl->parameterCount(); });
}
