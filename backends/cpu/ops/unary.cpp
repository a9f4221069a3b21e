// UnaryOp on the CPU: float32 in any storage, and the codes whose results on integers are integers.
#include "ops/unary.h"

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

class UnaryFloat final : public Execution {
  public:
    UnaryFloat(const Command& command, UnaryFn fn)
        : input_(*command.inputs[0]), output_(*command.outputs[0]), fn_(fn) {}

    void run(const Frame& frame) const override {
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        forStorage(frame.pool(), output_,
                   [&](int64_t begin, int64_t end) { fn_(x + begin, y + begin, static_cast<size_t>(end - begin)); });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const Operand& input_;
    const Operand& output_;
    const UnaryFn fn_;
};

class UnaryInteger final : public Execution {
  public:
    UnaryInteger(const Command& command, UnaryIntegerFn fn)
        : input_(*command.inputs[0]), output_(*command.outputs[0]), fn_(fn) {}

    void run(const Frame& frame) const override {
        const auto bytes = static_cast<int64_t>(elementBytes(output_.type));
        forStorage(frame.pool(), output_, [&](int64_t begin, int64_t end) {
            fn_(frame.data<const char>(input_) + begin * bytes, frame.data<char>(output_) + begin * bytes,
                static_cast<size_t>(end - begin));
        });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const Operand& input_;
    const Operand& output_;
    const UnaryIntegerFn fn_;
};

std::unique_ptr<Execution> createUnary(CpuBackend& backend, const Command& command, std::string& reason) {
    const int code = command.paramsAs<UnaryParams>().code;
    const DataType type = command.inputs[0]->type;
    if (type == DataType::Float32) {
        const UnaryFn vector = unaryKernels(backend.kernels().id).byCode[code];
        return std::make_unique<UnaryFloat>(command, vector ? vector : unaryScalarFloat(code));
    }
    // If a tensor has a scale, its integers are not its values.
    const bool scaled = command.inputs[0]->quant.known() || command.outputs[0]->quant.known();
    const UnaryIntegerFn integer = type == DataType::Int8 && scaled ? nullptr : unaryInteger(type, code);
    if (integer) return std::make_unique<UnaryInteger>(command, integer);
    return refuse(reason, format("unary code %d does not exist for %s", code, dataTypeName(type)));
}

}  // namespace

constexpr CpuOp kUnaryCpu[] = {{OpType::UnaryOp, storageFollow, createUnary}};
extern constinit const CpuFamily unaryCpu = kUnaryCpu;

}  // namespace mnnc::cpu
