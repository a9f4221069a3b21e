// Divides the work among threads for operators that treat the planes of a map one by one.
//
// Convolutions give each thread a part of the pixels where the map is larger than their weights, and a part of the
// channels otherwise (splitGemm). Operators between them do the same, so that a thread mostly reads data that it wrote
// itself, from its own cache.
#pragma once
#include <algorithm>
#include <climits>
#include <cstdint>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/chunks.h"

namespace mnnc {

inline bool sharedByPixels(int64_t pixels, int64_t channels) {
    return pixels >= channels;
}

// Tasks are pieces of rows of groups of planes. Threads begin with equal parts of the tasks, in order: of the rows of
// all planes where they divide pixels, of the planes otherwise.
class PlaneCut {
  public:
    struct Part {
        int64_t planeBegin, planeEnd, rowBegin, rowEnd;
    };

    PlaneCut(int64_t planes, int64_t rows, bool byPixels, int threads)
        : planes_(planes),
          rows_(rows),
          byPixels_(byPixels && rows >= threads),
          groups_(static_cast<int>(std::min<int64_t>(planes, int64_t{12} * (byPixels_ ? 2 : threads)))),
          pieces_(piecesFor(threads)) {}

    int tasks() const { return groups_ * pieces_; }
    Part operator[](int task) const {
        const int group = byPixels_ ? task % groups_ : task / pieces_,
                  piece = byPixels_ ? task / groups_ : task % pieces_;
        return {planes_ * group / groups_, planes_ * (group + 1) / groups_, rows_ * piece / pieces_,
                rows_ * (piece + 1) / pieces_};
    }

  private:
    int piecesFor(int threads) const {
        if (threads == 1 || groups_ == 0) return 1;
        const auto maxPieces = static_cast<int>(std::min<int64_t>(rows_, INT_MAX));
        if (byPixels_) return std::clamp(ceilDiv(4 * threads, groups_), threads, maxPieces);
        // Maps with more channels than pixels are small: as few tasks as keep all threads at work for most of the time.
        int pieces = 1;
        while (pieces < maxPieces && idles(groups_ * pieces, threads)) ++pieces;
        return pieces;
    }
    // Whether threads wait for more than a ninth of the time, if all tasks take equally long.
    static bool idles(int tasks, int threads) { return 8 * ceilDiv(tasks, threads) * threads > 9 * tasks; }

    int64_t planes_, rows_;
    bool byPixels_;
    int groups_, pieces_;
};

// Calls body(plane, begin, end) for the rows begin .. end of every plane. With `byPixels` a thread takes a part of the
// rows of all planes.
template <typename Body>
void forPlaneRows(ThreadPool& pool, int64_t planes, int64_t rows, bool byPixels, Body&& body) {
    if (rows <= 0) return;
    const PlaneCut cut(planes, rows, byPixels, pool.threads());
    parallelFor(pool, cut.tasks(), [&](int task) {
        const PlaneCut::Part part = cut[task];
        for (int64_t plane = part.planeBegin; plane < part.planeEnd; ++plane) body(plane, part.rowBegin, part.rowEnd);
    });
}

}  // namespace mnnc
