// mnn_session_report() and mnn_interpreter_report().
#include <string_view>

#include "base/json_text.h"
#include "c_api/graph_text.h"
#include "c_api/guard.h"
#include "plan/passes.h"

using namespace mnnc;

namespace {

constexpr std::string_view kAfter = "plan after:";

std::string passNames() {
    std::string text;
    for (const Pass& pass : passes()) text += std::string(pass.name) + "\n";
    return text;
}

bool isPass(std::string_view name) {
    for (const Pass& pass : passes())
        if (pass.name == name) return true;
    return false;
}

// Appends the commands of a path's graphs and stages, after one pass or (null) before and after every pass.
void appendPlan(const Session& session, const SessionContext& path, const std::string_view* pass,
                const std::string& before, std::string& text) {
    for (const auto& [where, entries] : path.planTexts) {
        const std::string& graph = session.graphName(where.first);
        for (const PassText& entry : entries) {
            if (pass && entry.pass != *pass) continue;
            text += before;
            text += graph.empty() ? "main graph" : "subgraph '" + graph + "'";
            text += format(", stage %d, %s%s\n", where.second, entry.pass.empty() ? "before the passes" : "after ",
                           entry.pass.c_str());
            text += entry.text;
        }
    }
}

std::string planText(const Session& session, const std::string_view* pass) {
    std::string text;
    bool recorded = false;
    for (size_t i = 0; i < session.paths().size(); ++i) {
        const SessionContext& path = session.paths()[i].context();
        recorded |= path.settings.recordsPlans;
        appendPlan(session, path, pass, session.paths().size() > 1 ? format("path %zu, ", i) : "", text);
    }
    if (!recorded) fail(Status::BadState, "the session did not record its plan: config.record_plan was 0");
    return text;
}

void appendCandidates(const std::vector<AlgorithmCandidate>& candidates, std::string& text) {
    for (const AlgorithmCandidate& one : candidates) {
        text += format("%s\t%s\t%s cycles", one.chosen ? "*" : "", one.name, numberText(one.cycles, 3).c_str());
        if (one.ms >= 0) text += "\t" + numberText(one.ms, 4) + " ms";
        text += one.chosen && one.slow ? "\t!\n" : "\n";
    }
}

std::string algorithms(const Session& session) {
    std::string text;
    for (const OpRecord& record : session.records()) {
        text += format("%s\t%s\t%s\t%s\n", record.backend, record.type, record.name.c_str(), record.algorithm.c_str());
        appendCandidates(record.candidates, text);
    }
    return text;
}

std::string reportText(const Session& session, std::string_view what) {
    if (what == "passes") return passNames();
    if (what == "algorithms") return algorithms(session);
    if (what == "graph") return planGraphText(session);
    if (what == "plan") return planText(session, nullptr);
    if (what.starts_with(kAfter)) {
        const std::string_view pass = what.substr(kAfter.size());
        if (isPass(pass)) return planText(session, &pass);
    }
    fail(Status::NotFound,
         "there is no report '%s'; there are 'passes', 'plan', 'plan after:NAME' with the name of a pass, "
         "'algorithms' and 'graph'",
         std::string(what).c_str());
}

}  // namespace

mnn_status mnn_session_report(const mnn_session_t* session, const char* what, char* buffer, size_t capacity,
                              size_t* needed) {
    return guard([&] {
        const SessionUse handle(session, Access::Read, "mnn_session_report");
        required(what, "what");
        const std::string text = reportText(*handle->impl, what);
        fillBuffer(buffer, capacity, needed, text.c_str(), text.size() + 1, "the report");
    });
}

mnn_status mnn_interpreter_report(const mnn_interpreter_t* interpreter, const char* what, char* buffer, size_t capacity,
                                  size_t* needed) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        required(what, "what");
        if (std::string_view(what) != "graph")
            fail(Status::NotFound, "there is no report '%s' of a model; there is 'graph'", what);
        const std::string text = modelGraphText(*net->impl->net);
        fillBuffer(buffer, capacity, needed, text.c_str(), text.size() + 1, "the report");
    });
}
