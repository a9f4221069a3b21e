// Creates, writes, resizes, runs, cancels, maps, watches, reads and destroys.
#include "worker.h"

#include <cstring>

#include "statuses.h"

namespace stress {

namespace {

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

}  // namespace

void Worker::operator()() {
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

mnn_cancel_t* Worker::anyToken() {
    return random_() % 2 ? world_.tokens[random_() % world_.tokens.size()].load() : nullptr;
}

void Worker::create(Slot& slot) {
    Net& net = world_.nets[random_() % world_.nets.size()];
    mnn_schedule_config_t config = configOf(random_, world_.vulkan);
    config.cancel = anyToken();
    mnn_session_t* made = nullptr;
    if (SEEN(mnn_session_create(net.handle, &config, &made)) != MNN_OK) return;
    const Held* none = nullptr;
    if (slot.held.compare_exchange_strong(none, keep({made, &net}))) return;
    MUST(mnn_session_destroy(&made));
}

void Worker::destroy(Slot& slot) {
    const Held* held = slot.held;
    if (!held) return;
    mnn_session_t* copy = held->session;
    if (SEEN(mnn_session_destroy(&copy)) == MNN_OK) slot.held.compare_exchange_strong(held, nullptr);
}

const Held* Worker::keep(Held held) {
    const std::lock_guard lock(world_.keeping);
    return &world_.kept.emplace_back(held);
}

void Worker::renewNet() {
    if (random_() % 8) return;
    Net& net = world_.nets[random_() % world_.nets.size()];
    mnn_interpreter_t* fresh = nullptr;
    MUST(mnn_interpreter_create_from_file(net.path.c_str(), nullptr, &fresh));
    mnn_interpreter_t* old = net.handle.exchange(fresh);
    MUST(mnn_interpreter_destroy(&old));
}

void Worker::token() {
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

void Worker::write(mnn_session_t* session, const Net* net) {
    mnn_tensor_t* input = nullptr;
    if (!session || !net || SEEN(mnn_session_input(session, nullptr, &input)) != MNN_OK) return;
    size_t bytes = 0;
    if (SEEN(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes)) != MNN_OK || bytes != net->inputBytes) return;
    const auto& pattern = net->inputs[random_() % kPatterns];
    const mnn_status status = mnn_tensor_write(input, pattern.data(), bytes, MNN_FORMAT_NCHW);
    if (status != MNN_ERROR_INPUT_DATA) seen(status, "mnn_tensor_write");  // resized just now
}

void Worker::resize(mnn_session_t* session) {
    mnn_tensor_t* input = nullptr;
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    if (!session || SEEN(mnn_session_input(session, nullptr, &input)) != MNN_OK ||
        SEEN(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank)) != MNN_OK)
        return;
    if (random_() % 2 && rank == 4) {  // pictures accept any batch
        dims[0] = 1 + static_cast<int32_t>(random_() % 2);
        SEEN(mnn_session_resize_input(session, input, dims, rank));
    }
    mnn_resize_options_t options;
    MUST(mnn_resize_options_init(&options, sizeof options));
    options.cancel = anyToken();
    SEEN(mnn_session_resize_with_options(session, &options));
}

void Worker::map(mnn_session_t* session) {
    mnn_tensor_t* output = nullptr;
    void* data = nullptr;
    if (!session || SEEN(mnn_session_output(session, nullptr, &output)) != MNN_OK) return;
    if (SEEN(mnn_tensor_map(output, MNN_MAP_READ, &data)) == MNN_OK) SEEN(mnn_tensor_unmap(output));
}

void Worker::ask(mnn_session_t* session) {
    if (!session) return;
    size_t count = 0;
    double flops = 0;
    bool flag = false;
    mnn_statistics_t memory{};
    memory.struct_size = sizeof memory;
    mnn_session_properties_t setup{};
    setup.struct_size = sizeof setup;
    mnn_op_info_t info{};
    info.struct_size = sizeof info;
    SEEN(mnn_session_statistics(session, &memory));
    SEEN(mnn_session_needs_resize(session, &flag));
    SEEN(mnn_session_flops(session, &flops, &flag));
    SEEN(mnn_session_info(session, &setup));
    if (SEEN(mnn_session_op_count(session, &count)) == MNN_OK && count > 0) {
        const mnn_status status = mnn_session_op_info(session, random_() % count, &info);
        if (status != MNN_ERROR_BAD_INDEX) seen(status, "mnn_session_op_info");  // planned again just now
    }
}

void Worker::read(const Slot& slot, const Held* held) {
    mnn_tensor_t* output = nullptr;
    if (!held || SEEN(mnn_session_output(held->session, nullptr, &output)) != MNN_OK) return;
    mnn_session_t* session = held->session;
    const Net* net = held->net;
    constexpr unsigned char kUnwritten = 0xee;  // no float of an output has these bytes
    std::vector<unsigned char> got(net->outputBytes, kUnwritten);
    const mnn_status status = mnn_tensor_read(output, got.data(), got.size(), MNN_FORMAT_NCHW);
    if (status == MNN_ERROR_BUFFER_TOO_SMALL) return;  // of another batch or net
    size_t bytes = 0;
    mnn_session_properties_t setup{};
    setup.struct_size = sizeof setup;
    if (seen(status, "mnn_tensor_read") != MNN_OK || slot.held != held ||
        SEEN(mnn_session_info(session, &setup)) != MNN_OK || setup.forward_type != MNN_FORWARD_CPU ||
        SEEN(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &bytes)) != MNN_OK || bytes != got.size())
        return;
    if (got.back() == kUnwritten && got[got.size() - 2] == kUnwritten) return;  // of a smaller batch, resized since
    for (const auto& wanted : net->outputs)
        if (wanted == got) {
            ++checked;
            return;
        }
    complain(net->path + ": an output is not that of any input:" + differences(*net, got));
}

void Worker::run(mnn_session_t* session) {
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

}  // namespace stress
