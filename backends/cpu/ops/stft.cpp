// Stft as one matrix product for each signal: the frames are rows that overlap, and the matrix is the window times the
// Fourier transform, real and imaginary parts side by side.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class Stft final : public CommandExecution {
  public:
    Stft(const CpuBackend& backend, const Command& command) : CommandExecution(command), backend_(backend) {}

    void prepare() override {
        window_ = static_cast<int>(in(2).elements());
        parts_ = static_cast<int>(in(0).shape.at(2));
        frames_ = out().shape[1];
        columns_ = static_cast<int>(out().shape[2]) * 2;
        const int rows = window_ * parts_;
        packedBytes_ =
            roundUp(static_cast<int64_t>(gemmPackedBytes(backend_.kernels(), GemmType::Float, columns_, rows)), 64);
        const bool constant = in(2).usage == Usage::Constant && in(2).values && command().params;
        const auto variant = [&](const char* what) {
            return format("stft.%s.%s.%dx%d", what, backend_.kernels().isa, rows, columns_);
        };
        packed_ = basis_ = nullptr;
        if (constant) {
            packed_ = backend_.weights(command().params, variant("windowed"), packedBytes_, [&](void* packed) {
                std::vector<float> matrix(static_cast<size_t>(rows) * static_cast<size_t>(columns_));
                fillTransform(matrix.data());
                scaleAndPack(in(2).known<float>(), matrix.data(), matrix.data(), packed, backend_.planningPool());
            });
            requestScratch(0);
            return;
        }
        const int64_t bytes = int64_t{4} * rows * columns_;
        basis_ = backend_.weights(command().params, variant("transform"), bytes,
                                  [&](void* matrix) { fillTransform(static_cast<float*>(matrix)); });
        requestScratch(packedBytes_ + bytes);
    }

    void run(const Frame& frame) const override {
        if (!packed_)
            scaleAndPack(inData<float>(frame, 2), static_cast<const float*>(basis_.get()),
                         reinterpret_cast<float*>(static_cast<char*>(frame.scratch()) + packedBytes_), frame.scratch(),
                         frame.pool());
        GemmArgs args;
        args.M = static_cast<int>(frames_);
        args.N = columns_;
        args.K = window_ * parts_;
        args.lda = static_cast<size_t>(step(frame)) * static_cast<size_t>(parts_);
        args.ldc = static_cast<size_t>(columns_);
        args.packedB = packed_ ? packed_.get() : frame.scratch();
        const int64_t length = in(0).shape[1] * parts_;
        for (int64_t b = 0; b < out().shape[0]; ++b) {
            args.a = inData<float>(frame, 0) + b * length;
            args.c = outData<float>(frame) + b * frames_ * columns_;
            gemm(backend_.kernels(), args, frame.pool());
        }
    }

  private:
    // Returns the step of this run. Up to this step, the planned frames lie inside the signal.
    int64_t step(const Frame& frame) const {
        if (frames_ < 2) return 1;
        return std::clamp<int64_t>(*inData<int32_t>(frame, 1), 1, (in(0).shape[1] - window_) / (frames_ - 1));
    }

    // Fills the matrix with e^(-2 pi i k n / window): the rows are values n of a frame (a complex one has two), the
    // columns bins k.
    void fillTransform(float* matrix) const {
        std::vector<double> cosine(static_cast<size_t>(window_)), sine(cosine);
        for (int i = 0; i < window_; ++i) {
            const double angle = 2 * M_PI * i / window_;
            cosine[static_cast<size_t>(i)] = std::cos(angle);
            sine[static_cast<size_t>(i)] = std::sin(angle);
        }
        for (int64_t n = 0; n < window_; ++n)
            for (int part = 0; part < parts_; ++part)
                for (int64_t k = 0; k < columns_ / 2; ++k) {
                    const auto at = static_cast<size_t>(n * k % window_);
                    *matrix++ = static_cast<float>(part == 0 ? cosine[at] : sine[at]);
                    *matrix++ = static_cast<float>(part == 0 ? -sine[at] : cosine[at]);
                }
    }

    void scaleAndPack(const float* window, const float* transform, float* scaled, void* packed,
                      ThreadPool& pool) const {
        const int rows = window_ * parts_;
        for (int row = 0; row < rows; ++row) {
            const float factor = window[row / parts_];
            const int64_t from = int64_t{row} * columns_;
            for (int64_t i = from; i < from + columns_; ++i) scaled[i] = transform[i] * factor;
        }
        gemmPackB(backend_.kernels(), GemmType::Float, columns_, rows, scaled, static_cast<size_t>(columns_), false,
                  packed, pool);
    }

    const CpuBackend& backend_;
    int window_ = 0, parts_ = 1, columns_ = 0;  // parts_: values per number of the signal
    int64_t frames_ = 0, packedBytes_ = 0;
    PackedWeights packed_, basis_;  // basis_: used where the window is not constant
};

std::unique_ptr<Execution> createStft(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<Stft>(backend, command);
}

}  // namespace

constexpr CpuOp kStftCpu[] = {{OpType::Stft, nullptr, createStft}};
extern constinit const CpuFamily stftCpu = kStftCpu;

}  // namespace mnnc::cpu
