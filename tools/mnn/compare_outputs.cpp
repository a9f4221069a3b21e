// Compares outputs with an order element by element, and rows without an order by pairing them.
#include "compare_outputs.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text.h"

namespace tool {
namespace {

bool isReal(const Array& array) {
    return array.element == Element::Float32 || array.element == Element::Float64;
}

// Returns the largest magnitude of finite elements: beside an infinite one every difference would be small.
double largestMagnitude(const Array& array) {
    double largest = 0;
    for (size_t i = 0; i < array.count(); i++)
        if (const double size = std::abs(valueAt(array, i)); std::isfinite(size)) largest = std::max(largest, size);
    return largest;
}

// Returns |a - b|, or infinity where only one is infinite or either is NaN.
double distance(double a, double b) {
    if (a == b) return 0;
    const double difference = std::abs(a - b);
    return std::isnan(difference) ? INFINITY : difference;
}

size_t rowsWithOtherArgmax(const Array& expected, const Array& ours) {
    const size_t width = expected.shape.empty() ? 1 : static_cast<size_t>(expected.shape.back());
    if (width == 0) return 0;
    size_t different = 0;
    for (size_t row = 0; row < expected.count(); row += width) {
        size_t a = 0, b = 0;
        for (size_t i = 1; i < width; i++) {
            if (valueAt(expected, row + i) > valueAt(expected, row + a)) a = i;
            if (valueAt(ours, row + i) > valueAt(ours, row + b)) b = i;
        }
        different += a != b;
    }
    return different;
}

// The distance of two rows over all outputs of the list: the largest relative one, infinite where integers differ.
class RowDistance {
  public:
    RowDistance(const std::vector<const CaseTensor*>& expected, const std::vector<Array>& ours)
        : expected_(expected), ours_(ours) {
        for (const CaseTensor* output : expected) scales_.push_back(std::max(largestMagnitude(output->array), 1e-300));
    }

    double operator()(size_t row, size_t ourRow) const {
        double worst = 0;
        for (size_t k = 0; k < expected_.size(); k++) {
            const Array& array = expected_[k]->array;
            const size_t width = array.count() / static_cast<size_t>(array.shape[0]);
            for (size_t i = 0; i < width; i++) {
                const double a = valueAt(array, row * width + i);
                const double b = valueAt(ours_[k], ourRow * width + i);
                if (!isReal(array) && a != b) return INFINITY;
                worst = std::max(worst, distance(a, b) / scales_[k]);
            }
        }
        return worst;
    }

  private:
    const std::vector<const CaseTensor*>& expected_;
    const std::vector<Array>& ours_;
    std::vector<double> scales_;
};

// Finds a maximum matching of rows (by augmenting paths, nearest rows first). Returns the partner of each of our rows,
// or -1.
std::vector<int64_t> pairRows(size_t rows, const std::function<bool(size_t, size_t)>& fits) {
    std::vector<std::vector<size_t>> candidates(rows);
    for (size_t row = 0; row < rows; row++) {
        for (size_t other = 0; other < rows; other++)
            if (fits(row, other)) candidates[row].push_back(other);
        std::stable_sort(candidates[row].begin(), candidates[row].end(), [row](size_t a, size_t b) {
            return std::max(a, row) - std::min(a, row) < std::max(b, row) - std::min(b, row);
        });
    }
    std::vector<int64_t> partner(rows, -1);
    std::vector<bool> seen;
    const std::function<bool(size_t)> place = [&](size_t row) {
        for (const size_t other : candidates[row]) {
            if (seen[other]) continue;
            seen[other] = true;
            if (partner[other] < 0 || place(static_cast<size_t>(partner[other]))) {
                partner[other] = static_cast<int64_t>(row);
                return true;
            }
        }
        return false;
    };
    for (size_t row = 0; row < rows; row++) {
        seen.assign(rows, false);
        place(row);
    }
    return partner;
}

}  // namespace

std::string formFault(const Array& expected, const Array& ours) {
    if (ours.shape != expected.shape)
        return fmt::format("the shape is {}, {} is expected", shapeText(ours.shape), shapeText(expected.shape));
    if (ours.element != expected.element)
        return fmt::format("the type is {}, {} is expected", elementName(ours.element), elementName(expected.element));
    if (ours.bytes.size() != expected.bytes.size())
        return fmt::format("it has {} bytes, {} are expected", ours.bytes.size(), expected.bytes.size());
    for (size_t i = 0; i < ours.count(); i++)
        if (std::isnan(valueAt(ours, i))) return fmt::format("element {} is NaN", i);
    return "";
}

Verdict compareOrdered(const CaseTensor& expected, const Array& ours, double tolerance) {
    Verdict verdict;
    verdict.remark = formFault(expected.array, ours);
    if (!verdict.remark.empty()) {
        verdict.error = INFINITY;
        return verdict;
    }
    size_t different = 0;
    double worst = 0;
    for (size_t i = 0; i < ours.count(); i++) {
        const double apart = distance(valueAt(ours, i), valueAt(expected.array, i));
        different += apart != 0;
        worst = std::max(worst, apart);
    }
    const double scale = largestMagnitude(expected.array);
    verdict.error = scale > 0 ? worst / scale : worst;
    verdict.passed = isReal(ours) ? verdict.error <= tolerance : different == 0;
    if (!isReal(ours) && different > 0)
        verdict.remark = fmt::format("{} of {} integers differ", different, ours.count());
    if (expected.argmaxEqual) {
        const size_t rows = rowsWithOtherArgmax(expected.array, ours);
        if (rows > 0) {
            verdict.passed = false;
            verdict.remark = fmt::format("{} rows have their largest element elsewhere", rows);
        }
    }
    return verdict;
}

Verdict compareUnordered(const std::vector<const CaseTensor*>& expected, const std::vector<Array>& ours,
                         double tolerance, int64_t maxUnmatched) {
    Verdict verdict;
    for (size_t k = 0; k < expected.size(); k++) {
        const std::string fault = formFault(expected[k]->array, ours[k]);
        if (fault.empty()) continue;
        verdict.error = INFINITY;
        verdict.remark = fmt::format("'{}': {}", expected[k]->name, fault);
        return verdict;
    }
    const size_t rows = static_cast<size_t>(expected[0]->array.shape[0]);
    const RowDistance apart(expected, ours);
    const std::vector<int64_t> partner =
        pairRows(rows, [&](size_t row, size_t ourRow) { return apart(row, ourRow) <= tolerance; });
    int64_t unmatched = 0, moved = 0;
    for (size_t ourRow = 0; ourRow < rows; ourRow++) {
        if (partner[ourRow] < 0) {
            unmatched++;
            continue;
        }
        moved += partner[ourRow] != static_cast<int64_t>(ourRow);
        verdict.error = std::max(verdict.error, apart(static_cast<size_t>(partner[ourRow]), ourRow));
    }
    verdict.passed = unmatched <= maxUnmatched;
    verdict.remark = fmt::format("{} rows, {} at another place, {} without partner ({} allowed)", rows, moved,
                                 unmatched, maxUnmatched);
    return verdict;
}

double relativeError(const Array& a, const Array& b) {
    if (a.shape != b.shape || a.element != b.element) return INFINITY;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < a.count(); i++) {
        const double x = valueAt(a, i), y = valueAt(b, i);
        if (x == y || (std::isnan(x) && std::isnan(y))) {
            if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
            continue;
        }
        if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
        largest = std::max(largest, std::abs(x));
        worst = std::max(worst, std::abs(x - y));
    }
    if (worst == 0) return 0;
    return largest == 0 ? INFINITY : worst / largest;
}

}  // namespace tool
