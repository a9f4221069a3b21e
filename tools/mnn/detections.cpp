// Reads rows of boxes, keeps those with a sufficient score and leaves out those that overlap better ones.
#include "detections.h"

#include <algorithm>
#include <cmath>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

// Coordinates as fractions of the picture exceed 1 by little, those in pixels by much.
constexpr double kLargestFraction = 2;
constexpr size_t kMaxCandidates = 5000;  // bounds the search of overlaps, which compares all pairs

// The rows and columns of an output, which may be transposed.
class Table {
  public:
    // `columns` is the number of values in a row; below 0: at least its magnitude.
    Table(const NamedArray& output, int64_t columns) : array_(output.array) {
        std::vector<int64_t> shape = array_.shape;
        while (shape.size() > 2 && shape[0] == 1) shape.erase(shape.begin());
        const auto fits = [&](int64_t extent) { return columns < 0 ? extent >= -columns : extent == columns; };
        if (shape.size() != 2 || (!fits(shape[0]) && !fits(shape[1])))
            throw ToolError(fmt::format("the output '{}' ({}) is no table with {}{} numbers for each box", output.name,
                                        shapeText(array_.shape), columns < 0 ? "at least " : "",
                                        columns < 0 ? -columns : columns));
        // Where both readings are possible, there are more boxes than values for each.
        const bool turned = !fits(shape[1]) || (columns < 0 && fits(shape[0]) && shape[0] < shape[1]);
        rows_ = static_cast<size_t>(shape[turned ? 1 : 0]);
        columns_ = static_cast<size_t>(shape[turned ? 0 : 1]);
        rowStep_ = turned ? 1 : columns_;
        columnStep_ = turned ? rows_ : 1;
    }
    // Makes a table with as many rows as there are boxes.
    static Table ofScores(const NamedArray& output, size_t boxes) {
        std::vector<int64_t> shape = output.array.shape;
        while (!shape.empty() && shape[0] == 1) shape.erase(shape.begin());
        const auto count = static_cast<int64_t>(boxes);
        const size_t all = output.array.count();
        if (boxes == 0 && all == 0) return Table(output.array, 0, 0, 0, 0);
        if (all == boxes) return Table(output.array, boxes, 1, 1, 1);
        if (shape.size() == 1 && boxes == 1) return Table(output.array, 1, all, all, 1);
        if (shape.size() == 2 && shape[0] == count) return Table(output.array, boxes, all / boxes, all / boxes, 1);
        if (shape.size() == 2 && shape[1] == count) return Table(output.array, boxes, all / boxes, 1, boxes);
        throw ToolError(fmt::format("the output '{}' ({}) does not have a row for each of the {} boxes", output.name,
                                    shapeText(output.array.shape), boxes));
    }

    size_t rows() const { return rows_; }
    size_t columns() const { return columns_; }
    double at(size_t row, size_t column) const { return valueAt(array_, row * rowStep_ + column * columnStep_); }

  private:
    Table(const Array& array, size_t rows, size_t columns, size_t rowStep, size_t columnStep)
        : array_(array), rows_(rows), columns_(columns), rowStep_(rowStep), columnStep_(columnStep) {}

    const Array& array_;
    size_t rows_ = 0, columns_ = 0, rowStep_ = 0, columnStep_ = 0;
};

struct Best {
    double score = -INFINITY;
    int64_t kind = -1;
};

Best bestClass(const Table& table, size_t row, size_t begin, int64_t background) {
    Best best;
    for (size_t column = begin; column < table.columns(); column++) {
        const auto kind = static_cast<int64_t>(column - begin);
        const double score = table.at(row, column);
        if (kind != background && score > best.score) best = {score, kind};
    }
    return best;
}

int64_t kindNumber(double value) {
    return value >= 0 && value < 1e9 ? static_cast<int64_t>(value) : -1;
}

// One axis of a box, by the numbers that are given for it.
struct Axis {
    double low = NAN, high = NAN, centre = NAN, extent = NAN;
    void complete() {
        if (!std::isnan(centre)) low = centre - extent / 2;
        if (std::isnan(high)) high = low + extent;
    }
};

struct Row {
    Axis x, y;
    Detection detection{};
};

Row readRow(const Table& table, size_t row, const std::vector<Column>& columns, int64_t background) {
    Row result;
    double score = 1;
    result.detection.kind = -1;
    for (size_t i = 0; i < columns.size(); i++) {
        const double value = columns[i] == Column::Classes ? 0 : table.at(row, i);
        switch (columns[i]) {
            case Column::X1:
                result.x.low = value;
                break;
            case Column::X2:
                result.x.high = value;
                break;
            case Column::CentreX:
                result.x.centre = value;
                break;
            case Column::Width:
                result.x.extent = value;
                break;
            case Column::Y1:
                result.y.low = value;
                break;
            case Column::Y2:
                result.y.high = value;
                break;
            case Column::CentreY:
                result.y.centre = value;
                break;
            case Column::Height:
                result.y.extent = value;
                break;
            case Column::Score:
                score *= value;
                break;
            case Column::Class:
                result.detection.kind = kindNumber(value);
                break;
            case Column::Classes: {
                const Best best = bestClass(table, row, i, background);
                score *= best.score;
                result.detection.kind = best.kind;
                break;
            }
            case Column::Other:
                break;
        }
    }
    result.detection.score = score;
    return result;
}

double area(const Detection& box) {
    return (box.x2 - box.x1) * (box.y2 - box.y1);
}

double overlapOf(const Detection& a, const Detection& b) {
    const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
    if (width <= 0 || height <= 0) return 0;
    return width * height / (area(a) + area(b) - width * height);
}

// Expects the best boxes first.
void leaveOutOverlaps(std::vector<Detection>& boxes, double most) {
    if (most >= 1) return;
    if (boxes.size() > kMaxCandidates) boxes.resize(kMaxCandidates);
    std::vector<Detection> kept;
    for (const Detection& box : boxes) {
        const bool hidden = std::any_of(kept.begin(), kept.end(), [&](const Detection& better) {
            return better.kind == box.kind && overlapOf(better, box) > most;
        });
        if (!hidden) kept.push_back(box);
    }
    boxes = std::move(kept);
}

bool areFractions(const std::vector<Row>& rows) {
    return std::all_of(rows.begin(), rows.end(), [](const Row& row) {
        for (const double value : {row.x.low, row.x.high, row.y.low, row.y.high})
            if (std::isfinite(value) && std::abs(value) > kLargestFraction) return false;
        return true;
    });
}

// Maps a coordinate of an output to one of the picture, clamped to its edges.
struct Scale {
    double unit;    // pixels of the input for each unit of the output
    int32_t begin;  // first pixel of the picture in the input
    double factor;
    int32_t extent;  // extent of the picture
    double operator()(double at) const { return std::clamp((at * unit - begin) * factor, 0.0, double(extent)); }
};

const NamedArray& required(const std::vector<NamedArray>& outputs, const std::string& name) {
    for (const NamedArray& output : outputs)
        if (output.name == name) return output;
    throw ToolError(fmt::format("there is no output '{}'", name));
}

struct Rows {
    std::vector<Row> list;
    bool scoredByClass = false;  // outputs have one score for each class
};

// Reads all rows with their scores and classes; those below the minimum score are left out.
Rows readRows(const std::vector<NamedArray>& outputs, const BoxForm& form, const BoxChoice& choice) {
    const bool many = std::find(form.columns.begin(), form.columns.end(), Column::Classes) != form.columns.end();
    const auto count = static_cast<int64_t>(form.columns.size());
    const Table boxes(required(outputs, form.boxes), many ? -count : count);
    Rows rows;
    const auto tableOf = [&](const std::string& name) {
        return Table::ofScores(required(outputs, name), boxes.rows());
    };
    const NamedArray none{};
    const Table empty = Table::ofScores(none, 0);
    const Table scores = form.scores.empty() ? empty : tableOf(form.scores);
    const Table classes = form.classes.empty() ? empty : tableOf(form.classes);
    rows.scoredByClass = many || scores.columns() > 1;
    for (size_t i = 0; i < boxes.rows(); i++) {
        Row row = readRow(boxes, i, form.columns, choice.background);
        if (scores.columns() == 1) {
            row.detection.score *= scores.at(i, 0);
        } else if (scores.columns() > 1) {
            const Best best = bestClass(scores, i, 0, choice.background);
            row.detection.score *= best.score;
            row.detection.kind = best.kind;
        }
        if (classes.columns() > 0) row.detection.kind = kindNumber(classes.at(i, 0));
        const bool isThere = choice.background < 0 || row.detection.kind != choice.background;
        if (!isThere || !(row.detection.score >= choice.minScore) || !std::isfinite(row.detection.score)) continue;
        row.x.complete();
        row.y.complete();
        rows.list.push_back(row);
    }
    return rows;
}

}  // namespace

std::vector<Detection> detectionsOf(const std::vector<NamedArray>& outputs, const BoxForm& form,
                                    const BoxChoice& choice, const View& view) {
    const Rows rows = readRows(outputs, form, choice);
    const bool fractions = form.unit == Unit::Fractions || (form.unit == Unit::Guessed && areFractions(rows.list));
    const Place& place = view.place;
    const Scale x{fractions ? view.inputWidth : 1.0, place.left, double(view.width) / place.width, view.width};
    const Scale y{fractions ? view.inputHeight : 1.0, place.top, double(view.height) / place.height, view.height};
    std::vector<Detection> found;
    for (const Row& row : rows.list) {
        Detection box = row.detection;
        if (!std::isfinite(row.x.low) || !std::isfinite(row.x.high) || !std::isfinite(row.y.low) ||
            !std::isfinite(row.y.high))
            continue;
        box.x1 = x(row.x.low);
        box.x2 = x(row.x.high);
        box.y1 = y(row.y.low);
        box.y2 = y(row.y.high);
        if (box.x1 < box.x2 && box.y1 < box.y2) found.push_back(box);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    const double usual = rows.scoredByClass ? kUsualOverlap : 1;
    leaveOutOverlaps(found, choice.overlap < 0 ? usual : choice.overlap);
    if (found.size() > kMaxDetections) found.resize(kMaxDetections);
    return found;
}

std::string className(int64_t kind, const std::vector<std::string>& names) {
    if (kind < 0) return "";
    const auto index = static_cast<size_t>(kind);
    return index < names.size() && !names[index].empty() ? names[index] : std::to_string(kind);
}

const Array* findOutput(const std::vector<NamedArray>& outputs, const std::string& name) {
    for (const NamedArray& output : outputs)
        if (output.name == name) return &output.array;
    return nullptr;
}

}  // namespace tool
