// CumSum, CumProd (slice by slice along the axis, so that the inner loop is contiguous) and MatrixBandPart.
#include "ops/scan.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class ScanExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        if (in(0).type == DataType::Float32)
            scan<float>(frame);
        else
            scan<uint32_t>(frame);  // integers wrap
    }

  private:
    template <typename T>
    void scan(const Frame& frame) const noexcept {
        const auto& p = params<ScanParams>();
        const bool product = command().type == OpType::CumProd;
        const int64_t step = p.reverse ? -p.inner : p.inner;
        for (int64_t o = 0; o < p.outer; ++o) {
            const int64_t base = o * p.extent * p.inner + (p.reverse ? (p.extent - 1) * p.inner : 0);
            const T* x = inData<T>(frame, 0) + base;
            T* y = outData<T>(frame) + base;
            if (p.exclusive)
                std::fill(y, y + p.inner, T(0));
            else
                std::copy(x, x + p.inner, y);
            for (int64_t k = 1; k < p.extent; ++k) {
                if (!p.exclusive) x += step;
                const T* last = y;
                y += step;
                if (product)
                    for (int64_t i = 0; i < p.inner; ++i) y[i] = last[i] * x[i];
                else
                    for (int64_t i = 0; i < p.inner; ++i) y[i] = last[i] + x[i];
                if (p.exclusive) x += step;
            }
        }
    }
};

class BandPartExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const Shape& shape = in(0).shape;
        const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
        const int64_t lower = *inData<int32_t>(frame, 1), upper = *inData<int32_t>(frame, 2);
        const int64_t lines = in(0).elements() / columns;
        const auto* x = inData<float>(frame, 0);
        auto* y = outData<float>(frame);
        for (int64_t line = 0; line < lines; ++line) {
            const int64_t row = line % rows;
            for (int64_t column = 0; column < columns; ++column, ++x, ++y) {
                const bool inside = (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper);
                *y = *x * (inside ? 1.0f : 0.0f);  // a product: NaN stays NaN outside of the band
            }
        }
    }
};

}  // namespace

constexpr CpuOp kScanCpu[] = {
    {OpType::CumSum, nullptr, makeExecution<ScanExecution>},
    {OpType::CumProd, nullptr, makeExecution<ScanExecution>},
    {OpType::MatrixBandPart, nullptr, makeExecution<BandPartExecution>},
};
extern constinit const CpuFamily scanCpu = kScanCpu;

}  // namespace mnnc::cpu
