// LRN on the CPU, row-major.
#include "ops/lrn.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {
namespace {

// A window has size / 2 elements before its centre; places outside of the tensor count as zero.
class Lrn final : public Execution {
  public:
    Lrn(const CpuBackend&, const Command& command)
        : command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<LrnParams>()) {}

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const int64_t planes = input_.shape[0] * input_.shape[1], plane = input_.shape[2] * input_.shape[3];
        forRows(frame.pool(), planes, plane * params_.localSize, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) params_.withinChannel ? within(frame, r) : across(frame, r, plane);
        });
    }

  private:
    float apply(float x, float meanSquare) const {
        const float v = params_.bias + params_.alpha * meanSquare;
        if (params_.beta == 0.75f) return x / (std::sqrt(v) * std::sqrt(std::sqrt(v)));
        if (params_.beta == 0.5f) return x / std::sqrt(v);
        return x * std::pow(v, -params_.beta);
    }

    void across(const Frame& frame, int64_t r, int64_t plane) const {
        const int64_t channels = input_.shape[1], c = r % channels;
        const int64_t first = std::max<int64_t>(0, c - params_.localSize / 2);
        const int64_t end = std::min(channels, c - params_.localSize / 2 + params_.localSize);
        const float* image = frame.data<const float>(input_) + (r - c) * plane;
        float* y = frame.data<float>(output_) + r * plane;
        const float scale = 1.0f / static_cast<float>(params_.localSize);
        for (int64_t p = 0; p < plane; ++p) {
            float sum = 0;
            for (int64_t k = first; k < end; ++k) sum += image[k * plane + p] * image[k * plane + p];
            y[p] = apply(image[c * plane + p], sum * scale);
        }
    }

    void within(const Frame& frame, int64_t r) const {
        const int64_t height = input_.shape[2], width = input_.shape[3], size = params_.localSize;
        const float* x = frame.data<const float>(input_) + r * height * width;
        float* y = frame.data<float>(output_) + r * height * width;
        const float scale = 1.0f / (static_cast<float>(size) * static_cast<float>(size));
        for (int64_t row = 0; row < height; ++row)
            for (int64_t column = 0; column < width; ++column) {
                float sum = 0;
                const int64_t top = std::max<int64_t>(0, row - size / 2);
                const int64_t left = std::max<int64_t>(0, column - size / 2);
                for (int64_t i = top; i < std::min(height, row - size / 2 + size); ++i)
                    for (int64_t j = left; j < std::min(width, column - size / 2 + size); ++j)
                        sum += x[i * width + j] * x[i * width + j];
                y[row * width + column] = apply(x[row * width + column], sum * scale);
            }
    }

    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const LrnParams& params_;
};

}  // namespace

constexpr CpuOp kLrnCpu[] = {{OpType::LRN, nullptr, makeFloatExecution<Lrn>}};
extern constinit const CpuFamily lrnCpu = kLrnCpu;

}  // namespace mnnc::cpu
