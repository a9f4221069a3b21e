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
constexpr size_t kScoreBytes = size_t{kMaxRows} * kKeyBlock * sizeof(float);

void packAll(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
             void* packed) {
    const GemmPanels panels(k, N);
    for (int i = 0; i < panels.count(); ++i) gemmPackPanel(k, type, N, K, b, ldb, transB, panels[i], packed);
}

// So many rows of queries that every thread has a task.
int rowsOfTask(const AttentionArgs& a, int threads) {
    const int64_t rows = int64_t{a.batch} * a.heads * a.queries;
    const int64_t share = ceilDiv(rows, int64_t{4} * std::max(1, threads));
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
        product.N = count;
        product.K = a_.depth;
        product.a = a_.q.data + batch_ * a_.q.batchStep + first_ * a_.q.rowStep + head_ * a_.q.headStep;
        product.lda = a_.q.rowStep;
        product.packedB = keys;
        product.c = scores_;
        product.ldc = kKeyBlock;
        gemmOnThread(kernels_, product);
        bool matters = !started_ && key + count == a_.keys;
        for (int r = 0; r < rows_; ++r) {
            best_[r] = masked(scores_ + r * kKeyBlock, first_ + r, key, static_cast<size_t>(count));
            matters = matters || !(best_[r] < top_[r] - kNegligible);
        }
        return matters;
    }

    template <typename T>
    const T* maskRow(const AttentionOperand<T>& mask, int row, int key) const {
        return mask.data + batch_ * mask.batchStep + row * mask.rowStep + head_ * mask.headStep +
               key * a_.maskColumnStep;
    }

    float masked(float* s, int row, int key, size_t count) {
        if (a_.mask.data && a_.maskColumnStep != 0)
            return row_.addMask(s, maskRow(a_.mask, row, key), count, a_.scale);
        if (a_.keep.data && a_.maskColumnStep != 0)
            return row_.keepMask(s, maskRow(a_.keep, row, key), count, a_.scale);
        if (a_.mask.data) {
            float same[kKeyBlock];
            std::fill_n(same, count, *maskRow(a_.mask, row, key));
            return row_.addMask(s, same, count, a_.scale);
        }
        if (a_.keep.data) {
            int32_t same[kKeyBlock];
            std::fill_n(same, count, *maskRow(a_.keep, row, key));
            return row_.keepMask(s, same, count, a_.scale);
        }
        return row_.scale(s, count, a_.scale);
    }

    void add(const void* values, int count) {
        const size_t width = static_cast<size_t>(a_.valueDepth);
        for (int r = 0; r < rows_; ++r) {
            const float top = std::max(top_[r], best_[r]);
            const float kept = std::exp(top_[r] - top);
            const float part = row_.exponentials(scores_ + r * kKeyBlock, static_cast<size_t>(count), top);
            sum_[r] = sum_[r] * kept + part;
            top_[r] = top;
            if (started_ && kept != 1) row_.multiply(out_ + r * a_.out.rowStep, width, kept);
        }
        GemmArgs product;
        product.type = a_.type;
        product.scratch = strip_;
        product.M = rows_;
        product.N = a_.valueDepth;
        product.K = count;
        product.a = scores_;
        product.lda = kKeyBlock;
        product.packedB = values;
        product.c = out_;
        product.ldc = a_.out.rowStep;
        product.post.residual = started_ ? out_ : nullptr;
        gemmOnThread(kernels_, product);
        started_ = true;
    }

    void finish() {
        for (int r = 0; r < rows_; ++r) {
            float* row = out_ + r * a_.out.rowStep;
            // A row without a finite score is 0, as in Softmax.
            const bool none = !started_ || sum_[r] < 0.5;
            if (none)
                std::fill_n(row, a_.valueDepth, 0.0f);
            else
                row_.multiply(row, static_cast<size_t>(a_.valueDepth), static_cast<float>(1.0 / sum_[r]));
        }
    }

    const Kernels& kernels_;
    const AttentionKernels& row_;
    const AttentionArgs& a_;
    const char* packed_;
    float* scores_;
    char* strip_;
    const int batch_, head_, first_, rows_;
    float* out_;
    bool started_ = false;
    float top_[kMaxRows], best_[kMaxRows];
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
    const int64_t blocks = ceilDiv(int64_t{a.queries}, int64_t{rowsOfTask(a, threads)});
    if (tasks > INT_MAX || checkedMul(int64_t{a.batch} * a.heads, blocks, what) > INT_MAX)
        fail(Status::Overflow, "op '%s': an attention of too many blocks", what);
    const int64_t packed = checkedMul(heads, static_cast<int64_t>(Packed(k, a).head()), what);
    const int64_t own = checkedMul(static_cast<int64_t>(kScoreBytes + strips(a)), std::max(1, threads), what);
    return checkedAdd(packed, own, what);
}

void attention(const Kernels& k, const AttentionArgs& a, ThreadPool& pool) {
    if (a.batch <= 0 || a.heads <= 0 || a.queries <= 0 || a.valueDepth <= 0) return;
    const Packed place(k, a);
    char* packed = static_cast<char*>(a.scratch);
    char* own = packed + place.head() * a.batch * a.keyHeads;
    const int blocks = ceilDiv(a.keys, kKeyBlock);
    parallelFor(pool, a.batch * a.keyHeads * blocks, [&](int i) {
        const int key = i % blocks * kKeyBlock, head = i / blocks, batch = head / a.keyHeads;
        const int count = std::min(kKeyBlock, a.keys - key);
        const auto rows = [&](const AttentionOperand<const float>& from) {
            return from.data + batch * from.batchStep + head % a.keyHeads * from.headStep +
                   key * from.rowStep;
        };
        char* to = packed + place.head() * head;
        packAll(k, a.type, count, a.depth, rows(a.k), a.k.rowStep, true, to + place.keysAt(key));
        packAll(k, a.type, a.valueDepth, count, rows(a.v), a.v.rowStep, false, to + place.valuesAt(key));
    });
    const int rows = rowsOfTask(a, pool.threads()), parts = ceilDiv(a.queries, rows);
    const int share = a.heads / a.keyHeads;
    parallelSlots(pool, a.batch * a.heads * parts, [&](int slot, int i) {
        const int first = i % parts * rows, head = i / parts % a.heads, batch = i / parts / a.heads;
        Task(k, a, packed + place.head() * (size_t(batch) * a.keyHeads + head / share),
             own + slot * (kScoreBytes + strips(a)), batch, head, first, std::min(rows, a.queries - first))
            .run(place);
    });
}

}  // namespace mnnc
