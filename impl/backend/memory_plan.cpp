#include "backend/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>

#include "base/checked.h"

namespace mnnc {

namespace {

// Free ranges by offset, neighbours merged.
class FreeSpace {
  public:
    int64_t take(int64_t bytes) {
        auto best = free_.end();
        for (auto it = free_.begin(); it != free_.end(); ++it)
            if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
        if (best == free_.end()) return grow(bytes);
        const int64_t offset = best->first, rest = best->second - bytes;
        free_.erase(best);
        if (rest) free_[offset + bytes] = rest;
        return offset;
    }

    void give(int64_t offset, int64_t bytes) {
        auto next = free_.lower_bound(offset);
        if (next != free_.end() && next->first == offset + bytes) {
            bytes += next->second;
            next = free_.erase(next);
        }
        if (next != free_.begin()) {
            const auto previous = std::prev(next);
            if (previous->first + previous->second == offset) {
                previous->second += bytes;
                return;
            }
        }
        free_[offset] = bytes;
    }

    int64_t end() const { return end_; }

  private:
    // Extends the last free range when it touches the end.
    int64_t grow(int64_t bytes) {
        int64_t offset = end_;
        if (!free_.empty()) {
            const auto last = std::prev(free_.end());
            if (last->first + last->second == end_) {
                offset = last->first;
                free_.erase(last);
            }
        }
        end_ = checkedAdd(offset, bytes, "arena size");
        return offset;
    }

    std::map<int64_t, int64_t> free_;
    int64_t end_ = 0;
};

}  // namespace

int64_t planMemory(std::vector<MemoryRequest>& requests) {
    FreeSpace space;
    using Expiry = std::pair<int, size_t>;  // last step, request
    std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> alive;
    for (size_t i = 0; i < requests.size(); ++i) {
        MemoryRequest& request = requests[i];
        while (!alive.empty() && alive.top().first < request.firstStep) {
            const MemoryRequest& dead = requests[alive.top().second];
            space.give(dead.offset, roundUp(dead.bytes, 64));
            alive.pop();
        }
        if (request.bytes == 0) continue;
        request.offset = space.take(roundUp(checkedAdd(request.bytes, 64, "arena size"), 64));
        request.bytes = roundUp(request.bytes + 64, 64);  // slack for vector loads past the end
        alive.emplace(request.lastStep, i);
    }
    return space.end();
}

}  // namespace mnnc
