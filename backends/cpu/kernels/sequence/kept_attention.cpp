// Attention over kept keys and values: the rows of a task are multiplied with one page after another, which is packed
// where there are many rows.
#include "backends/cpu/kernels/sequence/kept_attention.h"

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/sequence/attention.h"
#include "backends/cpu/kernels/sequence/attention_rows.h"
#include "base/checked.h"

namespace mnnc {
namespace {

constexpr int kPage = static_cast<int>(kKeptPageRows);
// The maximum number of rows for a head of keys that are multiplied with pages as they lie: packing would take longer.
constexpr int kFewRows = 8;
// The distance between rows of scores is an odd number of cache lines, so that rows lie in different sets of the cache.
constexpr size_t kScoreStep = kPage + 16;

size_t packedBytes(const Kernels& k, GemmType type, int N, int K) {
    return wholeLines(size_t(ceilDiv(N, k.lanes)) * k.lanes * gemmPackedRows(type, K) *
                      (type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float)));
}

// The memory that a thread has for itself: the sizes of its areas in bytes, in the order in which they lie.
struct Room {
    size_t queries, results, scores, strip, packed, floats;

    Room(const Kernels& k, const KeptAttentionArgs& a)
        : queries(wholeLines(kMaxAttentionRows * size_t(a.depth) * sizeof(float))),
          results(wholeLines(kMaxAttentionRows * size_t(a.valueDepth) * sizeof(float))),
          scores(wholeLines(kMaxAttentionRows * kScoreStep * sizeof(float))),
          strip(wholeLines(gemmOnThreadScratchBytes(a.type, kMaxAttentionRows, std::max(a.depth, kPage)))),
          packed(std::max(packedBytes(k, a.type, kPage, a.depth), packedBytes(k, a.type, a.valueDepth, kPage))),
          floats(wholeLines(size_t(kPage) * std::max(a.depth, a.valueDepth) * sizeof(float))) {}
    size_t all() const { return queries + results + scores + strip + packed + floats; }
};

class KeptTask {
  public:
    // Computes `rows` rows of one head of keys, from `first` on.
    KeptTask(const Kernels& kernels, const KeptAttentionArgs& args, const KeptAttentionData& data, char* own,
             int keyHead, int first, int rows)
        : kernels_(kernels),
          row_(attentionKernels(kernels.id)),
          kept_(keptKernels(kernels.id)),
          a_(args),
          data_(data),
          past_(data.state->length),
          keyHead_(keyHead),
          share_(args.heads / args.keyHeads),
          isFew_(int64_t{share_} * args.rows <= kFewRows),
          first_(first),
          rows_(rows) {
        const Room room(kernels, args);
        const auto take = [&](size_t bytes) {
            char* const at = own;
            own += bytes;
            return reinterpret_cast<float*>(at);
        };
        queries_ = take(room.queries);
        results_ = take(room.results);
        scores_ = take(room.scores);
        strip_ = take(room.strip);
        packed_ = take(room.packed);
        floats_ = take(room.floats);
    }

    void run() {
        for (int r = 0; r < rows_; ++r) {
            const float* const query = data_.q + place(r) * a_.depth;
            for (int i = 0; i < a_.depth; ++i) queries_[size_t(r) * a_.depth + i] = query[i] * a_.scale;
            top_[r] = -FLT_MAX;
            sum_[r] = 0;
        }
        const int64_t all = past_ + a_.rows, end = data_.mask ? all : past_ + query(rows_ - 1) + 1;
        for (int64_t key = 0; key < end; key += kPage) {
            const int count = static_cast<int>(std::min<int64_t>(kPage, end - key));
            if (score(key, count, key + count == end)) add(key, count);
        }
        finish();
    }

  private:
    // The query of a row, and its place among the queries of all heads.
    int query(int row) const { return (first_ + row) / share_; }
    size_t place(int row) const {
        return size_t(query(row)) * a_.heads + size_t(keyHead_) * share_ + size_t((first_ + row) % share_);
    }

    const float* floatsOf(const void* stored, int64_t elements) {
        if (!data_.state->halves) return static_cast<const float*>(stored);
        kept_.expand(static_cast<const uint16_t*>(stored), size_t(elements), floats_);
        return floats_;
    }

    // Returns rows as they are stored, or as the kernels of few rows take them.
    KeptRows rowsOf(const void* stored, int depth, int count) {
        const bool expands = data_.state->halves && !kept_.readsHalves;
        return {expands ? floatsOf(stored, int64_t{count} * depth) : stored, size_t(depth), size_t(count),
                data_.state->halves && !expands};
    }

    // Returns how many of the `count` keys from `key` on a row sees.
    size_t seenBy(int row, int64_t key, int count) const {
        if (data_.mask) return static_cast<size_t>(count);
        return static_cast<size_t>(std::clamp<int64_t>(past_ + query(row) + 1 - key, 0, count));
    }

    // Multiplies the queries with the keys of a page.
    void multiplyKeys(int64_t key, int count) {
        const size_t depth = size_t(a_.depth);
        if (isFew_)
            return kept_.scores({queries_, depth, rows_, depth},
                                rowsOf(data_.state->key(keyHead_, key), a_.depth, count), scores_, kScoreStep);
        packPanels(kernels_, a_.type, count, a_.depth,
                   floatsOf(data_.state->key(keyHead_, key), int64_t{count} * a_.depth), size_t(a_.depth), true,
                   packed_);
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = ceilDiv(count, kernels_.lanes) * kernels_.lanes;  // whole vectors are faster
        product.K = a_.depth;
        product.a = queries_;
        product.lda = size_t(a_.depth);
        product.packedB = packed_;
        product.c = scores_;
        product.ldc = kScoreStep;
        gemmOnThread(kernels_, product);
    }

    // Computes the scores of a page with their masks. Returns false when none of them matters.
    bool score(int64_t key, int count, bool last) {
        multiplyKeys(key, count);
        const int64_t keys = past_ + a_.rows;
        bool matters = !started_ && last;
        for (int r = 0; r < rows_; ++r) {
            const ScoreRows row{scores_ + r * kScoreStep, kScoreStep, 1, seenBy(r, key, count)};
            best_[r] = -FLT_MAX;
            if (data_.mask)
                row_.addMask(row, 1, data_.mask + query(r) * keys + key, 0, best_ + r);
            else if (row.count > 0)
                row_.largest(row, 1, best_ + r);
            matters |= !(best_[r] < top_[r] - kNegligibleScore);
        }
        return matters;
    }

    void add(int64_t key, int count) {
        bool changes = false;
        for (int r = 0; r < rows_; ++r) {
            const float top = std::max(top_[r], best_[r]);
            factor_[r] = started_ ? std::exp(top_[r] - top) : 0;
            changes |= factor_[r] != 1;
            top_[r] = top;
        }
        const ScoreRows results{results_, size_t(a_.valueDepth), rows_, size_t(a_.valueDepth)};
        if (started_ && changes) row_.multiply(results, factor_);
        for (int r = 0; r < rows_; ++r) {
            const size_t seen = seenBy(r, key, count);
            float* const scores = scores_ + r * kScoreStep;
            float part = 0;
            if (seen > 0) row_.exponentials({scores, kScoreStep, 1, seen}, 1, top_ + r, &part);
            std::fill(scores + seen, scores + count, 0.0f);
            sum_[r] = sum_[r] * factor_[r] + part;
        }
        addValues(key, count);
        started_ = true;
    }

    // Adds the values of a page, weighted with their scores, to the results.
    void addValues(int64_t key, int count) {
        const size_t depth = size_t(a_.valueDepth);
        if (isFew_)
            return kept_.weigh({scores_, kScoreStep, rows_, size_t(count)},
                               rowsOf(data_.state->value(keyHead_, key), a_.valueDepth, count), started_, results_,
                               depth);
        packPanels(kernels_, a_.type, a_.valueDepth, count,
                   floatsOf(data_.state->value(keyHead_, key), int64_t{count} * a_.valueDepth), size_t(a_.valueDepth),
                   false, packed_);
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = a_.valueDepth;
        product.K = count;
        product.a = scores_;
        product.lda = kScoreStep;
        product.packedB = packed_;
        product.c = results_;
        product.ldc = size_t(a_.valueDepth);
        product.post.residual = started_ ? results_ : nullptr;
        gemmOnThread(kernels_, product);
    }

    void finish() {
        for (int r = 0; r < rows_; ++r) {
            // A row without a finite score is 0, as in Softmax.
            const bool none = sum_[r] < 0.5;
            if (none) std::fill_n(results_ + size_t(r) * a_.valueDepth, a_.valueDepth, 0.0f);
            factor_[r] = none ? 0 : static_cast<float>(1.0 / sum_[r]);
        }
        row_.multiply({results_, size_t(a_.valueDepth), rows_, size_t(a_.valueDepth)}, factor_);
        for (int r = 0; r < rows_; ++r)
            std::memcpy(data_.out + place(r) * a_.valueDepth, results_ + size_t(r) * a_.valueDepth,
                        sizeof(float) * a_.valueDepth);
    }

    const Kernels& kernels_;
    const AttentionKernels& row_;
    const KeptKernels& kept_;
    const KeptAttentionArgs& a_;
    const KeptAttentionData& data_;
    const int64_t past_;
    const int keyHead_, share_;
    const bool isFew_;  // regardless of the number of threads
    const int first_, rows_;
    float *queries_, *results_, *scores_, *strip_, *packed_, *floats_;
    bool started_ = false;
    float top_[kMaxAttentionRows], best_[kMaxAttentionRows], factor_[kMaxAttentionRows];
    double sum_[kMaxAttentionRows];
};

// Returns the rows of a task: few enough that every thread has a task, and whole queries where these fit.
int rowsOfTask(const KeptAttentionArgs& a, int threads) {
    const int share = a.heads / a.keyHeads;
    const int64_t rows = int64_t{share} * a.rows;
    const int64_t wanted = ceilDiv(rows * a.keyHeads, int64_t{2} * threads);
    const int64_t maxRows = std::clamp<int64_t>(wanted, std::min(share, kMaxAttentionRows), kMaxAttentionRows);
    return static_cast<int>(ceilDiv(rows, ceilDiv(rows, maxRows)));
}

}  // namespace

int64_t keptAttentionScratchBytes(const Kernels& k, const KeptAttentionArgs& a, int threads, const char* what) {
    // These checks cover the products that later code computes in size_t: floats for all elements, in whole vectors.
    checkedMul(checkedMul(int64_t{a.depth} + a.valueDepth + k.lanes, kPage + kMaxAttentionRows, what), 16, what);
    const int64_t rows = checkedMul(a.heads, a.rows, what);
    if (rows > INT_MAX) fail(Status::Overflow, "op '%s': the attention has too many rows", what);
    return checkedMul(static_cast<int64_t>(Room(k, a).all()), std::max(1, threads), what);
}

void keptAttention(const Kernels& k, const KeptAttentionArgs& a, const KeptAttentionData& data, ThreadPool& pool) {
    if (a.rows <= 0 || a.heads <= 0 || a.keyHeads <= 0) return;
    const KeptState& state = *data.state;
    parallelFor(pool, a.keyHeads, [&](int head) {
        for (int row = 0; row < a.rows; ++row) {
            const size_t at = size_t(row) * a.keyHeads + size_t(head);
            storeKept(data.k + at * a.depth, a.depth, state.halves, state.key(head, state.length + row));
            storeKept(data.v + at * a.valueDepth, a.valueDepth, state.halves, state.value(head, state.length + row));
        }
    });
    const int rows = a.heads / a.keyHeads * a.rows, maxRows = rowsOfTask(a, pool.threads()),
              parts = ceilDiv(rows, maxRows);
    const size_t own = Room(k, a).all();
    parallelSlots(pool, a.keyHeads * parts, [&](int slot, int i) {
        const int first = i % parts * maxRows;
        if (first < rows)
            KeptTask(k, a, data, static_cast<char*>(data.scratch) + slot * own, i / parts, first,
                     std::min(maxRows, rows - first))
                .run();
    });
}

}  // namespace mnnc
