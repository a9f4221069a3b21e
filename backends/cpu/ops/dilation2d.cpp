// Dilation2D, plane by plane and tap by tap.
#include "ops/dilation2d.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "ops/columns.h"

namespace mnnc::cpu {

namespace {

class Dilation2dExecution final : public CommandExecution {
  public:
    explicit Dilation2dExecution(const Command& command) : CommandExecution(command) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<Dilation2dParams>();
        const Shape& shape = out().shape;
        forRows(frame.pool(), shape[0] * shape[1], shape[2] * shape[3] * p.kernelY * p.kernelX,
                [&](int64_t begin, int64_t end) {
                    for (int64_t plane = begin; plane < end; ++plane) maximum(frame, p, plane);
                });
    }

  private:
    void maximum(const Frame& frame, const Dilation2dParams& p, int64_t plane) const noexcept {
        const Shape &from = in(0).shape, &to = out().shape;
        const float* const x = inData<float>(frame, 0) + plane * from[2] * from[3];
        float* const y = outData<float>(frame) + plane * to[2] * to[3];
        std::fill(y, y + to[2] * to[3], std::numeric_limits<float>::lowest());
        const float* weight = p.weights.data() + plane % to[1] * p.kernelY * p.kernelX;
        for (int64_t ky = 0; ky < p.kernelY; ++ky)
            for (int64_t kx = 0; kx < p.kernelX; ++kx, ++weight) {
                const int64_t offsetY = ky * p.dilateY - p.padTop, offsetX = kx * p.dilateX - p.padLeft;
                const PatchRange rows = patchesInside(from[2], to[2], p.strideY, offsetY);
                const PatchRange columns = patchesInside(from[3], to[3], p.strideX, offsetX);
                for (int64_t oy = rows.first; oy < rows.last; ++oy) {
                    const float* const line = x + (oy * p.strideY + offsetY) * from[3] + offsetX;
                    float* const best = y + oy * to[3];
                    for (int64_t ox = columns.first; ox < columns.last; ++ox) {
                        const float value = line[ox * p.strideX] + *weight;
                        best[ox] = value > best[ox] ? value : best[ox];
                    }
                }
            }
    }
};

}  // namespace

constexpr CpuOp kDilation2dCpu[] = {
    {OpType::Dilation2D, nullptr, makeExecution<Dilation2dExecution>},
};
extern constinit const CpuFamily dilation2dCpu = kDilation2dCpu;

}  // namespace mnnc::cpu
