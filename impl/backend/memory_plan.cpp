// Places memory requests with lifetimes in one arena: takes the best of several greedy orders, or the first one that
// needs no more than the tensors that live at the same time.
#include "backend/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "base/checked.h"

namespace mnnc {

namespace {

// Free ranges, by offset (to merge neighbours) and by size (for best fit).
class FreeSpace {
  public:
    int64_t take(int64_t bytes) {
        const auto best = bySize_.lower_bound({bytes, 0});
        if (best == bySize_.end()) return grow(bytes);
        const auto [size, offset] = *best;
        erase(offset, size);
        if (size > bytes) insert(offset + bytes, size - bytes);
        return offset;
    }

    void give(int64_t offset, int64_t bytes) {
        const auto next = byOffset_.lower_bound(offset);
        if (next != byOffset_.begin()) {
            const auto [start, size] = *std::prev(next);
            if (start + size == offset) {
                erase(start, size);
                offset = start;
                bytes += size;
            }
        }
        if (next != byOffset_.end() && next->first == offset + bytes) {
            const auto [start, size] = *next;
            erase(start, size);
            bytes += size;
        }
        insert(offset, bytes);
    }

    int64_t end() const { return end_; }

  private:
    void insert(int64_t offset, int64_t bytes) {
        byOffset_.emplace(offset, bytes);
        bySize_.emplace(bytes, offset);
    }

    void erase(int64_t offset, int64_t bytes) {
        byOffset_.erase(offset);
        bySize_.erase({bytes, offset});
    }

    // Extends the last free range when it touches the end.
    int64_t grow(int64_t bytes) {
        int64_t offset = end_;
        if (!byOffset_.empty()) {
            const auto [start, size] = *std::prev(byOffset_.end());
            if (start + size == end_) {
                erase(start, size);
                offset = start;
            }
        }
        end_ = checkedAdd(offset, bytes, "arena size");
        return offset;
    }

    std::map<int64_t, int64_t> byOffset_;
    std::set<std::pair<int64_t, int64_t>> bySize_;  // (bytes, offset)
    int64_t end_ = 0;
};

// Places requests in the order of time, each in the smallest free range that is large enough.
int64_t planByTime(std::vector<MemoryRequest>& requests) {
    FreeSpace space;
    using Expiry = std::pair<int, size_t>;  // (last step, request)
    std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> alive;
    for (size_t i = 0; i < requests.size(); ++i) {
        MemoryRequest& request = requests[i];
        while (!alive.empty() && alive.top().first < request.firstStep) {
            const MemoryRequest& dead = requests[alive.top().second];
            space.give(dead.offset, dead.bytes);
            alive.pop();
        }
        if (request.bytes == 0) continue;
        request.offset = space.take(request.bytes);
        alive.emplace(request.lastStep, i);
    }
    return space.end();
}

// Places requests with the largest key first, each at the lowest offset that is free among those that live at the same
// time (a first-fit form of "Greedy by Size": Pisarchyk and Lee, arXiv 2001.03288). The arena is mostly smaller than
// planByTime()'s, but the time is quadratic.
template <typename Key>
int64_t planByKey(std::vector<MemoryRequest>& requests, Key&& key) {
    std::vector<MemoryRequest*> order;
    for (MemoryRequest& request : requests)
        if (request.bytes != 0) order.push_back(&request);
    std::stable_sort(order.begin(), order.end(),
                     [&](const MemoryRequest* a, const MemoryRequest* b) { return key(*a) > key(*b); });
    std::vector<const MemoryRequest*> placed;  // by offset
    int64_t end = 0;
    for (MemoryRequest* request : order) {
        int64_t offset = 0;
        for (const MemoryRequest* other : placed) {
            if (other->lastStep < request->firstStep || request->lastStep < other->firstStep) continue;
            if (offset + request->bytes <= other->offset) break;
            offset = std::max(offset, other->offset + other->bytes);
        }
        request->offset = offset;
        end = std::max(end, offset + request->bytes);
        placed.insert(
            std::upper_bound(placed.begin(), placed.end(), request,
                             [](const MemoryRequest* a, const MemoryRequest* b) { return a->offset < b->offset; }),
            request);
    }
    return end;
}

// Returns the maximum number of bytes that live at one step.
int64_t maxAlive(const std::vector<MemoryRequest>& requests) {
    std::map<int, int64_t> change;
    for (const MemoryRequest& request : requests) {
        change[request.firstStep] += request.bytes;
        change[request.lastStep + 1] -= request.bytes;
    }
    int64_t alive = 0, peak = 0;
    for (const auto& [step, bytes] : change) peak = std::max(peak, alive += bytes);
    return peak;
}

}  // namespace

int64_t assignOffsets(std::vector<MemoryRequest>& requests, int64_t alignment) {
    constexpr size_t kMaxQuadratic = 2048;
    int64_t sum = 0;
    for (MemoryRequest& request : requests) {
        if (request.bytes == 0) continue;
        // Slack: kernels may load vectors beyond the end.
        request.bytes = roundUp(checkedAdd(request.bytes, 64, "arena size"), alignment);
        sum = checkedAdd(sum, request.bytes, "arena size");
    }
    int64_t best = planByTime(requests);
    if (requests.size() > kMaxQuadratic) return best;
    const int64_t lowerBound = maxAlive(requests);
    const auto tryOrder = [&](auto&& key) {
        if (best == lowerBound) return;
        std::vector<MemoryRequest> other = requests;
        const int64_t bytes = planByKey(other, key);
        if (bytes >= best) return;
        best = bytes;
        requests = std::move(other);
    };
    tryOrder([](const MemoryRequest& r) { return r.bytes; });
    tryOrder([](const MemoryRequest& r) { return std::pair(r.lastStep - r.firstStep, r.bytes); });
    return best;
}

int64_t assignOffsetsApart(std::vector<MemoryRequest>& requests) {
    constexpr int64_t kGap = 1024;
    int64_t end = 0;
    for (MemoryRequest& request : requests) {
        request.offset = end;
        if (request.bytes > 0)
            end = checkedAdd(end, roundUp(checkedAdd(request.bytes, kGap, "arena size"), 64), "arena size");
    }
    return end;
}

}  // namespace mnnc
