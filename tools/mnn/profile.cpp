// mnn profile: measures where the time of a run goes, operator by operator.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "commands.h"
#include "common.h"
#include "facts.h"
#include "fma_peak.h"
#include "json.h"
#include "loading.h"
#include "op_times.h"
#include "output_file.h"
#include "pages.h"
#include "profile_page.h"
#include "text.h"

namespace tool {
namespace {

// Writes Chrome's trace event format: complete events in microseconds, for the last run.
void writeTrace(const std::string& path, const std::vector<OpTimes>& ops) {
    Json events = Json::array();
    for (const OpTimes& op : ops) {
        Json event;
        event["name"] = op.type + " " + op.name;
        event["cat"] = op.backend;
        event["ph"] = "X";
        event["ts"] = op.begin.back() * 1e3;
        event["dur"] = op.ms.back() * 1e3;
        event["pid"] = 1;
        event["tid"] = 1;
        event["args"] = Json::object({{"algorithm", op.algorithm}, {"shapes", op.shapes}, {"flops", op.flops}});
        events.push_back(std::move(event));
    }
    writeOutput(path, jsonText(Json::object({{"traceEvents", events}}), 1) + "\n");
}

struct Profile : RunTimes {
    double peak = 0;  // GFLOP/s
    Facts facts;
};

Profile profileOf(const ProfileOptions& options) {
    const auto [model, session] = loadedSession(options.model, options.flags);
    Profile profile{measureOperators(session, options.seed, options.runs), measuredPeak(options.flags.threads), {}};
    profile.facts.add("model", options.model);
    profile.facts.add("library", mnn_version());
    profile.facts.add("run", fmt::format("{:.3f} ms, median of {}", profile.wallMs, options.runs));
    profile.facts.add("sum of operators", fmt::format("{:.3f} ms", profile.totalMs()));
    profile.facts.add("peak of the CPU", fmt::format("{:.0f} GFLOP/s", profile.peak));
    profile.facts.addSettings(session);
    return profile;
}

void printJsonProfile(const ProfileOptions& options, const Profile& profile) {
    Json json;
    json["model"] = options.model;
    json["threads"] = options.flags.threads;
    json["runs"] = options.runs;
    json["wall_ms"] = profile.wallMs;
    json["peak_gflops"] = profile.peak;
    json["ops"] = Json::array();
    for (const OpTimes& op : profile.ops)
        json["ops"].push_back(Json::object({{"name", op.name},
                                            {"type", op.type},
                                            {"backend", op.backend},
                                            {"algorithm", op.algorithm},
                                            {"shapes", op.shapes},
                                            {"ms", op.median()},
                                            {"flops", op.flops},
                                            {"gflops", op.gflops()}}));
    text::print("{}\n", jsonText(json));
}

void printRow(const Profile& profile, double totalMs, const OpTimes& op) {
    const double ms = op.median(), rate = op.gflops();
    text::print("{:8.3f} {:5.1f}%  {:7} {:5}  {:20.20} {:17.17} {}  {}\n", ms, ms / totalMs * 100,
                rate > 0 ? fmt::format("{:.1f}", rate) : "",
                rate > 0 && op.backend == "cpu" ? fmt::format("{:.0f}%", rate / profile.peak * 100) : "", op.type,
                op.algorithm, op.shapes, op.name);
}

void printText(const ProfileOptions& options, const Profile& profile) {
    text::print("{}, {}, {} thread{}, medians of {} runs\n", options.model, options.flags.backend,
                options.flags.threads, options.flags.threads == 1 ? "" : "s", options.runs);
    const double totalMs = profile.totalMs();
    text::print("run {:.3f} ms, sum of operators {:.3f} ms, peak of the CPU's multiply-adds {:.0f} GFLOP/s\n\n",
                profile.wallMs, totalMs, profile.peak);
    std::vector<std::pair<double, const OpTimes*>> shown;  // with their medians
    for (const OpTimes& op : profile.ops) shown.emplace_back(op.median(), &op);
    if (options.top > 0 && options.top < shown.size()) {
        std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        shown.resize(options.top);
    }
    text::print("      ms   share  GFLOP/s  peak  type                 algorithm         shapes, name\n");
    for (const auto& [ms, op] : shown) printRow(profile, totalMs, *op);

    struct Sum {
        std::string type;
        double ms = 0, flops = 0;
        size_t count = 0;
    };
    std::vector<Sum> sums;
    for (const OpTimes& op : profile.ops) {
        const std::string type = op.algorithm.empty() ? op.type : op.type + " " + op.algorithm;
        auto found = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) { return sum.type == type; });
        if (found == sums.end()) found = sums.insert(sums.end(), Sum{type});
        found->ms += op.median();
        found->flops += op.flops;
        ++found->count;
    }
    std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.ms > b.ms; });
    text::print("\n      ms   share  GFLOP/s  count  type and algorithm\n");
    for (const Sum& sum : sums)
        text::print("{:8.3f} {:5.1f}%  {:7.1f}  {:5}  {}\n", sum.ms, sum.ms / totalMs * 100, sum.flops / sum.ms * 1e-6,
                    sum.count, sum.type);
}

std::vector<std::string> fieldsOf(const std::string& line) {
    std::vector<std::string> fields(1);
    for (const char c : line)
        if (c == '\t')
            fields.emplace_back();
        else
            fields.back() += c;
    return fields;
}

// Parses the rows of the report: an operator's "backend\ttype\tname\talgorithm", followed for each algorithm that it
// was chosen from by "*\talgorithm\tcycles\tms". The star marks the chosen one; "\t!" follows it where another is
// faster.
Json algorithmsJson(const std::string& report) {
    Json ops = Json::array();
    std::istringstream in(report);
    std::vector<Json> candidates;
    Json op;
    const auto finish = [&] {
        if (op.is_null()) return;
        op["candidates"] = candidates;
        ops.push_back(std::move(op));
        candidates.clear();
    };
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> fields = fieldsOf(line);
        if (fields.size() < 4) continue;
        if (fields[0].empty() || fields[0] == "*") {
            candidates.push_back(Json::object({{"algorithm", fields[1]},
                                               {"cycles", std::strtod(fields[2].c_str(), nullptr)},
                                               {"ms", std::strtod(fields[3].c_str(), nullptr)},
                                               {"chosen", fields[0] == "*"},
                                               {"slow", fields.size() > 4}}));
            continue;
        }
        finish();
        op = Json::object({{"backend", fields[0]}, {"type", fields[1]}, {"name", fields[2]}, {"algorithm", fields[3]}});
    }
    finish();
    return ops;
}

// Prints the report after a run, because operators whose shapes depend on contents are planned during it.
void printAlgorithms(const ProfileOptions& options) {
    CommonFlags flags = options.flags;
    flags.measureAlgorithms = true;
    const auto [model, session] = loadedSession(options.model, flags);
    writeInputs(session, randomInputs(session, options.seed));
    check(mnn_session_run(session.get()));
    const std::string report = reportOf(session, "algorithms");
    if (options.json)
        text::print("{}\n", jsonText({{"model", options.model}, {"ops", algorithmsJson(report)}}));
    else
        text::print("{}", report);
}

}  // namespace

int profile(const ProfileOptions& options) {
    options.flags.checkTogether();
    if (options.algorithms) {
        printAlgorithms(options);
        return 0;
    }
    const bool pageAlone = options.output == kStandardStream, traceAlone = options.trace == kStandardStream;
    if (pageAlone + traceAlone + options.json > 1)
        throw UsageError("only one of --output -, --trace - and --json can write to standard output");
    const Profile result = profileOf(options);
    if (!options.trace.empty()) writeTrace(options.trace, result.ops);
    if (!options.output.empty())
        writeOutput(options.output, filledPage(kProfilePage, profilePageData(result, result.facts.list())));
    if (pageAlone || traceAlone) return 0;
    if (options.json)
        printJsonProfile(options, result);
    else
        printText(options, result);
    return 0;
}

}  // namespace tool
