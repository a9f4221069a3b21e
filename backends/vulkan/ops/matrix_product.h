// Batched products of matrices on row-major memory: matmul.comp, or matmul_vector.comp where one operand is a vector.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "backends/vulkan/vulkan_execution.h"
#include "ops/matmul.h"

namespace mnnc::vulkan {

constexpr size_t kProductBatchAxes = 4;  // the axes that the kernels can broadcast

// The batch of a product has few axes: each has a number of positions, and the steps of both operands in matrices.
struct BatchAxis {
    int64_t size, a, b;
};
std::vector<BatchAxis> batchAxes(const MatMulSizes& sizes);

// Products C = A B of e x l and l x h matrices, with the properties that the kernels need.
struct MatrixProblem {
    int64_t e = 1, l = 1, h = 1, lda = 1, ldb = 1, products = 1;
    bool transposeA = false, transposeB = false, bias = false;
    bool half = false;             // floats of 16 bits
    std::vector<BatchAxis> batch;  // steps in elements

    MatrixProblem() = default;
    MatrixProblem(const InnerProductParams& params, int64_t rows);
    MatrixProblem(const MatMulSizes& sizes, bool hasBias);
    std::string shader(const char* name) const { return half ? name + std::string("_f16") : name; }

    bool steps4(bool ofA) const {
        return std::all_of(batch.begin(), batch.end(),
                           [&](const BatchAxis& axis) { return (ofA ? axis.a : axis.b) % 4 == 0; });
    }
    Push& pushBatch(Push& push) const;
};

// Returns the rounds of the loops of a product. In matmul.comp, 16 steps of l are a round for each, up to six that
// fetch their operands, and the one around them.
inline int64_t productRounds(int64_t l) {
    return 24 * ceilDiv(l, int64_t{16});
}

// One dispatch for a problem.
class MatrixProduct {
  public:
    MatrixProduct(VulkanBackend& backend, const MatrixProblem& problem);
    // bias: any buffer where the problem has none.
    void encode(Recorder& recorder, const Binding& a, const Binding& b, const Binding& c, const Binding& bias) const;

  private:
    // The partition of the outputs: 1 or 4 quads of 4 x 4 per invocation.
    struct Tiling {
        bool large = false;
        int64_t across = 0, down = 0;  // tiles
        const Pipeline* pipeline = nullptr;
    };
    Tiling tiling(VulkanBackend& backend, bool large) const;
    void chooseTiles(VulkanBackend& backend);
    size_t measure(VulkanBackend& backend, const std::vector<Tiling>& tilings) const;
    void encodeTiles(Recorder& recorder, const Tiling& tiling, const std::array<Binding, 4>& operands) const;
    void chooseVector(VulkanBackend& backend);

    MatrixProblem p_;
    bool vector_ = false, matrixIsB_ = false;
    int64_t outputs_ = 0, tiles_ = 0;  // of the vector kernel
    Tiling tiling_;
    const Pipeline* pipeline_ = nullptr;  // of the vector kernel
};

}  // namespace mnnc::vulkan
