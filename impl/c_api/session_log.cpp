// Messages about the creation and the plans of sessions.
#include "c_api/session_log.h"

namespace mnnc {

namespace {

const char* backendName(const Path& path) {
    if (path.hostBackend()) return path.hostBackend()->name().c_str();
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == path.forwardType()) return entry.name;
    return "?";
}

}  // namespace

void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes) {
    const LogSink& log = session.log->sink;
    const Session& made = *session.impl;
    if (!made.fallbackReason().empty()) {
        const std::string fallback = format("the session runs on backend '%s' instead of the wanted one: %s",
                                            backendName(made.paths()[0]), made.fallbackReason().c_str());
        log(LogLevel::Info, fallback);
        if (session.runtime) session.runtime->log(LogLevel::Info, fallback);
    }
    if (cacheBytes > 0 && made.forwardType() == ForwardType::Vulkan && log.wants(LogLevel::Info))
        log(LogLevel::Info, format("the cache of %zu bytes was %s", cacheBytes,
                                   made.cacheAccepted() ? "accepted"
                                                        : "rejected: it is of another device, driver "
                                                          "or library"));
    if (log.wants(LogLevel::Info)) {
        const Session::Memory memory = made.memory();
        log(LogLevel::Info,
            format(
                "session on backend '%s' created in %.1f ms: %s, %lld bytes planned, %lld bytes of weights",
                backendName(made.paths()[0]), watch.milliseconds(),
                made.needsResize() ? "a resize is needed" : "ready to run",
                static_cast<long long>(memory.arena), static_cast<long long>(memory.weights)));
    }
}

void logPlan(const SessionObject& session, const Stopwatch& watch) {
    const LogSink& log = session.log->sink;
    if (!log.wants(LogLevel::Debug) || session.impl->needsResize()) return;
    const std::vector<OpRecord>& records = session.impl->records();
    log(LogLevel::Debug,
        format("plan of %zu operators made in %.1f ms", records.size(), watch.milliseconds()));
    for (const OpRecord& record : records)
        if (!record.reason.empty())
            log(LogLevel::Debug, format("operator '%s' (%s) runs on backend '%s': %s", record.name.c_str(),
                                        record.type, record.backend, record.reason.c_str()));
}

}  // namespace mnnc
