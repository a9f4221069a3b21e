// MatMul, BatchMatMul and InnerProduct on the CPU, row-major. A single product is computed by gemm(), with B packed
// once where it is a constant, else into scratch (batches that share B are folded into its rows). A batch of products
// is computed by batchedGemm().
#include "ops/matmul.h"

#include <climits>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/gemm_type.h"
#include "backends/cpu/ops/matrix_view.h"
#include "base/error.h"
#include "tensor/stored_content.h"

namespace mnnc::cpu {
namespace {

int checkedInt(int64_t value, const char* name) {
    if (value > INT_MAX)
        fail(Status::Overflow, "op '%s' has a matrix extent of %lld, at most %d is possible", name, asLong(value),
             INT_MAX);
    return static_cast<int>(value);
}

bool readsMatMulViews(const CpuBackend&, const Command& command) {
    if (command.epilogue.any()) return false;
    const auto* params = &command.paramsAs<MatMulParams>();
    for (size_t k = 0; k < command.views.size() && k < 2; ++k)
        if (!matrixOf(command.views[k], k == 0 ? params->transposeA : params->transposeB)) return false;
    return true;
}

class MatMul final : public Execution {
  public:
    MatMul(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          a_(*command.inputs[0]),
          b_(*command.inputs[1]),
          output_(*command.outputs[0]) {}

    void prepare() override {
        const char* name = command_.name.c_str();
        requestScratch(0);
        const auto* params = &command_.paramsAs<MatMulParams>();
        const bool noViews = command_.views.empty();
        const OperandView a = noViews ? OperandView::of(a_.shape) : command_.views[0];
        const OperandView b = noViews ? OperandView::of(b_.shape) : command_.views[1];
        const MatMulSizes sizes = matMulSizes(*params, a.shape, b.shape, name);
        zero_ = sizes.l == 0;
        if (output_.empty() || zero_) return;
        const Kernels& kernels = backend_.kernels();
        const int64_t products = sizes.batch.elements();
        int64_t rows = sizes.e;
        single_ = products == 1;
        if (!single_ && noViews && sizes.batchB.elements() == 1 && !sizes.transposeA &&
            sizes.batchA.elements() == products) {
            rows = checkedMul(rows, products, name);
            single_ = true;
        }
        const std::optional<Matrix> left = matrixOf(a, sizes.transposeA), right = matrixOf(b, sizes.transposeB);
        if (!left || !right) fail(Status::Internal, "op '%s': an operand cannot be read in place", name);
        args_ = {};
        args_.type = gemmType(backend_);
        args_.count = single_ ? 1 : checkedInt(products, name);
        args_.M = checkedInt(rows, name);
        args_.N = checkedInt(sizes.h, name);
        args_.K = checkedInt(sizes.l, name);
        args_.transA = left->transposed;
        args_.transB = right->transposed;
        args_.lda = left->ld;
        args_.ldb = right->ld;
        args_.ldc = static_cast<size_t>(sizes.h);
        args_.cStep = static_cast<size_t>(sizes.e * sizes.h);
        aStart_ = a.offset;
        bStart_ = b.offset;
        if (single_) {
            const size_t packed = gemmPackedBytes(kernels, args_.type, args_.N, args_.K);
            packedBytes_ = roundUp(static_cast<int64_t>(packed), 64);
            const int threads = backend_.planningPool().threads();
            constant_ = nullptr;
            // Only constants of the model can be shared: the content of a folded one may change with the shapes.
            if (b_.usage == Usage::Constant && (b_.values || b_.stored) && command_.params) {
                constant_ = backend_.weightsOf(
                    command_, 1,
                    format("matmul.%s.%s.%dx%d.%s%zu.%lld", gemmText(backend_, args_.type).c_str(), kernels.isa,
                           args_.K, args_.N, args_.transB ? "t" : "n", args_.ldb, asLong(bStart_)),
                    packedBytes_, [&](void* buffer) { packConstantB(buffer); });
                packedBytes_ = 0;
            }
            kept_ = constant_ ? nullptr : loadB();
            if (!constant_ && gemmPacksAsItGoes(kernels, args_)) {
                single_ = false;
                aOffsets_ = bOffsets_ = {0};
                return requestBatched();
            }
            requestScratch(packedBytes_ + static_cast<int64_t>(gemmScratchBytes(kernels, singleArgs(), threads)));
            return;
        }
        kept_ = loadB();
        aOffsets_ = matrixOffsets(a, sizes.batchA, sizes.batch);
        bOffsets_ = matrixOffsets(b, sizes.batchB, sizes.batch);
        requestBatched();
    }

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        auto* c = frame.data<float>(output_);
        PostOps post;
        if (command_.inputs.size() > 2) post.bias = frame.data<const float>(*command_.inputs[2]);
        if (zero_) {
            const int64_t count = output_.elements(), row = post.bias ? command_.inputs[2]->elements() : 1;
            for (int64_t i = 0; i < count; ++i) c[i] = post.bias ? post.bias[i % row] : 0;
            return;
        }
        const Kernels& kernels = backend_.kernels();
        if (!single_) {
            BatchedGemmArgs args = args_;
            args.a = frame.data<const float>(a_) + aStart_;
            args.b = bData(frame) + bStart_;
            args.c = c;
            args.post = post;
            args.scratch = frame.scratch();
            return batchedGemm(kernels, args, frame.pool());
        }
        if (!constant_) packB(bData(frame), frame.scratch(), frame.pool());
        GemmArgs gemmArgs = singleArgs();
        gemmArgs.a = frame.data<const float>(a_) + aStart_;
        gemmArgs.packedB = constant_ ? constant_.get() : frame.scratch();
        gemmArgs.c = c;
        gemmArgs.post = post;
        gemmArgs.scratch = static_cast<char*>(frame.scratch()) + packedBytes_;
        gemmArgs.backwards = constant_ && gemmArgs.M == 1 && frame.isOdd();
        gemm(kernels, gemmArgs, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    void requestBatched() {
        args_.aOffsets = aOffsets_.data();
        args_.bOffsets = bOffsets_.data();
        requestScratch(static_cast<int64_t>(
            batchedGemmScratchBytes(backend_.kernels(), args_, backend_.planningPool().threads())));
    }

    void packB(const float* b, void* packed, ThreadPool& pool) const {
        gemmPackB(backend_.kernels(), args_.type, args_.N, args_.K, b + bStart_, args_.ldb, args_.transB, packed, pool);
    }

    void packConstantB(void* packed) const {
        if (b_.values) return packB(b_.known<float>(), packed, backend_.planningPool());
        FloatSource stored = b_.stored->floats();
        const auto start = static_cast<size_t>(bStart_);
        gemmPackB(
            backend_.kernels(), args_.type, args_.N, args_.K,
            [&](size_t first, size_t count) { return stored.at(start + first, count); }, args_.ldb, args_.transB,
            packed, backend_.planningPool());
    }

    // Returns B where it is a constant that is not in memory, valid as long as the result lives; otherwise null.
    std::shared_ptr<const float> loadB() const {
        if (b_.values || !b_.stored) return nullptr;
        return std::static_pointer_cast<const float>(b_.stored->load());
    }
    const float* bData(const Frame& frame) const {
        const auto* b = frame.data<const float>(b_);
        return b ? b : kept_.get();
    }

    GemmArgs singleArgs() const {
        GemmArgs args;
        args.type = args_.type;
        args.M = args_.M;
        args.N = args_.N;
        args.K = args_.K;
        args.lda = args_.lda;
        args.transA = args_.transA;
        args.ldc = args_.ldc;
        return args;
    }

    const CpuBackend& backend_;
    const Command command_;
    const Operand& a_;
    const Operand& b_;
    const Operand& output_;
    BatchedGemmArgs args_;               // also used for a single product
    PackedWeights constant_;             // B, where it is constant
    std::shared_ptr<const float> kept_;  // B, where it is constant, but read in runs from outside of the frame
    std::vector<size_t> aOffsets_, bOffsets_;
    int64_t packedBytes_ = 0, aStart_ = 0, bStart_ = 0;
    bool single_ = true, zero_ = false;
};

class InnerProduct final : public Execution {
  public:
    InnerProduct(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          params_(command_.paramsAs<InnerProductParams>()) {}

    void prepare() override {
        const Kernels& kernels = backend_.kernels();
        args_.type = gemmType(backend_);
        args_.M = checkedInt(input_.shape[0], command_.name.c_str());
        args_.N = params_.outputs;
        args_.K = params_.inputs;
        args_.lda = static_cast<size_t>(params_.inputs);
        args_.ldc = static_cast<size_t>(params_.outputs);
        args_.post.bias = params_.bias.empty() ? nullptr : params_.bias.data();
        const size_t bytes = gemmPackedBytes(kernels, args_.type, args_.N, args_.K);
        const std::string variant = std::string("inner_product ") + gemmText(backend_, args_.type) + " " + kernels.isa;
        packed_ = backend_.weights(command_.params, variant, static_cast<int64_t>(bytes), [&](void* buffer) {
            gemmPackB(kernels, args_.type, params_.outputs, params_.inputs, params_.weight.data(), args_.lda, true,
                      buffer, backend_.planningPool());
        });
        requestScratch(static_cast<int64_t>(gemmScratchBytes(kernels, args_, backend_.planningPool().threads())));
    }

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        GemmArgs args = args_;
        args.a = frame.data<const float>(input_);
        args.packedB = packed_.get();
        args.c = frame.data<float>(output_);
        args.scratch = frame.scratch();
        gemm(backend_.kernels(), args, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    const CpuBackend& backend_;
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    const InnerProductParams& params_;
    PackedWeights packed_;
    GemmArgs args_;
};

std::unique_ptr<Execution> createMatMul(CpuBackend& backend, const Command& command, std::string& reason) {
    for (const Operand* input : command.inputs)
        if (input->type != DataType::Float32)
            return refuse(reason, format("%s needs float32, an input is %s", opTypeName(command.type),
                                         dataTypeName(input->type)));
    if (command.type == OpType::InnerProduct) return std::make_unique<InnerProduct>(backend, command);
    return std::make_unique<MatMul>(backend, command);
}

}  // namespace

constexpr uint32_t kMatrixB = 1u << 1;
constexpr CpuOp kMatmulCpu[] = {
    {OpType::MatMul, nullptr, createMatMul, nullptr, nullptr, kMatrixB, readsMatMulViews},
    {OpType::BatchMatMul, nullptr, createMatMul, nullptr, nullptr, kMatrixB, readsMatMulViews},
    {OpType::InnerProduct, nullptr, createMatMul},
};
extern constinit const CpuFamily matmulCpu = kMatmulCpu;

}  // namespace mnnc::cpu
