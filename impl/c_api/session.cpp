// mnn_session_*: creation, inputs and outputs, resizes.
#include <algorithm>
#include <new>

#include "c_api/constants.h"
#include "c_api/schedule_config.h"
#include "c_api/session_log.h"
#include "session/cache_file.h"
#include "session/replace_file.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kResizeOptionsSize = sizeof(mnn_resize_options_t);

mnn_tensor_t* find(const std::vector<SessionTensor>& tensors, const char* name, const char* what) {
    if (tensors.empty()) fail(Status::NotFound, "the session has no %ss", what);
    std::string known;
    for (const SessionTensor& tensor : tensors) {
        if (!name || tensor.name == name) return handleOf<mnn_tensor_t>(tensor.handle);
        known += known.empty() ? "" : ", ";
        known += "'" + tensor.name + "'";
    }
    fail(Status::NotFound, "there is no %s '%s'; there is %s", what, name, known.c_str());
}

// Writes the cache file where it does not belong to this session (isForeign), or lacks measurements since it was read
// or written. A failure to write it is only logged: the next process prepares again.
void writeCache(SessionObject& session, bool isForeign) {
    const std::string& path = session.cachePath;
    if (path.empty() || !(isForeign || session.impl->measuredMore())) return;
    session.impl->measurementsSaved();
    const LogSink& log = session.log->sink;
    try {
        const std::vector<uint8_t> bytes = session.impl->cache();
        if (bytes.empty()) return;
        replaceFile(path, bytes);
        session.cacheWritten = true;
        if (log.wants(LogLevel::Info))
            log(LogLevel::Info, format("cache file '%s' written: %zu bytes", path.c_str(), bytes.size()));
    } catch (const Error& error) {
        log(LogLevel::Warning, error.message());
    } catch (const std::bad_alloc&) {
        // Then there is no memory for a message either.
    }
}

void resize(const mnn_session_t* session, const mnn_resize_options_t& options, const char* call) {
    const SessionUse handle(session, Access::Alone, call);
    const CancelUse cancel(options.cancel);
    const Cancellation cancellation = cancel.cancellation();
    cancellation.check();
    if (!handle->impl->needsResize()) return;
    handle->impl->resize(cancellation);
    logPlan(*handle);
    writeCache(*handle, false);
}

// The object of a new session: its engine, and its log messages.
std::unique_ptr<SessionObject> makeSession(InterpreterObject& net, SessionConfig first,
                                           std::vector<SessionConfig> later) {
    net.requireModel("no session can be created");
    const Stopwatch watch;
    auto object = std::make_unique<SessionObject>();
    object->log = net.log;
    object->runtime = first.backend.shared;
    {
        const std::lock_guard lock(net.cache.mutex);
        object->cachePath = net.cache.path;
        first.cache = net.cache.bytes;
    }
    if (first.cache.empty() && !object->cachePath.empty()) first.cache = readCacheFile(object->cachePath);
    for (SessionConfig& config : later) config.cache = first.cache;
    OperatorRegistry::SessionCreation creation(net.operators, net.current());
    object->impl = std::make_unique<Session>(creation.interpreter(), first, later);
    creation.succeeded();
    logCreated(*object, watch, first.cache.size());
    logPlan(*object);
    writeCache(*object, !object->impl->cacheAccepted());
    Session& session = *object->impl;
    for (size_t i = 0; i < session.inputCount(); ++i) object->inputs.push_back({0, session.input(i).name});
    for (size_t i = 0; i < session.outputCount(); ++i) object->outputs.push_back({0, session.output(i).name});
    object->constants = namedConstants(session);
    return object;
}

// Creates a session with a path for each of the caller's configurations.
mnn_session_t* createSession(InterpreterObject& net, const std::vector<mnn_schedule_config_t>& configs,
                             const char* call) {
    std::vector<SessionConfig> wanted;
    mnn_cancel_t* token = nullptr;
    for (size_t i = 0; i < configs.size(); ++i) {
        mnn_cancel_t* own = configs[i].cancel;
        if (own && token && own != token)
            fail(Status::InvalidValue, "path %zu: cancel differs from the token of an earlier path", i);
        if (own) token = own;
        inPath(i, configs.size(), [&] { wanted.push_back(readConfig(configs[i])); });
    }
    const CancelUse cancel(token);
    for (SessionConfig& config : wanted) config.cancel = cancel.cancellation();
    std::unique_ptr<SessionObject> object =
        makeSession(net, wanted.front(), std::vector<SessionConfig>(wanted.begin() + 1, wanted.end()));
    const uint64_t handle = handles::create({HandleKind::Session, reinterpret_cast<uint64_t>(object.get())});
    // The handle owns the object from here on.
    const SessionUse session(handle, Access::Alone, call, "out");
    SessionObject& made = *object.release();
    try {
        for (size_t i = 0; i < made.inputs.size(); ++i)
            made.inputs[i].handle = createTensorHandle(handle, i, kTensorInput);
        for (size_t i = 0; i < made.outputs.size(); ++i) made.outputs[i].handle = createTensorHandle(handle, i, 0);
    } catch (...) {
        handles::destroy(handle);
        throw;
    }
    return handleOf<mnn_session_t>(handle);
}

// The configurations are an array of structs of the size that the caller knows.
std::vector<mnn_schedule_config_t> readConfigs(const mnn_schedule_config_t& first, size_t count) {
    if (count < 1 || count > MNN_MAX_PATHS)
        fail(Status::BadRange, "count is %zu, a session has 1 to %d paths", count, MNN_MAX_PATHS);
    const size_t size = first.struct_size;
    std::vector<mnn_schedule_config_t> configs;
    for (size_t i = 0; i < count; ++i) {
        const void* place = reinterpret_cast<const char*>(&first) + i * size;
        const auto& given = *static_cast<const mnn_schedule_config_t*>(place);
        const std::string name = format("configs[%zu]", i);
        checkStructSize(size, kConfigSize, name.c_str());
        if (size % alignof(mnn_schedule_config_t) != 0 || given.struct_size != size)
            fail(Status::VersionMismatch, "%s.struct_size is %zu, that of the first configuration %zu", name.c_str(),
                 given.struct_size, size);
        configs.push_back(readStruct(given, kConfigSize, name.c_str()));
    }
    return configs;
}

}  // namespace

mnn_status mnn_resize_options_init(mnn_resize_options_t* options, size_t struct_size) {
    return guard([&] { initStruct(&required(options, "options"), struct_size, kResizeOptionsSize, "options"); });
}

mnn_status mnn_session_create(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* config,
                              mnn_session_t** out) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        required(out, "out");
        mnn_schedule_config_t given{};
        if (config) given = readStruct(*config, kConfigSize, "config");
        *out = createSession(*net, {given}, "mnn_session_create");
    });
}

mnn_status mnn_session_create_paths(mnn_interpreter_t* interpreter, const mnn_schedule_config_t* configs, size_t count,
                                    mnn_session_t** out) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        required(out, "out");
        *out = createSession(*net, readConfigs(required(configs, "configs"), count), "mnn_session_create_paths");
    });
}

mnn_status mnn_session_destroy(mnn_session_t** session) {
    return guard([&] {
        if (!session || !*session) return;
        SessionUse(*session, Access::Alone, "mnn_session_destroy").destroy();
        *session = nullptr;
    });
}

mnn_status mnn_session_input_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count") = SessionUse(session, Access::Always, "mnn_session_input_count")->inputs.size();
    });
}

mnn_status mnn_session_input(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor") =
            find(SessionUse(session, Access::Always, "mnn_session_input")->inputs, name, "input");
    });
}

mnn_status mnn_session_input_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const SessionUse handle(session, Access::Always, "mnn_session_input_at");
        checkIndex(index, handle->inputs.size(), "input");
        *tensor = handleOf<mnn_tensor_t>(handle->inputs[index].handle);
    });
}

mnn_status mnn_session_output_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count") = SessionUse(session, Access::Always, "mnn_session_output_count")->outputs.size();
    });
}

mnn_status mnn_session_output(const mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor") =
            find(SessionUse(session, Access::Always, "mnn_session_output")->outputs, name, "output");
    });
}

mnn_status mnn_session_output_at(const mnn_session_t* session, size_t index, mnn_tensor_t** tensor) {
    return guard([&] {
        required(tensor, "tensor");
        const SessionUse handle(session, Access::Always, "mnn_session_output_at");
        checkIndex(index, handle->outputs.size(), "output");
        *tensor = handleOf<mnn_tensor_t>(handle->outputs[index].handle);
    });
}

mnn_status mnn_session_resize_input(mnn_session_t* session, mnn_tensor_t* input, const int32_t* dims, size_t rank) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_resize_input");
        if (!input) fail(Status::NullArgument, "argument 'input' is NULL");
        HandleEntry entry;
        if (handles::peek(valueOf(input), entry) != handles::Found::Yes || entry.kind != HandleKind::Tensor ||
            entry.payload != handle.handle() || !(entry.flags & kTensorInput))
            fail(Status::BadHandle, "argument 'input' is not an input of this session");
        if (rank > MNN_MAX_RANK) fail(Status::BadRange, "rank %zu is above %d", rank, MNN_MAX_RANK);
        if (rank) required(dims, "dims");
        Shape shape;
        for (size_t i = 0; i < rank; ++i) {
            if (dims[i] < 0)
                fail(Status::BadRange, "input '%s': extent %zu is %d, which is negative",
                     handle->inputs[entry.index].name.c_str(), i, dims[i]);
            shape.push(dims[i]);
        }
        handle->impl->resizeInput(entry.index, shape);
    });
}

mnn_status mnn_session_needs_resize(const mnn_session_t* session, bool* needed) {
    return guard([&] {
        required(needed, "needed") =
            SessionUse(session, Access::Always, "mnn_session_needs_resize")->impl->needsResize();
    });
}

mnn_status mnn_session_resize(mnn_session_t* session) {
    return guard([&] { resize(session, {}, "mnn_session_resize"); });
}

mnn_status mnn_session_resize_with_options(mnn_session_t* session, const mnn_resize_options_t* options) {
    return guard([&] {
        mnn_resize_options_t given{};
        if (options) given = readStruct(*options, kResizeOptionsSize, "options");
        resize(session, given, "mnn_session_resize_with_options");
    });
}
