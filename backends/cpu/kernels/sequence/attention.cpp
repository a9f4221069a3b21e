// Packs keys and values, and computes attention: a task has a block of queries and takes blocks of keys in order.
#include "backends/cpu/kernels/sequence/attention.h"

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>

#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/sequence/attention_rows.h"
#include "base/checked.h"

namespace mnnc {
namespace {

constexpr int kKeyBlock = 256;  // whole vectors of any instruction set
constexpr int kMinRows = 12;    // the minimum number of rows of a task

size_t elementBytes(const AttentionArgs& a) {
    return a.type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float);
}

// The places of the packed keys and values of one head of a batch entry, in bytes. The panels of a block of keys are
// whole vectors and an even number of rows, so that blocks are contiguous.
struct Packed {
    size_t keyBytes, valueBytes;  // of one key
    size_t keys, values;          // of all

    Packed(const Kernels& k, const AttentionArgs& a)
        : keyBytes(size_t(gemmPackedRows(a.type, a.depth)) * elementBytes(a)),
          valueBytes(size_t(ceilDiv(a.valueDepth, k.lanes)) * k.lanes * elementBytes(a)),
          keys(wholeLines(size_t(ceilDiv(a.keys, k.lanes)) * k.lanes * keyBytes)),
          values(wholeLines(size_t(gemmPackedRows(a.type, a.keys)) * valueBytes)) {}
    size_t head() const { return keys + values; }
    size_t keysAt(int first) const { return first * keyBytes; }
    size_t valuesAt(int first) const { return keys + first * valueBytes; }
};

// Returns the scratch for gemmOnThread().
size_t strips(const AttentionArgs& a) {
    return wholeLines(gemmOnThreadScratchBytes(a.type, kMaxAttentionRows, std::max(a.depth, kKeyBlock)));
}
constexpr size_t kScoreBytes = size_t{kMaxAttentionRows} * (kKeyBlock + 16) * sizeof(float);
// Returns the distance between rows of scores: an odd number of cache lines where vectors fill them, so that rows do
// not share one set of the first level cache.
size_t scoreStep(const AttentionArgs& a) {
    return (size_t(ceilDiv(std::min(a.keys, kKeyBlock), 16)) | 1) * 16;
}

// These return the distance between rows of transposed queries or results, and the bytes of all rows.
size_t rowStep(int depth) {
    return (size_t(ceilDiv(depth, 16)) | 1) * 16;
}
size_t rowBytes(bool transposed, int depth) {
    return transposed ? kMaxAttentionRows * rowStep(depth) * sizeof(float) : 0;
}

// Returns the memory of one thread: scores, scratch for gemmOnThread(), and rows of transposed queries and results.
size_t ownBytes(const AttentionArgs& a) {
    return kScoreBytes + strips(a) + rowBytes(a.queriesTransposed, a.depth) + rowBytes(a.outTransposed, a.valueDepth);
}

// Returns whether there are enough heads that a thread packs the keys and values of one head and computes it while they
// are in its cache. Otherwise the threads divide the queries of a head.
bool packsByHead(const AttentionArgs& a, int threads) {
    return threads == 1 || a.heads / a.share >= int64_t{2} * threads;
}

// Returns the rows of queries of a task, so few that every thread has one.
int rowsOfTask(const AttentionArgs& a, int threads) {
    const int64_t rows = int64_t{a.heads} * a.queries;
    const int64_t share = packsByHead(a, threads) ? kMaxAttentionRows : ceilDiv(rows, int64_t{4} * threads);
    const int limit = static_cast<int>(std::clamp<int64_t>(share, kMinRows, kMaxAttentionRows));
    // The queries of a head are cut into equal parts.
    const int parts = ceilDiv(std::max(1, a.queries), limit);
    return ceilDiv(std::max(1, a.queries), parts);
}

class Task {
  public:
    Task(const Kernels& kernels, const AttentionArgs& args, const AttentionData& data, const char* packed, char* own,
         int head, int first, int rows)
        : kernels_(kernels),
          row_(attentionKernels(kernels.id)),
          a_(args),
          data_(data),
          packed_(packed),
          scores_(reinterpret_cast<float*>(own)),
          scoreStep_(scoreStep(args)),
          strip_(own + kScoreBytes),
          head_(head),
          first_(first),
          rows_(rows) {
        char* free = strip_ + strips(args);
        setQueries(reinterpret_cast<float*>(free));
        free += rowBytes(args.queriesTransposed, args.depth);
        result_ = {args.outTransposed ? reinterpret_cast<float*>(free)
                                      : data.out + args.out.at(head) + first * args.out.rowStep,
                   args.outTransposed ? rowStep(args.valueDepth) : args.out.rowStep, rows,
                   static_cast<size_t>(args.valueDepth)};
        for (const AttentionStep& step : a_.steps) isMasked_ |= step.kind != AttentionStep::Kind::Multiply;
        // Without masks the scores are scaled together with their exponentials; the largest score stays the largest.
        const float scale = isMasked_ ? 1 : scaleFrom(1, 0, a_.steps.size()) * a_.scale;
        if (scale >= 0) lateScale_ = scale;
        isScaledLate_ = !isMasked_ && scale >= 0;
    }

    void run(const Packed& place) {
        const bool sinks = data_.sinks != nullptr;
        for (int r = 0; r < rows_; ++r) {
            top_[r] = sinks ? std::max(data_.sinks[a_.sinks.at(head_)], -FLT_MAX) : -FLT_MAX;
            sum_[r] = sinks ? 1 : 0;
        }
        for (int key = 0; key < a_.keys; key += kKeyBlock) {
            const int count = std::min(kKeyBlock, a_.keys - key);
            if (score(packed_ + place.keysAt(key), key, count)) add(packed_ + place.valuesAt(key), count);
        }
        finish();
    }

  private:
    void setQueries(float* rows) {
        const float* q = data_.q + a_.q.at(head_);
        if (!a_.queriesTransposed) {
            queries_ = q + first_ * a_.q.rowStep;
            queryStep_ = a_.q.rowStep;
            return;
        }
        queries_ = rows;
        queryStep_ = rowStep(a_.depth);
        kernels_.pack->transpose(q + first_, a_.q.rowStep, static_cast<size_t>(a_.depth), static_cast<size_t>(rows_),
                                 rows, queryStep_);
    }

    // Computes the scores of a block of keys, with their masks. Returns false when all of them are negligible.
    bool score(const void* keys, int key, int count) {
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = ceilDiv(count, kernels_.lanes) * kernels_.lanes;  // whole vectors are faster
        product.K = a_.depth;
        product.a = queries_;
        product.lda = queryStep_;
        product.packedB = keys;
        product.c = scores_;
        product.ldc = scoreStep_;
        gemmOnThread(kernels_, product);
        applySteps({scores_, scoreStep_, rows_, static_cast<size_t>(count)}, key);
        bool matters = !started_ && key + count == a_.keys;
        for (int r = 0; r < rows_; ++r) matters |= !(best_[r] < top_[r] - kNegligibleScore);
        return matters;
    }

    // Returns the scale of scores that have `scale` now, after the multiplying steps from `first` to `end`.
    float scaleFrom(float scale, size_t first, size_t end) const {
        for (size_t i = first; i < end; ++i) {
            scale *= a_.steps[i].scale;
            if (a_.steps[i].kind == AttentionStep::Kind::Multiply && data_.steps[i])
                scale *= *static_cast<const float*>(elementOf(i, 0));
        }
        return scale;
    }

    // Returns the first element of a step's row; all elements have four bytes.
    const void* elementOf(size_t step, size_t row) const {
        const AttentionOperand& operand = a_.steps[step].operand;
        return static_cast<const char*>(data_.steps[step]) + (operand.at(head_) + row * operand.rowStep) * 4;
    }

    // Calls apply(scores, mask, step of its rows, largest of each row) for all rows. A mask whose elements are not
    // contiguous in the order of the keys is expanded row by row.
    template <typename Apply>
    void applyMask(const ScoreRows& s, size_t number, int key, const Apply& apply) {
        const AttentionStep& step = a_.steps[number];
        const auto row = [&](int r) {
            const int query = first_ + r;
            return static_cast<const float*>(elementOf(number, static_cast<size_t>(query)));
        };
        if (step.runs.empty() && step.columnStep != 0) return apply(s, row(0) + key, step.operand.rowStep, best_);
        const auto isBehind = [](int first, const AttentionRun& run) { return first < run.key; };
        const AttentionRun* run = step.runs.data();
        if (!step.runs.empty()) run = &*(std::upper_bound(step.runs.begin(), step.runs.end(), key, isBehind) - 1);
        alignas(64) float same[kKeyBlock + 64];
        for (int r = 0; r < s.rows; ++r) {
            if (step.runs.empty())
                std::fill_n(same, s.count, *row(r));
            else
                row_.expand(row(r), run, static_cast<size_t>(key), s.count, same);
            apply(ScoreRows{s.data + r * s.step, s.step, 1, s.count}, same, 0, best_ + r);
        }
    }

    // Applies the steps to the scores, and finds the largest of each row.
    void applySteps(const ScoreRows& s, int key) {
        if (isScaledLate_) return row_.largest(s, lateScale_, best_);
        float scale = 1;
        for (size_t i = 0; i < a_.steps.size(); ++i) {
            const AttentionStep& step = a_.steps[i];
            scale = scaleFrom(scale, i, i + 1);
            if (step.kind == AttentionStep::Kind::Multiply) continue;
            applyMask(s, i, key, [&](const ScoreRows& rows, const float* mask, size_t rowStep, float* best) {
                if (step.kind == AttentionStep::Kind::Add)
                    row_.addMask(rows, scale, mask, rowStep, best);
                else
                    row_.keepMask(rows, scale, reinterpret_cast<const int32_t*>(mask), rowStep, step.dropped,
                                  step.keepsZeros, best);
            });
            scale = 1;
        }
        scale *= a_.scale;
        if (isMasked_ && scale == 1) return;
        std::fill_n(factor_, s.rows, scale);
        row_.multiply(s, factor_);
        row_.largest(s, 1, best_);
    }

    void add(const void* values, int count) {
        bool changes = false;
        for (int r = 0; r < rows_; ++r) {
            const float top = std::max(top_[r], best_[r]);
            factor_[r] = started_ || data_.sinks ? std::exp(top_[r] - top) : 0;
            changes |= factor_[r] != 1;
            top_[r] = top;
        }
        if (started_ && changes) row_.multiply(result_, factor_);
        float part[kMaxAttentionRows];
        row_.exponentials({scores_, scoreStep_, rows_, static_cast<size_t>(count)}, lateScale_, top_, part);
        for (int r = 0; r < rows_; ++r) sum_[r] = sum_[r] * factor_[r] + part[r];
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = a_.valueDepth;
        product.K = count;
        product.a = scores_;
        product.lda = scoreStep_;
        product.packedB = values;
        product.c = result_.data;
        product.ldc = result_.step;
        product.post.residual = started_ ? result_.data : nullptr;
        gemmOnThread(kernels_, product);
        started_ = true;
    }

    void finish() {
        for (int r = 0; r < rows_; ++r) {
            // A row without a finite score becomes 0, as in Softmax.
            const bool none = !started_ || sum_[r] < 0.5;
            if (none) std::fill_n(result_.data + r * result_.step, result_.count, 0.0f);
            factor_[r] = none ? 0 : static_cast<float>(1.0 / sum_[r]);
        }
        row_.multiply(result_, factor_);
        if (a_.outTransposed)
            kernels_.pack->transpose(result_.data, result_.step, static_cast<size_t>(rows_), result_.count,
                                     data_.out + a_.out.at(head_) + first_, a_.out.rowStep);
    }

    const Kernels& kernels_;
    const AttentionKernels& row_;
    const AttentionArgs& a_;
    const AttentionData& data_;
    const char* packed_;
    float* scores_;
    const size_t scoreStep_;
    char* strip_;
    const int head_, first_, rows_;
    const float* queries_ = nullptr;
    size_t queryStep_ = 0;
    ScoreRows result_ = {};
    bool isMasked_ = false, isScaledLate_ = false, started_ = false;
    float lateScale_ = 1;  // applied together with the exponentials
    float top_[kMaxAttentionRows], best_[kMaxAttentionRows], factor_[kMaxAttentionRows];
    double sum_[kMaxAttentionRows];
};

}  // namespace

int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& a, int threads, const char* what) {
    // These checks cover the products that are computed later in size_t: a float for each element, and whole vectors.
    const int64_t lanes = k.lanes;
    checkedMul(checkedAdd(checkedMul(roundUp(int64_t{a.keys}, lanes), int64_t{a.depth} + 1, what),
                          checkedMul(roundUp(int64_t{a.valueDepth}, lanes), int64_t{a.keys} + 1, what), what),
               8, what);
    const int64_t heads = a.heads / a.share;
    const int64_t tasks = checkedMul(heads, ceilDiv(int64_t{a.keys}, int64_t{kKeyBlock}), what);
    const int64_t blocks = ceilDiv(int64_t{a.queries}, int64_t{rowsOfTask(a, std::max(1, threads))});
    if (tasks > INT_MAX || checkedMul(int64_t{a.heads}, blocks, what) > INT_MAX)
        fail(Status::Overflow, "op '%s': the attention has too many blocks", what);
    const auto head = static_cast<int64_t>(Packed(k, a).head()), own = static_cast<int64_t>(ownBytes(a));
    int64_t maxBytes = 0;  // a run may have fewer threads
    for (int t = 1; t <= std::max(1, threads); ++t) {
        const int64_t packed = checkedMul(packsByHead(a, t) ? t : heads, head, what);
        maxBytes = std::max(maxBytes, checkedAdd(packed, checkedMul(own, t, what), what));
    }
    return maxBytes;
}

void attention(const Kernels& k, const AttentionArgs& a, const AttentionData& data, ThreadPool& pool) {
    if (a.heads <= 0 || a.queries <= 0 || a.valueDepth <= 0) return;
    const Packed place(k, a);
    const int blocks = ceilDiv(a.keys, kKeyBlock), groups = a.heads / a.share;
    const auto pack = [&](int group, int block, char* to) {
        const int key = block * kKeyBlock, count = std::min(kKeyBlock, a.keys - key);
        const auto rows = [&](const float* elements, const AttentionOperand& from, bool transposed) {
            return elements + from.at(group * a.share) + key * (transposed ? 1 : from.rowStep);
        };
        packPanels(k, a.type, count, a.depth, rows(data.k, a.k, a.keysTransposed), a.k.rowStep, !a.keysTransposed,
                   to + place.keysAt(key));
        packPanels(k, a.type, a.valueDepth, count, rows(data.v, a.v, a.valuesTransposed), a.v.rowStep,
                   a.valuesTransposed, to + place.valuesAt(key));
    };
    const int rows = rowsOfTask(a, pool.threads()), parts = ceilDiv(a.queries, rows);
    const auto compute = [&](const char* packed, char* own, int head, int part) {
        const int first = part * rows;
        Task(k, a, data, packed, own, head, first, std::min(rows, a.queries - first)).run(place);
    };
    char* scratch = static_cast<char*>(data.scratch);
    if (packsByHead(a, pool.threads())) {
        parallelSlots(pool, groups, [&](int slot, int group) {
            char* packed = scratch + slot * (place.head() + ownBytes(a));
            for (int block = 0; block < blocks; ++block) pack(group, block, packed);
            for (int head = group * a.share; head < (group + 1) * a.share; ++head)
                for (int part = 0; part < parts; ++part) compute(packed, packed + place.head(), head, part);
        });
        return;
    }
    char* own = scratch + place.head() * groups;
    parallelFor(pool, groups * blocks,
                [&](int i) { pack(i / blocks, i % blocks, scratch + place.head() * (i / blocks)); });
    parallelSlots(pool, a.heads * parts, [&](int slot, int i) {
        const int head = i / parts;
        compute(scratch + place.head() * (head / a.share), own + slot * ownBytes(a), head, i % parts);
    });
}

}  // namespace mnnc
