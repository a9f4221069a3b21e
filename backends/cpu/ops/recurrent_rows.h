// Cuts the gates of one step of a recurrent layer into tasks.
#pragma once
#include <algorithm>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/chunks.h"

namespace mnnc::cpu {

// Calls body(row, first state, states) over [rows][hidden] states, on several threads where there are many.
template <typename Body>
void forStateRows(ThreadPool& pool, int rows, int hidden, const Body& body) {
    constexpr int kPiece = 1024;  // states of a task, which takes some microseconds
    const int cuts = mnnc::ceilDiv(hidden, kPiece);
    const int64_t pieces = static_cast<int64_t>(rows) * cuts;
    const int64_t states = static_cast<int64_t>(rows) * hidden;
    const int tasks =
        static_cast<int>(std::min(pieces, std::min<int64_t>(states / kPiece + 1, int64_t{4} * pool.threads())));
    parallelRanges(pool, pieces, tasks, [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece) {
            const int from = static_cast<int>(piece % cuts) * kPiece;
            body(static_cast<int>(piece / cuts), from, static_cast<size_t>(std::min(kPiece, hidden - from)));
        }
    });
}

}  // namespace mnnc::cpu
