// Attention on the CPU, row-major: one call of the kernel of its name.
#include "ops/attention.h"

#include <climits>
#include <cmath>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/gemm_type.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

class Attention final : public CommandExecution {
  public:
    Attention(const CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {}

    void prepare() override {
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
        args_.heads = extent(checkedMul(sizes.batch, sizes.heads, name));
        args_.share = extent(sizes.heads / sizes.keyHeads);
        args_.queries = extent(sizes.queries);
        args_.keys = extent(sizes.keys);
        args_.depth = extent(sizes.depth);
        args_.valueDepth = extent(sizes.valueDepth);
        const float given = params<AttentionParams>().scale;
        args_.scale = given != 0 || sizes.depth == 0
                          ? given
                          : static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.depth)));
        // An operand of as many heads lies in memory as [batch][row][head][depth].
        const auto place = [&](auto& operand, int64_t rows, int64_t heads, int64_t depth) {
            operand.rowStep = static_cast<size_t>(heads * depth);
            operand.heads = places(sizes, [&](int64_t batch, int64_t head) {
                return (batch * rows * heads + head / (sizes.heads / heads)) * depth;
            });
        };
        place(args_.q, sizes.queries, sizes.heads, sizes.depth);
        place(args_.k, sizes.keys, sizes.keyHeads, sizes.depth);
        place(args_.v, sizes.keys, sizes.keyHeads, sizes.valueDepth);
        place(args_.out, sizes.queries, sizes.heads, sizes.valueDepth);
        args_.sinks.heads = places(sizes, [](int64_t, int64_t head) { return head; });
        masked_ = command().inputs.size() > 3;
        const Shape mask = masked_ ? in(3).shape : Shape{1};
        // The step of axis `axis` of the scores [batch][head][query][key].
        const auto step = [&](int axis) -> size_t {
            const int own = axis - (4 - mask.rank());
            if (own < 0 || mask[own] == 1) return 0;
            return static_cast<size_t>(mask.elements(own + 1, mask.rank()));
        };
        if (masked_) {
            AttentionStep& add = args_.steps.emplace_back();
            add.scale = std::exchange(args_.scale, 1);
            add.kind = in(3).type == DataType::Int32 ? AttentionStep::Kind::Keep : AttentionStep::Kind::Add;
            add.operand.rowStep = step(2);
            add.columnStep = step(3);
            add.operand.heads = places(sizes, [&](int64_t batch, int64_t head) {
                return static_cast<int64_t>(step(0)) * batch + static_cast<int64_t>(step(1)) * head;
            });
        }
        requestScratch(
            attentionScratchBytes(backend_.kernels(), args_, backend_.planningPool().threads(), name));
    }

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        AttentionData data;
        data.q = inData<float>(frame, 0);
        data.k = inData<float>(frame, 1);
        data.v = inData<float>(frame, 2);
        if (masked_) data.steps[0] = inData<void>(frame, 3);
        if (command().inputs.size() > 4) data.sinks = inData<float>(frame, 4);
        data.out = outData<float>(frame);
        data.scratch = frame.scratch();
        attention(backend_.kernels(), args_, data, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, args_.type); }

  private:
    // place(batch, head) of all heads.
    template <typename Place>
    static std::vector<size_t> places(const AttentionSizes& sizes, const Place& place) {
        std::vector<size_t> result;
        for (int64_t batch = 0; batch < sizes.batch; ++batch)
            for (int64_t head = 0; head < sizes.heads; ++head)
                result.push_back(static_cast<size_t>(place(batch, head)));
        return result;
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
