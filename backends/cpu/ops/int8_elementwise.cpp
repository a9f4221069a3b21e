// ReLU and ReLU6 over int8 tensors by a table of the 256 values; sums, differences and products of equal
// shapes.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/int8_kernels.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/int8.h"
#include "ops/activation.h"
#include "ops/binary.h"

namespace mnnc::cpu {

namespace {

// What an int8 tensor's values mean; a plain one means what it holds.
TensorQuant quantOf(const Tensor& tensor) {
    return tensor.quant.known() ? tensor.quant : TensorQuant{1, 0, -128, 127};
}

class Int8Activation final : public CommandExecution {
  public:
    Int8Activation(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {
        const TensorQuant from = quantOf(in(0)), to = quantOf(out());
        for (int i = 0; i < 256; ++i) {
            const auto q = static_cast<int8_t>(i);
            float x = (static_cast<float>(q) - from.zero) * from.scale;
            if (command.type == OpType::ReLU) {
                x = std::max(x, 0.0f);
            } else {
                const auto& clip = params<ClipParams>();
                x = std::min(std::max(x, clip.lo), clip.hi);
            }
            x = x * (1.0f / to.scale) + to.zero;
            x = std::min(std::max(to.min, x), to.max);
            table_[i] = static_cast<int8_t>(x + (x < 0 ? -0.5f : 0.5f));
        }
    }

    void onExecute() override {
        ThreadPool& pool = backend_.pool();
        parallelRanges(pool, static_cast<long>(out().storageElements()), 4 * pool.threads(),
                       [&](long begin, long end) {
                           const auto* x = inData<uint8_t>(0);
                           auto* y = outData<int8_t>();
                           for (long i = begin; i < end; ++i) y[i] = table_[x[i]];
                       });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    CpuBackend& backend_;
    int8_t table_[256];
};

class Int8BinaryExecution final : public CommandExecution {
  public:
    Int8BinaryExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {
        const TensorQuant a = quantOf(in(0)), b = quantOf(in(1)), y = quantOf(out());
        const auto& binary = params<BinaryParams>();
        args_.op = binary.code == kBinaryAdd   ? Int8Binary::Add
                   : binary.code == kBinarySub ? Int8Binary::Sub
                                               : Int8Binary::Mul;
        args_.scaleA = a.scale;
        args_.zeroA = a.zero;
        args_.scaleB = b.scale;
        args_.zeroB = b.zero;
        args_.inverse = 1.0f / y.scale;
        args_.zero = y.zero;
        args_.lo = binary.relu ? std::max(y.min, y.zero) : y.min;
        args_.hi = y.max;
    }

    void onExecute() override {
        ThreadPool& pool = backend_.pool();
        parallelRanges(
            pool, static_cast<long>(out().storageElements()), 4 * pool.threads(), [&](long begin, long end) {
                backend_.kernels().int8->binary(inData<int8_t>(0) + begin, inData<int8_t>(1) + begin,
                                                outData<int8_t>() + begin, static_cast<size_t>(end - begin),
                                                args_);
            });
    }

    std::string algorithm() const override { return "int8"; }
    uint32_t inPlaceInputs(size_t) const override { return 3; }

  private:
    CpuBackend& backend_;
    Int8BinaryArgs args_{};
};

}  // namespace

std::unique_ptr<Execution> createInt8Activation(CpuBackend& backend, const Command& command,
                                                std::string& reason) {
    if (!quantizesActivation(command)) {
        reason = format("%s over int8 is not implemented", opTypeName(command.type));
        return nullptr;
    }
    return std::make_unique<Int8Activation>(backend, command);
}

bool quantizesActivation(const Command& command) {
    if (command.type == OpType::ReLU) return command.params && command.paramsAs<ReluParams>().slope == 0;
    return command.type == OpType::ReLU6 && command.params;
}

std::unique_ptr<Execution> createInt8Binary(CpuBackend& backend, const Command& command,
                                            std::string& reason) {
    const bool both = command.inputs[1]->type == DataType::Int8 && command.outputs[0]->type == DataType::Int8;
    if (!both || !quantizesBinary(command)) {
        reason =
            format("op '%s': such a binary operation over int8 is not implemented", command.name.c_str());
        return nullptr;
    }
    return std::make_unique<Int8BinaryExecution>(backend, command);
}

bool quantizesBinary(const Command& command) {
    const auto* params = &command.paramsAs<BinaryParams>();
    const Tensor& out = *command.outputs[0];
    if (command.operands() != 2 || params->code < kBinaryAdd || params->code > kBinaryMul) return false;
    return std::all_of(command.inputs.begin(), command.inputs.end(), [&](const Tensor* input) {
        return input->shape == out.shape && input->format == out.format;
    });
}

}  // namespace mnnc::cpu
