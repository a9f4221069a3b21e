// Svd by one-sided Jacobi rotations in double precision: pairs of columns are rotated until all are orthogonal (Golub
// and Van Loan, Matrix Computations, section 8.6.3).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/checked.h"

namespace mnnc::cpu {

namespace {

constexpr int kMaxSweeps = 60;  // it converges in about ten
constexpr double kSmall = 1e-15;

double dot(const double* a, const double* b, int64_t n) noexcept {
    return std::inner_product(a, a + n, b, 0.0);
}

void rotate(double* a, double* b, int64_t n, double cosine, double sine) noexcept {
    for (int64_t i = 0; i < n; ++i) {
        const double x = a[i], y = b[i];
        a[i] = cosine * x - sine * y;
        b[i] = sine * x + cosine * y;
    }
}

class SvdExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        rows_ = in(0).shape[0];
        columns_ = in(0).shape[1];
        const int64_t each = checkedAdd(checkedAdd(rows_, columns_, "matrix"), 2, "matrix");
        requestScratch(
            checkedMul(checkedMul(columns_, each, "matrix"), static_cast<int64_t>(sizeof(double)), "matrix"));
    }

    void run(const Frame& frame) const override {
        if (columns_ == 0) return;
        const Work work(frame.scratch(), rows_, columns_);
        const auto [u, v, w, order] = work;
        const float* const x = inData<float>(frame, 0);
        if (!std::all_of(x, x + rows_ * columns_, [](float value) { return std::isfinite(value); }))
            return fillWithNaN(frame);
        for (int64_t c = 0; c < columns_; ++c)
            for (int64_t r = 0; r < rows_; ++r) u[c * rows_ + r] = static_cast<double>(x[r * columns_ + c]);
        std::fill(v, v + columns_ * columns_, 0.0);
        for (int64_t c = 0; c < columns_; ++c) v[c * columns_ + c] = 1;
        makeOrthogonal(work);
        for (int64_t c = 0; c < columns_; ++c) w[c] = std::sqrt(dot(column(work, c), column(work, c), rows_));
        std::iota(order, order + columns_, 0);
        std::sort(order, order + columns_, [values = w](int64_t a, int64_t b) {
            return values[a] != values[b] ? values[a] > values[b] : a < b;
        });
        makeUnit(work);
        write(frame, work);
    }

  private:
    // The scratch, by columns: the matrix, which becomes u; v; the values; the order of the columns.
    struct Work {
        Work(void* scratch, int64_t rows, int64_t columns)
            : u(static_cast<double*>(scratch)),
              v(u + columns * rows),
              w(v + columns * columns),
              order(reinterpret_cast<int64_t*>(w + columns)) {}

        double *u, *v, *w;
        int64_t* order;
    };

    double* column(const Work& work, int64_t c) const noexcept { return work.u + c * rows_; }

    void fillWithNaN(const Frame& frame) const noexcept {
        for (size_t i = 0; i < 3; ++i)
            std::fill_n(outData<float>(frame, i), out(i).elements(), std::numeric_limits<float>::quiet_NaN());
    }

    void makeOrthogonal(const Work& work) const noexcept {
        const double all = dot(work.u, work.u, rows_ * columns_);
        bool turned = true;
        for (int sweep = 0; turned && sweep < kMaxSweeps; ++sweep) {
            turned = false;
            for (int64_t p = 0; p + 1 < columns_; ++p)
                for (int64_t q = p + 1; q < columns_; ++q) turned |= turn(work, p, q, all * kSmall * kSmall);
        }
    }

    // Makes two columns orthogonal; returns false when they already are. `zero`: the largest squared norm that counts
    // as 0.
    bool turn(const Work& work, int64_t p, int64_t q, double zero) const noexcept {
        double *const a = column(work, p), *const b = column(work, q);
        const double aa = dot(a, a, rows_), bb = dot(b, b, rows_), ab = dot(a, b, rows_);
        if (aa <= zero || bb <= zero || std::abs(ab) <= kSmall * std::sqrt(aa) * std::sqrt(bb)) return false;
        const double zeta = (bb - aa) / (2 * ab);
        const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double cosine = 1 / std::hypot(1.0, tangent), sine = cosine * tangent;
        rotate(a, b, rows_, cosine, sine);
        rotate(work.v + p * columns_, work.v + q * columns_, columns_, cosine, sine);
        return true;
    }

    // Divides columns by their norms. Columns whose value is 0 become unit vectors orthogonal to the ones before, or 0
    // if there are already as many as rows.
    void makeUnit(const Work& work) const noexcept {
        const double zero = work.w[work.order[0]] * kSmall * static_cast<double>(std::max(rows_, columns_));
        int64_t candidate = 0;
        for (int64_t i = 0; i < columns_; ++i) {
            double* const u = column(work, work.order[i]);
            double& value = work.w[work.order[i]];
            if (value > zero && i < rows_) {
                for (int64_t r = 0; r < rows_; ++r) u[r] /= value;
                continue;
            }
            value = 0;
            if (i < rows_)
                complete(work, i, candidate);
            else
                std::fill(u, u + rows_, 0.0);
        }
    }

    // Replaces a column by an axis vector made orthogonal to the columns before. A vector that those nearly span is
    // skipped for good, because later columns only add to their span.
    void complete(const Work& work, int64_t i, int64_t& candidate) const noexcept {
        double* const u = column(work, work.order[i]);
        for (; candidate < rows_; ++candidate) {
            std::fill(u, u + rows_, 0.0);
            u[candidate] = 1;
            for (int pass = 0; pass < 2; ++pass)
                for (int64_t k = 0; k < i; ++k) {
                    const double* const other = column(work, work.order[k]);
                    const double along = dot(other, u, rows_);
                    for (int64_t r = 0; r < rows_; ++r) u[r] -= along * other[r];
                }
            const double square = dot(u, u, rows_);
            if (square * static_cast<double>(rows_) < 0.5) continue;
            for (int64_t r = 0; r < rows_; ++r) u[r] /= std::sqrt(square);
            return;
        }
    }

    void write(const Frame& frame, const Work& work) const noexcept {
        for (int64_t i = 0; i < columns_; ++i) {
            const int64_t from = work.order[i];
            outData<float>(frame, 0)[i] = static_cast<float>(work.w[from]);
            for (int64_t r = 0; r < rows_; ++r)
                outData<float>(frame, 1)[r * columns_ + i] = static_cast<float>(column(work, from)[r]);
            for (int64_t c = 0; c < columns_; ++c)
                outData<float>(frame, 2)[i * columns_ + c] = static_cast<float>(work.v[from * columns_ + c]);
        }
    }

    int64_t rows_ = 0, columns_ = 0;
};

}  // namespace

constexpr CpuOp kSvdCpu[] = {
    {OpType::Svd, nullptr, makeExecution<SvdExecution>},
};
extern constinit const CpuFamily svdCpu = kSvdCpu;

}  // namespace mnnc::cpu
