// Finds the places of matrices through Rasters, and of masks over scores whose axes are split.
#include "plan/head_matrices.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "ir/region_series.h"

namespace mnnc {
namespace {

// Limit on the queries, or keys, whose places in a mask are compared one by one.
constexpr int64_t kMaxPlaces = 1 << 22;

size_t last(const OperandView& view, int back) {
    return static_cast<size_t>(view.shape.rank() - back);
}

// Returns the places of the elements over the axes from `from` to `to`; the last axis varies fastest.
std::vector<int64_t> placesOf(const Shape& shape, const int64_t* steps, int from, int to) {
    std::vector<int64_t> places{0};
    for (int axis = from; axis < to; ++axis) {
        std::vector<int64_t> all;
        all.reserve(places.size() * static_cast<size_t>(shape[axis]));
        for (const int64_t place : places)
            for (int64_t i = 0; i < shape[axis]; ++i) all.push_back(place + i * steps[axis]);
        places = std::move(all);
    }
    return places;
}

// Returns the step from each place to the next, if all steps are equal.
std::optional<int64_t> stepOf(const std::vector<int64_t>& places) {
    const int64_t step = places.size() > 1 ? places[1] - places[0] : 0;
    for (size_t i = 1; i < places.size(); ++i)
        if (places[i] - places[i - 1] != step) return {};
    return step;
}

std::vector<AttentionRun> runsOf(const std::vector<int64_t>& places) {
    std::vector<AttentionRun> runs;
    for (size_t i = 0; i < places.size();) {
        const int64_t step = i + 1 < places.size() && places[i + 1] == places[i] + 1 ? 1 : 0;
        runs.push_back({static_cast<int32_t>(i), static_cast<int32_t>(places[i]), static_cast<int32_t>(step)});
        for (++i; i < places.size() && places[i] == places[i - 1] + step;) ++i;
    }
    runs.push_back({static_cast<int32_t>(places.size())});
    return runs;
}

}  // namespace

HeadMatrices HeadMatrices::of(Operand* tensor, const OperandView& view, const Shape& own, const Shape& batch) {
    HeadMatrices result;
    result.tensor = tensor;
    result.rows = view.shape[view.shape.rank() - 2];
    result.columns = view.shape[view.shape.rank() - 1];
    result.rowStep = view.stride[last(view, 2)];
    result.columnStep = view.stride[last(view, 1)];
    for (const size_t start : matrixOffsets(view, own, batch))
        result.starts.push_back(view.offset + static_cast<int64_t>(start));
    return result;
}

HeadMatrices HeadMatrices::transposed() const {
    HeadMatrices result = *this;
    std::swap(result.rows, result.columns);
    std::swap(result.rowStep, result.columnStep);
    return result;
}

namespace {

std::optional<HeadMatrices> through(const HeadMatrices& from, const RegionSeries& series, int64_t elements,
                                    Operand* tensor) {
    HeadMatrices result = from;
    result.tensor = tensor;
    OperandView matrix;
    matrix.shape = {from.rows, from.columns};
    matrix.stride[0] = from.rowStep;
    matrix.stride[1] = from.columnStep;
    for (size_t i = 0; i < from.starts.size(); ++i) {
        matrix.offset = from.starts[i];
        const std::optional<OperandView> there = series.through(matrix, elements);
        if (!there) return {};
        if (i > 0 && (there->stride[0] != result.rowStep || there->stride[1] != result.columnStep)) return {};
        result.rowStep = there->stride[0];
        result.columnStep = there->stride[1];
        result.starts[i] = there->offset;
    }
    return result;
}

}  // namespace

std::optional<HeadMatrices> HeadMatrices::readThrough(const Command& raster) const {
    if (raster.type != OpType::Raster || raster.inputs.size() != 1) return {};
    const std::optional<RegionSeries> series = RegionSeries::of(raster.regions);
    return series ? through(*this, *series, raster.outputs[0]->elements(), raster.inputs[0]) : std::nullopt;
}

std::optional<HeadMatrices> HeadMatrices::writtenThrough(const Command& raster) const {
    if (raster.type != OpType::Raster || raster.inputs.size() != 1) return {};
    const std::optional<RegionSeries> series = RegionSeries::of(raster.regions);
    const int64_t elements = tensor->elements();
    if (!series || raster.outputs[0]->elements() != elements || !series->fills(elements)) return {};
    return through(*this, series->reversed(), elements, raster.outputs[0]);
}

bool HeadMatrices::fillTensor() const {
    const int64_t area = rows * columns;
    const bool isPlain = (columns == 1 || columnStep == 1) && (rows == 1 || rowStep == columns);
    for (size_t i = 0; i < starts.size(); ++i)
        if (starts[i] != static_cast<int64_t>(i) * area) return false;
    return isPlain && static_cast<int64_t>(starts.size()) * area == tensor->elements();
}

std::optional<ScoreAxes> ScoreAxes::of(const Shape& shape, int64_t rowCount, int64_t columnCount) {
    int axis = shape.rank();
    const auto take = [&](int64_t count) {
        int64_t product = 1;
        while (product < count && axis > 0) product *= shape[--axis];
        return product == count;
    };
    ScoreAxes result{shape, 0, 0};
    if (!take(columnCount)) return {};
    result.columns = axis;
    if (!take(rowCount)) return {};
    result.rows = axis;
    return result;
}

bool ScoreAxes::place(AttentionStep& step, const OperandView& operand, bool keysAreRows) const {
    const int rank = shape.rank(), lead = rank - operand.shape.rank();
    if (lead < 0 || std::max(shape.elements(rows, columns), shape.elements(columns, rank)) > kMaxPlaces) return false;
    int64_t steps[kMaxRank] = {};
    for (int axis = lead; axis < rank; ++axis) {
        const int own = axis - lead;
        if (operand.shape[own] != 1 && operand.shape[own] != shape[axis]) return false;
        if (operand.shape[own] != 1) steps[axis] = operand.stride[static_cast<size_t>(own)];
        if (steps[axis] < 0) return false;
    }
    std::vector<int64_t> ofRows = placesOf(shape, steps, rows, columns),
                         ofColumns = placesOf(shape, steps, columns, rank);
    if (keysAreRows) ofRows.swap(ofColumns);
    const std::optional<int64_t> rowStep = stepOf(ofRows), columnStep = stepOf(ofColumns);
    if (!rowStep || ofColumns.back() > INT_MAX) return false;
    step.operand.rowStep = static_cast<size_t>(*rowStep);
    if (columnStep && *columnStep <= 1)
        step.columnStep = static_cast<size_t>(*columnStep);
    else
        step.runs = runsOf(ofColumns);
    step.operand.heads.clear();
    for (const int64_t head : placesOf(shape, steps, 0, rows))
        step.operand.heads.push_back(static_cast<size_t>(operand.offset + head));
    return true;
}

}  // namespace mnnc
