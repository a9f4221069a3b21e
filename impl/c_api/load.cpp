// mnn_interpreter_create_*(): loads a model according to the options.
#include <cmath>
#include <cstddef>

#include "base/stopwatch.h"
#include "c_api/guard.h"
#include "c_api/weight_reader.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kOptionsSize = offsetof(mnn_interpreter_options_t, attention_scale);

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

// The options and the data that they pass to the library, which is released when the call returns unless the model
// keeps it.
struct LoadOptions {
    explicit LoadOptions(const mnn_interpreter_options_t* options)
        : given(options ? readStruct(*options, kOptionsSize, "options") : mnn_interpreter_options_t{}),
          bytes(given.bytes_finalizer, given.bytes_user_data),
          weights(given.external_weight_finalizer, given.external_weight_user_data) {
        if (given.log_level < MNN_LOG_DEFAULT || given.log_level > MNN_LOG_DEBUG)
            fail(Status::InvalidValue, "options.log_level is %d, it goes from 0 to 4", given.log_level);
        if (given.bytes_finalizer && given.load_mode != MNN_LOAD_BORROW)
            fail(Status::InvalidValue, "options.bytes_finalizer is for borrowed bytes, options.load_mode is %d",
                 given.load_mode);
        if (!std::isfinite(given.attention_scale)) fail(Status::BadRange, "options.attention_scale is not finite");
        checkWeights();
    }
    // The host's external weights; null: there are none.
    std::shared_ptr<const ExternalFile> externalWeights();

    const mnn_interpreter_options_t given;
    GivenData bytes, weights;

  private:
    void checkWeights() const;
};

void LoadOptions::checkWeights() const {
    const void* data = given.external_weight_data;
    const bool reader = given.external_weight_reader != nullptr;
    if ((data != nullptr) + reader + (given.external_weight_path != nullptr) > 1)
        fail(Status::InvalidValue, "options.%s and options.%s are given: external weights have one source",
             data ? "external_weight_data" : "external_weight_reader",
             given.external_weight_path ? "external_weight_path" : "external_weight_reader");
    const int32_t mode = given.external_weight_mode;
    if (data ? mode != MNN_LOAD_DEFAULT && mode != MNN_LOAD_COPY && mode != MNN_LOAD_BORROW : mode != MNN_LOAD_DEFAULT)
        fail(Status::InvalidValue,
             "options.external_weight_mode is %d; memory is copied (3) or borrowed (4), all else has mode 0", mode);
    if (given.external_weight_finalizer && !reader && mode != MNN_LOAD_BORROW)
        fail(Status::InvalidValue,
             "options.external_weight_finalizer is for borrowed weights or a reader; there are none");
    if (given.external_weight_size > static_cast<uint64_t>(INT64_MAX))
        fail(Status::BadRange, "options.external_weight_size is %llu, which no memory has",
             static_cast<unsigned long long>(given.external_weight_size));
    if (!data && !reader && given.external_weight_size > 0)
        fail(Status::InvalidValue, "options.external_weight_size is %llu, but there is neither data nor reader",
             static_cast<unsigned long long>(given.external_weight_size));
    if ((data || reader) && given.external_weight_size == 0)
        fail(Status::Truncated, "options.external_weight_size is 0: the external weights are empty");
}

std::shared_ptr<const ExternalFile> LoadOptions::externalWeights() {
    const auto size = static_cast<size_t>(given.external_weight_size);
    const void* data = given.external_weight_data;
    if (given.external_weight_reader)
        return std::make_shared<const ExternalFile>("weights of the host's reader",
                                                    ModelBytes::fromSource(std::make_unique<const WeightReader>(
                                                        given.external_weight_reader, size, weights.share())));
    if (!data) return nullptr;
    return std::make_shared<const ExternalFile>("external weights in memory",
                                                given.external_weight_mode == MNN_LOAD_BORROW
                                                    ? ModelBytes::borrowed(data, size, weights.share())
                                                    : ModelBytes::copied(data, size));
}

// The message of a load at MNN_LOG_INFO.
void logLoaded(const InterpreterObject& interpreter, const char* path, const Stopwatch& watch) {
    const LogSink& log = interpreter.log->sink;
    if (!log.wants(LogLevel::Info)) return;
    const Model& model = interpreter.impl->model();
    log(LogLevel::Info,
        format("model %s%s%s loaded in %.1f ms: %zu operators, %zu inputs, %zu outputs, %zu bytes", path ? "'" : "",
               path ? path : "from memory", path ? "'" : "", watch.milliseconds(), interpreter.ops.size(),
               model.mainGraph().inputs.size(), model.mainGraph().outputs.size(), model.byteSize()));
}

// `read` gets the bytes of the model.
template <typename Read>
mnn_interpreter_t* create(const Read& read, const char* path, LoadOptions& options) {
    const Stopwatch watch;
    const mnn_interpreter_options_t& given = options.given;
    const CancelUse cancel(given.cancel);
    ModelOptions model;
    model.cancel = cancel.cancellation();
    model.cancel.check();
    auto log = std::make_shared<LogOwner>();
    log->sink.callback = given.log_callback;
    log->sink.userData = given.log_user_data;
    if (given.log_level != MNN_LOG_DEFAULT) log->sink.level = static_cast<LogLevel>(given.log_level);
    if (path) model.modelPath = path;
    if (given.external_weight_path) model.externalWeightPath = given.external_weight_path;
    model.externalWeights = options.externalWeights();
    model.access = accessOf(given.load_mode);
    model.attentionScale = given.attention_scale;
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
    const uint64_t handle = handles::create({HandleKind::Interpreter, reinterpret_cast<uint64_t>(object.get())});
    // Nothing fails from here on: the handle owns the object, the object owns the finalizer.
    static_cast<void>(object.release());
    log->finalizer = given.log_finalizer;
    return handleOf<mnn_interpreter_t>(handle);
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
        LoadOptions read(options);
        required(path, "path");
        required(out, "out");
        const int32_t mode = read.given.load_mode;
        if (mode != MNN_LOAD_DEFAULT && mode != MNN_LOAD_MAPPED && mode != MNN_LOAD_CHUNKED)
            fail(Status::InvalidValue, "options.load_mode is %d; a file is mapped (1) or read in chunks (2)", mode);
        const auto access = accessOf(mode);
        *out =
            create([&](const Cancellation& cancel) { return ModelBytes::fromFile(path, access, cancel); }, path, read);
    });
}

mnn_status mnn_interpreter_create_from_memory(const void* data, size_t size, const mnn_interpreter_options_t* options,
                                              mnn_interpreter_t** out) {
    return guard([&] {
        LoadOptions read(options);
        if (!data) fail(Status::NullArgument, "argument 'data' is NULL");
        required(out, "out");
        const int32_t mode = read.given.load_mode;
        if (mode != MNN_LOAD_DEFAULT && mode != MNN_LOAD_COPY && mode != MNN_LOAD_BORROW)
            fail(Status::InvalidValue, "options.load_mode is %d; memory is copied (3) or borrowed (4)", mode);
        *out = create(
            [&](const Cancellation&) {
                return mode == MNN_LOAD_BORROW ? ModelBytes::borrowed(data, size, read.bytes.share())
                                               : ModelBytes::copied(data, size);
            },
            nullptr, read);
    });
}
