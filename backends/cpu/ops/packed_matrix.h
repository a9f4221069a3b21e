// The right operand of products, for commands that multiply with it more than once in a run: packed once per session
// where it is a constant of the model, else once per run.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/gemm_type.h"
#include "tensor/stored_content.h"

namespace mnnc::cpu {

// A part of an input: K x N values, N x K where transposed, and the maximum number of rows that it is multiplied with
// at once. Where both are K x N, besideN columns of another constant input (`beside`, from besideOffset on) may follow
// its columns.
struct MatrixPart {
    size_t input = 0;
    int64_t offset = 0;
    int N = 0, K = 0;
    size_t ld = 0;
    bool transposed = false;
    int rows = 1;
    size_t beside = 0;
    int64_t besideOffset = 0;
    int besideN = 0;

    int columns() const { return N + besideN; }
};

// Allocates places in an execution's scratch memory, each on its own cache line.
class ScratchLayout {
  public:
    int64_t floats(int64_t count) { return bytes(checkedMul(count, 4, "scratch")); }
    int64_t bytes(int64_t count) {
        const int64_t at = size_;
        size_ = checkedAdd(size_, checkedAdd(count, 63, "scratch") / 64 * 64, "scratch");
        return at;
    }
    int64_t size() const noexcept { return size_; }

  private:
    int64_t size_ = 0;
};

class PackedMatrix {
  public:
    // Returns whether an input is packed once per session.
    static bool isKept(const Command& command, size_t input) {
        const Operand& tensor = *command.inputs[input];
        return tensor.usage == Usage::Constant && (tensor.values || tensor.stored) && command.params;
    }

    void plan(const CpuBackend& backend, const Command& command, const MatrixPart& part, ScratchLayout& scratch) {
        part_ = part;
        type_ = gemmType(backend);
        constant_ = nullptr;
        // The tasks have equal numbers of rows, rounded up, and are at most as many as the rows. So they all need less
        // than twice the memory of one task with all rows.
        work_ = scratch.bytes(checkedAdd(
            checkedMul(2, static_cast<int64_t>(gemmOnThreadScratchBytes(type_, part.rows, part.K)), "scratch"), 64,
            "scratch"));
        const auto size = static_cast<int64_t>(gemmPackedBytes(backend.kernels(), type_, part.columns(), part.K));
        if (isKept(command, part.input)) {
            // The variant names the second matrix like weightsOf() names the first.
            if (part.besideN > 0) {
                const WeightStore::Owner& content = command.inputs[part.beside]->content;
                beside_ = content ? content : command.params;
            }
            const std::string variant =
                format("recurrent.%s.%s.%zu.%lld.%dx%d.%s%zu.%zu.%p.%lld.%d", gemmText(backend, type_).c_str(),
                       backend.kernels().isa, part.input, static_cast<long long>(part.offset), part.K, part.N,
                       part.transposed ? "t" : "n", part.ld, part.beside, beside_.get(),
                       static_cast<long long>(part.besideOffset), part.besideN);
            constant_ = backend.weightsOf(command, part.input, variant, roundUp(size, 64), [&](void* buffer) {
                const Values first(*command.inputs[part.input]);
                if (part.besideN == 0) return packInto(backend, first.data, buffer, backend.planningPool());
                const Values second(*command.inputs[part.beside]);
                packJoined(backend, first.data + part.offset, second.data + part.besideOffset, buffer);
            });
        } else {
            place_ = scratch.bytes(size);
        }
    }
    // Packs the operand at the beginning of a run, unless it is a constant, which plan() has packed.
    void pack(const CpuBackend& backend, const Command& command, const Frame& frame, void* scratch) const {
        if (!constant_)
            packInto(backend, frame.data<const float>(*command.inputs[part_.input]), at(scratch, place_), frame.pool());
    }
    // C = A B + bias + residual, where the latter two are not null; the residual has the layout of C and may be C.
    // `number` counts the products of all runs; every second product of a single row goes backwards, see GemmArgs.
    void multiply(const CpuBackend& backend, const float* a, int rows, float* c, size_t ldc, const float* bias,
                  const float* residual, uint64_t number, void* scratch, ThreadPool& pool) const {
        GemmArgs args;
        args.type = type_;
        args.scratch = at(scratch, work_);
        args.M = rows;
        args.N = part_.columns();
        args.K = part_.K;
        args.a = a;
        args.lda = static_cast<size_t>(part_.K);
        args.packedB = constant_ ? constant_.get() : at(scratch, place_);
        args.c = c;
        args.ldc = ldc;
        args.post.bias = bias;
        args.post.residual = residual;
        args.backwards = rows == 1 && number % 2 != 0;
        gemm(backend.kernels(), args, pool);
    }

  private:
    // The elements of a constant, valid while they are packed.
    struct Values {
        explicit Values(const Operand& tensor)
            : loaded(tensor.values ? nullptr : tensor.stored->load()),
              data(static_cast<const float*>(loaded ? loaded.get() : tensor.values)) {}
        decltype(std::declval<const Operand&>().stored->load()) loaded;
        const float* data;
    };

    void packJoined(const CpuBackend& backend, const float* first, const float* second, void* packed) const {
        const auto N = static_cast<size_t>(part_.N), more = static_cast<size_t>(part_.besideN);
        std::vector<float> joined;
        joined.reserve((N + more) * static_cast<size_t>(part_.K));
        for (int k = 0; k < part_.K; ++k, first += N, second += more) {
            joined.insert(joined.end(), first, first + N);
            joined.insert(joined.end(), second, second + more);
        }
        gemmPackB(backend.kernels(), type_, part_.columns(), part_.K, joined.data(), N + more, false, packed,
                  backend.planningPool());
    }
    void packInto(const CpuBackend& backend, const float* values, void* packed, ThreadPool& pool) const {
        gemmPackB(backend.kernels(), type_, part_.N, part_.K, values + part_.offset, part_.ld, part_.transposed, packed,
                  pool);
    }
    static void* at(void* scratch, int64_t place) { return static_cast<char*>(scratch) + place; }

    MatrixPart part_;
    GemmType type_ = GemmType::Float;
    int64_t place_ = 0, work_ = 0;  // in scratch: the packed values of a run, memory of the products
    PackedWeights constant_;
    WeightStore::Owner beside_;  // kept alive, because its address is part of the packing's key
};

}  // namespace mnnc::cpu
