// LayerNorm, Normalize and LRN on the CPU, row-major.
#include "ops/norm.h"

#include <cmath>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"
#include "ops/channel_axis.h"

namespace mnnc::cpu {
namespace {

class LayerNorm final : public Execution {
  public:
    LayerNorm(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          kernels_(rowKernels(backend.kernels().id)),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<LayerNormParams>()) {}

    void onResize() override { blocks_ = normBlocks(params_, input_.shape, command_.name.c_str()); }

    void onExecute() override {
        if (output_.empty()) return;
        const float* x = input_.as<const float>();
        float* y = output_.as<float>();
        const float* gamma = params_.gamma.empty() ? nullptr : params_.gamma.data();
        const float* beta = params_.beta.empty() ? nullptr : params_.beta.data();
        const int64_t length = blocks_.length, inner = blocks_.inner;
        if (inner == 1) {
            forRows(backend_.pool(), blocks_.outer, length * 2, [&](long begin, long end) {
                for (long r = begin; r < end; ++r)
                    kernels_.norm(x + r * length, y + r * length, static_cast<size_t>(length), gamma, beta,
                                  params_.epsilon, params_.rms);
            });
            return;
        }
        const int64_t width = static_cast<int64_t>(kMaxColumns), groups = ceilDiv(inner, width);
        forRows(backend_.pool(), blocks_.outer * groups, length * std::min(inner, width),
                [&](long begin, long end) {
                    for (long i = begin; i < end; ++i) {
                        const int64_t column = i % groups * width, at = i / groups * length * inner + column;
                        kernels_.normColumns(x + at, y + at, static_cast<size_t>(length),
                                             static_cast<size_t>(inner),
                                             static_cast<size_t>(std::min(width, inner - column)), gamma,
                                             beta, params_.epsilon, params_.rms);
                    }
                });
    }

    // Rows and columns are read before they are written.
    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const CpuBackend& backend_;
    const RowKernels& kernels_;
    const Command command_;
    const Tensor& input_;
    const Tensor& output_;
    const LayerNormParams& params_;
    NormBlocks blocks_;
};

class Normalize final : public Execution {
  public:
    Normalize(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<NormalizeParams>()) {}

    void onExecute() override {
        if (output_.empty()) return;
        const int64_t channels = static_cast<int64_t>(params_.scale.size());
        const int64_t batch = input_.shape[0], plane = input_.elements() / (batch * channels);
        const bool last = channelAxis(input_) != 1;
        const int64_t channelStep = last ? 1 : plane, pixelStep = last ? channels : 1;
        forRows(backend_.pool(), batch, plane * channels, [&](long begin, long end) {
            for (long n = begin; n < end; ++n) {
                const float* x = input_.as<const float>() + n * plane * channels;
                float* y = output_.as<float>() + n * plane * channels;
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
    const CpuBackend& backend_;
    const Command command_;
    const Tensor& input_;
    const Tensor& output_;
    const NormalizeParams& params_;
};

// Windows are centred with size / 2 before; what lies outside counts as zero.
class Lrn final : public Execution {
  public:
    Lrn(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<LrnParams>()) {}

    void onExecute() override {
        if (output_.empty()) return;
        const int64_t planes = input_.shape[0] * input_.shape[1], plane = input_.shape[2] * input_.shape[3];
        forRows(backend_.pool(), planes, plane * params_.localSize, [&](long begin, long end) {
            for (long r = begin; r < end; ++r) params_.withinChannel ? within(r) : across(r, plane);
        });
    }

  private:
    float apply(float x, float meanSquare) const {
        const float v = params_.bias + params_.alpha * meanSquare;
        if (params_.beta == 0.75f) return x / (std::sqrt(v) * std::sqrt(std::sqrt(v)));
        if (params_.beta == 0.5f) return x / std::sqrt(v);
        return x * std::pow(v, -params_.beta);
    }

    void across(int64_t r, int64_t plane) const {
        const int64_t channels = input_.shape[1], c = r % channels;
        const int64_t first = std::max<int64_t>(0, c - params_.localSize / 2);
        const int64_t end = std::min(channels, c - params_.localSize / 2 + params_.localSize);
        const float* image = input_.as<const float>() + (r - c) * plane;
        float* y = output_.as<float>() + r * plane;
        const float scale = 1.0f / static_cast<float>(params_.localSize);
        for (int64_t p = 0; p < plane; ++p) {
            float sum = 0;
            for (int64_t k = first; k < end; ++k) sum += image[k * plane + p] * image[k * plane + p];
            y[p] = apply(image[c * plane + p], sum * scale);
        }
    }

    void within(int64_t r) const {
        const int64_t height = input_.shape[2], width = input_.shape[3], size = params_.localSize;
        const float* x = input_.as<const float>() + r * height * width;
        float* y = output_.as<float>() + r * height * width;
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

    const CpuBackend& backend_;
    const Command command_;
    const Tensor& input_;
    const Tensor& output_;
    const LrnParams& params_;
};

template <class Op>
std::unique_ptr<Execution> createNorm(CpuBackend& backend, const Command& command, std::string& reason) {
    if (command.inputs[0]->type != DataType::Float32) {
        reason = format("%s needs float32, the input is %s", opTypeName(command.type),
                        dataTypeName(command.inputs[0]->type));
        return nullptr;
    }
    return std::make_unique<Op>(backend, command);
}

}  // namespace

CpuFamily normCpu() {
    static constexpr CpuOp kOps[] = {
        {OpType::LayerNorm, nullptr, createNorm<LayerNorm>},
        {OpType::Normalize, nullptr, createNorm<Normalize>},
        {OpType::LRN, nullptr, createNorm<Lrn>},
    };
    return kOps;
}

}  // namespace mnnc::cpu
