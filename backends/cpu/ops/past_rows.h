// Rows of a causal convolution whose first ones are from earlier runs of the session.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace mnnc::cpu {

// Limits the taps of a convolution over rows, so that pointers to its rows fit on the stack.
constexpr int kMaxRowTaps = 32;

// The kept numbers are taps - 1 rows, which end where those of the run begin.
struct PastRows {
    const float *kept, *run;
    int taps;
    size_t channels;

    // Rows below 0 are from before the run.
    const float* at(int64_t row) const noexcept {
        return row < 0 ? kept + static_cast<size_t>(row + taps - 1) * channels
                       : run + static_cast<size_t>(row) * channels;
    }
    // Finds the rows that the convolution reads for a row of the run: `to` gets a pointer for each tap.
    void read(int row, const float** to) const noexcept {
        for (int t = 0; t < taps; ++t) to[t] = at(int64_t{row} + t - taps + 1);
    }
    // Writes the numbers that the session keeps after a run of `rows` rows.
    void keep(int rows, float* next) const noexcept {
        for (int i = 0; i < taps - 1; ++i)
            std::memcpy(next + static_cast<size_t>(i) * channels, at(int64_t{rows} + i - taps + 1),
                        channels * sizeof(float));
    }
};

// Reorders weights [channel][tap] as the kernels read them, [tap][channel].
inline std::vector<float> tapMajor(const float* weights, int channels, int taps) {
    const auto rows = static_cast<size_t>(channels), columns = static_cast<size_t>(taps);
    std::vector<float> to(rows * columns);
    for (size_t c = 0; c < rows; ++c)
        for (size_t t = 0; t < columns; ++t) to[t * rows + c] = weights[c * columns + t];
    return to;
}

}  // namespace mnnc::cpu
