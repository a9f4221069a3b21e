// LayerNorm on the CPU, row-major.
#include "ops/layer_norm.h"

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {
namespace {

class LayerNorm final : public Execution {
  public:
    LayerNorm(const CpuBackend& backend, const Command& command)
        : kernels_(rowKernels(backend.kernels().id)),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<LayerNormParams>()) {}

    void prepare() override { blocks_ = normBlocks(params_, input_.shape, command_.name.c_str()); }

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        const float* gamma = params_.gamma.empty() ? nullptr : params_.gamma.data();
        const float* beta = params_.beta.empty() ? nullptr : params_.beta.data();
        const int64_t length = blocks_.length, inner = blocks_.inner;
        if (inner == 1) {
            forRows(frame.pool(), blocks_.outer, length * 2, [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r)
                    kernels_.norm(x + r * length, y + r * length, static_cast<size_t>(length), gamma, beta,
                                  params_.epsilon, params_.rms);
            });
            return;
        }
        const int64_t width = static_cast<int64_t>(kMaxColumns), groups = ceilDiv(inner, width);
        forRows(frame.pool(), blocks_.outer * groups, length * std::min(inner, width), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t column = i % groups * width, at = i / groups * length * inner + column;
                kernels_.normColumns(x + at, y + at, static_cast<size_t>(length), static_cast<size_t>(inner),
                                     static_cast<size_t>(std::min(width, inner - column)), gamma, beta, params_.epsilon,
                                     params_.rms);
            }
        });
    }

    // The output may share the input's memory: rows and columns are read before they are written.
    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const RowKernels& kernels_;
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const LayerNormParams& params_;
    NormBlocks blocks_;
};

}  // namespace

constexpr CpuOp kLayerNormCpu[] = {{OpType::LayerNorm, nullptr, makeFloatExecution<LayerNorm>}};
extern constinit const CpuFamily layerNormCpu = kLayerNormCpu;

}  // namespace mnnc::cpu
