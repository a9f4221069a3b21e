// Element counts of shapes and their text.
#include "tensor/shape.h"

#include <algorithm>

#include "base/checked.h"

namespace mnnc {

namespace {

void checkRank(int64_t rank) {
    if (rank < 0 || rank > kMaxRank)
        fail(Status::BadRange, "a tensor has rank %lld, at most %d is possible", asLong(rank), kMaxRank);
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const int64_t> extents) {
    checkRank(static_cast<int64_t>(extents.size()));
    rank_ = static_cast<int>(extents.size());
    std::copy(extents.begin(), extents.end(), extents_);
}

Shape::Shape(std::span<const int32_t> extents) {
    checkRank(static_cast<int64_t>(extents.size()));
    rank_ = static_cast<int>(extents.size());
    std::copy(extents.begin(), extents.end(), extents_);
}

void Shape::push(int64_t extent) {
    checkRank(rank_ + 1);
    extents_[rank_++] = extent;
}

void Shape::resize(int rank, int64_t fill) {
    checkRank(rank);
    for (int axis = rank_; axis < rank; ++axis) extents_[axis] = fill;
    rank_ = rank;
}

void Shape::insert(int axis, int64_t extent) {
    checkRank(rank_ + 1);
    for (int i = rank_; i > axis; --i) extents_[i] = extents_[i - 1];
    extents_[axis] = extent;
    ++rank_;
}

void Shape::erase(int axis) {
    for (int i = axis; i + 1 < rank_; ++i) extents_[i] = extents_[i + 1];
    --rank_;
}

int64_t Shape::elements() const {
    return elements(0, rank_);
}

int64_t Shape::elements(int first, int last) const {
    int64_t product = 1;
    bool zero = false;
    for (int axis = first; axis < last; ++axis) {
        if (at(axis) < 0) fail(Status::ComputeSizeError, "shape %s has a negative extent", text().c_str());
        zero |= at(axis) == 0;
    }
    if (zero) return 0;
    for (int axis = first; axis < last; ++axis) product = checkedMul(product, at(axis), "element count");
    return product;
}

bool Shape::empty() const noexcept {
    return std::find(begin(), end(), 0) != end();
}

std::string Shape::text() const {
    if (rank_ == 0) return "scalar";
    std::string result;
    for (int axis = 0; axis < rank_; ++axis) {
        if (axis) result += 'x';
        result += std::to_string(extents_[axis]);
    }
    return result;
}

bool Shape::operator==(const Shape& other) const noexcept {
    return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

int normalizeAxis(int64_t axis, int rank, const char* what) {
    const int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank)
        fail(Status::BadRange, "%s: axis %lld is outside a tensor of rank %d", what, asLong(axis), rank);
    return static_cast<int>(positive);
}

Shape broadcastShapes(const Shape& a, const Shape& b, const char* what) {
    Shape result;
    const int rank = std::max(a.rank(), b.rank());
    result.resize(rank);
    for (int axis = 0; axis < rank; ++axis) {
        const int ia = axis - (rank - a.rank());
        const int ib = axis - (rank - b.rank());
        const int64_t ea = ia < 0 ? 1 : a[ia];
        const int64_t eb = ib < 0 ? 1 : b[ib];
        if (ea != eb && ea != 1 && eb != 1)
            fail(Status::ComputeSizeError, "%s: shapes %s and %s do not broadcast", what, a.text().c_str(),
                 b.text().c_str());
        result[axis] = ea == 1 ? eb : ea;
    }
    return result;
}

}  // namespace mnnc
