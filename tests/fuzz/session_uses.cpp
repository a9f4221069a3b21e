#include "session_uses.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "statuses.h"
#include "token.h"

namespace fuzz {
namespace {

constexpr double kMaxFlops = 4e6;    // more is legitimate work that takes long
constexpr size_t kMaxObserved = 48;  // operators of a run whose tensors a callback reads
constexpr size_t kMaxRandomBytes = 4099 * 4;

void askTensor(const mnn_tensor_t* tensor) {
    const char* name = nullptr;
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0, count = 0;
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    MUST(mnn_tensor_name(tensor, &name));
    FINE(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank), kBadState);
    FINE(mnn_tensor_info(tensor, &info), kBadState);
    FINE(mnn_tensor_element_count(tensor, &count), kBadState);
}

// Reads the results of a run, or the tensors of a callback (`observed`).
void readTensor(const mnn_tensor_t* tensor, Random& random, bool observed) {
    const auto format = static_cast<int32_t>(random.below(3));
    size_t bytes = 0;
    if (!FINE(mnn_tensor_byte_size(tensor, format, &bytes), kBadState)) return;
    if (bytes > 4 * kMaxMemory) std::abort();  // four channels for one in NC4HW4
    std::vector<uint8_t> values(bytes);
    if (observed)
        FINE(mnn_tensor_read(tensor, values.data(), bytes, format), kBadState, kConstantRead);
    else
        FINE(mnn_tensor_read(tensor, values.data(), bytes, format), kBadState);
}

void askSession(const mnn_session_t* session) {
    mnn_statistics_t memory{};
    memory.struct_size = sizeof memory;
    MUST(mnn_session_statistics(session, &memory));
    if (memory.memory_bytes > kMaxMemory) {
        std::fprintf(stderr, "a session holds %llu bytes, its limit is %llu\n",
                     static_cast<unsigned long long>(memory.memory_bytes), static_cast<unsigned long long>(kMaxMemory));
        std::abort();
    }
    size_t count = 0;
    MUST(mnn_session_op_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_op_info_t info{};
        info.struct_size = sizeof info;
        MUST(mnn_session_op_info(session, i, &info));
        if (!info.name || !info.type_name || !info.backend_name) std::abort();
    }
    for (const char* what : {"algorithms", "plan", "graph"}) {
        size_t size = 0;
        if (!FINE(mnn_session_report(session, what, nullptr, 0, &size), kBadState)) continue;
        std::vector<char> text(size);
        MUST(mnn_session_report(session, what, text.data(), text.size(), &size));
    }
}

std::vector<mnn_tensor_t*> inputsOf(const mnn_session_t* session) {
    size_t count = 0;
    MUST(mnn_session_input_count(session, &count));
    std::vector<mnn_tensor_t*> inputs(count);
    for (size_t i = 0; i < count; ++i) MUST(mnn_session_input_at(session, i, &inputs[i]));
    return inputs;
}

using Dims = std::vector<int32_t>;

Dims shapeOf(const mnn_tensor_t* tensor) {
    Dims dims(MNN_MAX_RANK);
    size_t rank = 0;
    MUST(mnn_tensor_shape(tensor, dims.data(), dims.size(), &rank));
    dims.resize(rank);
    return dims;
}

// Changes extents: of all dimensions (`anew`) or only where they are open.
void change(Dims& dims, Random& random, bool anew) {
    for (int32_t& extent : dims) {
        if (extent < 0) extent = static_cast<int32_t>(1 + random.below(4));
        if (!anew) continue;
        if (random.oneIn(3)) extent = static_cast<int32_t>(random.below(12));
        if (random.oneIn(64)) extent = static_cast<int32_t>(random.below(70000));
    }
    if (anew && random.oneIn(16)) dims.resize(random.below(MNN_MAX_RANK + 1), 1);
}

bool putShape(mnn_session_t* session, mnn_tensor_t* input, const Dims& dims) {
    return FINE(mnn_session_resize_input(session, input, dims.data(), dims.size()), kResizeInput);
}

// The settings of one run, and of its early end.
struct Watch {
    enum class End { Not, Token, Stop, Skip, Nonsense, DestroyedToken };
    mnn_session_t* session = nullptr;
    Random random{0};
    Token token;
    End end = End::Not;
    size_t at = 0;  // the call of a callback at which it happens
    size_t calls = 0;
    bool cancelled = false;
};

// Makes the calls that are forbidden in a callback.
void disturb(mnn_session_t* session, Random& random) {
    mnn_status status = MNN_OK;
    mnn_session_t* handle = session;
    const std::vector<mnn_tensor_t*> inputs = inputsOf(session);
    switch (random.below(inputs.empty() ? 3 : 5)) {
        case 0:
            status = mnn_session_run(session);
            break;
        case 1:
            status = mnn_session_resize(session);
            break;
        case 2:
            status = mnn_session_destroy(&handle);
            break;
        case 3:
            status = mnn_session_resize_input(session, inputs[0], nullptr, 0);
            break;
        default:
            status = mnn_tensor_write(inputs[0], nullptr, 0, MNN_FORMAT_NCHW);
    }
    if (status != MNN_ERROR_BUSY || handle != session) defect("a call out of a callback", status);
}

int32_t onOperator(void* data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    auto& watch = *static_cast<Watch*>(data);
    if (!op->name || !op->type_name || !op->backend_name) std::abort();
    if (watch.calls < kMaxObserved)
        for (size_t i = 0; i < count; ++i) {
            askTensor(tensors[i]);
            readTensor(tensors[i], watch.random, true);
        }
    if (watch.random.oneIn(16)) disturb(watch.session, watch.random);
    if (watch.calls++ != watch.at) return MNN_OP_RUN;
    switch (watch.end) {
        case Watch::End::Not:
            return MNN_OP_RUN;
        case Watch::End::Token:
            watch.cancelled = true;
            watch.token.trigger();
            return MNN_OP_RUN;
        case Watch::End::DestroyedToken:
            watch.token.destroy();
            return MNN_OP_RUN;
        case Watch::End::Stop:
            return MNN_OP_STOP;
        case Watch::End::Skip:
            return MNN_OP_SKIP;
        default:
            return static_cast<int32_t>(3 + watch.random.below(100));
    }
}

// Runs with a token that is triggered before or during the run, with callbacks that read, stop or skip.
mnn_status runWatched(mnn_session_t* session, Random& random) {
    Watch watch;
    watch.session = session;
    watch.random = Random(random.next());
    watch.end = static_cast<Watch::End>(random.below(6));
    watch.at = random.below(random.oneIn(2) ? 4 : 40);
    mnn_run_options_t options;
    MUST(mnn_run_options_init(&options, sizeof options));
    options.cancel = watch.token.handle();
    const size_t kinds = 1 + random.below(3);
    if (kinds & 1) options.before = onOperator;
    if (kinds & 2) options.after = onOperator;
    options.user_data = &watch;
    const bool first = random.oneIn(8);
    if (first) watch.token.trigger();
    const mnn_status status = mnn_session_run_with_options(session, &options);
    const auto ended = [&](mnn_status reason) { return status == reason; };
    if ((first && !ended(MNN_ERROR_CANCELLED)) || (ended(MNN_ERROR_CANCELLED) && !first && !watch.cancelled) ||
        (ended(MNN_ERROR_CALLBACK_STOP) && watch.end != Watch::End::Stop) ||
        (ended(MNN_ERROR_INVALID_VALUE) && watch.end != Watch::End::Nonsense && watch.end != Watch::End::Skip))
        defect("a run with callbacks", status);
    return status;
}

class Uses {
  public:
    Uses(mnn_session_t* session, Random& random, bool watched)
        : session_(session), random_(random), watched_(watched) {}

    // A resize that fails keeps the plan of the former shapes.
    bool reshape(bool anew) {
        const std::vector<mnn_tensor_t*> inputs = inputsOf(session_);
        std::vector<Dims> before;
        for (const mnn_tensor_t* input : inputs) before.push_back(shapeOf(input));
        bool needed = false;
        MUST(mnn_session_needs_resize(session_, &needed));
        const bool planned = !needed;
        bool put = true;
        for (size_t i = 0; i < inputs.size() && put; ++i) {
            Dims dims = before[i];
            change(dims, random_, anew);
            put = putShape(session_, inputs[i], dims);
        }
        const mnn_status status = put ? resize() : MNN_ERROR_OVERFLOW;
        if (status == MNN_OK) return true;
        if (!planned || status == MNN_ERROR_LIMIT_EXCEEDED) return false;
        for (size_t i = 0; i < inputs.size(); ++i)
            MUST(mnn_session_resize_input(session_, inputs[i], before[i].data(), before[i].size()));
        MUST(mnn_session_resize(session_));
        return false;
    }

    bool writeAndRun() {
        for (mnn_tensor_t* input : inputsOf(session_))
            if (!write(input)) return false;
        double flops = 0;
        bool complete = false;
        MUST(mnn_session_flops(session_, &flops, &complete));
        if (!(flops < kMaxFlops)) return false;
        if (watched_ && random_.oneIn(2)) {
            const mnn_status status = runWatched(session_, random_);
            if (!FINE(status, kPlanning, kRun)) ++uses_.ended;
        }
        if (!FINE(mnn_session_run(session_), kPlanning, kBadState)) return false;
        readOutputs();
        return true;
    }

    SessionUses use(int resizes) {
        bool needed = false;
        MUST(mnn_session_needs_resize(session_, &needed));
        if (needed && !reshape(false)) return uses_;
        askSession(session_);
        uses_.ran = writeAndRun();
        for (int round = 0; round < resizes && uses_.ran; ++round) {
            if (!reshape(true)) continue;
            askSession(session_);
            if (writeAndRun()) ++uses_.resized;
        }
        return uses_;
    }

  private:
    mnn_status resize() {
        if (!watched_ || !random_.oneIn(3)) {
            const mnn_status status = mnn_session_resize(session_);
            FINE(status, kPlanning, kBadState);
            return status;
        }
        Token token;
        const bool triggered = random_.oneIn(2);
        if (triggered) token.trigger();
        mnn_resize_options_t options;
        MUST(mnn_resize_options_init(&options, sizeof options));
        options.cancel = token.handle();
        const mnn_status status = mnn_session_resize_with_options(session_, &options);
        if (triggered != (status == MNN_ERROR_CANCELLED)) defect("a resize with a token", status);
        if (!FINE(status, kPlanning, kResize)) ++uses_.ended;
        if (!triggered || random_.oneIn(2)) return status;
        const mnn_status again = mnn_session_resize(session_);
        FINE(again, kPlanning, kBadState);
        return again;
    }

    // Contents of an input: mostly small values of its type, sometimes random bits. Large inputs repeat the first of
    // them, because random numbers would take longer than the run.
    void fill(std::vector<uint8_t>& bytes, int32_t type) {
        const bool wild = random_.oneIn(8);
        size_t step = 1;
        if (type == MNN_TYPE_FLOAT32 || type == MNN_TYPE_INT32) step = 4;
        size_t filled = 0;
        for (; filled + step <= std::min(bytes.size(), kMaxRandomBytes); filled += step) {
            const uint64_t bits = random_.next();
            auto value = static_cast<uint32_t>(bits);
            if (!wild && type == MNN_TYPE_FLOAT32) {
                const float real = static_cast<float>(static_cast<int64_t>(bits % 65) - 32) / 8.0f;
                std::memcpy(&value, &real, 4);
            } else if (!wild && type == MNN_TYPE_INT32) {
                value = static_cast<uint32_t>(static_cast<int32_t>(bits % 9) - 2);
            }
            std::memcpy(bytes.data() + filled, &value, step);
        }
        while (filled != 0 && filled < bytes.size()) {
            const size_t more = std::min(filled, bytes.size() - filled);
            std::memcpy(bytes.data() + filled, bytes.data(), more);
            filled += more;
        }
    }

    bool write(mnn_tensor_t* input) {
        const auto format = static_cast<int32_t>(random_.below(3));
        size_t bytes = 0;
        mnn_tensor_properties_t info{};
        info.struct_size = sizeof info;
        MUST(mnn_tensor_byte_size(input, format, &bytes));
        MUST(mnn_tensor_info(input, &info));
        if (bytes > 4 * kMaxMemory) std::abort();
        std::vector<uint8_t> values(bytes);
        fill(values, info.type);
        MUST(mnn_tensor_write(input, values.data(), bytes, format));
        return true;
    }

    void readOutputs() {
        size_t count = 0;
        MUST(mnn_session_output_count(session_, &count));
        for (size_t i = 0; i < count; ++i) {
            mnn_tensor_t* output = nullptr;
            MUST(mnn_session_output_at(session_, i, &output));
            askTensor(output);
            readTensor(output, random_, false);
            void* data = nullptr;
            if (random_.oneIn(4)) {
                MUST(mnn_tensor_map(output, MNN_MAP_READ, &data));
                MUST(mnn_tensor_unmap(output));
            }
        }
    }

    mnn_session_t* session_;
    Random& random_;
    const bool watched_;
    SessionUses uses_;
};

}  // namespace

SessionUses useSession(mnn_session_t* session, Random& random, int resizes, bool watched) {
    return Uses(session, random, watched).use(resizes);
}

}  // namespace fuzz
