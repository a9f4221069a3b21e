// Col2Im: a plane is the sum of its taps, which are added in their order.
#include "ops/columns.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {

namespace {

class Col2ImExecution final : public CommandExecution {
  public:
    explicit Col2ImExecution(const Command& command) : CommandExecution(command) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<Col2ImParams>();
        forRows(frame.pool(), p.planes, p.kernelY * p.kernelX * p.patchesY * p.patchesX,
                [&](int64_t begin, int64_t end) {
                    for (int64_t plane = begin; plane < end; ++plane) sum(frame, p, plane);
                });
    }

  private:
    void sum(const Frame& frame, const Col2ImParams& p, int64_t plane) const noexcept {
        float* const image = outData<float>(frame) + plane * p.height * p.width;
        std::fill(image, image + p.height * p.width, 0.0f);
        const float* column = inData<float>(frame, 0) + plane * p.kernelY * p.kernelX * p.patchesY * p.patchesX;
        for (int64_t ky = 0; ky < p.kernelY; ++ky)
            for (int64_t kx = 0; kx < p.kernelX; ++kx, column += p.patchesY * p.patchesX) {
                const int64_t offsetY = ky * p.dilateY - p.padTop, offsetX = kx * p.dilateX - p.padLeft;
                const PatchRange rows = patchesInside(p.height, p.patchesY, p.strideY, offsetY);
                const PatchRange columns = patchesInside(p.width, p.patchesX, p.strideX, offsetX);
                for (int64_t y = rows.first; y < rows.last; ++y)
                    add(column + y * p.patchesX + columns.first, columns.last - columns.first, p.strideX,
                        image + (y * p.strideY + offsetY) * p.width + columns.first * p.strideX + offsetX);
            }
    }

    static void add(const float* from, int64_t count, int64_t stride, float* to) noexcept {
        if (stride == 1)
            for (int64_t i = 0; i < count; ++i) to[i] += from[i];
        else
            for (int64_t i = 0; i < count; ++i) to[i * stride] += from[i];
    }
};

}  // namespace

constexpr CpuOp kColumnsCpu[] = {
    {OpType::Col2Im, nullptr, makeExecution<Col2ImExecution>},
};
extern constinit const CpuFamily columnsCpu = kColumnsCpu;

}  // namespace mnnc::cpu
