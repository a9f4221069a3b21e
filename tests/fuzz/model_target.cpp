// Uses a model's bytes through the public interface: loads from memory or a file, reads all information, creates a
// session within small limits, writes, runs, reads, resizes to other shapes and runs again.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "memory_file.h"
#include "net_input.h"
#include "net_mutator.h"
#include "own_operators.h"
#include "session_uses.h"
#include "statuses.h"
#include "target.h"
#include "token.h"

namespace {

using fuzz::Random;

struct Counters {
    size_t executions = 0, loads = 0, files = 0, changed = 0, creations = 0, runs = 0, resizes = 0, ended = 0,
           external = 0;
    ~Counters() {
        if (executions < 2) return;
        const double percent = 100.0 / static_cast<double>(executions);
        std::fprintf(stderr,
                     "model: %zu executions, %zu loaded (%.1f%%), %zu sessions created (%.1f%%), %zu ran "
                     "(%.1f%%), %zu ran after a resize, %zu calls ended by a token or a callback, %zu loaded with "
                     "a weight file, %zu loaded from a file, of which %zu changed afterwards\n",
                     executions, loads, static_cast<double>(loads) * percent, creations,
                     static_cast<double>(creations) * percent, runs, static_cast<double>(runs) * percent, resizes,
                     ended, external, files, changed);
    }
};
Counters counters;

// The use of an input, decoded from its settings.
struct Plan {
    explicit Plan(const fuzz::Settings& settings)
        : loading(settings[0] % 8),
          changesFile(settings[0] / 8 % 4 == 3),
          cancels(settings[0] / 32 == 7),
          threads(settings[1] % 64 == 63 ? 2 : 1),
          watched(settings[1] / 64 == 3),
          resizes(settings[2] % 2 ? 1 + settings[2] % 4 : 0),
          precision(settings[3] % 8 == 7 ? MNN_PRECISION_LOW : MNN_PRECISION_NORMAL),
          memory(settings[4] % 8 == 7 ? MNN_MEMORY_LOW : MNN_MEMORY_NORMAL),
          isa(settings[5] % 8 == 7 ? "portable" : nullptr),
          recordsPlan(settings[5] / 8 % 8 == 7),
          saves(settings[6] % 4 == 3),
          ownOperators(settings[6] / 4 % 4 == 3),
          firstSaved(settings[7] % 4) {
        std::memcpy(&seed, settings.data() + 8, sizeof seed);
    }
    bool fromFile() const { return loading >= 5; }
    int32_t loadMode() const {
        if (loading == 7) return MNN_LOAD_DEFAULT;
        if (loading == 6) return MNN_LOAD_CHUNKED;
        if (loading == 5) return MNN_LOAD_MAPPED;
        return loading % 2 ? MNN_LOAD_BORROW : MNN_LOAD_COPY;
    }
    // A mapped file must not change.
    bool mayChange() const { return changesFile && loading >= 6; }

    int loading;
    bool changesFile, cancels;
    int threads;
    bool watched;
    int resizes;
    int32_t precision, memory;
    const char* isa;
    bool recordsPlan;
    bool saves, ownOperators;
    size_t firstSaved;
    uint64_t seed = 0;
};

size_t askInterpreter(const mnn_interpreter_t* net) {
    size_t count = 0, characters = 0;
    const char* text = nullptr;
    uint64_t parameters = 0;
    const auto read = [&] { characters += std::strlen(text); };
    MUST(mnn_interpreter_uuid(net, &text));
    read();
    MUST(mnn_interpreter_model_version(net, &text));
    read();
    MUST(mnn_interpreter_biz_code(net, &text));
    read();
    FINE(mnn_interpreter_parameter_count(net, &parameters), fuzz::kParameterCount);
    MUST(mnn_interpreter_input_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_declaration_t input{};
        input.struct_size = sizeof input;
        MUST(mnn_interpreter_input_info(net, i, &input));
        text = input.name;
        read();
    }
    MUST(mnn_interpreter_output_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        MUST(mnn_interpreter_output_name(net, i, &text));
        read();
    }
    size_t size = 0;
    MUST(mnn_interpreter_report(net, "graph", nullptr, 0, &size));
    characters += size;
    MUST(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        bool supported = false;
        size_t outputs = 0;
        MUST(mnn_interpreter_op_name(net, i, &text));
        read();
        MUST(mnn_interpreter_op_type(net, i, &text));
        read();
        MUST(mnn_interpreter_op_supported(net, i, &supported));
        MUST(mnn_interpreter_op_output_count(net, i, &outputs));
        for (size_t k = 0; k < outputs; ++k) {
            MUST(mnn_interpreter_op_output_name(net, i, k, &text));
            read();
        }
    }
    return characters;
}

// Returns inner tensors, to be saved as outputs.
std::vector<const char*> savedTensors(const mnn_interpreter_t* net, size_t first) {
    std::vector<const char*> names;
    size_t count = 0, outputs = 0;
    MUST(mnn_interpreter_op_count(net, &count));
    for (size_t i = first; i < count; i += 4) {
        MUST(mnn_interpreter_op_output_count(net, i, &outputs));
        if (outputs == 0) continue;
        names.emplace_back();
        MUST(mnn_interpreter_op_output_name(net, i, outputs - 1, &names.back()));
    }
    return names;
}

// Returns whether a session ran.
bool useInterpreter(mnn_interpreter_t* net, const Plan& plan) {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.max_memory_bytes = fuzz::kMaxMemory;
    config.max_loop_iterations = 100;
    config.threads = plan.threads;
    config.precision = plan.precision;
    config.memory = plan.memory;
    config.cpu_isa = plan.isa;
    config.record_plan = plan.recordsPlan ? 1 : 0;
    std::vector<const char*> names;
    if (plan.saves) names = savedTensors(net, plan.firstSaved);
    if (!names.empty()) {
        config.save_tensors = names.data();
        config.save_tensor_count = names.size();
    }
    fuzz::Token token;
    const bool triggered = plan.cancels && plan.seed % 2;
    config.cancel = token.handle();
    if (triggered) token.trigger();
    mnn_session_t* session = nullptr;
    mnn_status status = mnn_session_create(net, &config, &session);
    if (triggered) {
        // Checks that come before the token fail in the same way without it.
        const mnn_status cancelled = status;
        if (cancelled == MNN_OK) fuzz::defect("a creation with a triggered token", cancelled);
        config.cancel = nullptr;
        status = mnn_session_create(net, &config, &session);
        if (cancelled != MNN_ERROR_CANCELLED && cancelled != status)
            fuzz::defect("a creation with a triggered token", cancelled);
    } else if (status == MNN_ERROR_CANCELLED) {
        fuzz::defect("a creation with a token", status);
    }
    if (!FINE(status, fuzz::kPlanning, fuzz::kCreate)) {
        if (session) std::abort();
        return false;
    }
    ++counters.creations;
    Random random(plan.seed);
    const fuzz::SessionUses uses = fuzz::useSession(session, random, plan.resizes, plan.watched);
    counters.runs += uses.ran;
    counters.resizes += static_cast<size_t>(uses.resized);
    counters.ended += static_cast<size_t>(uses.ended);
    MUST(mnn_session_destroy(&session));
    return uses.ran;
}

// Writes into the file, cuts it, or gives it its former time, which hides the change.
void changeFile(fuzz::MemoryFile& file, Random& random) {
    if (file.size() == 0) return;
    if (random.oneIn(2))
        file.cut(random.below(file.size()));
    else
        file.overwrite(random.below(file.size()), static_cast<uint8_t>(random.next()));
    if (random.oneIn(4)) file.age();
    ++counters.changed;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const fuzz::NetInput input = fuzz::splitInput(data, size);
    ++counters.executions;
    if (input.model.empty()) return 0;
    const Plan plan(input.settings);
    Random random(plan.seed ^ 1);
    mnn_interpreter_options_t options;
    MUST(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = plan.loadMode();
    static fuzz::MemoryFile modelFile, weightFile;
    if (!input.weights.empty()) {
        weightFile.set(input.weights.data(), input.weights.size());
        if (plan.fromFile()) weightFile.age();
        options.external_weight_path = weightFile.path().c_str();
    }
    fuzz::Token token;
    const bool triggered = plan.cancels && plan.seed % 2 == 0;
    options.cancel = token.handle();
    if (triggered) token.trigger();
    // It has exactly that size, so that a read beyond the end is detected.
    const std::vector<uint8_t> model(input.model.begin(), input.model.end());
    if (plan.fromFile()) {
        modelFile.set(model.data(), model.size());
        modelFile.age();  // otherwise the file would be read completely
    }
    const auto load = [&](mnn_interpreter_t** net) {
        return plan.fromFile() ? mnn_interpreter_create_from_file(modelFile.path().c_str(), &options, net)
                               : mnn_interpreter_create_from_memory(model.data(), model.size(), &options, net);
    };
    mnn_interpreter_t* net = nullptr;
    mnn_status status = load(&net);
    if (triggered) {
        if (status != MNN_ERROR_CANCELLED) fuzz::defect("a load with a token", status);
        token.reset();
        status = load(&net);
    }
    if (!FINE(status, fuzz::kLoad) || status == MNN_ERROR_CANCELLED) {
        if (net || status == MNN_ERROR_CANCELLED) std::abort();
        return 0;
    }
    ++counters.loads;
    counters.files += plan.fromFile();
    counters.external += !input.weights.empty();
    if (plan.mayChange()) changeFile(!input.weights.empty() && random.oneIn(2) ? weightFile : modelFile, random);
    if (plan.ownOperators) fuzz::addOwnOperators(net, random);
    askInterpreter(net);
    if (useInterpreter(net, plan)) fuzz::keepNet(data, size);
    MUST(mnn_interpreter_destroy(&net));
    return 0;
}
