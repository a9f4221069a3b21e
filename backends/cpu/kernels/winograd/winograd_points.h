// The compiler computes the matrices of Winograd's transforms F(M,K) in double, by the algorithm of Cook and Toom.
//
// The points keep fp32 errors near 1e-5 of the largest value: 0, 1 | 0, 1, -1 | 0, 1, -1, 1/2 | 0, 1, -1, 1/2, -2 |
// 0, 1, -1, 2, -2, 1/2, -1/2. The input transform depends on the number of points alone. Its rows and the columns of
// the output transform are balanced by powers of two (exact in float); the weight transform has the inverse factors.
#pragma once

namespace mnnc {

template <int M, int K>
struct WinogradMatrices {
    static constexpr int A = M + K - 1;  // points, infinity last
    static constexpr int N = A - 1;      // finite points
    double points[N] = {};
    bool pairFirst[A] = {};  // point i+1 is minus point i: the two rows share their sums
    bool pairSecond[A] = {};
    double bt[A][A] = {};  // input
    // For the first point p of a pair: the scaled coefficients of the polynomial R, with which the rows of the pair are
    // (x + p) R and (x - p) R.
    double half[A][A] = {};
    double at[M][A] = {};  // output
    double g[A][K] = {};   // weights

    constexpr WinogradMatrices() {
        constexpr double table[6][7] = {
            {0, 1}, {0, 1, -1}, {0, 1, -1, 0.5}, {0, 1, -1, 0.5, -2}, {}, {0, 1, -1, 2, -2, 0.5, -0.5}};
        for (int i = 0; i < N; ++i) points[i] = table[N - 2][i];
        for (int i = 1; i + 1 < N; ++i) {
            if (points[i + 1] == -points[i] && !pairSecond[i]) {
                pairFirst[i] = true;
                pairSecond[i + 1] = true;
            }
        }
        for (int i = 0; i < A; ++i) {
            double row[A + 1] = {1};
            double r[A + 1] = {1};
            int degree = 0, degreeR = 0;
            for (int k = 0; k < N; ++k) {
                if (k == i) continue;
                multiply(row, degree++, points[k]);
                if (!(pairFirst[i] && k == i + 1)) multiply(r, degreeR++, points[k]);
            }
            double column[M] = {};
            double f = 1;
            if (i < N) {
                double power = 1;
                for (int j = 0; j < M; ++j, power *= points[i]) column[j] = power;
                power = 1;
                for (int j = 0; j < K; ++j, power *= points[i]) g[i][j] = power;
                for (int k = 0; k < N; ++k) {
                    if (k != i) f *= points[i] - points[k];
                }
            } else {
                column[M - 1] = 1;
                g[i][K - 1] = 1;
            }
            const double s = balance(row, A), u = balance(column, M);
            for (int j = 0; j < A; ++j) {
                bt[i][j] = row[j] * s;
                half[i][j] = r[j] * s;
            }
            for (int j = 0; j < M; ++j) at[j][i] = column[j] * u;
            for (int j = 0; j < K; ++j) g[i][j] /= f * s * u;
        }
    }

  private:
    static constexpr double magnitude(double x) { return x < 0 ? -x : x; }
    // Multiplies a polynomial by (x - p).
    static constexpr void multiply(double* poly, int degree, double p) {
        for (int j = degree + 1; j >= 0; --j) poly[j] = (j ? poly[j - 1] : 0) - p * (j <= degree ? poly[j] : 0);
    }
    // Returns the power of two that brings the geometric mean of the smallest and the largest non-zero magnitude to
    // about 1.
    static constexpr double balance(const double* v, int n) {
        double lo = 0, hi = 0;
        for (int j = 0; j < n; ++j) {
            const double m = magnitude(v[j]);
            if (m == 0) continue;
            if (lo == 0 || m < lo) lo = m;
            if (m > hi) hi = m;
        }
        double scale = 1;
        while (lo * hi * scale * scale > 2) scale /= 2;
        while (lo * hi * scale * scale < 0.5) scale *= 2;
        return scale;
    }
};

}  // namespace mnnc
