// mnn profile: where the time of a run goes, operator by operator.
#include <algorithm>
#include <chrono>
#include <fstream>

#include "commands.h"
#include "common.h"
#include "fma_peak.h"
#include "json.h"
#include "text.h"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Op {
    std::string name, type, backend, algorithm, shapes;
    double flops = 0;
    std::vector<double> begin, ms;  // per run

    double median() const {
        std::vector<double> sorted = ms;
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                         sorted.end());
        return sorted[sorted.size() / 2];
    }
    double gflops() const { return flops > 0 ? flops / median() * 1e-6 : 0; }
};

// The callbacks of the runs write to it. The operators come in the same order at every run, unless shapes
// or branches depend on contents: then the ones of the last run are shown.
struct Recorder {
    std::vector<Op> ops;
    size_t at = 0;
    size_t closed = 0;
    Clock::time_point start, begin;
    double deviceBegin = 0;  // ms since the start, where the next operator of a GPU begins

    void startRun() {
        at = closed = 0;
        start = Clock::now();
    }
    double sinceStart(Clock::time_point when) const {
        return std::chrono::duration<double, std::milli>(when - start).count();
    }
};

std::string shapesText(const mnn_tensor_t* const* tensors, size_t count) {
    std::string text;
    for (size_t i = 0; i < count && i < 2; ++i) {
        if (i > 0) text += ", ";
        const std::vector<int64_t> shape = shapeOf(tensors[i]);
        text += shapeText(shape);
    }
    if (count > 2) text += text::format(", and {} more", count - 2);
    return text;
}

std::string orEmpty(const char* text) {
    return text ? text : "";
}

int32_t onBefore(void* user, const mnn_op_info_t* info, const mnn_tensor_t* const* tensors, size_t count) {
    auto& recorder = *static_cast<Recorder*>(user);
    if (recorder.at == recorder.ops.size()) recorder.ops.emplace_back();
    Op& op = recorder.ops[recorder.at];
    if (op.name != orEmpty(info->name) || op.type != info->type_name) op = Op();
    if (op.ms.empty()) {
        op.name = orEmpty(info->name);
        op.type = info->type_name;
        op.backend = info->backend_name;
        op.algorithm = orEmpty(info->algorithm);
        op.flops = std::max(info->flops, 0.0);
        op.shapes = shapesText(tensors, count);
    }
    ++recorder.at;
    recorder.begin = Clock::now();
    recorder.deviceBegin = recorder.sinceStart(recorder.begin);
    return MNN_OP_RUN;
}

int32_t onAfter(void* user, const mnn_op_info_t* info, const mnn_tensor_t* const* tensors, size_t count) {
    const Clock::time_point end = Clock::now();
    auto& recorder = *static_cast<Recorder*>(user);
    Op& op = recorder.ops[recorder.closed++];
    // Where a GPU has no clock, the first of the operators that it runs together has the time of all.
    const double wall = std::chrono::duration<double, std::milli>(end - recorder.begin).count();
    const bool onDevice = info->device_ms >= 0;
    op.begin.push_back(onDevice ? recorder.deviceBegin : recorder.sinceStart(recorder.begin));
    op.ms.push_back(onDevice ? info->device_ms : wall);
    if (onDevice) recorder.deviceBegin += info->device_ms;
    if (op.ms.size() == 1) op.shapes += " -> " + shapesText(tensors, count);
    recorder.begin = end;
    return MNN_OP_RUN;
}

// Chrome's trace event format: complete events in microseconds, the last run.
void writeTrace(const std::string& path, const std::vector<Op>& ops) {
    Json events = Json::array();
    for (const Op& op : ops) {
        Json event;
        event["name"] = op.type + " " + op.name;
        event["cat"] = op.backend;
        event["ph"] = "X";
        event["ts"] = op.begin.back() * 1e3;
        event["dur"] = op.ms.back() * 1e3;
        event["pid"] = 1;
        event["tid"] = 1;
        event["args"] =
            Json::object({{"algorithm", op.algorithm}, {"shapes", op.shapes}, {"flops", op.flops}});
        events.push(std::move(event));
    }
    std::ofstream file(path);
    file << Json::object({{"traceEvents", events}}).dump(1) << "\n";
    if (!file.flush()) throw ToolError(text::format("cannot write '{}'", path));
}

struct Profile {
    std::vector<Op> ops;
    double wallMs = 0;  // median of runs without callbacks
    double peak = 0;    // GFLOP/s
    double totalMs() const {
        double sum = 0;
        for (const Op& op : ops) sum += op.median();
        return sum;
    }
};

Profile measure(const ProfileOptions& options) {
    const Interpreter model = openModel(options.model);
    const Session session = createSession(model, options.flags);
    applyShapes(session, options.flags);
    requireShapes(session);
    const std::vector<Array> arrays = randomInputs(session, options.seed);
    Recorder recorder;
    mnn_run_options_t watched;
    check(mnn_run_options_init(&watched, sizeof watched));
    watched.before = onBefore;
    watched.after = onAfter;
    watched.user_data = &recorder;
    watched.device_times = 1;
    std::vector<double> walls;
    Profile profile;
    // The first run of each kind is a warm-up.
    for (int run = 0; run <= options.runs; ++run) {
        writeInputs(session, arrays);
        const Clock::time_point begin = Clock::now();
        check(mnn_session_run(session.get()));
        if (run > 0) walls.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        writeInputs(session, arrays);
        recorder.startRun();
        check(mnn_session_run_with_options(session.get(), &watched));
        recorder.ops.resize(recorder.at);
        if (run == 0)
            for (Op& op : recorder.ops) op.ms.clear(), op.begin.clear();
    }
    std::sort(walls.begin(), walls.end());
    profile.wallMs = walls[walls.size() / 2];
    profile.ops = std::move(recorder.ops);
    profile.peak = measuredPeak(options.flags.threads);
    return profile;
}

void printJson(const ProfileOptions& options, const Profile& profile) {
    Json json;
    json["model"] = options.model;
    json["threads"] = options.flags.threads;
    json["runs"] = options.runs;
    json["wall_ms"] = profile.wallMs;
    json["peak_gflops"] = profile.peak;
    json["ops"] = Json::array();
    for (const Op& op : profile.ops)
        json["ops"].push(Json::object({{"name", op.name},
                                       {"type", op.type},
                                       {"backend", op.backend},
                                       {"algorithm", op.algorithm},
                                       {"shapes", op.shapes},
                                       {"ms", op.median()},
                                       {"flops", op.flops},
                                       {"gflops", op.gflops()}}));
    text::print("{}\n", json.dump(2));
}

void printRow(const Profile& profile, const Op& op) {
    const double ms = op.median(), rate = op.gflops();
    text::print("{:8.3f} {:5.1f}%  {:7} {:5}  {:20.20} {:17.17} {}  {}\n", ms, ms / profile.totalMs() * 100,
                rate > 0 ? text::format("{:.1f}", rate) : "",
                rate > 0 && op.backend == "cpu" ? text::format("{:.0f}%", rate / profile.peak * 100) : "",
                op.type, op.algorithm, op.shapes, op.name);
}

void printText(const ProfileOptions& options, const Profile& profile) {
    text::print("{}, {}, {} thread{}, medians of {} runs\n", options.model, options.flags.backend,
                options.flags.threads, options.flags.threads == 1 ? "" : "s", options.runs);
    text::print(
        "run {:.3f} ms, sum of operators {:.3f} ms, peak of the CPU's multiply-adds {:.0f} GFLOP/s\n\n",
        profile.wallMs, profile.totalMs(), profile.peak);
    std::vector<const Op*> shown;
    for (const Op& op : profile.ops) shown.push_back(&op);
    if (options.top > 0 && options.top < shown.size()) {
        std::stable_sort(shown.begin(), shown.end(),
                         [](const Op* a, const Op* b) { return a->median() > b->median(); });
        shown.resize(options.top);
    }
    text::print("      ms   share  GFLOP/s  peak  type                 algorithm         shapes, name\n");
    for (const Op* op : shown) printRow(profile, *op);

    struct Sum {
        std::string type;
        double ms = 0, flops = 0;
        size_t count = 0;
    };
    std::vector<Sum> sums;
    for (const Op& op : profile.ops) {
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
        text::print("{:8.3f} {:5.1f}%  {:7.1f}  {:5}  {}\n", sum.ms, sum.ms / profile.totalMs() * 100,
                    sum.flops / sum.ms * 1e-6, sum.count, sum.type);
}

// Behind one run: operators whose shapes depend on contents are planned in it.
void printAlgorithms(const ProfileOptions& options) {
    CommonFlags flags = options.flags;
    flags.recordPlan = true;
    const Interpreter model = openModel(options.model);
    const Session session = createSession(model, flags);
    applyShapes(session, flags);
    requireShapes(session);
    writeInputs(session, randomInputs(session, options.seed));
    check(mnn_session_run(session.get()));
    text::print("{}", reportOf(session, "algorithms"));
}

}  // namespace

int profile(const ProfileOptions& options) {
    options.flags.checkTogether();
    if (options.algorithms) {
        printAlgorithms(options);
        return 0;
    }
    const Profile result = measure(options);
    if (!options.trace.empty()) writeTrace(options.trace, result.ops);
    if (options.json)
        printJson(options, result);
    else
        printText(options, result);
    return 0;
}

}  // namespace tool
