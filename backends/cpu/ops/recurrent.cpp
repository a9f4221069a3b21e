// RNN, LSTM and RNNSequenceGRU. The products of the inputs are computed for many steps at once. Each step then adds the
// products of the states and computes the gates.
#include "ops/recurrent.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "backends/cpu/kernels/sequence/recurrent.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/packed_matrix.h"
#include "backends/cpu/ops/recurrent_rows.h"
#include "base/error.h"

namespace mnnc::cpu {

namespace {

// The rows of inputs that are multiplied at once: kRows, or more where kSteps steps of a batch have more rows, because
// each product reads the weights of the inputs anew. They are at most kMaxRows.
constexpr int64_t kRows = 128, kSteps = 16, kMaxRows = 384;
// The fewest multiply-adds of a step for which it pays to wait for another thread in each step, which takes about two
// microseconds.
constexpr double kSharedStep = 1 << 17;
constexpr double kSplitStep = 4e6;  // multiply-adds of a step that several threads share
constexpr size_t kGruInputs = 5;    // of one direction: gates, their bias, candidate, its bias, own bias

enum class Cell { Rnn, Lstm, Gru };

Cell cellOf(OpType type) {
    return type == OpType::RNN ? Cell::Rnn : type == OpType::LSTM ? Cell::Lstm : Cell::Gru;
}

class Recurrent final : public CommandExecution {
  public:
    Recurrent(const CpuBackend& backend, const Command& command)
        : CommandExecution(command),
          backend_(backend),
          kernels_(recurrentKernels(backend.kernels().id)),
          cell_(cellOf(command.type)) {}

    void prepare() override {
        const auto& p = params<RecurrentParams>();
        steps_ = in(0).shape[0];
        batch_ = checked(in(0).shape[1]);
        inputs_ = checked(in(0).shape[2]);
        hidden_ = checked(p.hidden);
        directions_ = cell_ == Cell::Gru ? (p.bidirectional ? 2 : 1) : static_cast<int>(in(1).shape[0]);
        rowWeights_ = p.rowWeights;
        resetAfter_ = p.linearBeforeReset || rowWeights_;
        apart_ = cell_ == Cell::Gru && !rowWeights_;
        together_ = apart_;
        for (int d = 0; d < directions_; ++d)
            for (const size_t k : {size_t{0}, size_t{2}})
                together_ = together_ && PackedMatrix::isKept(command(), gruInput(d, k));
        const bool keepsAll = cell_ != Cell::Gru || p.keepAllOutputs;
        all_ = keepsAll ? 0 : -1;
        last_ = keepsAll ? (command().outputs.size() > 1 ? 1 : -1) : 0;
        columns_ = checked(int64_t{hidden_} * (cell_ == Cell::Rnn ? 1 : cell_ == Cell::Lstm ? 4 : 3));
        const int64_t rows = std::max(batch_, 1);
        const int64_t wanted = std::max(ceilDiv(kRows, rows), std::min(kSteps, ceilDiv(kMaxRows, rows)));
        chunk_ = std::max<int64_t>(1, std::min(steps_, wanted));

        ScratchLayout layout;
        const int64_t state = checkedMul(batch_, hidden_, command().name.c_str());
        checked(checkedMul(chunk_, batch_, command().name.c_str()));
        for (int d = 0; d < directions_; ++d) {
            Direction& own = dirs_[d];
            own.sums = layout.floats(checkedMul(chunk_ * batch_, columns_, command().name.c_str()));
            for (int64_t& place : own.state) place = layout.floats(state);
            own.extra = layout.floats(sumsOwn() ? checkedMul(batch_, columns_, command().name.c_str()) : state);
            own.bias = layout.floats(columns_);
            planProducts(d, layout);
        }
        requestScratch(layout.size());
    }

    void run(const Frame& frame) const override {
        Progress progress[2];
        for (int d = 0; d < directions_; ++d) progress[d] = begin(frame, d);
        ThreadPool& pool = frame.pool();
        // Two directions that are too small to be divided are one task each.
        const double work = 1.0 * batch_ * columns_ * hidden_;
        const bool apart = directions_ == 2 && pool.threads() > 1 && (pool.threads() == 2 || work < kSplitStep);
        for (int64_t done = 0; done < steps_; done += chunk_) {
            const int64_t count = std::min(chunk_, steps_ - done);
            for (int d = 0; d < directions_; ++d) multiplyInputs(frame, d, done, count, pool);
            if (apart) {
                parallelFor(pool, directions_, [&](int d) {
                    InlinePool alone;
                    for (int64_t k = 0; k < count; ++k) step(frame, d, progress[d], {done + k, k, count}, alone);
                });
            } else {
                InlinePool alone;
                ThreadPool& together = work < kSharedStep ? static_cast<ThreadPool&>(alone) : pool;
                for (int d = 0; d < directions_; ++d)
                    for (int64_t k = 0; k < count; ++k) step(frame, d, progress[d], {done + k, k, count}, together);
            }
        }
        const size_t bytes = stateSize() * sizeof(float);
        for (int d = 0; d < directions_ && last_ >= 0 && bytes > 0; ++d)
            std::memcpy(outData<float>(frame, static_cast<size_t>(last_)) + static_cast<size_t>(d) * stateSize(),
                        progress[d].last, bytes);
    }

    std::string algorithm() const override { return gemmText(backend_, gemmType(backend_)); }

  private:
    struct Direction {
        // Places in scratch. extra: in an LSTM, the cell states where no output has them; in a GRU, the states after
        // reset or, where reset follows their product, the product.
        int64_t sums = 0, state[2] = {}, extra = 0, bias = 0;
        PackedMatrix input, own;                    // of all gates; without the candidate where its matrices are apart
        PackedMatrix candidateInput, candidateOwn;  // used where they are apart
    };
    // The state of a direction during a run.
    struct Progress {
        const float* last = nullptr;  // the newest state
        float* cell = nullptr;        // LSTM
    };
    // A step of a direction: its number, and its index among those whose inputs were multiplied at once.
    struct Place {
        int64_t step, inChunk, chunk;
    };

    int checked(int64_t value) const {
        if (value > INT_MAX / 2)
            fail(Status::Overflow, "op '%s' has an extent of %lld, at most %d is possible", command().name.c_str(),
                 asLong(value), INT_MAX / 2);
        return static_cast<int>(value);
    }
    size_t stateSize() const { return static_cast<size_t>(batch_) * static_cast<size_t>(hidden_); }
    float* at(const Frame& frame, int64_t place) const {
        return reinterpret_cast<float*>(static_cast<char*>(frame.scratch()) + place);
    }
    size_t gruInput(int d, size_t k) const { return 1 + kGruInputs * static_cast<size_t>(d) + k; }
    // Returns whether the products of the states are stored apart from those of the inputs.
    bool sumsOwn() const { return cell_ == Cell::Gru && resetAfter_; }

    void planProducts(int d, ScratchLayout& layout) {
        Direction& own = dirs_[d];
        const int many = static_cast<int>(chunk_) * batch_;
        const auto plan = [&](PackedMatrix& matrix, size_t input, int64_t offset, int N, int K, bool transposed,
                              int rows) {
            const auto ld = static_cast<size_t>(transposed ? K : N);
            matrix.plan(backend_, command(), {input, offset, N, K, ld, transposed, rows}, layout);
        };
        // Plans the matrix of the gates and that of the candidate behind it, from this row on.
        const auto planBoth = [&](PackedMatrix& matrix, int64_t row, int K, int rows) {
            const int both = 2 * hidden_;
            matrix.plan(backend_, command(),
                        {gruInput(d, 0), row * both, both, K, static_cast<size_t>(both), false, rows, gruInput(d, 2),
                         row * hidden_, hidden_},
                        layout);
        };
        if (together_) {
            planBoth(own.input, 0, inputs_, many);
            if (resetAfter_) return planBoth(own.own, inputs_, hidden_, batch_);
            plan(own.own, gruInput(d, 0), int64_t{inputs_} * 2 * hidden_, 2 * hidden_, hidden_, false, batch_);
            plan(own.candidateOwn, gruInput(d, 2), int64_t{inputs_} * hidden_, hidden_, hidden_, false, batch_);
        } else if (apart_) {
            const int both = 2 * hidden_;
            plan(own.input, gruInput(d, 0), 0, both, inputs_, false, many);
            plan(own.own, gruInput(d, 0), int64_t{inputs_} * both, both, hidden_, false, batch_);
            plan(own.candidateInput, gruInput(d, 2), 0, hidden_, inputs_, false, many);
            plan(own.candidateOwn, gruInput(d, 2), int64_t{inputs_} * hidden_, hidden_, hidden_, false, batch_);
        } else {
            plan(own.input, 1, int64_t{d} * columns_ * inputs_, columns_, inputs_, true, many);
            plan(own.own, rowWeights_ ? 3 : 2, int64_t{d} * columns_ * hidden_, columns_, hidden_, true, batch_);
        }
    }

    // Prepares the weights and biases of this run, and returns the first state.
    Progress begin(const Frame& frame, int d) const {
        const Direction& own = dirs_[d];
        Progress progress;
        own.input.pack(backend_, command(), frame, frame.scratch());
        own.own.pack(backend_, command(), frame, frame.scratch());
        if (apart_ && !together_) {
            own.candidateInput.pack(backend_, command(), frame, frame.scratch());
            own.candidateOwn.pack(backend_, command(), frame, frame.scratch());
        }
        if (together_ || (cell_ == Cell::Gru && !resetAfter_)) {
            float* bias = at(frame, own.bias);
            const auto both = 2 * static_cast<size_t>(hidden_);
            std::copy_n(inData<float>(frame, gruInput(d, 1)), both, bias);
            std::copy_n(inData<float>(frame, gruInput(d, 3)), hidden_, bias + both);
            const float* recurrent = inData<float>(frame, gruInput(d, 4));
            for (int i = 0; !resetAfter_ && i < 3 * hidden_; ++i) bias[i] += recurrent[i];
        }
        const size_t firstState = apart_ ? gruInput(directions_, 0) : rowWeights_ ? 5 : 4;
        const size_t skipped = static_cast<size_t>(d) * stateSize();
        setState(frame, at(frame, own.state[0]), firstState, skipped);
        progress.last = at(frame, own.state[0]);
        if (cell_ == Cell::Lstm) {
            progress.cell = command().outputs.size() > 2 ? outData<float>(frame, 2) + skipped : at(frame, own.extra);
            setState(frame, progress.cell, firstState + 1, skipped);
        }
        return progress;
    }
    void setState(const Frame& frame, float* state, size_t input, size_t skipped) const {
        if (stateSize() == 0) return;
        if (command().inputs.size() > input)
            std::memcpy(state, inData<float>(frame, input) + skipped, stateSize() * sizeof(float));
        else
            std::memset(state, 0, stateSize() * sizeof(float));
    }

    // Multiplies the inputs of the steps [done, done + count) of a direction; the second direction goes back in time.
    void multiplyInputs(const Frame& frame, int d, int64_t done, int64_t count, ThreadPool& pool) const {
        const Direction& own = dirs_[d];
        const int64_t first = d == 0 ? done : steps_ - done - count;
        const float* x = inData<float>(frame, 0) + first * batch_ * inputs_;
        const int rows = static_cast<int>(count) * batch_;
        const auto ld = static_cast<size_t>(columns_);
        float* sums = at(frame, own.sums);
        const float* bias = !apart_ ? inData<float>(frame, rowWeights_ ? 2 : 3) + int64_t{d} * columns_
                            : resetAfter_ && !together_ ? inData<float>(frame, gruInput(d, 1))
                                                        : at(frame, own.bias);
        own.input.multiply(backend_, x, rows, sums, ld, bias, nullptr, frame.number(), frame.scratch(), pool);
        if (!apart_ || together_) return;
        const int both = 2 * hidden_;
        own.candidateInput.multiply(backend_, x, rows, sums + both, ld,
                                    resetAfter_ ? inData<float>(frame, gruInput(d, 3)) : bias + both, nullptr,
                                    frame.number(), frame.scratch(), pool);
    }

    // Returns the number of a step, counted over all runs.
    uint64_t numberOf(const Frame& frame, int64_t step) const {
        return frame.number() * static_cast<uint64_t>(steps_) + static_cast<uint64_t>(step);
    }

    void step(const Frame& frame, int d, Progress& progress, const Place& place, ThreadPool& pool) const {
        const Direction& own = dirs_[d];
        const auto [done, k, count] = place;
        const int64_t time = d == 0 ? done : steps_ - 1 - done;
        float* sums = at(frame, own.sums) + (d == 0 ? k : count - 1 - k) * batch_ * columns_;
        const float* before = progress.last;
        float* now = all_ == 0 ? outData<float>(frame, 0) + static_cast<size_t>(time * directions_ + d) * stateSize()
                               : at(frame, own.state[(done + 1) & 1]);
        if (sumsOwn()) {
            stepGruResetAfter(frame, d, done, sums, before, now, pool);
        } else {
            own.own.multiply(backend_, before, batch_, sums, static_cast<size_t>(columns_), nullptr, sums,
                             numberOf(frame, done), frame.scratch(), pool);
            if (cell_ == Cell::Gru)
                stepGru(frame, d, done, sums, before, now, pool);
            else
                stepGates(sums, progress.cell, now, pool);
        }
        progress.last = now;
    }

    void stepGates(const float* sums, float* cell, float* now, ThreadPool& pool) const {
        forStateRows(pool, batch_, hidden_, [&](int b, int from, size_t n) {
            const float* row = sums + int64_t{b} * columns_ + from;
            const int64_t place = int64_t{b} * hidden_ + from;
            if (cell_ == Cell::Rnn) return kernels_.rnn(row, now + place, n);
            const LstmSums gates{row, row + hidden_, row + 2 * hidden_, row + 3 * hidden_};
            kernels_.lstm(gates, cell + place, cell + place, now + place, n);
        });
    }

    void stepGru(const Frame& frame, int d, int64_t done, float* sums, const float* before, float* now,
                 ThreadPool& pool) const {
        const Direction& own = dirs_[d];
        float *extra = at(frame, own.extra), *candidate = sums + 2 * hidden_;
        forStateRows(pool, batch_, hidden_, [&](int b, int from, size_t n) {
            const int64_t place = int64_t{b} * hidden_ + from;
            kernels_.gruReset(sums + int64_t{b} * columns_ + hidden_ + from, before + place, extra + place, n);
        });
        own.candidateOwn.multiply(backend_, extra, batch_, candidate, static_cast<size_t>(columns_), nullptr, candidate,
                                  numberOf(frame, done), frame.scratch(), pool);
        forStateRows(pool, batch_, hidden_, [&](int b, int from, size_t n) {
            const float* row = sums + int64_t{b} * columns_ + from;
            const int64_t place = int64_t{b} * hidden_ + from;
            kernels_.gru(row, row + 2 * hidden_, before + place, now + place, n);
        });
    }

    void stepGruResetAfter(const Frame& frame, int d, int64_t done, const float* sums, const float* before, float* now,
                           ThreadPool& pool) const {
        const Direction& own = dirs_[d];
        float* extra = at(frame, own.extra);
        const auto ld = static_cast<size_t>(columns_);
        const float* bias = inData<float>(frame, rowWeights_ ? 4 : gruInput(d, 4));
        own.own.multiply(backend_, before, batch_, extra, ld, bias, nullptr, numberOf(frame, done), frame.scratch(),
                         pool);
        const int both = 2 * hidden_;
        if (apart_ && !together_)
            own.candidateOwn.multiply(backend_, before, batch_, extra + both, ld, bias + both, nullptr,
                                      numberOf(frame, done), frame.scratch(), pool);
        forStateRows(pool, batch_, hidden_, [&](int b, int from, size_t n) {
            const int64_t row = int64_t{b} * columns_ + from, place = int64_t{b} * hidden_ + from;
            const auto gates = [&](const float* z) { return GruSums{z, z + hidden_, z + 2 * hidden_}; };
            kernels_.gruResetAfter(gates(sums + row), gates(extra + row), before + place, now + place, n);
        });
    }

    const CpuBackend& backend_;
    const RecurrentKernels& kernels_;
    const Cell cell_;
    int64_t steps_ = 0, chunk_ = 1;  // chunk_: steps whose inputs are multiplied at once
    int batch_ = 0, inputs_ = 0, hidden_ = 0, columns_ = 0, directions_ = 1;
    int all_ = 0, last_ = -1;                       // outputs with all states and with the last ones, or -1
    bool resetAfter_ = false, rowWeights_ = false;  // GRU
    bool apart_ = false;                            // GRU: the candidate's matrices are apart
    bool together_ = false;  // GRU: the candidate's matrices are packed behind those of the gates
    Direction dirs_[2];
};

std::unique_ptr<Execution> createRecurrent(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<Recurrent>(backend, command);
}

// The inputs that are packed: the weights.
constexpr uint32_t kMatrices = 1u << 1 | 1u << 2;
constexpr uint32_t kGruMatrices = 1u << 1 | 1u << 3 | 1u << 6 | 1u << 8;

}  // namespace

constexpr CpuOp kRecurrentCpu[] = {
    {.type = OpType::RNN, .storage = nullptr, .create = createRecurrent, .loadsInputs = kMatrices},
    {.type = OpType::LSTM, .storage = nullptr, .create = createRecurrent, .loadsInputs = kMatrices},
    {.type = OpType::RNNSequenceGRU, .storage = nullptr, .create = createRecurrent, .loadsInputs = kGruMatrices},
};
extern constinit const CpuFamily recurrentCpu = kRecurrentCpu;

}  // namespace mnnc::cpu
