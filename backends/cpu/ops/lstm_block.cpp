// LSTMBlockCell: one step of TensorFlow's LSTM, with all its intermediate values as outputs.
#include <climits>

#include "backends/cpu/kernels/sequence/recurrent.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/packed_matrix.h"
#include "backends/cpu/ops/recurrent_rows.h"
#include "base/error.h"
#include "ops/recurrent.h"

namespace mnnc::cpu {

namespace {

class LstmBlock final : public CommandExecution {
  public:
    LstmBlock(const CpuBackend& backend, const Command& command) : CommandExecution(command), backend_(backend) {}

    void prepare() override {
        const int64_t columns = in(3).shape[1];
        if (std::max({in(0).shape[0], in(0).shape[1], columns}) > INT_MAX)
            fail(Status::Overflow, "op '%s' has an input of %s and weights of %s, extents must fit 32 bits",
                 command().name.c_str(), in(0).shape.text().c_str(), in(3).shape.text().c_str());
        batch_ = static_cast<int>(in(0).shape[0]);
        hidden_ = static_cast<int>(in(1).shape[1]);
        const int inputs = static_cast<int>(in(0).shape[1]), width = static_cast<int>(columns);
        ScratchLayout layout;
        sums_ = layout.floats(checkedMul(batch_, columns, command().name.c_str()));
        const auto ld = static_cast<size_t>(width);
        input_.plan(backend_, command(), {3, 0, width, inputs, ld, false, batch_}, layout);
        own_.plan(backend_, command(), {3, inputs * columns, width, hidden_, ld, false, batch_}, layout);
        requestScratch(layout.size());
    }

    void run(const Frame& frame) const override {
        const auto& p = params<LstmBlockParams>();
        ThreadPool& pool = frame.pool();
        input_.pack(backend_, command(), frame, frame.scratch());
        own_.pack(backend_, command(), frame, frame.scratch());
        float* sums = reinterpret_cast<float*>(static_cast<char*>(frame.scratch()) + sums_);
        const size_t ld = 4 * static_cast<size_t>(hidden_);
        input_.multiply(backend_, inData<float>(frame, 0), batch_, sums, ld, inData<float>(frame, 7), nullptr,
                        frame.number(), frame.scratch(), pool);
        own_.multiply(backend_, inData<float>(frame, 2), batch_, sums, ld, nullptr, sums, frame.number(),
                      frame.scratch(), pool);
        const RecurrentKernels& kernels = recurrentKernels(backend_.kernels().id);
        forStateRows(pool, batch_, hidden_, [&](int b, int from, size_t n) {
            LstmBlockRow row{};
            const int64_t place = int64_t{b} * hidden_ + from;
            for (int64_t gate = 0; gate < 4; ++gate) row.sums[gate] = sums + (int64_t{4} * b + gate) * hidden_ + from;
            row.state = inData<float>(frame, 1) + place;
            for (size_t k = 0; p.peephole && k < 3; ++k) row.peephole[k] = inData<float>(frame, 4 + k) + from;
            row.forgetBias = p.forgetBias;
            row.clip = p.cellClip;
            for (size_t k = 0; k < command().outputs.size(); ++k) row.out[k] = outData<float>(frame, k) + place;
            kernels.lstmBlock(row, n);
        });
    }

  private:
    const CpuBackend& backend_;
    int batch_ = 0, hidden_ = 0;
    int64_t sums_ = 0;
    PackedMatrix input_, own_;
};

std::unique_ptr<Execution> createLstmBlock(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<LstmBlock>(backend, command);
}

}  // namespace

constexpr CpuOp kLstmBlockCpu[] = {{OpType::LSTMBlockCell, nullptr, createLstmBlock}};
extern constinit const CpuFamily lstmBlockCpu = kLstmBlockCpu;

}  // namespace mnnc::cpu
