// Queries of a session: its operators and their cost.
#include "c_api/session_info.h"

#include <cstring>

namespace mnnc {

mnn_op_info_t describe(const OpRecord& record, const Session& session) {
    mnn_op_info_t info{};
    info.struct_size = sizeof info;
    info.name = record.name.c_str();
    info.type_name = record.type;
    info.backend_name = record.backend;
    const bool isOfSession = record.reason.empty() && session.paths().size() == 1;
    const std::string& reason = isOfSession ? session.fallbackReason() : record.reason;
    info.reason = reason.empty() ? nullptr : reason.c_str();
    info.flops = record.flops;
    info.host_shape = record.hostShape ? 1 : 0;
    info.device_ms = -1;
    info.op_index = record.node;
    info.algorithm = record.algorithm.empty() ? nullptr : record.algorithm.c_str();
    return info;
}

}  // namespace mnnc

using namespace mnnc;

namespace {

// The size of the struct's first version, which stays when it grows.
constexpr size_t kInfoSize = offsetof(mnn_op_info_t, op_index);

void requireResized(const SessionObject& session) {
    if (session.impl->needsResize()) fail(Status::BadState, "the session has to be resized first");
}

}  // namespace

mnn_status mnn_session_flops(const mnn_session_t* session, double* flops, bool* complete) {
    return guard([&] {
        required(flops, "flops");
        const SessionUse handle(session, Access::Read, "mnn_session_flops");
        requireResized(*handle);
        double total = 0;
        bool all = true;
        for (const OpRecord& record : handle->impl->records()) {
            if (record.flops < 0)
                all = false;
            else
                total += record.flops;
        }
        *flops = total;
        if (complete) *complete = all;
    });
}

mnn_status mnn_session_op_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count");
        const SessionUse handle(session, Access::Read, "mnn_session_op_count");
        requireResized(*handle);
        *count = handle->impl->records().size();
    });
}

mnn_status mnn_session_op_info(const mnn_session_t* session, size_t index, mnn_op_info_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kInfoSize, "info");
        const SessionUse handle(session, Access::Read, "mnn_session_op_info");
        requireResized(*handle);
        const std::vector<OpRecord>& records = handle->impl->records();
        checkIndex(index, records.size(), "operator");
        writeStruct(info, describe(records[index], *handle->impl));
    });
}
