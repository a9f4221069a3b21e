// Runs the implementations that accept a convolution, alternating between them.
#include "backends/cpu/kernels/conv/measure_conv.h"

#include <algorithm>
#include <memory>

#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "base/aligned.h"
#include "base/stopwatch.h"

namespace mnnc {
namespace {

constexpr int kRounds = 7, kMinRounds = 3;
constexpr double kMaxMs = 300;  // after the minimum number of rounds

// The maps and the bias that all implementations share.
struct Maps {
    AlignedBuffer src, dst, bias;

    Maps(const Kernels& k, const ConvShape& s)
        : src(bytes(k, s.ic, s, s.ih, s.iw)),
          dst(bytes(k, s.oc, s, s.oh, s.ow)),
          bias(roundUp(s.oc, k.lanes) * sizeof(float)) {
        // Subnormal numbers would be slow.
        std::fill_n(src.as<float>(), src.size() / sizeof(float), 0.5f);
        std::fill_n(bias.as<float>(), bias.size() / sizeof(float), 0.5f);
    }

    static int64_t bytes(const Kernels& k, int channels, const ConvShape& s, int h, int w) {
        return int64_t{s.batch} * roundUp(channels, k.lanes) * h * w * int64_t{sizeof(float)};
    }
};

// One implementation, ready to run.
class Runner {
  public:
    Runner(const Kernels& k, const ConvShape& s, const ConvOptions& options, const ConvImplementation& implementation,
           ThreadPool& pool)
        : plan_(implementation.make(k, s, options)),
          packed_(plan_->packedWeightBytes()),
          scratch_(plan_->scratchBytes(pool.threads())) {
        const size_t count = size_t(s.oc) * (s.ic / options.groups) * s.kh * s.kw;
        if (const QuantizedWeightPacker* packer = plan_->quantizedPacker()) {
            const std::vector<int8_t> codes(count, 1);
            const size_t scales = size_t(s.oc) * options.quantization.blocks;
            const std::vector<float> scale(scales, 0.01f), minimum(options.quantization.minima ? scales : 0, 0.01f);
            HeldQuantizedWeights weights({codes, scale, minimum}, s.oc);
            packer->packQuantized(weights, packed_.data(), pool);
        } else {
            const std::vector<float> weights(count, 0.01f);
            plan_->packWeights(weights.data(), packed_.data(), pool);
        }
    }

    double milliseconds(Maps& maps, ThreadPool& pool) {
        PostOps post;
        post.bias = maps.bias.as<float>();
        const Stopwatch watch;
        plan_->run(maps.src.as<float>(), packed_.data(), maps.dst.as<float>(), post, scratch_.data(), pool);
        return watch.milliseconds();
    }

  private:
    std::unique_ptr<ConvPlan> plan_;
    AlignedBuffer packed_, scratch_;
};

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

std::vector<double> measureConvCandidates(const Kernels& k, const ConvShape& shape, const ConvOptions& options,
                                          ThreadPool& pool) {
    const ConvShape s = plannedShape(shape, options);
    Maps maps(k, s);
    std::vector<Runner> runners;
    for (const ConvCandidate& each : convCandidates(k, shape, options))
        runners.emplace_back(k, s, options, *each.implementation, pool);
    for (Runner& each : runners) each.milliseconds(maps, pool);  // touches the memory before it is timed
    std::vector<std::vector<double>> times(runners.size());
    const Stopwatch watch;
    for (int round = 0; round < kRounds && (round < kMinRounds || watch.milliseconds() < kMaxMs); ++round)
        for (size_t i = 0; i < runners.size(); ++i) times[i].push_back(runners[i].milliseconds(maps, pool));
    std::vector<double> out;
    out.reserve(times.size());
    for (std::vector<double>& each : times) out.push_back(median(each));
    return out;
}

}  // namespace mnnc
