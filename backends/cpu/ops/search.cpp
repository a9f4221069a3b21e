// ArgMax, ArgMin and TopKV2. Among equal elements the first one in memory comes first, in lists too
// (https://onnx.ai/onnx/operators/onnx__TopK.html, https://www.tensorflow.org/api_docs/python/tf/math/top_k).
#include "ops/search.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

class ArgExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        withNumber(in(0).type, [&]<typename T>(T) { search<T>(frame); });
    }

  private:
    // Compares row by row over the axis, so that the inner loop is contiguous. NaN never wins a comparison.
    template <typename T>
    void search(const Frame& frame) const noexcept {
        const auto& p = params<SearchParams>();
        for (int64_t o = 0; o < p.outer; ++o)
            for (int64_t i = 0; i < p.inner; ++i) {
                const T* values = inData<T>(frame, 0) + o * p.extent * p.inner + i;
                T best = p.largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
                int64_t at = 0;
                for (int64_t k = 0; k < p.extent; ++k) {
                    const T value = values[k * p.inner];
                    if (p.largest ? value > best : value < best) {
                        best = value;
                        at = k;
                    }
                }
                outData<int32_t>(frame)[o * p.inner + i] = static_cast<int32_t>(at);
            }
    }
};

// The packed form: along the axis, the positions of the largest values, then the values themselves.
class TopListExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override { requestScratch(params<TopListParams>().extent * 4); }
    void run(const Frame& frame) const override {
        const auto& p = params<TopListParams>();
        auto* order = static_cast<int32_t*>(frame.scratch());
        const int64_t rows = p.top * (p.values ? 2 : 1);
        for (int64_t o = 0; o < p.outer; ++o)
            for (int64_t i = 0; i < p.inner; ++i) {
                // An axis without elements has no memory; then the output is zeros.
                const float* values = p.extent > 0 ? inData<float>(frame, 0) + o * p.extent * p.inner + i : nullptr;
                float* output = outData<float>(frame) + o * rows * p.inner + i;
                int64_t found = 0;
                for (int64_t k = 0; k < p.extent; ++k)
                    if (!p.useThreshold || values[k * p.inner] >= p.threshold) order[found++] = static_cast<int32_t>(k);
                const int64_t top = std::min(p.top, found);
                std::partial_sort(order, order + top, order + found, [&](int32_t a, int32_t b) {
                    const float x = values[a * p.inner], y = values[b * p.inner];
                    return x == y ? a < b : x > y;
                });
                for (int64_t k = 0; k < p.top; ++k) {
                    output[k * p.inner] = k < top ? static_cast<float>(order[k]) : 0;
                    if (p.values) output[(p.top + k) * p.inner] = k < top ? values[order[k] * p.inner] : 0;
                }
            }
    }
};

class TopKExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override {
        const auto& p = params<SearchParams>();
        const int64_t rows = p.outer * p.inner;
        k_ = rows > 0 ? out().elements() / rows : 0;
        requestScratch(p.extent * 4);
    }
    void run(const Frame& frame) const override {
        withNumber(in(0).type, [&]<typename T>(T) { select<T>(frame); });
    }

  private:
    template <typename T>
    void select(const Frame& frame) const noexcept {
        const auto& p = params<SearchParams>();
        auto* order = static_cast<int32_t*>(frame.scratch());
        for (int64_t o = 0; o < p.outer; ++o)
            for (int64_t i = 0; i < p.inner; ++i) {
                const T* values = inData<T>(frame, 0) + o * p.extent * p.inner + i;
                const int64_t inner = p.inner;
                std::iota(order, order + p.extent, 0);
                if (p.largest && k_ == 1)
                    order[0] = *std::max_element(order, order + p.extent, [&](int32_t a, int32_t b) {
                        return values[a * inner] < values[b * inner];
                    });
                else
                    std::partial_sort(order, order + k_, order + p.extent, [&](int32_t a, int32_t b) {
                        const T x = values[a * inner], y = values[b * inner];
                        return x == y ? a < b : p.largest ? x > y : x < y;
                    });
                for (int64_t k = 0; k < k_; ++k) {
                    const int64_t to = (o * k_ + k) * inner + i;
                    outData<T>(frame, 0)[to] = values[order[k] * inner];
                    outData<int32_t>(frame, 1)[to] = order[k];
                }
            }
    }
    int64_t k_ = 0;
};

std::unique_ptr<Execution> createArg(CpuBackend&, const Command& command, std::string&) {
    // The output of the packed form is a float list, that of the plain form holds int32 positions.
    if (command.outputs[0]->type == DataType::Float32) return std::make_unique<TopListExecution>(command);
    return std::make_unique<ArgExecution>(command);
}

}  // namespace

constexpr CpuOp kSearchCpu[] = {
    {OpType::ArgMax, nullptr, createArg},
    {OpType::ArgMin, nullptr, createArg},
    {OpType::TopKV2, nullptr, makeExecution<TopKExecution>},
};
extern constinit const CpuFamily searchCpu = kSearchCpu;

}  // namespace mnnc::cpu
