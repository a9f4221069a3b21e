// Packs B of a matrix product into panels, as floats or as pairs of bf16.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/gemm/gemm_panels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc {
namespace {

// A panel of B, and the place to which it is packed.
struct Place {
    const Kernels& k;
    int K, width, real;  // floats of a row, and how many of them are B's
    void* packed;

    Place(const Kernels& kernels, int N, int depth, OutPanel p, void* panel)
        : k(kernels), K(depth), width(p.nb * k.lanes), real(std::min(width, N - p.block * k.lanes)), packed(panel) {}
    template <typename T>
    T* row(int i) const {
        return static_cast<T*>(packed) + size_t(i) * width;
    }
};

// Packs rows `begin` to `end` of a panel in pairs; `begin` is the first of a pair.
void packRowPairs(const Place& to, int begin, int end, const float* b, size_t ldb) {
    alignas(64) float rows[2][4 * 16] = {};
    for (int kk = begin; kk < end; kk += 2) {
        const float* pair[2];
        for (int odd = 0; odd < 2; ++odd) {
            pair[odd] = b + (kk - begin + odd) * ldb;
            if (to.real == to.width && kk + odd < end) continue;
            const int count = kk + odd < end ? to.real : 0;
            if (count) std::memcpy(rows[odd], pair[odd], count * sizeof(float));
            std::fill(rows[odd] + count, rows[odd] + to.width, 0.0f);
            pair[odd] = rows[odd];
        }
        to.k.bf16->interleave(pair[0], pair[1], to.width, to.row<uint16_t>(kk));
    }
}

// `b`: the panel's floats of row `begin`.
void packRows(const Place& to, GemmType type, int begin, int end, const float* b, size_t ldb) {
    if (type == GemmType::Bf16) return packRowPairs(to, begin, end, b, ldb);
    for (int kk = begin; kk < end; ++kk, b += ldb) {
        float* out = to.row<float>(kk);
        std::memcpy(out, b, to.real * sizeof(float));
        std::fill(out + to.real, out + to.width, 0.0f);
    }
}

constexpr int kChunk = 64;  // columns of B^T at a time

// The hardware does not prefetch rows that are far apart and read in small parts.
void fetchRows(const float* b, size_t ldb, int rows, int count) {
#if defined(__GNUC__)
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < count; i += 16) __builtin_prefetch(b + row * ldb + i);
#endif
}

// Pairs are contiguous in the rows of B^T: as elements of 32 bits they are transposed like floats.
void packColumnPairs(const Place& to, const float* b, size_t ldb) {
    const int P = to.k.lanes;
    alignas(64) float rows[16 * kChunk / 2];
    auto* halves = reinterpret_cast<uint16_t*>(rows);
    for (int j = 0; j < to.width; j += P, b += P * ldb) {
        const int lanes = std::min(P, to.real - j);
        for (int kk = 0; kk < to.K; kk += kChunk) {
            const int n = std::min(kChunk, to.K - kk), pairs = (n + 1) / 2;
            for (int l = 0; l < lanes; ++l) {
                to.k.bf16->convert(b + l * ldb + kk, n, halves + l * kChunk);
                if (n % 2) halves[l * kChunk + n] = 0;
            }
            float* column = static_cast<float*>(to.packed) + size_t(kk / 2) * to.width + j;
            to.k.pack->rowsToPanel(rows, kChunk / 2, lanes, pairs, column, to.width);
        }
    }
}

// Packs a panel of B^T, whose first row is `b`.
void packColumns(const Place& to, GemmType type, const float* b, size_t ldb) {
    if (type == GemmType::Bf16) return packColumnPairs(to, b, ldb);
    const int P = to.k.lanes;
    // Columns are limited so that the written lines stay in the first level cache until they are full.
    for (int kk = 0; kk < to.K; kk += kChunk) {
        const int n = std::min(kChunk, to.K - kk), more = std::min(kChunk, to.K - kk - n);
        for (int j = 0; j < to.width; j += P) {
            const float* rows = b + j * ldb + kk;
            const int lanes = std::min(P, to.real - j);
            fetchRows(rows + n, ldb, lanes, more);
            to.k.pack->rowsToPanel(rows, ldb, lanes, n, to.row<float>(kk) + j, to.width);
        }
    }
}

}  // namespace

void gemmPackPanel(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB, OutPanel p,
                   void* panel) {
    const Place to(k, N, K, p, panel);
    const size_t first = size_t(p.block) * k.lanes;
    if (transB)
        packColumns(to, type, b + first * ldb, ldb);
    else
        packRows(to, type, 0, K, b + first, ldb);
}

size_t gemmPackedBytes(const Kernels& k, GemmType type, int N, int K) {
    return size_t(ceilDiv(N, k.lanes)) * k.lanes * gemmPackedRows(type, K) *
           (type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float));
}

void gemmPackB(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB, void* packed,
               ThreadPool& pool) {
    if (N <= 0 || K <= 0) return;
    const GemmPanels panels(k, N);
    parallelFor(pool, panels.count(), [&](int i) {
        gemmPackPanel(k, type, N, K, b, ldb, transB, panels[i], gemmPanel(k, type, K, panels[i], packed));
    });
}

void gemmPackB(const Kernels& k, GemmType type, int N, int K, const WeightReader& b, size_t ldb, bool transB,
               void* packed, ThreadPool& pool) {
    if (N <= 0 || K <= 0) return;
    const GemmPanels panels(k, N);
    const auto place = [&](int panel) {
        return Place(k, N, K, panels[panel], gemmPanel(k, type, K, panels[panel], packed));
    };
    if (transB) {
        const auto end = [&](int panel) {
            const int rows = (panels[panel].block + panels[panel].nb) * k.lanes;
            return rows < N ? rows * ldb : (N - 1) * ldb + K;
        };
        return packInChunks(k, pool, panels.count(), b, end,
                            [&](int panel, const float* own) { packColumns(place(panel), type, own, ldb); });
    }
    const int maxRows = static_cast<int>(k.costs->cache.packedChunk / static_cast<int64_t>(ldb * sizeof(float)));
    const int step = std::clamp(maxRows / 2 * 2, 2, 16);  // whole pairs
    const auto end = [&](int i) { return (i + 1) * step < K ? (i + 1) * step * ldb : (K - 1) * ldb + N; };
    packInChunks(k, pool, ceilDiv(K, step), b, end, [&](int i, const float* own) {
        for (int panel = 0; panel < panels.count(); ++panel)
            packRows(place(panel), type, i * step, std::min(K, (i + 1) * step),
                     own + size_t(panels[panel].block) * k.lanes, ldb);
    });
}

}  // namespace mnnc
