// mnn bench: measures loading, running and memory of a model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "open_model.h"
#include "process_memory.h"
#include "progress.h"
#include "session_settings.h"
#include "text.h"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Figures {
    double loadMs = 0;
    double firstMs = 0;
    std::vector<double> runs;  // sorted, ms
    uint64_t peakBytes = 0;
    uint64_t arenaBytes = 0;
    std::string softwareDriver;  // "": the session has none

    double quantile(double q) const {
        return runs[static_cast<size_t>(std::lround(q * static_cast<double>(runs.size() - 1)))];
    }
};

double timedRun(const Session& session, const std::vector<Array>& arrays) {
    writeInputs(session, arrays);
    const Clock::time_point begin = Clock::now();
    check(mnn_session_run(session.get()));
    return since(begin);
}

Figures measureRuns(const BenchOptions& options, uint64_t residentAtStart) {
    Figures figures;
    // The command draws it between timed calls; no thread draws during them.
    Progress progress("bench", 0, Progress::Drawn::ByCommand);
    progress.announce("loads " + options.model);
    const Clock::time_point begin = Clock::now();
    const Interpreter model = openModel(options.model, options.flags.parsedShapes());
    const Session session = createSession(model, options.flags);
    applyShapes(session, options.flags);
    requireShapes(session);
    figures.loadMs = since(begin);
    figures.softwareDriver = softwareDriver(session);
    if (!figures.softwareDriver.empty()) {
        progress.clear();
        text::print(stderr, "mnn bench: warning: '{}' is a software driver: these are times of the CPU, not of a GPU\n",
                    figures.softwareDriver);
    }

    const std::vector<Array> arrays = randomInputs(session, options.seed);
    const Clock::time_point first = Clock::now();
    writeInputs(session, arrays);
    check(mnn_session_run(session.get()));
    for (const mnn_tensor_t* output : outputsOf(session)) readTensor(output);
    figures.firstMs = figures.loadMs + since(first);

    // Warm-ups take a fifth of the time, within these limits.
    constexpr int kMaxWarmUps = 100, kMinWarmUps = 3;
    constexpr size_t kMinRuns = 5;
    const double wanted = options.seconds * 1000, warmUp = wanted / 5;
    const Clock::time_point warm = Clock::now();
    double runs = 0;
    // Both the time and the minimum number of runs have to pass.
    const auto show = [&] {
        runs++;
        const double part = std::min(since(warm) / (warmUp + wanted + 1), runs / (kMinWarmUps + kMinRuns));
        progress.showPart([part] { return part; });
    };
    for (int i = 0; i < kMinWarmUps || (since(warm) < warmUp && i < kMaxWarmUps); i++) {
        timedRun(session, arrays);
        show();
    }
    const Clock::time_point start = Clock::now();
    while (figures.runs.size() < kMinRuns || since(start) < wanted) {
        figures.runs.push_back(timedRun(session, arrays));
        show();
    }
    progress.clear();
    std::sort(figures.runs.begin(), figures.runs.end());

    figures.arenaBytes = statisticsOf(session).arena_bytes;
    const uint64_t peak = statusBytes("VmHWM");
    figures.peakBytes = peak > residentAtStart ? peak - residentAtStart : 0;
    return figures;
}

}  // namespace

int bench(const BenchOptions& options, uint64_t residentAtStart) {
    options.flags.checkTogether();
    const Figures figures = measureRuns(options, residentAtStart);
    if (options.json) {
        Json json;
        json["model"] = options.model;
        json["backend"] = options.flags.backend;
        json["threads"] = options.flags.threads;
        json["precision"] = options.flags.precision;
        json["memory"] = options.flags.memory;
        json["software_driver"] = !figures.softwareDriver.empty();
        json["runs"] = figures.runs.size();
        json["median_ms"] = figures.quantile(0.5);
        json["min_ms"] = figures.runs.front();
        json["p90_ms"] = figures.quantile(0.9);
        json["load_ms"] = figures.loadMs;
        json["first_ms"] = figures.firstMs;
        json["peak_bytes"] = figures.peakBytes;
        json["arena_bytes"] = figures.arenaBytes;
        text::print("{}\n", jsonText(json));
        return 0;
    }
    text::print("{}, {}, {} thread{}, {} runs\n", options.model, options.flags.backend, options.flags.threads,
                options.flags.threads == 1 ? "" : "s", figures.runs.size());
    text::print("  run    median {:.3f} ms   min {:.3f} ms   p90 {:.3f} ms\n", figures.quantile(0.5),
                figures.runs.front(), figures.quantile(0.9));
    text::print("  load   {:.1f} ms (file to session ready)   first result after {:.1f} ms\n", figures.loadMs,
                figures.firstMs);
    text::print("  memory {} peak above process start, of it arena {}\n", bytesText(figures.peakBytes),
                bytesText(figures.arenaBytes));
    return 0;
}

}  // namespace tool
