// Normalize on the CPU, row-major.
#include "ops/normalize.h"

#include <cmath>

#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"
#include "backends/cpu/ops/split.h"
#include "ops/channel_axis.h"

namespace mnnc::cpu {
namespace {

class Normalize final : public Execution {
  public:
    Normalize(const CpuBackend&, const Command& command)
        : command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<NormalizeParams>()) {}

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const int64_t channels = static_cast<int64_t>(params_.scale.size());
        const int64_t batch = input_.shape[0], plane = input_.elements() / (batch * channels);
        const bool last = channelAxis(input_) != 1;
        const int64_t channelStep = last ? 1 : plane, pixelStep = last ? channels : 1;
        forRows(frame.pool(), batch, plane * channels, [&](int64_t begin, int64_t end) {
            for (int64_t n = begin; n < end; ++n) {
                const float* x = frame.data<const float>(input_) + n * plane * channels;
                float* y = frame.data<float>(output_) + n * plane * channels;
                double whole = 0;
                if (params_.acrossSpatial)
                    for (int64_t i = 0; i < plane * channels; ++i) whole += static_cast<double>(x[i]) * x[i];
                for (int64_t p = 0; p < plane; ++p) {
                    double sum = whole;
                    if (!params_.acrossSpatial)
                        for (int64_t c = 0; c < channels; ++c) {
                            const double v = x[p * pixelStep + c * channelStep];
                            sum += v * v;
                        }
                    const float inverse = static_cast<float>(1.0 / std::sqrt(sum + params_.epsilon));
                    for (int64_t c = 0; c < channels; ++c) {
                        const int64_t at = p * pixelStep + c * channelStep;
                        y[at] = x[at] * params_.scale[static_cast<size_t>(c)] * inverse;
                    }
                }
            }
        });
    }

  private:
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const NormalizeParams& params_;
};

}  // namespace

constexpr CpuOp kNormalizeCpu[] = {{OpType::Normalize, nullptr, makeFloatExecution<Normalize>}};
extern constinit const CpuFamily normalizeCpu = kNormalizeCpu;

}  // namespace mnnc::cpu
