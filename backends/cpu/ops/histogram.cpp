// Histogram: bins in double precision, counts as integers.
#include "ops/histogram.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/checked.h"

namespace mnnc::cpu {

namespace {

class HistogramExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        requestScratch(checkedMul(params<HistogramParams>().bins, static_cast<int64_t>(sizeof(int64_t)), "bins"));
    }

    void run(const Frame& frame) const override {
        auto* const counts = static_cast<int64_t*>(frame.scratch());
        const int64_t bins = params<HistogramParams>().bins;
        std::fill(counts, counts + bins, 0);
        switch (in(0).type) {
            case DataType::UInt8:
                count(inData<uint8_t>(frame, 0), counts);
                break;
            case DataType::Int32:
                count(inData<int32_t>(frame, 0), counts);
                break;
            default:
                count(inData<float>(frame, 0), counts);
        }
        std::transform(counts, counts + bins, outData<float>(frame),
                       [](int64_t number) { return static_cast<float>(number); });
    }

  private:
    // The last bin includes its upper end.
    template <typename T>
    void count(const T* x, int64_t* counts) const noexcept {
        const auto& p = params<HistogramParams>();
        const int64_t elements = in(0).elements();
        const double scale = static_cast<double>(p.bins) / (p.high - p.low);
        for (int64_t i = p.first; i < elements; i += p.step) {
            const double value = static_cast<double>(x[i]);
            if (!(value >= p.low && value <= p.high)) continue;
            ++counts[std::min(static_cast<int64_t>((value - p.low) * scale), p.bins - 1)];
        }
    }
};

}  // namespace

constexpr CpuOp kHistogramCpu[] = {
    {OpType::Histogram, nullptr, makeExecution<HistogramExecution>},
};
extern constinit const CpuFamily histogramCpu = kHistogramCpu;

}  // namespace mnnc::cpu
