// ReLU, ReLU6, PReLU, ELU, Selu and Threshold on the CPU, in any storage.
#include "ops/activation.h"

#include "backends/cpu/ops/activation_kernel.h"
#include "backends/cpu/ops/channel_rows.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"
#include "backends/cpu/ops/int8.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

class Activation final : public Execution {
  public:
    Activation(const CpuBackend& backend, const Command& command)
        : kernels_(unaryKernels(backend.kernels().id)),
          kernel_(command.type, command.params.get(), command.name.c_str()),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]) {}

    void run(const Frame& frame) const override {
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        forStorage(frame.pool(), output_, [&](int64_t begin, int64_t end) {
            kernel_.run(kernels_, x + begin, y + begin, static_cast<size_t>(end - begin));
        });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const UnaryKernels& kernels_;
    const ActivationKernel kernel_;
    const Operand& input_;
    const Operand& output_;
};

class PReluChannels final : public Execution {
  public:
    PReluChannels(const CpuBackend& backend, const Command& command)
        : kernels_(unaryKernels(backend.kernels().id)),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          slopes_(command.paramsAs<PReluParams>().slopes) {
        slopes_.resize(static_cast<size_t>(roundUp(static_cast<int64_t>(slopes_.size()), 16)));
    }

    void run(const Frame& frame) const override {
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        forChannels(
            frame.pool(), output_,
            [&](int64_t at, int64_t n, int64_t c) {
                kernels_.leakyLanes(x + at, y + at, static_cast<size_t>(n), slopes_.data() + c);
            },
            [&](int64_t at, int64_t n) { kernels_.leakyEach(x + at, y + at, static_cast<size_t>(n), slopes_.data()); },
            [&](int64_t at, int64_t n, int64_t c) {
                kernels_.leaky(x + at, y + at, static_cast<size_t>(n), slopes_[static_cast<size_t>(c)]);
            });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const UnaryKernels& kernels_;
    const Operand& input_;
    const Operand& output_;
    std::vector<float> slopes_;  // padded to whole vectors of any width
};

std::unique_ptr<Execution> createActivation(CpuBackend& backend, const Command& command, std::string& reason) {
    if (command.inputs[0]->type == DataType::Int8) return createInt8Activation(backend, command, reason);
    if (!takesFloats(command, reason)) return nullptr;
    if (command.type == OpType::PReLU && command.paramsAs<PReluParams>().slopes.size() > 1)
        return std::make_unique<PReluChannels>(backend, command);
    return std::make_unique<Activation>(backend, command);
}

}  // namespace

constexpr CpuOp kActivationCpu[] = {
    {OpType::ReLU, storageFollow, createActivation, nullptr, quantizesActivation},
    {OpType::ReLU6, storageFollow, createActivation, nullptr, quantizesActivation},
    {OpType::PReLU, storageFollow, createActivation, nullptr, quantizesActivation},
    {OpType::ELU, storageFollow, createActivation},
    {OpType::Selu, storageFollow, createActivation},
    {OpType::Threshold, storageFollow, createActivation},
};
extern constinit const CpuFamily activationCpu = kActivationCpu;

}  // namespace mnnc::cpu
