// CosineSimilarity, with norms of at least 1e-8 as in torch.nn.functional.cosine_similarity.
#include "ops/channel_products.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/checked.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kTogether = 64;  // vectors whose sums are computed together

class CosineExecution final : public CommandExecution {
  public:
    explicit CosineExecution(const Command& command) : CommandExecution(command) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<CosineParams>();
        const int64_t pieces = ceilDiv(p.inner, kTogether);
        forRows(frame.pool(), p.outer * pieces, p.extent * std::min(p.inner, kTogether),
                [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) cosines(frame, p, i / pieces, i % pieces * kTogether);
                });
    }

  private:
    void cosines(const Frame& frame, const CosineParams& p, int64_t outer, int64_t first) const noexcept {
        const int64_t count = std::min(kTogether, p.inner - first);
        const float* a = inData<float>(frame, 0) + outer * p.extent * p.inner + first;
        const float* b = inData<float>(frame, 1) + outer * p.extent * p.inner + first;
        double ab[kTogether] = {}, aa[kTogether] = {}, bb[kTogether] = {};
        for (int64_t k = 0; k < p.extent; ++k, a += p.inner, b += p.inner)
            for (int64_t i = 0; i < count; ++i) {
                const double x = a[i], y = b[i];
                ab[i] += x * y;
                aa[i] += x * x;
                bb[i] += y * y;
            }
        constexpr double kMinNorm = 1e-8;
        float* const y = outData<float>(frame) + outer * p.inner + first;
        for (int64_t i = 0; i < count; ++i)
            y[i] = static_cast<float>(ab[i] /
                                      (std::max(std::sqrt(aa[i]), kMinNorm) * std::max(std::sqrt(bb[i]), kMinNorm)));
    }
};

}  // namespace

constexpr CpuOp kChannelProductsCpu[] = {
    {OpType::CosineSimilarity, nullptr, makeExecution<CosineExecution>},
};
extern constinit const CpuFamily channelProductsCpu = kChannelProductsCpu;

}  // namespace mnnc::cpu
