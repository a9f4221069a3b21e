// Computes functions of int8 codes by a table, because there are only 256 codes.
#include <algorithm>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/int8.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kPieceCodes = 64 << 10;  // fewer codes are not worth a second thread

class Int8Table final : public CommandExecution {
  public:
    Int8Table(CpuBackend& backend, const Command& command, size_t input, const float* results)
        : CommandExecution(command), backend_(backend), input_(input) {
        const TensorQuant to = quantOf(out());
        for (int i = 0; i < kCodes; ++i) {
            float x = results[i] * (1.0f / to.scale) + to.zero;
            x = x > to.min ? std::min(x, to.max) : to.min;  // NaN becomes the smallest
            table_[i] = static_cast<int8_t>(x + (x < 0 ? -0.5f : 0.5f));
        }
    }

    void run(const Frame& frame) const override {
        ThreadPool& pool = frame.pool();
        const int64_t count = out().storageElements();
        const auto pieces = static_cast<int>(std::clamp<int64_t>(count / kPieceCodes, 1, 4 * pool.threads()));
        parallelRanges(pool, static_cast<int64_t>(count), pieces, [&](int64_t begin, int64_t end) {
            backend_.kernels().int8->lookup(inData<int8_t>(frame, input_) + begin, outData<int8_t>(frame) + begin,
                                            static_cast<size_t>(end - begin), table_);
        });
    }

    std::string algorithm() const override { return "int8 table"; }
    uint32_t inPlaceInputs(size_t) const override { return input_ < 32 ? 1u << input_ : 0; }

  private:
    CpuBackend& backend_;
    const size_t input_;
    alignas(64) int8_t table_[kCodes];
};

}  // namespace

void valuesOfCodes(const TensorQuant& quant, float* values) {
    for (int i = 0; i < kCodes; ++i)
        values[i] = (static_cast<float>(static_cast<int8_t>(i)) - quant.zero) * quant.scale;
}

std::unique_ptr<Execution> createInt8Table(CpuBackend& backend, const Command& command, size_t input,
                                           const float* results) {
    return std::make_unique<Int8Table>(backend, command, input, results);
}

}  // namespace mnnc::cpu
