// Scale (also BatchNorm) in any storage, and InstanceNorm in row-major storage.
#include "ops/scale.h"

#include <cmath>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/channel_rows.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"

namespace mnnc::cpu {
namespace {

class Scale final : public Execution {
  public:
    Scale(const CpuBackend& backend, const Command& command)
        : kernels_(unaryKernels(backend.kernels().id)),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          epilogue_(command.epilogue),
          scale_(command.paramsAs<ScaleParams>().scale),
          bias_(command.paramsAs<ScaleParams>().bias) {
        // The arrays are padded to whole vectors of any width.
        scale_.resize(static_cast<size_t>(roundUp(static_cast<int64_t>(scale_.size()), 16)));
        bias_.resize(scale_.size());
    }

    std::string algorithm() const override { return epilogueText(epilogue_); }

    void run(const Frame& frame) const override {
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        forChannels(
            frame.pool(), output_,
            [&](int64_t at, int64_t n, int64_t c) {
                inChunks(frame, at, n, [&](int64_t from, size_t count) {
                    kernels_.affineLanes(x + from, y + from, count, scale_.data() + c, bias_.data() + c);
                });
            },
            [&](int64_t at, int64_t n) {
                kernels_.affineEach(x + at, y + at, static_cast<size_t>(n), scale_.data(), bias_.data());
                finish(y + at, static_cast<size_t>(n));
            },
            [&](int64_t at, int64_t n, int64_t c) {
                inChunks(frame, at, n, [&](int64_t from, size_t count) {
                    kernels_.affine(x + from, y + from, count, scale_[static_cast<size_t>(c)],
                                    bias_[static_cast<size_t>(c)]);
                });
            });
    }

    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    // Calls body for pieces of whole vectors, so small that the epilogue finds them in the first level cache.
    template <typename Body>
    void inChunks(const Frame& frame, int64_t at, int64_t n, Body&& body) const {
        const int64_t chunk = epilogue_.any() ? 2048 : n;
        for (int64_t i = 0; i < n; i += chunk) {
            const size_t count = static_cast<size_t>(std::min(chunk, n - i));
            body(at + i, count);
            finish(frame.data<float>(output_) + at + i, count);
        }
    }
    void finish(float* y, size_t n) const {
        if (epilogue_.any()) kernels_.activate(y, n, epilogue_.act, epilogue_.lo, epilogue_.hi);
    }

    const UnaryKernels& kernels_;
    const Operand& input_;
    const Operand& output_;
    const Epilogue epilogue_;
    std::vector<float> scale_, bias_;
};

class InstanceNorm final : public Execution {
  public:
    InstanceNorm(const CpuBackend& backend, const Command& command)
        : unary_(unaryKernels(backend.kernels().id)),
          rows_(rowKernels(backend.kernels().id)),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<InstanceNormParams>()) {}

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const int64_t channels = static_cast<int64_t>(params_.scale.size()), batch = input_.shape[0];
        const int64_t plane = input_.elements() / (batch * channels);
        if (channelAxis(input_) == 1)
            forRows(frame.pool(), batch * channels, plane * 4, [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) channelRow(frame, r, plane);
            });
        else
            forRows(frame.pool(), batch, plane * channels * 4, [&](int64_t begin, int64_t end) {
                for (int64_t n = begin; n < end; ++n) channelsLast(frame, n, plane, channels);
            });
    }

  private:
    bool given() const { return command_.inputs.size() == 3; }
    float givenMean(const Frame& frame, int64_t i) const { return frame.data<const float>(*command_.inputs[1])[i]; }
    float givenInverse(const Frame& frame, int64_t i) const {
        return 1.0f / std::sqrt(frame.data<const float>(*command_.inputs[2])[i] + params_.epsilon);
    }

    void channelRow(const Frame& frame, int64_t r, int64_t plane) const {
        const float* x = frame.data<const float>(input_) + r * plane;
        float* y = frame.data<float>(output_) + r * plane;
        const size_t n = static_cast<size_t>(plane), c = static_cast<size_t>(r) % params_.scale.size();
        if (given()) {
            const float scale = params_.scale[c] * givenInverse(frame, r);
            return unary_.affine(x, y, n, scale, params_.bias[c] - scale * givenMean(frame, r));
        }
        rows_.norm(x, y, n, nullptr, nullptr, params_.epsilon, false);
        unary_.affine(y, y, n, params_.scale[c], params_.bias[c]);
    }

    void channelsLast(const Frame& frame, int64_t n, int64_t plane, int64_t channels) const {
        const float* x = frame.data<const float>(input_) + n * plane * channels;
        float* y = frame.data<float>(output_) + n * plane * channels;
        const size_t width = static_cast<size_t>(channels);
        if (given()) {
            for (int64_t p = 0; p < plane; ++p)
                for (size_t c = 0; c < width; ++c) {
                    const int64_t i = n * channels + static_cast<int64_t>(c),
                                  at = p * channels + static_cast<int64_t>(c);
                    y[at] = (x[at] - givenMean(frame, i)) * givenInverse(frame, i) * params_.scale[c] + params_.bias[c];
                }
            return;
        }
        for (size_t c = 0; c < width; c += kMaxColumns) {
            const size_t count = std::min(kMaxColumns, width - c);
            rows_.normColumns(x + c, y + c, static_cast<size_t>(plane), width, count, nullptr, nullptr, params_.epsilon,
                              false);
            for (int64_t p = 0; p < plane; ++p)
                unary_.affineEach(y + p * channels + c, y + p * channels + c, count, params_.scale.data() + c,
                                  params_.bias.data() + c);
        }
    }

    const UnaryKernels& unary_;
    const RowKernels& rows_;
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const InstanceNormParams& params_;
};

}  // namespace

constexpr CpuOp kScaleCpu[] = {
    {OpType::Scale, storageFollow, makeFloatExecution<Scale>,
     [](const CpuBackend&, const Command& command) { return !command.epilogue.residual; }},
    {OpType::InstanceNorm, nullptr, makeFloatExecution<InstanceNorm>},
};
extern constinit const CpuFamily scaleCpu = kScaleCpu;

}  // namespace mnnc::cpu
