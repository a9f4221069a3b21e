// PoolGrad: each plane adds up the gradients of its windows.
#include "ops/gradients.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {

namespace {

struct Span {
    int64_t first, last;
};

// Returns the elements of an axis that a window covers.
Span coveredBy(const PoolAxis& a, int64_t window) noexcept {
    const int64_t first = window * a.stride - a.begin;
    return {std::max<int64_t>(first, 0), std::min<int64_t>(first + a.kernel, a.in)};
}

class PoolGradExecution final : public CommandExecution {
  public:
    explicit PoolGradExecution(const Command& command) : CommandExecution(command) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<PoolGradParams>();
        const int64_t taps = int64_t{p.rows.out} * p.columns.out * p.rows.kernel * p.columns.kernel;
        forRows(frame.pool(), p.planes, taps, [&](int64_t begin, int64_t end) {
            for (int64_t plane = begin; plane < end; ++plane) collect(frame, p, plane);
        });
    }

  private:
    void collect(const Frame& frame, const PoolGradParams& p, int64_t plane) const noexcept {
        const int64_t area = int64_t{p.rows.in} * p.columns.in;
        const int64_t windows = int64_t{p.rows.out} * p.columns.out;
        const float* const x = inData<float>(frame, 0) + plane * area;
        const float* y = inData<float>(frame, 1) + plane * windows;
        const float* gradient = inData<float>(frame, 2) + plane * windows;
        float* const to = outData<float>(frame) + plane * area;
        std::fill(to, to + area, 0.0f);
        for (int64_t row = 0; row < p.rows.out; ++row)
            for (int64_t column = 0; column < p.columns.out; ++column, ++y, ++gradient) {
                const Span rows = coveredBy(p.rows, row), columns = coveredBy(p.columns, column);
                if (p.average) {
                    const int64_t count = poolCount(p.rows, row) * poolCount(p.columns, column);
                    const float share = *gradient / static_cast<float>(std::max<int64_t>(count, 1));
                    each(p, rows, columns, [&](int64_t at) { to[at] += share; });
                } else {
                    each(p, rows, columns, [&](int64_t at) {
                        if (x[at] >= *y) to[at] += *gradient;
                    });
                }
            }
    }

    template <typename Body>
    static void each(const PoolGradParams& p, Span rows, Span columns, const Body& body) noexcept {
        for (int64_t r = rows.first; r < rows.last; ++r)
            for (int64_t c = columns.first; c < columns.last; ++c) body(r * p.columns.in + c);
    }
};

}  // namespace

constexpr CpuOp kGradientsCpu[] = {
    {OpType::PoolGrad, nullptr, makeExecution<PoolGradExecution>},
};
extern constinit const CpuFamily gradientsCpu = kGradientsCpu;

}  // namespace mnnc::cpu
