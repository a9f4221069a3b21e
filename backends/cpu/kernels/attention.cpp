// Attention: packing keys and values, blocks of queries as tasks, blocks of keys in order.
#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>

#include "backends/cpu/kernels/gemm_panels.h"
#include "base/checked.h"

namespace mnnc {
namespace {

constexpr int kKeyBlock = 256;  // whole vectors of any instruction set
constexpr int kMaxRows = 72, kMinRows = 12;
// e^-88 is less than the least float that matters beside 1.
constexpr float kNegligible = 88;

size_t elementBytes(const AttentionArgs& a) {
    return a.type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float);
}
size_t wholeLines(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// Where packed keys and values of one head of a batch entry lie, in bytes. The panels of a block of keys are whole
// vectors and an even number of rows, so that blocks lie one after another.
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

// What a thread has to itself: scores, and room for gemmOnThread().
size_t strips(const AttentionArgs& a) {
    return wholeLines(gemmOnThreadScratchBytes(a.type, kMaxRows, std::max(a.depth, kKeyBlock)));
}
constexpr size_t kScoreBytes = size_t{kMaxRows} * (kKeyBlock + 16) * sizeof(float);
// From one row of scores to the next: an odd number of cache lines where vectors fill them, so that rows do not meet in one
// set of the first level cache.
size_t scoreStep(const AttentionArgs& a) {
    return (size_t(ceilDiv(std::min(a.keys, kKeyBlock), 16)) | 1) * 16;
}

size_t ownBytes(const AttentionArgs& a) {
    return kScoreBytes + strips(a);
}

// Where there are enough heads, a thread packs the keys and values of one and computes it while they are in its cache.
// Else the threads share the queries of a head.
bool packsByHead(const AttentionArgs& a, int threads) {
    return threads == 1 || int64_t{a.batch} * a.keyHeads >= int64_t{2} * threads;
}

void packAll(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
             void* packed) {
    const GemmPanels panels(k, N);
    for (int i = 0; i < panels.count(); ++i)
        gemmPackPanel(k, type, N, K, b, ldb, transB, panels[i], gemmPanel(k, type, K, panels[i], packed));
}

// So many rows of queries that every thread has a task.
int rowsOfTask(const AttentionArgs& a, int threads) {
    const int64_t rows = int64_t{a.batch} * a.heads * a.queries;
    const int64_t share = packsByHead(a, threads) ? kMaxRows : ceilDiv(rows, int64_t{4} * threads);
    const int limit = static_cast<int>(std::clamp<int64_t>(share, kMinRows, kMaxRows));
    // Equal parts of the queries of a head.
    const int parts = ceilDiv(std::max(1, a.queries), limit);
    return ceilDiv(std::max(1, a.queries), parts);
}

class Task {
  public:
    Task(const Kernels& kernels, const AttentionArgs& args, const char* packed, char* own, int batch,
         int head, int first, int rows)
        : kernels_(kernels),
          row_(attentionKernels(kernels.id)),
          a_(args),
          packed_(packed),
          scores_(reinterpret_cast<float*>(own)),
          scoreStep_(scoreStep(args)),
          strip_(own + kScoreBytes),
          batch_(batch),
          head_(head),
          first_(first),
          rows_(rows),
          out_(args.out.data + batch * args.out.batchStep + first * args.out.rowStep +
               head * args.out.headStep) {}

    void run(const Packed& place) {
        for (int r = 0; r < rows_; ++r) {
            top_[r] = a_.sinks ? std::max(a_.sinks[head_], -FLT_MAX) : -FLT_MAX;
            sum_[r] = a_.sinks ? 1 : 0;
        }
        for (int key = 0; key < a_.keys; key += kKeyBlock) {
            const int count = std::min(kKeyBlock, a_.keys - key);
            if (score(packed_ + place.keysAt(key), key, count)) add(packed_ + place.valuesAt(key), count);
        }
        finish();
    }

  private:
    // The scores of a block of keys, with their mask; false when none of them matters.
    bool score(const void* keys, int key, int count) {
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = ceilDiv(count, kernels_.lanes) * kernels_.lanes;  // whole vectors are faster
        product.K = a_.depth;
        product.a = a_.q.data + batch_ * a_.q.batchStep + first_ * a_.q.rowStep + head_ * a_.q.headStep;
        product.lda = a_.q.rowStep;
        product.packedB = keys;
        product.c = scores_;
        product.ldc = scoreStep_;
        gemmOnThread(kernels_, product);
        applyMasks({scores_, scoreStep_, rows_, static_cast<size_t>(count)}, key);
        bool matters = !started_ && key + count == a_.keys;
        for (int r = 0; r < rows_; ++r) matters |= !(best_[r] < top_[r] - kNegligible);
        return matters;
    }

    // apply(scores, mask, step of its rows, largest of each row) for all rows; a mask that repeats a value for all keys is
    // made row by row.
    template <typename T, typename Apply>
    void applyMask(const ScoreRows& s, const AttentionMask<T>& mask, int key, const Apply& apply) {
        const T* data = mask.data + batch_ * mask.batchStep + first_ * mask.rowStep + head_ * mask.headStep;
        if (mask.columnStep != 0) return apply(s, data + key, mask.rowStep, best_);
        alignas(64) T same[kKeyBlock];
        for (int r = 0; r < s.rows; ++r) {
            std::fill_n(same, s.count, data[r * mask.rowStep]);
            apply(ScoreRows{s.data + r * s.step, s.step, 1, s.count}, same, 0, best_ + r);
        }
    }

    // The masks, with the scale where there are some, and the largest scaled score of each row.
    void applyMasks(const ScoreRows& s, int key) {
        float scale = a_.scale;
        for (const AttentionMask<float>& mask : a_.masks) {
            if (!mask.data) break;
            applyMask(s, mask, key, [&](const ScoreRows& rows, const float* add, size_t step, float* best) {
                row_.addMask(rows, scale, add, step, best);
            });
            scale = 1;
        }
        if (a_.keep.data)
            return applyMask(s, a_.keep, key,
                             [&](const ScoreRows& rows, const int32_t* keep, size_t step, float* best) {
                                 row_.keepMask(rows, scale, keep, step, a_.dropped, a_.keepsZeros, best);
                             });
        if (a_.masks[0].data) return;
        if (!scaleLate_) {
            std::fill_n(factor_, s.rows, scale);
            row_.multiply(s, factor_);
        }
        row_.largest(s, scaleLate_ ? scale : 1, best_);
    }

    void add(const void* values, int count) {
        bool changes = false;
        for (int r = 0; r < rows_; ++r) {
            const float top = std::max(top_[r], best_[r]);
            factor_[r] = started_ || a_.sinks ? std::exp(top_[r] - top) : 0;
            changes |= factor_[r] != 1;
            top_[r] = top;
        }
        if (started_ && changes) row_.multiply(result(), factor_);
        float part[kMaxRows];
        row_.exponentials({scores_, scoreStep_, rows_, static_cast<size_t>(count)}, scaleLate_ ? a_.scale : 1,
                          top_, part);
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
        product.c = out_;
        product.ldc = a_.out.rowStep;
        product.post.residual = started_ ? out_ : nullptr;
        gemmOnThread(kernels_, product);
        started_ = true;
    }

    void finish() {
        for (int r = 0; r < rows_; ++r) {
            // A row without a finite score is 0, as in Softmax.
            const bool none = !started_ || sum_[r] < 0.5;
            if (none) std::fill_n(out_ + r * a_.out.rowStep, a_.valueDepth, 0.0f);
            factor_[r] = none ? 0 : static_cast<float>(1.0 / sum_[r]);
        }
        row_.multiply(result(), factor_);
    }

    ScoreRows result() const { return {out_, a_.out.rowStep, rows_, static_cast<size_t>(a_.valueDepth)}; }

    const Kernels& kernels_;
    const AttentionKernels& row_;
    const AttentionArgs& a_;
    const char* packed_;
    float* scores_;
    const size_t scoreStep_;
    char* strip_;
    const int batch_, head_, first_, rows_;
    float* out_;
    // Without masks the scores are scaled where their exponentials are made; the largest stays the largest.
    const bool scaleLate_ = !a_.masks[0].data && !a_.keep.data && a_.scale >= 0;
    bool started_ = false;
    float top_[kMaxRows], best_[kMaxRows], factor_[kMaxRows];
    double sum_[kMaxRows];
};

}  // namespace

int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& a, int threads, const char* what) {
    // The products that size_t arithmetic makes later, checked: a float for each element, and whole vectors.
    const int64_t lanes = k.lanes;
    checkedMul(checkedAdd(checkedMul(roundUp(int64_t{a.keys}, lanes), int64_t{a.depth} + 1, what),
                          checkedMul(roundUp(int64_t{a.valueDepth}, lanes), int64_t{a.keys} + 1, what), what),
               8, what);
    const int64_t heads = int64_t{a.batch} * a.keyHeads;
    const int64_t tasks = checkedMul(heads, ceilDiv(int64_t{a.keys}, int64_t{kKeyBlock}), what);
    const int64_t blocks = ceilDiv(int64_t{a.queries}, int64_t{rowsOfTask(a, std::max(1, threads))});
    if (tasks > INT_MAX || checkedMul(int64_t{a.batch} * a.heads, blocks, what) > INT_MAX)
        fail(Status::Overflow, "op '%s': an attention of too many blocks", what);
    const auto head = static_cast<int64_t>(Packed(k, a).head()), own = static_cast<int64_t>(ownBytes(a));
    int64_t most = 0;  // a run may have fewer threads
    for (int t = 1; t <= std::max(1, threads); ++t) {
        const int64_t packed = checkedMul(packsByHead(a, t) ? t : heads, head, what);
        most = std::max(most, checkedAdd(packed, checkedMul(own, t, what), what));
    }
    return most;
}

void attention(const Kernels& k, const AttentionArgs& a, ThreadPool& pool) {
    if (a.batch <= 0 || a.heads <= 0 || a.queries <= 0 || a.valueDepth <= 0) return;
    const Packed place(k, a);
    const int blocks = ceilDiv(a.keys, kKeyBlock), share = a.heads / a.keyHeads;
    const auto pack = [&](int head, int block, char* to) {
        const int key = block * kKeyBlock, batch = head / a.keyHeads,
                  count = std::min(kKeyBlock, a.keys - key);
        const auto rows = [&](const AttentionOperand<const float>& from, bool transposed) {
            return from.data + batch * from.batchStep + head % a.keyHeads * from.headStep +
                   key * (transposed ? 1 : from.rowStep);
        };
        packAll(k, a.type, count, a.depth, rows(a.k, a.keysTransposed), a.k.rowStep, !a.keysTransposed,
                to + place.keysAt(key));
        packAll(k, a.type, a.valueDepth, count, rows(a.v, a.valuesTransposed), a.v.rowStep,
                a.valuesTransposed, to + place.valuesAt(key));
    };
    const int rows = rowsOfTask(a, pool.threads()), parts = ceilDiv(a.queries, rows);
    const auto compute = [&](const char* packed, char* own, int batch, int head, int part) {
        const int first = part * rows;
        Task(k, a, packed, own, batch, head, first, std::min(rows, a.queries - first)).run(place);
    };
    char* scratch = static_cast<char*>(a.scratch);
    if (packsByHead(a, pool.threads())) {
        parallelSlots(pool, a.batch * a.keyHeads, [&](int slot, int i) {
            char* packed = scratch + slot * (place.head() + ownBytes(a));
            for (int block = 0; block < blocks; ++block) pack(i, block, packed);
            const int batch = i / a.keyHeads, first = i % a.keyHeads * share;
            for (int head = first; head < first + share; ++head)
                for (int part = 0; part < parts; ++part)
                    compute(packed, packed + place.head(), batch, head, part);
        });
        return;
    }
    char* own = scratch + place.head() * a.batch * a.keyHeads;
    parallelFor(pool, a.batch * a.keyHeads * blocks,
                [&](int i) { pack(i / blocks, i % blocks, scratch + place.head() * (i / blocks)); });
    parallelSlots(pool, a.batch * a.heads * parts, [&](int slot, int i) {
        const int head = i / parts % a.heads, batch = i / parts / a.heads;
        compute(scratch + place.head() * (size_t(batch) * a.keyHeads + head / share),
                own + slot * ownBytes(a), batch, head, i % parts);
    });
}

}  // namespace mnnc
