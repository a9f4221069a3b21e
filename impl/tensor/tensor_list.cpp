// Run-length coded shapes of the elements of a sequence.
#include "tensor/tensor_list.h"

#include <algorithm>

namespace mnnc {

int64_t TensorList::size() const {
    int64_t count = 0;
    for (const Run& run : runs_) count = checkedAdd(count, run.count, "the size of a sequence");
    return count;
}

int64_t TensorList::total() const {
    int64_t total = 0;
    for (const Run& run : runs_)
        total = checkedAdd(total, checkedMul(run.count, run.elementSize(), "a sequence"), "a sequence");
    return total;
}

int64_t TensorList::offset(int64_t index) const {
    int64_t offset = 0;
    for (const Run& run : runs_) {
        const int64_t count = std::min(index, run.count);
        offset = checkedAdd(offset, checkedMul(count, run.elementSize(), "a sequence"), "a sequence");
        index -= count;
    }
    return offset;
}

const TensorList::Run& TensorList::at(int64_t index) const {
    for (const Run& run : runs_) {
        if (index < run.count) return run;
        index -= run.count;
    }
    fail(Status::Internal, "an element beyond the end of a sequence is read");
}

bool TensorList::anyKnown() const noexcept {
    return std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.known; });
}

void TensorList::append(const Run& run) {
    if (run.count <= 0) return;
    if (!runs_.empty() && runs_.back().sameElement(run))
        runs_.back().count = checkedAdd(runs_.back().count, run.count, "the size of a sequence");
    else
        runs_.push_back(run);
}

void TensorList::appendAll(const TensorList& other) {
    for (const Run& run : other.runs_) append(run);
}

TensorList TensorList::part(int64_t first, int64_t last) const {
    TensorList result;
    int64_t begin = 0;
    for (const Run& run : runs_) {
        const int64_t from = std::max(first, begin), to = std::min(last, begin + run.count);
        if (from < to) result.append({to - from, run.known, run.shape});
        begin += run.count;
    }
    return result;
}

bool TensorList::operator==(const TensorList& other) const noexcept {
    return dynamic == other.dynamic &&
           std::equal(runs_.begin(), runs_.end(), other.runs_.begin(), other.runs_.end(),
                      [](const Run& a, const Run& b) { return a.count == b.count && a.sameElement(b); });
}

bool sameList(const std::shared_ptr<const TensorList>& a, const std::shared_ptr<const TensorList>& b) noexcept {
    return a == b || (a && b && *a == *b);
}

}  // namespace mnnc
