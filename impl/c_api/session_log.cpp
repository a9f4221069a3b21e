// Messages about the creation and the plans of sessions.
#include "c_api/session_log.h"

#include <new>

namespace mnnc {

namespace {

const char* backendName(const Path& path) {
    if (path.hostBackend()) return path.hostBackend()->name().c_str();
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == path.forwardType()) return entry.name;
    return "?";
}

// "backend 'cpu'", or those of all paths: "backends 'cpu', 'vulkan'".
std::string backendNames(const Session& session) {
    const std::deque<Path>& paths = session.paths();
    std::string text = format("backend%s '%s'", paths.size() == 1 ? "" : "s", backendName(paths[0]));
    for (size_t i = 1; i < paths.size(); ++i) text += format(", '%s'", backendName(paths[i]));
    return text;
}

void logFallbacks(const SessionObject& session) {
    const std::deque<Path>& paths = session.impl->paths();
    for (size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].fallbackReason().empty()) continue;
        const std::string who = paths.size() == 1 ? "the session" : format("path %zu", i);
        const std::string fallback = format("%s runs on backend '%s' instead of the wanted one: %s", who.c_str(),
                                            backendName(paths[i]), paths[i].fallbackReason().c_str());
        session.log->sink(LogLevel::Info, fallback);
        if (const SharedRuntimePtr& runtime = paths[i].wantedSettings().shared) runtime->log(LogLevel::Info, fallback);
    }
}

// Writes one line for each operator that the wanted backend did not take, except those in `before`. Decisions of a
// later run have no line yet.
std::set<std::string> logOperators(const LogSink& log, const std::vector<OpRecord>& records,
                                   const std::set<std::string>& before) {
    std::set<std::string> lines;
    for (const OpRecord& record : records) {
        if (record.reason.empty() || !*record.backend) continue;
        const std::string line = format("operator '%s' (%s) runs on backend '%s': %s", record.name.c_str(), record.type,
                                        record.backend, record.reason.c_str());
        if (lines.insert(line).second && before.count(line) == 0) log(LogLevel::Debug, line);
    }
    return lines;
}

const char* verdictText(CacheVerdict verdict) {
    switch (verdict) {
        case CacheVerdict::None:
            break;
        case CacheVerdict::Accepted:
            return "accepted";
        case CacheVerdict::Damaged:
            return "rejected: it is damaged, or no cache of this library";
        case CacheVerdict::AnotherModel:
            return "rejected: it is of another model, precision or memory mode";
        case CacheVerdict::AnotherDevice:
            return "rejected: it is of another device, driver or version of the library";
    }
    return "not used";
}

}  // namespace

void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes) {
    const LogSink& log = session.log->sink;
    const Session& made = *session.impl;
    logFallbacks(session);
    if (made.cacheVerdict() != CacheVerdict::None && log.wants(LogLevel::Info))
        log(LogLevel::Info, format("the cache of %zu bytes was %s", cacheBytes, verdictText(made.cacheVerdict())));
    if (log.wants(LogLevel::Info)) {
        const Session::Memory memory = made.memory();
        log(LogLevel::Info, format("session on %s created in %.1f ms: %s, %lld bytes planned, %lld bytes of weights",
                                   backendNames(made).c_str(), watch.milliseconds(),
                                   made.needsResize() ? "a resize is needed" : "ready to run", asLong(memory.arena),
                                   asLong(memory.weights)));
    }
}

void logPlan(SessionObject& session) {
    const LogSink& log = session.log->sink;
    if (!log.wants(LogLevel::Debug) || session.impl->needsResize()) return;
    const std::vector<OpRecord>& records = session.impl->records();
    const double milliseconds = 1e-6 * static_cast<double>(session.impl->statistics().plans.lastNanoseconds);
    log(LogLevel::Debug, format("plan of %zu operators made in %.1f ms", records.size(), milliseconds));
    session.loggedOperators = logOperators(log, records, {});
}

RunPlanLog::RunPlanLog(SessionObject& session) noexcept
    : session_(session),
      wanted_(session.log->sink.wants(LogLevel::Debug)),
      before_(wanted_ ? session.impl->stagePlans() : 0) {}

RunPlanLog::~RunPlanLog() {
    if (!wanted_) return;
    const uint64_t made = session_.impl->stagePlans() - before_;
    if (made == 0) return;
    try {
        const LogSink& log = session_.log->sink;
        const std::vector<OpRecord>& records = session_.impl->records();
        log(LogLevel::Debug, format("a run made %llu plan%s of stages: the session has %zu operators",
                                    static_cast<unsigned long long>(made), made == 1 ? "" : "s", records.size()));
        session_.loggedOperators = logOperators(log, records, session_.loggedOperators);
    } catch (const std::bad_alloc&) {
        // The status of the run does not change because there is no memory for a message.
    }
}

}  // namespace mnnc
