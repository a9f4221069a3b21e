// BinaryOp on the device: float32 and int32, equal shapes or an operand of one value in any storage, an operand per
// channel in packed storage, and NumPy broadcasting row-major.
#include "ops/binary.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr int kOuterAxes = 5;  // outside of the innermost one; the push constants hold as many

// Returns whether the operand has one value per channel (and perhaps per batch) of `big`: [1 or N, C, 1, 1, ...] or [C,
// 1, 1, ...].
bool perChannel(const Shape& small, const Shape& big) {
    const int shift = big.rank() - small.rank();
    if (shift < 0 || shift > 1 || big.rank() < 2 || small[1 - shift] != big[1]) return false;
    for (int axis = 2; axis < big.rank(); ++axis)
        if (small[axis - shift] != 1) return false;
    return shift == 1 || small[0] == 1 || small[0] == big[0];
}

// The ways to read an operand, see binary.glsl.
enum class Mode : uint32_t { Each = 0, One = 1, Lanes = 2, LanesPacked = 3, Strided = 4, StridedOne = 5 };

struct OperandPlan {
    Mode mode[2] = {Mode::Each, Mode::Each};
    bool quads = true;
    int64_t run = 1;                         // outputs along the innermost axis
    std::vector<int64_t> sizes, strides[2];  // of the axes outside it, from the inside out
};

// Plans row-major operands: merges adjacent axes that both operands read in the same way.
OperandPlan planPlain(const Command& command) {
    struct Axis {
        int64_t size;
        bool used[2];
    };
    std::vector<Axis> axes;  // from the inside out
    const Shape& shape = command.outputs[0]->shape;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        if (shape[axis] == 1) continue;
        Axis next{shape[axis], {false, false}};
        for (size_t i = 0; i < 2; ++i) {
            const Shape& own = command.inputs[i]->shape;
            const int at = axis - (shape.rank() - own.rank());
            next.used[i] = at >= 0 && own[at] != 1;
        }
        if (!axes.empty() && axes.back().used[0] == next.used[0] && axes.back().used[1] == next.used[1])
            axes.back().size *= next.size;
        else
            axes.push_back(next);
    }
    OperandPlan plan;
    if (axes.empty()) return plan;
    plan.run = axes[0].size;
    plan.quads = axes.size() == 1 || plan.run % 4 == 0;
    for (size_t i = 0; i < 2; ++i) {
        const bool used = axes[0].used[i];
        if (axes.size() == 1)
            plan.mode[i] = used ? Mode::Each : Mode::One;
        else
            plan.mode[i] = used ? Mode::Strided : Mode::StridedOne;
        int64_t stride = used ? plan.run : 1;
        for (size_t axis = 1; axis < axes.size(); ++axis) {
            plan.strides[i].push_back(axes[axis].used[i] ? stride : 0);
            if (axes[axis].used[i]) stride *= axes[axis].size;
        }
    }
    for (size_t axis = 1; axis < axes.size(); ++axis) plan.sizes.push_back(axes[axis].size);
    // An operand that is never repeated has the layout of the output.
    for (size_t i = 0; i < 2; ++i)
        if (command.inputs[i]->elements() == shape.elements()) plan.mode[i] = Mode::Each;
    return plan;
}

OperandPlan planPacked(const Command& command) {
    OperandPlan plan;
    const Operand& output = *command.outputs[0];
    for (size_t i = 0; i < 2; ++i) {
        const Operand& operand = *command.inputs[i];
        if (operand.shape == output.shape && operand.channelBlock == output.channelBlock) continue;
        plan.mode[i] = operand.elements() == 1 ? Mode::One : operand.channelBlock > 1 ? Mode::LanesPacked : Mode::Lanes;
    }
    return plan;
}

class Binary final : public VulkanExecution {
  public:
    Binary(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void prepare() override {
        const Operand& output = *command_.outputs[0];
        const auto& params = command_.paramsAs<BinaryParams>();
        plan_ = output.channelBlock > 1 ? planPacked(command_) : planPlain(command_);
        pipeline_ = &backend().pipeline(
            output.type == command_.inputs[0]->type ? "binary" : "binary_compare", *command_.inputs[0], 3, 64,
            {static_cast<uint32_t>(params.code), params.relu, plan_.quads, static_cast<uint32_t>(plan_.mode[0]),
             static_cast<uint32_t>(plan_.mode[1]), static_cast<uint32_t>(plan_.sizes.size())});
    }

    void encode(FrameRecorder& recorder) const override {
        const Operand& output = *command_.outputs[0];
        const int64_t width = plan_.quads ? 4 : 1;
        const int64_t count = ceilDiv(output.storageElements(), width);
        Push push;
        push.u(count, ceilDiv(plan_.run, width));
        if (output.channelBlock > 1)
            push.u(output.plane(), output.shape[1], perBatch());
        else
            push.u(1, 1, 0);
        for (const std::vector<int64_t>* values : {&plan_.sizes, &plan_.strides[0], &plan_.strides[1]})
            for (size_t i = 0; i < kOuterAxes; ++i) push.u(i < values->size() ? (*values)[i] : 1);
        recorder.dispatch(
            *pipeline_,
            {{recorder.reads(*command_.inputs[0]), recorder.reads(*command_.inputs[1]), recorder.writes(output)}}, push,
            ceilDiv(count, pipeline_->localSize));
    }

  private:
    // Returns whether an operand with one value per channel has separate values for each batch.
    bool perBatch() const {
        const Shape& shape = command_.outputs[0]->shape;
        for (size_t i = 0; i < 2; ++i) {
            const Shape& own = command_.inputs[i]->shape;
            if (plan_.mode[i] == Mode::Lanes || plan_.mode[i] == Mode::LanesPacked)
                return own.rank() == shape.rank() && own[0] != 1;
        }
        return false;
    }

    const Command command_;
    OperandPlan plan_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsBinary(const VulkanBackend&, const Command& command, std::string& reason) {
    const int code = command.paramsAs<BinaryParams>().code;
    const DataType type = command.inputs[0]->type;
    constexpr uint32_t kShared = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9 | 1u << 10 |
                                 1u << 11 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15 | 1u << 16 | 1u << 17 | 1u << 19 |
                                 1u << 22;
    constexpr uint32_t kFloat = kShared | 1u << 20 | 1u << 29;
    constexpr uint32_t kInt = kShared | 1u << 21 | 0x3fu << 23;
    if (command.inputs[1]->type != type ||
        !((type == DataType::Float32 ? kFloat : kInt) >> static_cast<uint32_t>(code) & 1u))
        return refuse(reason, format("binary code %d does not exist for %s and %s", code, dataTypeName(type),
                                     dataTypeName(command.inputs[1]->type)));
    if (planPlain(command).sizes.size() > kOuterAxes)
        return refuse(reason, format("the Vulkan kernel broadcasts over at most %d axes", kOuterAxes + 1));
    return noEmptyInput(command, reason);
}

// The output is packed where an operand is already packed and the other one can be read beside it.
StorageChoice storageBinary(const VulkanBackend&, const Command& command) {
    const Operand& a = *command.inputs[0];
    const Operand& b = *command.inputs[1];
    const Operand& output = *command.outputs[0];
    StorageChoice packed{.inputBlock = kChannelBlock, .outputBlock = kChannelBlock};
    if ((a.channelBlock == 1 && b.channelBlock == 1) || !canPack(output)) return {};
    if (a.shape == b.shape) return canPack(a) && canPack(b) ? packed : StorageChoice{};
    const size_t bigIndex = a.channelBlock > 1 && a.shape == output.shape ? 0 : 1;
    const Operand& big = *command.inputs[bigIndex];
    const Operand& small = *command.inputs[1 - bigIndex];
    if (big.channelBlock == 1 || !(big.shape == output.shape)) return {};
    if (small.elements() != 1 && !perChannel(small.shape, big.shape)) return {};
    // A small operand that is already packed by the same axis is not changed.
    if (small.channelBlock == 1 || small.shape.rank() != big.shape.rank()) packed.rowMajorInputs = 1u << (1 - bigIndex);
    return packed;
}

std::unique_ptr<Execution> createBinary(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Binary>(backend, command);
}

}  // namespace

constexpr VulkanOp kBinary[] = {{OpType::BinaryOp, supportsBinary, storageBinary, createBinary}};
extern constinit const VulkanFamily binaryVulkan = kBinary;

}  // namespace mnnc::vulkan
