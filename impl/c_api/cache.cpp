// mnn_interpreter_set_cache*(), mnn_interpreter_update_cache_file(), mnn_session_cache*().
#include <cstring>

#include "c_api/guard.h"
#include "session/cache_file.h"
#include "session/replace_file.h"

using namespace mnnc;

mnn_status mnn_interpreter_set_cache_file(mnn_interpreter_t* interpreter, const char* path) {
    return guard([&] {
        const InterpreterUse handle(interpreter);
        const std::lock_guard lock(handle->cache.mutex);
        handle->cache.path = path ? path : "";
    });
}

mnn_status mnn_interpreter_set_cache(mnn_interpreter_t* interpreter, const void* data, size_t size) {
    return guard([&] {
        const InterpreterUse handle(interpreter);
        const auto* source = static_cast<const uint8_t*>(data);
        if (size) required(source, "data");
        std::vector<uint8_t> bytes(size);
        if (size) std::memcpy(bytes.data(), source, size);
        const std::lock_guard lock(handle->cache.mutex);
        handle->cache.bytes = std::move(bytes);
    });
}

mnn_status mnn_interpreter_update_cache_file(mnn_interpreter_t* interpreter, const mnn_session_t* session) {
    return guard([&] {
        const InterpreterUse handle(interpreter);
        const SessionUse source(session, Access::Read, "mnn_interpreter_update_cache_file");
        const std::lock_guard lock(handle->cache.mutex);
        if (handle->cache.path.empty()) fail(Status::BadState, "mnn_interpreter_set_cache_file() comes first");
        const std::vector<uint8_t> bytes = source->impl->cache();
        if (!bytes.empty() && bytes != readCacheFile(handle->cache.path)) replaceFile(handle->cache.path, bytes);
    });
}

mnn_status mnn_session_cache(const mnn_session_t* session, void* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const SessionUse handle(session, Access::Read, "mnn_session_cache");
        const std::vector<uint8_t> bytes = handle->impl->cache();
        fillBuffer(static_cast<uint8_t*>(buffer), capacity, needed, bytes.data(), bytes.size(), "the cache");
    });
}

mnn_status mnn_session_cache_accepted(const mnn_session_t* session, bool* accepted) {
    return guard([&] {
        required(accepted, "accepted") =
            SessionUse(session, Access::Always, "mnn_session_cache_accepted")->impl->cacheAccepted();
    });
}
