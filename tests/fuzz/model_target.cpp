// A model's bytes through the public interface: load, ask everything, create a session within small limits, write, run,
// read, resize to other shapes and run again.
#include <mnn_c.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "memory_file.h"
#include "net_input.h"
#include "random.h"
#include "target.h"

namespace {

using fuzz::Random;

constexpr uint64_t kMostMemory = 16u << 20;
constexpr double kMostFlops = 2e7;  // more is honest work that takes long

struct Counters {
    size_t executions = 0, loads = 0, creations = 0, runs = 0, resizes = 0, external = 0;
    ~Counters() {
        if (executions < 2) return;
        const double percent = 100.0 / static_cast<double>(executions);
        std::fprintf(stderr,
                     "model: %zu executions, %zu loaded (%.1f%%), %zu sessions created (%.1f%%), %zu ran "
                     "(%.1f%%), %zu "
                     "ran after a resize, %zu loaded with a weight file\n",
                     executions, loads, static_cast<double>(loads) * percent, creations,
                     static_cast<double>(creations) * percent, runs, static_cast<double>(runs) * percent,
                     resizes, external);
    }
};
Counters counters;

[[noreturn]] void defect(const char* call, mnn_status status) {
    std::fprintf(stderr, "%s gives %d (%s): '%s'\n", call, static_cast<int>(status), mnn_status_name(status),
                 mnn_last_error());
    std::abort();
}

// A code with a sentence that a host can expect, or a defect.
bool fine(mnn_status status, const char* call) {
    if (status == MNN_OK) return true;
    if (std::strcmp(mnn_status_name(status), "unknown status") == 0 || mnn_last_error()[0] == '\0' ||
        status == MNN_ERROR_INTERNAL || status == MNN_ERROR_OUT_OF_MEMORY ||
        status == MNN_ERROR_NULL_ARGUMENT || status == MNN_ERROR_BAD_HANDLE)
        defect(call, status);
    return false;
}
#define FINE(call) fine((call), #call)
// What has no reason to fail.
#define MUST(call)                                                      \
    do {                                                                \
        if (const mnn_status s = (call); s != MNN_OK) defect(#call, s); \
    } while (false)

void askTensor(const mnn_tensor_t* tensor) {
    const char* name = nullptr;
    int32_t dims[MNN_MAX_RANK], number = 0;
    size_t rank = 0, count = 0;
    MUST(mnn_tensor_name(tensor, &name));
    FINE(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    FINE(mnn_tensor_type(tensor, &number));
    FINE(mnn_tensor_format(tensor, &number));
    FINE(mnn_tensor_element_count(tensor, &count));
}

size_t askInterpreter(const mnn_interpreter_t* net) {
    size_t count = 0, rank = 0, characters = 0;
    const char* text = nullptr;
    uint64_t parameters = 0;
    const auto read = [&] { characters += std::strlen(text); };
    MUST(mnn_interpreter_uuid(net, &text));
    read();
    MUST(mnn_interpreter_model_version(net, &text));
    read();
    MUST(mnn_interpreter_biz_code(net, &text));
    read();
    FINE(mnn_interpreter_parameter_count(net, &parameters));
    MUST(mnn_interpreter_input_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        int32_t dims[MNN_MAX_RANK], number = 0;
        MUST(mnn_interpreter_input_name(net, i, &text));
        read();
        FINE(mnn_interpreter_input_shape(net, i, dims, MNN_MAX_RANK, &rank));
        FINE(mnn_interpreter_input_type(net, i, &number));
        FINE(mnn_interpreter_input_format(net, i, &number));
    }
    MUST(mnn_interpreter_output_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        MUST(mnn_interpreter_output_name(net, i, &text));
        read();
    }
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
            if (FINE(mnn_interpreter_op_output_name(net, i, k, &text))) read();
        }
    }
    return characters;
}

void askSession(const mnn_session_t* session) {
    mnn_session_memory_t memory{};
    memory.struct_size = sizeof memory;
    if (FINE(mnn_session_memory(session, &memory)) && memory.total_bytes > kMostMemory) {
        std::fprintf(stderr, "a session holds %llu bytes, its limit is %llu\n",
                     static_cast<unsigned long long>(memory.total_bytes),
                     static_cast<unsigned long long>(kMostMemory));
        std::abort();
    }
    size_t count = 0;
    if (FINE(mnn_session_op_count(session, &count)))
        for (size_t i = 0; i < count; ++i) {
            mnn_session_op_info_t info{};
            info.struct_size = sizeof info;
            if (FINE(mnn_session_op_info(session, i, &info)) && (!info.name || !info.type_name)) std::abort();
        }
}

std::vector<mnn_tensor_t*> inputsOf(const mnn_session_t* session) {
    size_t count = 0;
    MUST(mnn_session_input_count(session, &count));
    std::vector<mnn_tensor_t*> inputs(count);
    for (size_t i = 0; i < count; ++i) MUST(mnn_session_input_at(session, i, &inputs[i]));
    return inputs;
}

// Gives inputs other shapes: all of them (`anew`) or only extents that are open.
bool reshape(mnn_session_t* session, Random& random, bool anew) {
    for (mnn_tensor_t* input : inputsOf(session)) {
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        MUST(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank));
        for (size_t k = 0; k < rank; ++k) {
            if (dims[k] < 0) dims[k] = static_cast<int32_t>(1 + random.below(4));
            if (!anew) continue;
            if (random.oneIn(3)) dims[k] = static_cast<int32_t>(random.below(12));
            if (random.oneIn(64)) dims[k] = static_cast<int32_t>(random.below(70000));
        }
        if (anew && random.oneIn(16)) {
            const size_t other = random.below(MNN_MAX_RANK + 1);
            for (size_t k = rank; k < other; ++k) dims[k] = 1;
            rank = other;
        }
        if (!FINE(mnn_session_resize_input(session, input, dims, rank))) return false;
    }
    return FINE(mnn_session_resize(session));
}

// Contents of an input: small values, whatever its type; sometimes any bits.
void fill(std::vector<uint8_t>& bytes, int32_t type, Random& random) {
    const bool wild = random.oneIn(8);
    size_t step = 1;
    if (type == MNN_TYPE_FLOAT32 || type == MNN_TYPE_INT32) step = 4;
    for (size_t i = 0; i + step <= bytes.size(); i += step) {
        const uint64_t bits = random.next();
        uint32_t value = static_cast<uint32_t>(bits);
        if (!wild && type == MNN_TYPE_FLOAT32) {
            const float real = static_cast<float>(static_cast<int64_t>(bits % 65) - 32) / 8.0f;
            std::memcpy(&value, &real, 4);
        } else if (!wild && type == MNN_TYPE_INT32) {
            value = static_cast<uint32_t>(static_cast<int32_t>(bits % 9) - 2);
        }
        std::memcpy(bytes.data() + i, &value, step);
    }
}

bool writeAndRun(mnn_session_t* session, Random& random) {
    for (mnn_tensor_t* input : inputsOf(session)) {
        const int32_t format = static_cast<int32_t>(random.below(3));
        size_t bytes = 0;
        int32_t type = 0;
        if (!FINE(mnn_tensor_byte_size(input, format, &bytes)) || !FINE(mnn_tensor_type(input, &type)))
            return false;
        if (bytes > 4 * kMostMemory) std::abort();  // four channels for one in NC4HW4
        std::vector<uint8_t> values(bytes);
        fill(values, type, random);
        if (!FINE(mnn_tensor_write(input, values.data(), bytes, format))) return false;
    }
    double flops = 0;
    bool complete = false;
    MUST(mnn_session_flops(session, &flops, &complete));
    if (!(flops < kMostFlops)) return false;
    if (!FINE(mnn_session_run(session))) return false;
    size_t count = 0;
    MUST(mnn_session_output_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* output = nullptr;
        MUST(mnn_session_output_at(session, i, &output));
        askTensor(output);
        const int32_t format = static_cast<int32_t>(random.below(3));
        size_t bytes = 0;
        if (!FINE(mnn_tensor_byte_size(output, format, &bytes))) continue;
        std::vector<uint8_t> values(bytes);
        FINE(mnn_tensor_read(output, values.data(), bytes, format));
        void* data = nullptr;
        if (random.oneIn(4) && FINE(mnn_tensor_map(output, MNN_MAP_READ, &data)))
            MUST(mnn_tensor_unmap(output));
    }
    return true;
}

void useSession(mnn_session_t* session, const fuzz::Settings& settings) {
    uint64_t seed = 0;
    std::memcpy(&seed, settings.data() + 8, sizeof seed);
    Random random(seed);
    bool needed = false;
    MUST(mnn_session_needs_resize(session, &needed));
    if (needed && !reshape(session, random, false)) return;
    askSession(session);
    if (!writeAndRun(session, random)) return;
    ++counters.runs;
    if (settings[2] % 2 == 0) return;
    for (int round = 0; round < 1 + settings[2] % 4; ++round) {
        if (!reshape(session, random, true)) continue;
        askSession(session);
        if (writeAndRun(session, random)) ++counters.resizes;
    }
}

void useInterpreter(mnn_interpreter_t* net, const fuzz::Settings& settings) {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.max_memory_bytes = kMostMemory;
    config.max_loop_iterations = 100;
    config.threads = settings[1] % 64 == 63 ? 2 : 1;
    config.precision = settings[3] % 8 == 7 ? MNN_PRECISION_LOW : MNN_PRECISION_NORMAL;
    config.memory = settings[4] % 8 == 7 ? MNN_MEMORY_LOW : MNN_MEMORY_NORMAL;
    if (settings[5] % 8 == 7) config.cpu_isa = "portable";
    // Tensors in the middle as outputs.
    std::vector<const char*> names;
    if (settings[6] % 4 == 3) {
        size_t count = 0, outputs = 0;
        MUST(mnn_interpreter_op_count(net, &count));
        for (size_t i = settings[7] % 4; i < count; i += 4) {
            const char* name = nullptr;
            if (mnn_interpreter_op_output_count(net, i, &outputs) == MNN_OK && outputs > 0 &&
                mnn_interpreter_op_output_name(net, i, outputs - 1, &name) == MNN_OK)
                names.push_back(name);
        }
        config.save_tensors = names.data();
        config.save_tensor_count = names.size();
    }
    mnn_session_t* session = nullptr;
    if (!FINE(mnn_session_create(net, &config, &session))) {
        if (session) std::abort();
        return;
    }
    ++counters.creations;
    useSession(session, settings);
    MUST(mnn_session_destroy(&session));
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const fuzz::NetInput input = fuzz::splitInput(data, size);
    ++counters.executions;
    if (input.model.empty()) return 0;
    mnn_interpreter_options_t options;
    MUST(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = input.settings[0] % 2 ? MNN_LOAD_BORROW : MNN_LOAD_COPY;
    static fuzz::MemoryFile weightFile;
    if (!input.weights.empty()) {
        weightFile.set(input.weights.data(), input.weights.size());
        options.external_weight_path = weightFile.path().c_str();
    }
    // Of just that size, so that a read beyond the end is seen.
    const std::vector<uint8_t> model(input.model.begin(), input.model.end());
    mnn_interpreter_t* net = nullptr;
    if (!FINE(mnn_interpreter_create_from_memory(model.data(), model.size(), &options, &net))) {
        if (net) std::abort();
        return 0;
    }
    ++counters.loads;
    if (!input.weights.empty()) ++counters.external;
    askInterpreter(net);
    useInterpreter(net, input.settings);
    MUST(mnn_interpreter_destroy(&net));
    return 0;
}
