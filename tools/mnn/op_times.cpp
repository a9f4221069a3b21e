// Measures operators through the callbacks of runs.
#include "op_times.h"

#include <algorithm>
#include <chrono>

#include "progress.h"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The callbacks of the runs write to it. The operators come in the same order in every run, unless shapes or branches
// depend on contents: then the operators of the last run are shown.
struct Recorder {
    std::vector<OpTimes> ops;
    size_t at = 0;
    size_t closed = 0;
    Clock::time_point start, begin;
    double deviceBegin = 0;  // when the next operator of a GPU begins, in ms since the start of the run

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
        text += shapeText(shapeOf(tensors[i]));
    }
    if (count > 2) text += fmt::format(", and {} more", count - 2);
    return text;
}

std::string orEmpty(const char* text) {
    return text ? text : "";
}

int32_t onBefore(void* user, const mnn_op_info_t* info, const mnn_tensor_t* const* tensors, size_t count) {
    auto& recorder = *static_cast<Recorder*>(user);
    if (recorder.at == recorder.ops.size()) recorder.ops.emplace_back();
    OpTimes& op = recorder.ops[recorder.at];
    if (op.name != orEmpty(info->name) || op.type != info->type_name) op = OpTimes();
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
    OpTimes& op = recorder.ops[recorder.closed++];
    // On a GPU without a clock, the first of several operators that run together gets the time of all.
    const double wall = std::chrono::duration<double, std::milli>(end - recorder.begin).count();
    const bool onDevice = info->device_ms >= 0;
    op.begin.push_back(onDevice ? recorder.deviceBegin : recorder.sinceStart(recorder.begin));
    op.ms.push_back(onDevice ? info->device_ms : wall);
    if (onDevice) recorder.deviceBegin += info->device_ms;
    if (op.ms.size() == 1) op.shapes += " -> " + shapesText(tensors, count);
    recorder.begin = end;
    return MNN_OP_RUN;
}

}  // namespace

double OpTimes::median() const {
    return medianOf(ms);
}

double RunTimes::totalMs() const {
    double sum = 0;
    for (const OpTimes& op : ops) sum += op.median();
    return sum;
}

RunTimes measureOperators(const Session& session, uint64_t seed, int runs) {
    const std::vector<Array> arrays = randomInputs(session, seed);
    Recorder recorder;
    mnn_run_options_t watched;
    check(mnn_run_options_init(&watched, sizeof watched));
    watched.before = onBefore;
    watched.after = onAfter;
    watched.user_data = &recorder;
    watched.device_times = 1;
    std::vector<double> walls;
    // The first run of each kind is a warm-up.
    Progress progress("profile", static_cast<size_t>(runs) + 1, Progress::Drawn::ByCommand);
    for (int run = 0; run <= runs; ++run) {
        progress.show(static_cast<size_t>(run));
        writeInputs(session, arrays);
        const Clock::time_point begin = Clock::now();
        check(mnn_session_run(session.get()));
        if (run > 0) walls.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        writeInputs(session, arrays);
        recorder.startRun();
        check(mnn_session_run_with_options(session.get(), &watched));
        recorder.ops.resize(recorder.at);
        if (run == 0)
            for (OpTimes& op : recorder.ops) op.ms.clear(), op.begin.clear();
    }
    return {std::move(recorder.ops), medianOf(std::move(walls))};
}

}  // namespace tool
