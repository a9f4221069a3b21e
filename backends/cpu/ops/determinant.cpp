// Det: elimination with partial pivoting, in double.
#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/checked.h"

namespace mnnc::cpu {

namespace {

class DetExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        const Shape& shape = in(0).shape;
        extent_ = shape[shape.rank() - 1];
        requestScratch(
            checkedMul(checkedMul(extent_, extent_, "matrix"), static_cast<int64_t>(sizeof(double)), "matrix"));
    }

    void run(const Frame& frame) const override {
        const int64_t count = out().elements(), elements = extent_ * extent_;
        auto* const matrix = static_cast<double*>(frame.scratch());
        for (int64_t i = 0; i < count; ++i) {
            std::copy_n(inData<float>(frame, 0) + i * elements, elements, matrix);
            outData<float>(frame)[i] = static_cast<float>(determinant(matrix));
        }
    }

  private:
    double determinant(double* a) const noexcept {
        double product = 1;
        for (int64_t k = 0; k < extent_; ++k) {
            int64_t pivot = k;
            for (int64_t r = k + 1; r < extent_; ++r)
                if (std::abs(a[r * extent_ + k]) > std::abs(a[pivot * extent_ + k])) pivot = r;
            if (pivot != k) {
                std::swap_ranges(a + k * extent_, a + (k + 1) * extent_, a + pivot * extent_);
                product = -product;
            }
            const double* const row = a + k * extent_;
            product *= row[k];
            if (row[k] == 0) return 0;
            for (int64_t r = k + 1; r < extent_; ++r) {
                double* const other = a + r * extent_;
                const double factor = other[k] / row[k];
                for (int64_t c = k + 1; c < extent_; ++c) other[c] -= factor * row[c];
            }
        }
        return product;
    }

    int64_t extent_ = 0;
};

}  // namespace

constexpr CpuOp kDeterminantCpu[] = {
    {OpType::Det, nullptr, makeExecution<DetExecution>},
};
extern constinit const CpuFamily determinantCpu = kDeterminantCpu;

}  // namespace mnnc::cpu
