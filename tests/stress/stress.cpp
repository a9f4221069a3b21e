// Eight threads do everything that may be done with shared interpreters, sessions and tokens, at any moment: create,
// write, resize, run, cancel, map, watch, read, destroy. Meant for the sanitizers; without one it still checks that every
// status is one that the moment allows, and that what a run gives is what one of the written inputs gives.
//
//     mnn_c_stress [--seconds N] [--seed S] [--threads T] [--vulkan] MODEL...
#include <mnn_c.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kPatterns = 4;  // of inputs; pattern 0 is zeros, which a resize leaves
constexpr size_t kSlots = 6;  // sessions that all threads share

std::atomic<bool> failed{false};
std::atomic<long> calls{0}, busy{0}, cancelled{0}, checked{0};
std::mutex printing;

void complain(const std::string& text) {
    const std::lock_guard lock(printing);
    std::fprintf(stderr, "%s\n", text.c_str());
    failed = true;
}

// What a call may give at any moment, besides MNN_OK.
bool allowed(mnn_status status) {
    return status == MNN_OK || status == MNN_ERROR_BUSY || status == MNN_ERROR_BAD_HANDLE ||
           status == MNN_ERROR_CANCELLED || status == MNN_ERROR_BAD_STATE ||
           status == MNN_ERROR_CALLBACK_STOP;
}

mnn_status seen(mnn_status status, const char* call) {
    ++calls;
    if (status == MNN_ERROR_BUSY) ++busy;
    if (status == MNN_ERROR_CANCELLED) ++cancelled;
    if (!allowed(status))
        complain(std::string(call) + " gave " + mnn_status_name(status) + ": " + mnn_last_error());
    return status;
}
#define SEEN(call) seen((call), #call)

void must(mnn_status status, const char* call) {
    if (status != MNN_OK)
        complain(std::string(call) + " gave " + mnn_status_name(status) + ": " + mnn_last_error());
}
#define MUST(call) must((call), #call)

// A net with one input of floats, what the patterns are and what they give.
struct Net {
    std::string path;
    std::atomic<mnn_interpreter_t*> handle{nullptr};
    size_t inputBytes = 0, outputBytes = 0;
    std::array<std::vector<unsigned char>, kPatterns> inputs, outputs;
};

mnn_schedule_config_t configOf(std::mt19937& random, bool vulkan) {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.threads = 1 + static_cast<int32_t>(random() % 3);
    if (vulkan && random() % 2) {
        config.forward_type = MNN_FORWARD_VULKAN;
        config.gpu_mode = random() % 2 ? MNN_GPU_RECORD_OP : MNN_GPU_RECORD_BATCH;
    }
    return config;
}

// Values that any element type takes: small whole numbers, as floats or as integers.
void fillPattern(std::vector<unsigned char>& bytes, int pattern, int32_t type) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const int32_t whole =
            pattern == 0 ? 0 : static_cast<int32_t>((i / 4 * 7 + static_cast<size_t>(pattern)) % 3);
        const float real = static_cast<float>(whole);
        if (type == MNN_TYPE_FLOAT32)
            std::memcpy(bytes.data() + i, &real, 4);
        else
            std::memcpy(bytes.data() + i, &whole, 4);
    }
}

// How an output differs from what each pattern gives.
std::string differences(const Net& net, const std::vector<unsigned char>& got) {
    std::string text;
    for (size_t pattern = 0; pattern < kPatterns; ++pattern) {
        size_t count = 0, first = 0;
        for (size_t i = got.size() / 4; i-- > 0;)
            if (std::memcmp(net.outputs[pattern].data() + 4 * i, got.data() + 4 * i, 4) != 0) {
                ++count;
                first = i;
            }
        float wanted = 0, there = 0;
        std::memcpy(&wanted, net.outputs[pattern].data() + 4 * first, 4);
        std::memcpy(&there, got.data() + 4 * first, 4);
        text += " of pattern " + std::to_string(pattern) + " in " + std::to_string(count) + " of " +
                std::to_string(got.size() / 4) + " elements, the first is number " + std::to_string(first) +
                ", " + std::to_string(there) + " in place of " + std::to_string(wanted) + ";";
    }
    return text;
}

bool prepare(Net& net) {
    mnn_interpreter_t* handle = nullptr;
    mnn_session_t* session = nullptr;
    mnn_tensor_t *input = nullptr, *output = nullptr;
    int32_t type = 0;
    size_t inputs = 0;
    if (mnn_interpreter_create_from_file(net.path.c_str(), nullptr, &handle) != MNN_OK ||
        mnn_session_create(handle, nullptr, &session) != MNN_OK ||
        mnn_session_input_count(session, &inputs) != MNN_OK || inputs != 1 ||
        mnn_session_input(session, nullptr, &input) != MNN_OK ||
        mnn_session_output(session, nullptr, &output) != MNN_OK || mnn_tensor_type(input, &type) != MNN_OK ||
        mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &net.inputBytes) != MNN_OK) {
        std::fprintf(stderr, "%s: %s\n", net.path.c_str(),
                     inputs > 1 ? "it has several inputs" : mnn_last_error());
        return false;
    }
    for (int i = 0; i < kPatterns; ++i) {
        const auto at = static_cast<size_t>(i);
        net.inputs[at].resize(net.inputBytes);
        fillPattern(net.inputs[at], i, type);
        MUST(mnn_tensor_write(input, net.inputs[at].data(), net.inputBytes, MNN_FORMAT_NCHW));
        MUST(mnn_session_run(session));
        MUST(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &net.outputBytes));
        net.outputs[at].resize(net.outputBytes);
        MUST(mnn_tensor_read(output, net.outputs[at].data(), net.outputBytes, MNN_FORMAT_NCHW));
    }
    MUST(mnn_session_destroy(&session));
    net.handle = handle;
    return !failed;
}

// A session with its net, which never change: a thread that has looked a slot up knows both.
struct Held {
    mnn_session_t* session;
    const Net* net;
};

struct Slot {
    std::atomic<const Held*> held{nullptr};
};

struct World {
    std::vector<Net> nets;
    std::array<Slot, kSlots> slots;
    std::mutex keeping;
    std::deque<Held> kept;  // of all sessions ever
    std::array<std::atomic<mnn_cancel_t*>, 4> tokens{};
    bool vulkan = false;
    std::atomic<bool> stop{false};
};

struct Watch {
    std::mt19937* random;
    bool stops;
};

int32_t watching(void* data, const mnn_op_info_t*, const mnn_tensor_t* const* tensors, size_t count) {
    auto& watch = *static_cast<Watch*>(data);
    for (size_t i = 0; i < count; ++i) {
        size_t bytes = 0;
        std::vector<unsigned char> values;
        MUST(mnn_tensor_byte_size(tensors[i], MNN_FORMAT_NCHW, &bytes));
        values.resize(bytes);
        SEEN(mnn_tensor_read(tensors[i], values.data(), bytes, MNN_FORMAT_NCHW));
    }
    return watch.stops && (*watch.random)() % 8 == 0 ? MNN_OP_STOP : MNN_OP_RUN;
}

class Worker {
  public:
    Worker(World& world, unsigned seed) : world_(world), random_(seed) {}

    void operator()() {
        while (!world_.stop && !failed) {
            Slot& slot = world_.slots[random_() % kSlots];
            const Held* held = slot.held;
            mnn_session_t* session = held ? held->session : nullptr;
            switch (random_() % 16) {
                case 0:
                    create(slot);
                    break;
                case 1:
                    if (random_() % 4 == 0) destroy(slot);
                    break;
                case 2:
                    renewNet();
                    break;
                case 3:
                    token();
                    break;
                case 4:
                case 5:
                    write(session, held ? held->net : nullptr);
                    break;
                case 6:
                    resize(session);
                    break;
                case 7:
                    map(session);
                    break;
                case 8:
                    ask(session);
                    break;
                case 9:
                case 10:
                    read(slot, held);
                    break;
                default:
                    run(session);
                    break;
            }
        }
    }

  private:
    mnn_cancel_t* anyToken() {
        return random_() % 2 ? world_.tokens[random_() % world_.tokens.size()].load() : nullptr;
    }

    void create(Slot& slot) {
        Net& net = world_.nets[random_() % world_.nets.size()];
        mnn_schedule_config_t config = configOf(random_, world_.vulkan);
        config.cancel = anyToken();
        mnn_session_t* made = nullptr;
        if (SEEN(mnn_session_create(net.handle, &config, &made)) != MNN_OK) return;
        const Held* none = nullptr;
        if (slot.held.compare_exchange_strong(none, keep({made, &net}))) return;
        MUST(mnn_session_destroy(&made));
    }

    void destroy(Slot& slot) {
        const Held* held = slot.held;
        if (!held) return;
        mnn_session_t* copy = held->session;
        if (SEEN(mnn_session_destroy(&copy)) == MNN_OK) slot.held.compare_exchange_strong(held, nullptr);
    }

    const Held* keep(Held held) {
        const std::lock_guard lock(world_.keeping);
        return &world_.kept.emplace_back(held);
    }

    // Sessions of the one before live on.
    void renewNet() {
        if (random_() % 8) return;
        Net& net = world_.nets[random_() % world_.nets.size()];
        mnn_interpreter_t* fresh = nullptr;
        MUST(mnn_interpreter_create_from_file(net.path.c_str(), nullptr, &fresh));
        mnn_interpreter_t* old = net.handle.exchange(fresh);
        MUST(mnn_interpreter_destroy(&old));
    }

    void token() {
        std::atomic<mnn_cancel_t*>& place = world_.tokens[random_() % world_.tokens.size()];
        mnn_cancel_t* token = place;
        switch (random_() % 6) {
            case 0: {
                mnn_cancel_t* fresh = nullptr;
                MUST(mnn_cancel_create(&fresh));
                mnn_cancel_t* old = place.exchange(fresh);
                if (old) SEEN(mnn_cancel_destroy(&old));
                break;
            }
            case 1:
                if (token) SEEN(mnn_cancel_trigger(token));
                break;
            default:
                if (token) SEEN(mnn_cancel_reset(token));
                break;
        }
    }

    void write(mnn_session_t* session, const Net* net) {
        mnn_tensor_t* input = nullptr;
        if (!session || !net || SEEN(mnn_session_input(session, nullptr, &input)) != MNN_OK) return;
        size_t bytes = 0;
        if (SEEN(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes)) != MNN_OK || bytes != net->inputBytes)
            return;
        const auto& pattern = net->inputs[random_() % kPatterns];
        const mnn_status status = mnn_tensor_write(input, pattern.data(), bytes, MNN_FORMAT_NCHW);
        if (status != MNN_ERROR_INPUT_DATA) seen(status, "mnn_tensor_write");  // resized just now
    }

    void resize(mnn_session_t* session) {
        mnn_tensor_t* input = nullptr;
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        if (!session || SEEN(mnn_session_input(session, nullptr, &input)) != MNN_OK ||
            SEEN(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank)) != MNN_OK)
            return;
        if (random_() % 2 && rank == 4) {  // pictures take any batch
            dims[0] = 1 + static_cast<int32_t>(random_() % 2);
            SEEN(mnn_session_resize_input(session, input, dims, rank));
        }
        mnn_resize_options_t options;
        MUST(mnn_resize_options_init(&options, sizeof options));
        options.cancel = anyToken();
        SEEN(mnn_session_resize_with_options(session, &options));
    }

    void map(mnn_session_t* session) {
        mnn_tensor_t* output = nullptr;
        void* data = nullptr;
        if (!session || SEEN(mnn_session_output(session, nullptr, &output)) != MNN_OK) return;
        if (SEEN(mnn_tensor_map(output, MNN_MAP_READ, &data)) == MNN_OK) SEEN(mnn_tensor_unmap(output));
    }

    void ask(mnn_session_t* session) {
        if (!session) return;
        size_t count = 0;
        double flops = 0;
        bool flag = false;
        mnn_memory_info_t memory{};
        memory.struct_size = sizeof memory;
        mnn_op_info_t info{};
        info.struct_size = sizeof info;
        int32_t type = 0;
        SEEN(mnn_session_memory(session, &memory));
        SEEN(mnn_session_needs_resize(session, &flag));
        SEEN(mnn_session_flops(session, &flops, &flag));
        SEEN(mnn_session_forward_type(session, &type, nullptr));
        if (SEEN(mnn_session_op_count(session, &count)) == MNN_OK && count > 0) {
            const mnn_status status = mnn_session_op_info(session, random_() % count, &info);
            if (status != MNN_ERROR_BAD_INDEX) seen(status, "mnn_session_op_info");  // planned anew just now
        }
    }

    void read(const Slot& slot, const Held* held) {
        mnn_tensor_t* output = nullptr;
        if (!held || SEEN(mnn_session_output(held->session, nullptr, &output)) != MNN_OK) return;
        mnn_session_t* session = held->session;
        const Net* net = held->net;
        std::vector<unsigned char> got(net->outputBytes);
        const mnn_status status = mnn_tensor_read(output, got.data(), got.size(), MNN_FORMAT_NCHW);
        if (status == MNN_ERROR_BUFFER_TOO_SMALL) return;  // of another batch or net
        size_t bytes = 0;
        int32_t type = 0;
        if (seen(status, "mnn_tensor_read") != MNN_OK || slot.held != held ||
            SEEN(mnn_session_forward_type(session, &type, nullptr)) != MNN_OK || type != MNN_FORWARD_CPU ||
            SEEN(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &bytes)) != MNN_OK || bytes != got.size())
            return;
        for (const auto& wanted : net->outputs)
            if (wanted == got) {
                ++checked;
                return;
            }
        complain(net->path + ": an output is not that of any input:" + differences(*net, got));
    }

    void run(mnn_session_t* session) {
        if (!session) return;
        mnn_run_options_t options;
        MUST(mnn_run_options_init(&options, sizeof options));
        options.cancel = anyToken();
        Watch watch{&random_, random_() % 2 == 0};
        if (random_() % 4 == 0) {
            options.before = watching;
            options.after = watching;
            options.user_data = &watch;
        }
        if (random_() % 2)
            SEEN(mnn_session_run(session));
        else
            SEEN(mnn_session_run_with_options(session, &options));
    }

    World& world_;
    std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
    long seconds = 10, seed = 1, threads = 8;
    World world;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--vulkan")
            world.vulkan = true;
        else if (word == "--seconds" && i + 1 < argc)
            seconds = std::atol(argv[++i]);
        else if (word == "--seed" && i + 1 < argc)
            seed = std::atol(argv[++i]);
        else if (word == "--threads" && i + 1 < argc)
            threads = std::atol(argv[++i]);
        else
            paths.push_back(word);
    }
    if (paths.empty()) {
        std::fprintf(stderr, "which models?\n");
        return 2;
    }
    if (world.vulkan) {
        size_t devices = 0;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &devices) != MNN_OK) {
            std::fprintf(stderr, "%s\n", mnn_last_error());
            return 77;  // skipped
        }
    }
    world.nets = std::vector<Net>(paths.size());
    for (size_t i = 0; i < paths.size(); ++i) {
        world.nets[i].path = paths[i];
        if (!prepare(world.nets[i])) return 1;
    }
    {
        std::vector<std::thread> workers;
        for (long i = 0; i < threads; ++i)
            workers.emplace_back(Worker(world, static_cast<unsigned>(seed * 1000 + i)));
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        while (std::chrono::steady_clock::now() < end && !failed)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        world.stop = true;
        for (std::thread& worker : workers) worker.join();
    }
    for (Slot& slot : world.slots) {
        const Held* held = slot.held;
        mnn_session_t* session = held ? held->session : nullptr;
        if (session) MUST(mnn_session_destroy(&session));
    }
    for (Net& net : world.nets) {
        mnn_interpreter_t* handle = net.handle;
        MUST(mnn_interpreter_destroy(&handle));
    }
    for (auto& place : world.tokens) {
        mnn_cancel_t* token = place;
        MUST(mnn_cancel_destroy(&token));
    }
    std::printf("%ld calls, %ld busy, %ld cancelled, %ld outputs compared, seed %ld: %s\n", calls.load(),
                busy.load(), cancelled.load(), checked.load(), seed, failed ? "FAILED" : "passed");
    return failed ? 1 : 0;
}
