// Packs B of a matrix product into panels, as floats or as pairs of bf16.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/gemm_panels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc {
namespace {

void packPairs(const Kernels& k, int N, int K, const float* b, size_t ldb, bool transB, OutPanel p,
               uint16_t* packed) {
    const int P = k.lanes, width = p.nb * P, n0 = p.block * P, real = std::min(width, N - n0);
    uint16_t* out = packed + size_t(n0) * gemmPackedRows(GemmType::Bf16, K);
    if (!transB) {
        alignas(64) float rows[2][4 * 16] = {};
        for (int kk = 0; kk < K; kk += 2, out += 2 * width) {
            const float* pair[2];
            for (int odd = 0; odd < 2; ++odd) {
                pair[odd] = b + (kk + odd) * ldb + n0;
                if (real == width && kk + odd < K) continue;
                const int count = kk + odd < K ? real : 0;
                if (count) std::memcpy(rows[odd], pair[odd], count * sizeof(float));
                std::fill(rows[odd] + count, rows[odd] + width, 0.0f);
                pair[odd] = rows[odd];
            }
            k.bf16->interleave(pair[0], pair[1], width, out);
        }
        return;
    }
    // Pairs lie side by side in B's rows: as elements of 32 bits they are transposed like floats.
    constexpr int kChunk = 64;
    alignas(64) float rows[16 * kChunk / 2];
    auto* halves = reinterpret_cast<uint16_t*>(rows);
    for (int j = 0; j < p.nb; ++j) {
        const int lanes = std::min(P, N - n0 - j * P);
        const float* from = b + size_t(n0 + j * P) * ldb;
        for (int kk = 0; kk < K; kk += kChunk) {
            const int n = std::min(kChunk, K - kk), pairs = (n + 1) / 2;
            for (int l = 0; l < lanes; ++l) {
                k.bf16->convert(from + l * ldb + kk, n, halves + l * kChunk);
                if (n % 2) halves[l * kChunk + n] = 0;
            }
            auto* column = reinterpret_cast<float*>(out) + size_t(kk / 2) * width + j * P;
            k.pack->rowsToPanel(rows, kChunk / 2, lanes, pairs, column, width);
        }
    }
}

void packPanel(const Kernels& k, int N, int K, const float* b, size_t ldb, bool transB, OutPanel p,
               float* packed) {
    const int P = k.lanes, width = p.nb * P, n0 = p.block * P, real = std::min(width, N - n0);
    float* out = packed + size_t(p.block) * P * K;
    if (!transB) {
        for (int kk = 0; kk < K; ++kk, out += width) {
            std::memcpy(out, b + kk * ldb + n0, real * sizeof(float));
            std::fill(out + real, out + width, 0.0f);
        }
        return;
    }
    constexpr int kChunk = 64;  // columns of B^T at a time
    for (int j = 0; j < p.nb; ++j) {
        const int lanes = std::min(P, N - n0 - j * P);
        const float* rows = b + size_t(n0 + j * P) * ldb;
        for (int kk = 0; kk < K; kk += kChunk) {
            const int n = std::min(kChunk, K - kk);
            k.pack->rowsToPanel(rows + kk, ldb, lanes, n, out + size_t(kk) * width + j * P, width);
        }
    }
}

}  // namespace

void gemmPackPanel(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
                   OutPanel p, void* packed) {
    if (type == GemmType::Bf16)
        packPairs(k, N, K, b, ldb, transB, p, static_cast<uint16_t*>(packed));
    else
        packPanel(k, N, K, b, ldb, transB, p, static_cast<float*>(packed));
}

size_t gemmPackedBytes(const Kernels& k, GemmType type, int N, int K) {
    return size_t(ceilDiv(N, k.lanes)) * k.lanes * gemmPackedRows(type, K) *
           (type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float));
}

void gemmPackB(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
               void* packed, ThreadPool& pool) {
    if (N <= 0 || K <= 0) return;
    const GemmPanels panels(k, N);
    parallelFor(pool, panels.count(),
                [&](int i) { gemmPackPanel(k, type, N, K, b, ldb, transB, panels[i], packed); });
}

}  // namespace mnnc
