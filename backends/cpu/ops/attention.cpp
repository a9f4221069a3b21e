// Attention on the CPU, row-major: one call of the kernel of its name.
#include "ops/attention.h"

#include <climits>
#include <cmath>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/gemm_type.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

class Attention final : public CommandExecution {
  public:
    Attention(const CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {}

    void onResize() override {
        const char* name = command().name.c_str();
        const AttentionSizes sizes = attentionSizes(in(0).shape, in(1).shape, in(2).shape, name);
        requestScratch(0);
        args_ = {};
        args_.type = gemmType(backend_);
        if (out().empty()) return;
        const auto extent = [&](int64_t value) {
            if (value > INT_MAX)
                fail(Status::Overflow, "op '%s': an extent of %lld", name, static_cast<long long>(value));
            return static_cast<int>(value);
        };
        args_.batch = extent(sizes.batch);
        args_.queries = extent(sizes.queries);
        args_.keys = extent(sizes.keys);
        args_.heads = extent(sizes.heads);
        args_.keyHeads = extent(sizes.keyHeads);
        args_.depth = extent(sizes.depth);
        args_.valueDepth = extent(sizes.valueDepth);
        const float given = params<AttentionParams>().scale;
        args_.scale = given != 0 || sizes.depth == 0
                          ? given
                          : static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.depth)));
        setSteps(args_.q, sizes.queries, sizes.heads, sizes.depth);
        setSteps(args_.k, sizes.keys, sizes.keyHeads, sizes.depth);
        setSteps(args_.v, sizes.keys, sizes.keyHeads, sizes.valueDepth);
        setSteps(args_.out, sizes.queries, sizes.heads, sizes.valueDepth);
        masked_ = command().inputs.size() > 3;
        const Shape mask = masked_ ? in(3).shape : Shape{1};
        // The step of axis `axis` of the scores [batch][head][query][key].
        const auto step = [&](int axis) -> size_t {
            const int own = axis - (4 - mask.rank());
            if (own < 0 || mask[own] == 1) return 0;
            return static_cast<size_t>(mask.elements(own + 1, mask.rank()));
        };
        AttentionMask<float>& add = args_.masks[0];
        add.batchStep = args_.keep.batchStep = step(0);
        add.headStep = args_.keep.headStep = step(1);
        add.rowStep = args_.keep.rowStep = step(2);
        add.columnStep = args_.keep.columnStep = step(3);
        requestScratch(attentionScratchBytes(backend_.kernels(), args_, backend_.pool().threads(), name));
    }

    void onExecute() override {
        if (out().empty()) return;
        args_.q.data = inData<float>(0);
        args_.k.data = inData<float>(1);
        args_.v.data = inData<float>(2);
        if (masked_ && in(3).type == DataType::Int32) args_.keep.data = inData<int32_t>(3);
        if (masked_ && in(3).type == DataType::Float32) args_.masks[0].data = inData<float>(3);
        if (command().inputs.size() > 4) args_.sinks = inData<float>(4);
        args_.out.data = outData<float>();
        args_.scratch = scratch();
        attention(backend_.kernels(), args_, backend_.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    template <typename Operand>
    static void setSteps(Operand& operand, int64_t rows, int64_t heads, int64_t depth) {
        operand.headStep = static_cast<size_t>(depth);
        operand.rowStep = static_cast<size_t>(heads * depth);
        operand.batchStep = static_cast<size_t>(rows * heads * depth);
    }

    const CpuBackend& backend_;
    AttentionArgs args_;
    bool masked_ = false;
};

std::unique_ptr<Execution> createAttention(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<Attention>(backend, command);
}

}  // namespace

CpuFamily attentionCpu() {
    static constexpr CpuOp kOps[] = {{OpType::Attention, nullptr, createAttention}};
    return kOps;
}

}  // namespace mnnc::cpu
