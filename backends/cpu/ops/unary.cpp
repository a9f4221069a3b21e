// UnaryOp on the CPU: float32 in any storage, and the four int32 codes.
#include "ops/unary.h"

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

class UnaryFloat final : public Execution {
  public:
    UnaryFloat(const CpuBackend& backend, const Command& command, UnaryFn fn)
        : backend_(backend), input_(*command.inputs[0]), output_(*command.outputs[0]), fn_(fn) {}

    void onExecute() override {
        const float* x = input_.as<const float>();
        float* y = output_.as<float>();
        forElements(backend_.pool(), storageElements(output_), [&](long begin, long end) {
            fn_(x + begin, y + begin, static_cast<size_t>(end - begin));
        });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const CpuBackend& backend_;
    const Tensor& input_;
    const Tensor& output_;
    const UnaryFn fn_;
};

class UnaryInt final : public Execution {
  public:
    UnaryInt(const Command& command, int code)
        : input_(*command.inputs[0]), output_(*command.outputs[0]), code_(code) {}

    void onExecute() override {
        const int32_t* x = input_.as<const int32_t>();
        int32_t* y = output_.as<int32_t>();
        const int64_t n = storageElements(output_);
        for (int64_t i = 0; i < n; ++i) {
            const uint32_t v = static_cast<uint32_t>(x[i]);  // arithmetic wraps
            switch (code_) {
                case 0:
                    y[i] = x[i] < 0 ? static_cast<int32_t>(0u - v) : x[i];
                    break;
                case 1:
                    y[i] = static_cast<int32_t>(0u - v);
                    break;
                case 4:
                    y[i] = static_cast<int32_t>(v * v);
                    break;
                default:
                    y[i] = (x[i] > 0) - (x[i] < 0);
                    break;
            }
        }
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const Tensor& input_;
    const Tensor& output_;
    const int code_;
};

std::unique_ptr<Execution> createUnary(CpuBackend& backend, const Command& command, std::string& reason) {
    const int code = command.paramsAs<UnaryParams>().code;
    const DataType type = command.inputs[0]->type;
    if (type == DataType::Int32 && (code == 0 || code == 1 || code == 4 || code == 22))
        return std::make_unique<UnaryInt>(command, code);
    if (type != DataType::Float32) {
        reason = format("unary code %d does not exist for %s", code, dataTypeName(type));
        return nullptr;
    }
    const UnaryFn vector = unaryKernels(backend.kernels().id).byCode[code];
    return std::make_unique<UnaryFloat>(backend, command, vector ? vector : unaryScalarFloat(code));
}

}  // namespace

CpuFamily unaryCpu() {
    static constexpr CpuOp kOps[] = {{OpType::UnaryOp, storageFollow, createUnary}};
    return kOps;
}

}  // namespace mnnc::cpu
