// RNN, LSTM and RNNSequenceGRU: the weights are brought to one form, the products of the inputs of all steps are
// computed at once, then a dispatch follows for each step. States stay in 32 bits between the steps.
#include "ops/recurrent.h"

#include <algorithm>
#include <bit>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/matrix_product.h"

namespace mnnc::vulkan {

namespace {

// The numbers are those of recurrent_step.comp.
enum class Cell : uint32_t { Rnn, Lstm, GruResetAfter, GruGates, GruCandidate };
constexpr uint32_t kStepUnits = 16, kMaxRows = 4;
constexpr uint32_t kStepBuffers = 5;

constexpr uint32_t kMinThreads = 64, kMaxThreads = 128;
constexpr size_t kGruInputs = 5;     // of one direction: gates, their bias, candidate, its bias, own bias
constexpr int64_t kMaxSteps = 4096;  // each is a dispatch of its own, with its descriptor set
constexpr int64_t kFloat = 4;

struct RecurrentSizes {
    explicit RecurrentSizes(const Command& command) {
        const auto& p = command.paramsAs<RecurrentParams>();
        const Shape& x = command.inputs[0]->shape;
        gru = command.type == OpType::RNNSequenceGRU;
        lstm = command.type == OpType::LSTM;
        steps = x[0], batch = x[1], inputs = x[2], hidden = p.hidden;
        directions = gru ? (p.bidirectional ? 2 : 1) : command.inputs[1]->shape[0];
        together = gru && p.rowWeights;
        firstState = together ? 5 : gru ? 1 + kGruInputs * static_cast<size_t>(directions) : 4;
        const bool all = !gru || p.keepAllOutputs;
        allOutput = all ? 0 : -1;
        lastOutput = !all ? 0 : command.outputs.size() > 1 ? 1 : -1;
        depth = checkedAdd(inputs, hidden, "weights");
        weightQuads = checkedMul(checkedMul(directions, depth, "weights"), hidden, "weights");
        sumQuads = checkedMul(checkedMul(directions, checkedMul(steps, batch, "steps"), "steps"), hidden, "steps");
        area = checkedMul(directions, checkedMul(batch, hidden, "states"), "states");
    }
    // Returns the number of quads of the largest buffer.
    int64_t maxQuads() const { return std::max({weightQuads, sumQuads, area}); }

    bool gru, lstm;
    bool together;  // a GRU whose weights are rows (rowWeights): those of the gates and of the candidate are one tensor
    int64_t steps, batch, inputs, hidden, directions, depth;
    int64_t weightQuads, sumQuads, area;  // area: states of all directions and rows
    size_t firstState;                    // input with the states before the first step
    int allOutput, lastOutput;            // -1: none
};

class Recurrent final : public VulkanExecution {
  public:
    Recurrent(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), s_(command_) {}

    void prepare() override {
        const auto& p = command_.paramsAs<RecurrentParams>();
        resetAfter_ = p.linearBeforeReset || p.rowWeights;
        const uint32_t gates = s_.lstm ? 4 : s_.together ? 3 : 1;
        const bool given = command_.inputs.size() > s_.firstState;
        constexpr DataType kType = DataType::Float32;
        pack_ = &backend().pipeline("recurrent_pack", kType, 3, kLocal, {s_.gru && !s_.together, gates});
        bias_ = &backend().pipeline("recurrent_bias", kType, 4, kLocal, {s_.gru, gates, resetAfter_, s_.together});
        first_ = &backend().pipeline("recurrent_first", kType, 3, kLocal, {given, s_.lstm});
        last_ = &backend().pipeline("recurrent_last", kType, 2, kLocal);
        const uint32_t threads = std::bit_floor(std::min(kMaxThreads, backend().limits().groupInvocations));
        rows_ = std::min(kMaxRows, std::bit_ceil(static_cast<uint32_t>(std::min<int64_t>(s_.batch, kMaxRows))));
        const auto step = [&](Cell cell) {
            return &backend().pipeline("recurrent_step", kType, kStepBuffers, threads,
                                       {kStepUnits, rows_, static_cast<uint32_t>(cell), s_.allOutput >= 0});
        };
        if (s_.gru && !resetAfter_) {
            gates_ = step(Cell::GruGates);
            step_ = step(Cell::GruCandidate);
        } else {
            step_ = step(s_.gru ? Cell::GruResetAfter : s_.lstm ? Cell::Lstm : Cell::Rnn);
        }
        planInputs();
        planScratch();
    }

    void encode(FrameRecorder& recorder) const override {
        encodeWeights(recorder);
        const bool given = command_.inputs.size() > s_.firstState;
        const Binding anything = recorder.reads(*command_.inputs[0]);
        recorder.dispatch(*first_,
                          {{given ? recorder.reads(*command_.inputs[s_.firstState]) : anything,
                            given && s_.lstm ? recorder.reads(*command_.inputs[s_.firstState + 1]) : anything,
                            bind(recorder, states_, true)}},
                          Push().u(s_.area), ceilDiv(s_.area, first_->localSize));
        inputs_->encode(recorder, anything, bind(recorder, weights_, false), bind(recorder, sums_, true), anything);
        for (int64_t k = 0; k < s_.steps; ++k) {
            if (gates_) encodeStep(recorder, *gates_, k);
            encodeStep(recorder, *step_, k);
        }
        if (s_.lastOutput >= 0) encodeLast(recorder, static_cast<size_t>(s_.lastOutput), s_.steps % 2);
        if (s_.lstm && command_.outputs.size() > 2) encodeLast(recorder, 2, 2);
    }

  private:
    struct Part {
        int64_t offset = 0, bytes = 0;
    };

    static Binding bind(const FrameRecorder& recorder, const Part& part, bool write) {
        return recorder.scratch(part.offset, part.bytes, write);
    }

    void planInputs() {
        MatrixProblem problem;
        problem.half = backend().half();
        problem.e = s_.steps * s_.batch;
        problem.l = problem.lda = s_.inputs;
        problem.h = problem.ldb = 4 * s_.hidden;
        problem.products = s_.directions;
        if (s_.directions > 1) problem.batch = {{s_.directions, 0, 4 * s_.depth * s_.hidden}};
        inputs_ = std::make_unique<MatrixProduct>(backend(), problem);
    }

    void planScratch() {
        int64_t bytes = 0;
        const auto place = [&](Part& part, int64_t wanted) {
            part = {bytes, roundUp(wanted, 16)};
            bytes = checkedAdd(bytes, roundUp(part.bytes, backend().alignment()), "scratch");
        };
        const int64_t element = backend().half() ? 2 : 4;
        place(weights_, 4 * s_.weightQuads * element);
        place(sums_, 4 * s_.sumQuads * element);
        place(biases_, s_.directions * s_.hidden * kQuadBytes);
        place(states_, 4 * s_.area * kFloat);
        requestScratch(bytes);
    }

    void encodeWeights(FrameRecorder& recorder) const {
        const auto in = [&](size_t i) { return recorder.reads(*command_.inputs[i]); };
        const auto pack = [&](size_t from, size_t candidate, int64_t rows, int64_t first, int64_t split,
                              int64_t directions) {
            const int64_t total = directions * rows * s_.hidden;
            recorder.dispatch(*pack_, {{in(from), in(candidate), bind(recorder, weights_, true)}},
                              Push().u(total, s_.hidden, rows, first * s_.hidden, s_.depth, split),
                              ceilDiv(total, pack_->localSize));
        };
        const auto bias = [&](size_t gates, size_t candidate, size_t own, int64_t first, int64_t directions) {
            const int64_t total = directions * s_.hidden;
            recorder.dispatch(*bias_, {{in(gates), in(candidate), in(own), bind(recorder, biases_, true)}},
                              Push().u(total, s_.hidden, first * s_.hidden), ceilDiv(total, bias_->localSize));
        };
        if (!s_.gru) {
            pack(1, 1, s_.inputs, 0, 0, s_.directions);
            pack(2, 2, s_.hidden, s_.inputs, 0, s_.directions);
            bias(3, 3, 3, 0, s_.directions);
            return;
        }
        if (s_.together) {
            pack(1, 1, s_.inputs, 0, 0, 1);
            pack(3, 3, s_.hidden, s_.inputs, 1, 1);
            bias(2, 2, 4, 0, 1);
            return;
        }
        for (int64_t d = 0; d < s_.directions; ++d) {
            const size_t at = 1 + kGruInputs * static_cast<size_t>(d);
            pack(at, at + 2, s_.depth, d * s_.depth, resetAfter_ ? s_.inputs : s_.depth, 1);
            bias(at + 1, at + 3, at + 4, d, 1);
        }
    }

    void encodeStep(FrameRecorder& recorder, const Pipeline& pipeline, int64_t k) const {
        const int64_t rowTiles = ceilDiv(s_.batch, int64_t{rows_});
        const int64_t unitTiles = ceilDiv(s_.hidden, int64_t{kStepUnits});
        const Binding sums = bind(recorder, sums_, false);
        const bool all = s_.allOutput >= 0 && &pipeline != gates_;
        recorder.dispatch(pipeline,
                          {{bind(recorder, weights_, false), sums, bind(recorder, biases_, false),
                            bind(recorder, states_, true), all ? recorder.writes(*command_.outputs[0]) : sums}},
                          Push().u(s_.batch, s_.hidden, s_.inputs, s_.steps, s_.directions, k, rowTiles, unitTiles),
                          rowTiles * unitTiles * s_.directions);
    }

    // Writes an area of the states to an output.
    void encodeLast(FrameRecorder& recorder, size_t output, int64_t area) const {
        recorder.dispatch(*last_, {{bind(recorder, states_, false), recorder.writes(*command_.outputs[output])}},
                          Push().u(s_.area, area * s_.area), ceilDiv(s_.area, last_->localSize));
    }

    const Command command_;
    const RecurrentSizes s_;
    bool resetAfter_ = false;
    uint32_t rows_ = 1;
    Part weights_, sums_, biases_, states_;
    std::unique_ptr<MatrixProduct> inputs_;
    const Pipeline *pack_ = nullptr, *bias_ = nullptr, *first_ = nullptr, *last_ = nullptr;
    const Pipeline *gates_ = nullptr, *step_ = nullptr;  // gates_: for a GRU that resets before its product
};

bool supportsRecurrent(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloat(backend, command, reason)) return false;
    const Limits& limits = backend.limits();
    const int64_t shared = int64_t{kMaxThreads} * kMaxRows * kQuadBytes;
    if (limits.storageBuffers < kStepBuffers || limits.groupInvocations < kMinThreads || limits.sharedMemory < shared)
        return refuse(reason, "the device has too few buffers, invocations or bytes of shared memory for the kernel");
    const RecurrentSizes sizes(command);
    if (sizes.steps > kMaxSteps)
        return refuse(reason, format("the Vulkan kernel takes up to %lld steps, not %lld", asLong(kMaxSteps),
                                     asLong(sizes.steps)));
    if (checkedMul(sizes.maxQuads(), kQuadBytes, "states") > std::min<int64_t>(limits.storageRange, INT32_MAX))
        return refuse(reason, format("its weights or sums exceed what the device binds at once (%lld bytes)",
                                     asLong(limits.storageRange)));
    return fewRounds(backend, std::max(productRounds(sizes.inputs), sizes.hidden), reason);
}

std::unique_ptr<Execution> createRecurrent(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Recurrent>(backend, command);
}

}  // namespace

constexpr VulkanOp kRecurrent[] = {
    {OpType::RNN, supportsRecurrent, nullptr, createRecurrent},
    {OpType::LSTM, supportsRecurrent, nullptr, createRecurrent},
    {OpType::RNNSequenceGRU, supportsRecurrent, nullptr, createRecurrent},
};
extern constinit const VulkanFamily recurrentVulkan = kRecurrent;

}  // namespace mnnc::vulkan
