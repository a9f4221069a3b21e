// Svd by one-sided Jacobi rotations in double precision: pairs of columns are turned until all are orthogonal
// (Golub and Van Loan, Matrix Computations, section 8.6.3).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/checked.h"

namespace mnnc::cpu {

namespace {

constexpr int kMostSweeps = 60;  // it converges in about ten
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

    void onResize() override {
        rows_ = in(0).shape[0];
        columns_ = in(0).shape[1];
        const int64_t each = checkedAdd(checkedAdd(rows_, columns_, "matrix"), 2, "matrix");
        requestScratch(
            checkedMul(checkedMul(columns_, each, "matrix"), static_cast<int64_t>(sizeof(double)), "matrix"));
    }

    void onExecute() override {
        if (columns_ == 0) return;
        u_ = static_cast<double*>(scratch());
        v_ = u_ + columns_ * rows_;
        w_ = v_ + columns_ * columns_;
        order_ = reinterpret_cast<int64_t*>(w_ + columns_);
        const float* const x = inData<float>(0);
        if (!std::all_of(x, x + rows_ * columns_, [](float value) { return std::isfinite(value); }))
            return fillWithNaN();
        for (int64_t c = 0; c < columns_; ++c)
            for (int64_t r = 0; r < rows_; ++r) u_[c * rows_ + r] = static_cast<double>(x[r * columns_ + c]);
        std::fill(v_, v_ + columns_ * columns_, 0.0);
        for (int64_t c = 0; c < columns_; ++c) v_[c * columns_ + c] = 1;
        makeOrthogonal();
        for (int64_t c = 0; c < columns_; ++c) w_[c] = std::sqrt(dot(column(c), column(c), rows_));
        std::iota(order_, order_ + columns_, 0);
        std::sort(order_, order_ + columns_,
                  [this](int64_t a, int64_t b) { return w_[a] != w_[b] ? w_[a] > w_[b] : a < b; });
        makeUnit();
        write();
    }

  private:
    double* column(int64_t c) const noexcept { return u_ + c * rows_; }

    void fillWithNaN() const noexcept {
        for (size_t i = 0; i < 3; ++i)
            std::fill_n(outData<float>(i), out(i).elements(), std::numeric_limits<float>::quiet_NaN());
    }

    void makeOrthogonal() const noexcept {
        const double all = dot(u_, u_, rows_ * columns_);
        bool turned = true;
        for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
            turned = false;
            for (int64_t p = 0; p + 1 < columns_; ++p)
                for (int64_t q = p + 1; q < columns_; ++q) turned |= turn(p, q, all * kSmall * kSmall);
        }
    }

    // Makes two columns orthogonal; false: they are so already. `least`: a squared norm that counts as 0.
    bool turn(int64_t p, int64_t q, double least) const noexcept {
        double *const a = column(p), *const b = column(q);
        const double aa = dot(a, a, rows_), bb = dot(b, b, rows_), ab = dot(a, b, rows_);
        if (aa <= least || bb <= least || std::abs(ab) <= kSmall * std::sqrt(aa) * std::sqrt(bb))
            return false;
        const double zeta = (bb - aa) / (2 * ab);
        const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double cosine = 1 / std::hypot(1.0, tangent), sine = cosine * tangent;
        rotate(a, b, rows_, cosine, sine);
        rotate(v_ + p * columns_, v_ + q * columns_, columns_, cosine, sine);
        return true;
    }

    // Divides columns by their norms. Those whose value is 0 become unit vectors orthogonal to the ones before, or 0 if
    // there are as many as rows.
    void makeUnit() const noexcept {
        const double least = w_[order_[0]] * kSmall * static_cast<double>(std::max(rows_, columns_));
        int64_t candidate = 0;
        for (int64_t i = 0; i < columns_; ++i) {
            double* const u = column(order_[i]);
            double& value = w_[order_[i]];
            if (value > least && i < rows_) {
                for (int64_t r = 0; r < rows_; ++r) u[r] /= value;
                continue;
            }
            value = 0;
            if (i < rows_)
                complete(i, candidate);
            else
                std::fill(u, u + rows_, 0.0);
        }
    }

    // Axis vectors that the columns before nearly span stay so: no candidate is tried twice.
    void complete(int64_t i, int64_t& candidate) const noexcept {
        double* const u = column(order_[i]);
        for (; candidate < rows_; ++candidate) {
            std::fill(u, u + rows_, 0.0);
            u[candidate] = 1;
            for (int pass = 0; pass < 2; ++pass)
                for (int64_t k = 0; k < i; ++k) {
                    const double* const other = column(order_[k]);
                    const double along = dot(other, u, rows_);
                    for (int64_t r = 0; r < rows_; ++r) u[r] -= along * other[r];
                }
            const double square = dot(u, u, rows_);
            if (square * static_cast<double>(rows_) < 0.5) continue;
            for (int64_t r = 0; r < rows_; ++r) u[r] /= std::sqrt(square);
            return;
        }
    }

    void write() const noexcept {
        for (int64_t i = 0; i < columns_; ++i) {
            const int64_t from = order_[i];
            outData<float>(0)[i] = static_cast<float>(w_[from]);
            for (int64_t r = 0; r < rows_; ++r)
                outData<float>(1)[r * columns_ + i] = static_cast<float>(column(from)[r]);
            for (int64_t c = 0; c < columns_; ++c)
                outData<float>(2)[i * columns_ + c] = static_cast<float>(v_[from * columns_ + c]);
        }
    }

    int64_t rows_ = 0, columns_ = 0;
    // In scratch, by columns: the matrix, which becomes u; v; the values; the columns' order.
    double *u_ = nullptr, *v_ = nullptr, *w_ = nullptr;
    int64_t* order_ = nullptr;
};

constexpr CpuOp kSvdCpu[] = {
    {OpType::Svd, nullptr, makeExecution<SvdExecution>},
};

}  // namespace

CpuFamily svdCpu() {
    return kSvdCpu;
}

}  // namespace mnnc::cpu
