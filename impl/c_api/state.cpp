// mnn_session_state_*(): the state that operators keep from run to run.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kStatePropertiesSize = sizeof(mnn_state_properties_t);

// Converts a length of this interface; one that is too large for int64_t becomes INT64_MAX, which is out of every
// range.
int64_t rows(uint64_t number) {
    return number > INT64_MAX ? INT64_MAX : static_cast<int64_t>(number);
}

void requireState(const Session& session) {
    if (session.keepers() == 0)
        fail(Status::NotSupported, "no operator of the session keeps something from run to run: it has no state");
    session.requireKept();
}

}  // namespace

mnn_status mnn_session_state_info(const mnn_session_t* session, mnn_state_properties_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kStatePropertiesSize, "info");
        const SessionUse handle(session, Access::Read, "mnn_session_state_info");
        const Session& made = *handle->impl;
        const KeptStates& kept = made.kept();
        mnn_state_properties_t result{};
        result.operators = static_cast<uint64_t>(made.keepers());
        result.length = static_cast<uint64_t>(kept.length());
        result.capacity = static_cast<uint64_t>(kept.capacity());
        result.bytes = static_cast<uint64_t>(kept.bytes());
        result.type = kept.halves() ? MNN_TYPE_FLOAT16 : MNN_TYPE_FLOAT32;
        result.erasable = kept.erasable() ? 1 : 0;
        writeStruct(info, result);
    });
}

mnn_status mnn_session_state_reset(mnn_session_t* session) {
    return guard([&] { SessionUse(session, Access::Alone, "mnn_session_state_reset")->impl->kept().reset(); });
}

mnn_status mnn_session_state_erase(mnn_session_t* session, uint64_t begin, uint64_t end) {
    return guard([&] {
        SessionUse(session, Access::Alone, "mnn_session_state_erase")->impl->kept().erase(rows(begin), rows(end));
    });
}

mnn_status mnn_session_state_reserve(mnn_session_t* session, uint64_t length) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_state_reserve");
        handle->impl->reserveKept(rows(length));
    });
}

mnn_status mnn_session_state_set_type(mnn_session_t* session, int32_t type) {
    return guard([&] {
        if (type != MNN_TYPE_FLOAT32 && type != MNN_TYPE_FLOAT16)
            fail(Status::InvalidValue, "type %d is neither float32 (1) nor float16 (19)", type);
        const SessionUse handle(session, Access::Alone, "mnn_session_state_set_type");
        handle->impl->kept().useHalves(type == MNN_TYPE_FLOAT16);
    });
}

mnn_status mnn_session_state_copy(const mnn_session_t* source, mnn_session_t* target) {
    return guard([&] {
        const SessionUse from(valueOf(&required(source, "source")), Access::Read, "mnn_session_state_copy", "source");
        if (source == target) fail(Status::InvalidValue, "source and target are the same session");
        const SessionUse to(valueOf(&required(target, "target")), Access::Alone, "mnn_session_state_copy", "target");
        from->impl->requireKept();
        to->impl->requireKept();
        if (from->impl->keptNet() != to->impl->keptNet())
            fail(Status::InvalidValue, "the sessions are of different models");
        to->impl->kept().copyFrom(from->impl->kept());
    });
}

mnn_status mnn_session_state_save(const mnn_session_t* session, void* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const SessionUse handle(session, Access::Read, "mnn_session_state_save");
        if (capacity > 0) required(static_cast<char*>(buffer), "buffer");
        required(needed, "needed");
        requireState(*handle->impl);
        const KeptStates& kept = handle->impl->kept();
        const auto bytes = static_cast<size_t>(kept.savedBytes());
        *needed = bytes;
        if (capacity == 0) return;
        if (capacity < bytes)
            fail(Status::BufferTooSmall, "the state needs a buffer of %zu bytes, the buffer has %zu", bytes, capacity);
        kept.save(handle->impl->keptNet(), buffer);
    });
}

mnn_status mnn_session_state_load(mnn_session_t* session, const void* data, size_t size) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_state_load");
        required(static_cast<const char*>(data), "data");
        requireState(*handle->impl);
        handle->impl->kept().load(handle->impl->keptNet(), data, size);
    });
}
