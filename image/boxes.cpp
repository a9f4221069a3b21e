// Reads rows of boxes, keeps those with a sufficient score and leaves out those that overlap better ones.
#include "boxes.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "c_api/arguments.h"
#include "picture.h"

namespace mnnc::image {
namespace {

// An edge beyond 2 is a number of pixels: fractions of the picture exceed 1 only slightly.
constexpr double kLargestFraction = 2;
constexpr double kUsualOverlap = 0.45;
constexpr size_t kMaxCandidates = 5000;  // bounds the search of overlaps, which compares all pairs

using Columns = std::span<const int32_t>;

// The values of an output, and its extents, from which leading extents of 1 can be dropped.
struct Output {
    const float* values = nullptr;
    std::vector<int64_t> shape;
    size_t count = 0;
    const char* name = "";

    std::string text() const {
        std::string text;
        for (const int64_t extent : shape) {
            if (!text.empty()) text += 'x';
            text += std::to_string(extent);
        }
        return text;
    }
    void dropLeadingOnes(size_t rank) {
        while (shape.size() > rank && shape[0] == 1) shape.erase(shape.begin());
    }
};

template <size_t N>
Output outputOf(const float* values, const int32_t (&dims)[N], int32_t rank, const char* name) {
    Output output{values, {}, 1, name};
    if (rank < 1 || static_cast<size_t>(rank) > N)
        fail(Status::BadRange, "the rank of the %s is %d; it is 1 to %zu", name, rank, N);
    int64_t count = 1;
    for (int32_t i = 0; i < rank; ++i) {
        if (dims[i] < 0) fail(Status::BadRange, "extent %d of the %s is %d", i, name, dims[i]);
        count = checkedMul(count, dims[i], name);
        output.shape.push_back(dims[i]);
    }
    output.count = static_cast<size_t>(count);
    if (output.count > 0) required(values, name);
    return output;
}

// The rows and columns of an output, which may be transposed.
class Table {
  public:
    Table() = default;
    // `columns` is the number of values in a row; below 0: at least its magnitude.
    Table(Output output, int64_t columns) : values_(output.values) {
        const std::string given = output.text();
        output.dropLeadingOnes(2);
        const std::vector<int64_t>& shape = output.shape;
        const auto fits = [&](int64_t extent) { return columns < 0 ? extent >= -columns : extent == columns; };
        if (shape.size() != 2 || (!fits(shape[0]) && !fits(shape[1])))
            fail(Status::ComputeSizeError,
                 "the %s have the shape %s; a table with %s%lld numbers for each box is needed", output.name,
                 given.c_str(), columns < 0 ? "at least " : "",
                 static_cast<long long>(columns < 0 ? -columns : columns));
        // Where both readings are possible, the longer extent counts the boxes.
        const bool turned = !fits(shape[1]) || (columns < 0 && fits(shape[0]) && shape[0] < shape[1]);
        rows_ = static_cast<size_t>(shape[turned ? 1 : 0]);
        columns_ = static_cast<size_t>(shape[turned ? 0 : 1]);
        rowStep_ = turned ? 1 : columns_;
        columnStep_ = turned ? rows_ : 1;
    }
    // Makes a table with as many rows as there are boxes.
    static Table ofScores(Output output, size_t boxes) {
        const std::string given = output.text();
        output.dropLeadingOnes(0);
        const std::vector<int64_t>& shape = output.shape;
        const auto rows = static_cast<int64_t>(boxes);
        const size_t all = output.count;
        const float* values = output.values;
        if (boxes == 0 && all == 0) return Table();
        if (all == boxes) return Table(values, boxes, 1, 1, 1);
        const size_t columns = boxes > 0 ? all / boxes : 0;
        if (columns > 0 && shape.size() == 1 && boxes == 1) return Table(values, 1, columns, columns, 1);
        if (columns > 0 && shape.size() == 2 && shape[0] == rows) return Table(values, boxes, columns, columns, 1);
        if (columns > 0 && shape.size() == 2 && shape[1] == rows) return Table(values, boxes, columns, 1, boxes);
        fail(Status::ComputeSizeError, "the %s have the shape %s; one row for each of the %zu boxes is needed",
             output.name, given.c_str(), boxes);
    }

    size_t rows() const { return rows_; }
    size_t columns() const { return columns_; }
    double at(size_t row, size_t column) const { return values_[row * rowStep_ + column * columnStep_]; }

  private:
    Table(const float* values, size_t rows, size_t columns, size_t rowStep, size_t columnStep)
        : values_(values), rows_(rows), columns_(columns), rowStep_(rowStep), columnStep_(columnStep) {}

    const float* values_ = nullptr;
    size_t rows_ = 0, columns_ = 0, rowStep_ = 0, columnStep_ = 0;
};

// A box inside of the picture, in pixels of the picture.
struct Box {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0;
    int64_t classIndex = -1;  // -1: not known
};

struct Best {
    double score = -INFINITY;
    int64_t classIndex = -1;
};

Best bestClass(const Table& table, size_t row, size_t begin, int64_t background) {
    Best best;
    for (size_t column = begin; column < table.columns(); column++) {
        const auto classIndex = static_cast<int64_t>(column - begin);
        const double score = table.at(row, column);
        if (classIndex != background && score > best.score) best = {score, classIndex};
    }
    return best;
}

int64_t classIndexOf(double value) {
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
    Box box;
};

Row readRow(const Table& table, size_t row, Columns columns, int64_t background) {
    Row result;
    double score = 1;
    for (size_t i = 0; i < columns.size(); i++) {
        const double value = columns[i] == MNN_IMAGE_BOX_CLASSES ? 0 : table.at(row, i);
        switch (columns[i]) {
            case MNN_IMAGE_BOX_X1:
                result.x.low = value;
                break;
            case MNN_IMAGE_BOX_X2:
                result.x.high = value;
                break;
            case MNN_IMAGE_BOX_CENTRE_X:
                result.x.centre = value;
                break;
            case MNN_IMAGE_BOX_WIDTH:
                result.x.extent = value;
                break;
            case MNN_IMAGE_BOX_Y1:
                result.y.low = value;
                break;
            case MNN_IMAGE_BOX_Y2:
                result.y.high = value;
                break;
            case MNN_IMAGE_BOX_CENTRE_Y:
                result.y.centre = value;
                break;
            case MNN_IMAGE_BOX_HEIGHT:
                result.y.extent = value;
                break;
            case MNN_IMAGE_BOX_SCORE:
                score *= value;
                break;
            case MNN_IMAGE_BOX_CLASS:
                result.box.classIndex = classIndexOf(value);
                break;
            case MNN_IMAGE_BOX_CLASSES: {
                const Best best = bestClass(table, row, i, background);
                score *= best.score;
                result.box.classIndex = best.classIndex;
                break;
            }
            default:
                break;
        }
    }
    result.box.score = score;
    return result;
}

double area(const Box& box) {
    return (box.x2 - box.x1) * (box.y2 - box.y1);
}

double overlapOf(const Box& a, const Box& b) {
    const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
    if (width <= 0 || height <= 0) return 0;
    return width * height / (area(a) + area(b) - width * height);
}

// Removes each box that overlaps a better one of its class by more than maxOverlap (intersection over union). Expects
// the best boxes first.
void removeOverlaps(std::vector<Box>& boxes, double maxOverlap) {
    if (maxOverlap >= 1) return;
    if (boxes.size() > kMaxCandidates) boxes.resize(kMaxCandidates);
    std::vector<Box> kept;
    for (const Box& box : boxes) {
        const bool hidden = std::any_of(kept.begin(), kept.end(), [&](const Box& better) {
            return better.classIndex == box.classIndex && overlapOf(better, box) > maxOverlap;
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

// Fails unless the columns describe one box.
void checkColumns(Columns columns) {
    const auto count = [&](int32_t column) { return std::count(columns.begin(), columns.end(), column); };
    const auto isAxis = [&](int32_t low, int32_t high, int32_t centre, int32_t extent) {
        const bool once = count(low) < 2 && count(high) < 2 && count(centre) < 2 && count(extent) < 2;
        const bool edge = count(low) + count(high) + count(centre) + count(extent) == 2;
        return once && edge && (count(low) ? count(centre) == 0 : count(centre) && count(extent));
    };
    for (const int32_t column : columns)
        if (column < MNN_IMAGE_BOX_X1 || column > MNN_IMAGE_BOX_OTHER)
            fail(Status::InvalidValue, "there is no column %d of a box", column);
    if (!isAxis(MNN_IMAGE_BOX_X1, MNN_IMAGE_BOX_X2, MNN_IMAGE_BOX_CENTRE_X, MNN_IMAGE_BOX_WIDTH) ||
        !isAxis(MNN_IMAGE_BOX_Y1, MNN_IMAGE_BOX_Y2, MNN_IMAGE_BOX_CENTRE_Y, MNN_IMAGE_BOX_HEIGHT))
        fail(Status::InvalidValue,
             "the columns of a box must be x1 and x2, x1 and w, or cx and w, and likewise y1 and y2, y1 and h, or cy "
             "and h");
    if (count(MNN_IMAGE_BOX_CLASSES) && columns.back() != MNN_IMAGE_BOX_CLASSES)
        fail(Status::InvalidValue, "'classes' takes all remaining numbers of a box, so it is the last column");
    if (count(MNN_IMAGE_BOX_SCORE) > 1 || count(MNN_IMAGE_BOX_CLASS) + count(MNN_IMAGE_BOX_CLASSES) > 1)
        fail(Status::InvalidValue, "a box has one score, and one class or 'classes'");
}

struct Rows {
    std::vector<Row> list;
    bool scoredByClass = false;  // outputs have one score for each class
};

// Reads all rows with their scores and classes; those below the minimum score are left out.
Rows readRows(const mnn_image_detector_t& detector, const float* boxValues, const float* scoreValues,
              const float* classValues) {
    if (detector.column_count < 1 || static_cast<size_t>(detector.column_count) > std::size(detector.columns))
        fail(Status::InvalidValue, "the detector has %d columns; it has 1 to %zu", detector.column_count,
             std::size(detector.columns));
    const Columns columns(detector.columns, static_cast<size_t>(detector.column_count));
    checkColumns(columns);
    const bool many = columns.back() == MNN_IMAGE_BOX_CLASSES;
    const Table boxes(outputOf(boxValues, detector.boxes_dims, detector.boxes_rank, "boxes"),
                      many ? -detector.column_count : detector.column_count);
    Rows rows;
    Table scores, classes;
    if (detector.scores_rank != 0)
        scores =
            Table::ofScores(outputOf(scoreValues, detector.scores_dims, detector.scores_rank, "scores"), boxes.rows());
    if (detector.classes_rank != 0)
        classes = Table::ofScores(outputOf(classValues, detector.classes_dims, detector.classes_rank, "classes"),
                                  boxes.rows());
    if (classes.columns() > 1)
        fail(Status::ComputeSizeError, "the classes have %zu numbers for each box; one is needed", classes.columns());
    rows.scoredByClass = many || scores.columns() > 1;
    const int64_t background = detector.has_background ? detector.background : -1;
    for (size_t i = 0; i < boxes.rows(); i++) {
        Row row = readRow(boxes, i, columns, background);
        if (scores.columns() == 1) {
            row.box.score *= scores.at(i, 0);
        } else if (scores.columns() > 1) {
            const Best best = bestClass(scores, i, 0, background);
            row.box.score *= best.score;
            row.box.classIndex = best.classIndex;
        }
        if (classes.columns() > 0) row.box.classIndex = classIndexOf(classes.at(i, 0));
        const bool isThere = background < 0 || row.box.classIndex != background;
        if (!isThere || !(row.box.score >= detector.min_score) || !std::isfinite(row.box.score)) continue;
        row.x.complete();
        row.y.complete();
        rows.list.push_back(row);
    }
    return rows;
}

}  // namespace

std::vector<double> findBoxes(const mnn_image_detector_t& detector, const float* boxes, const float* scores,
                              const float* classes) {
    checkExtents(detector.input_width, detector.input_height, "the input");
    checkExtents(detector.picture_width, detector.picture_height, "the picture");
    const int32_t width = detector.width == 0 ? detector.input_width : detector.width;
    const int32_t height = detector.height == 0 ? detector.input_height : detector.height;
    checkExtents(width, height, "the part of the input with the picture");
    if (detector.unit < MNN_IMAGE_UNIT_GUESSED || detector.unit > MNN_IMAGE_UNIT_FRACTIONS)
        fail(Status::InvalidValue, "there is no unit %d", detector.unit);
    if (std::isnan(detector.min_score)) fail(Status::InvalidValue, "min_score is NaN");
    if (detector.has_overlap && !(detector.overlap >= 0 && detector.overlap <= 1))
        fail(Status::BadRange, "overlap is %g; it is 0 to 1", detector.overlap);
    const Rows rows = readRows(detector, boxes, scores, classes);
    const bool fractions = detector.unit == MNN_IMAGE_UNIT_FRACTIONS ||
                           (detector.unit == MNN_IMAGE_UNIT_GUESSED && areFractions(rows.list));
    const int32_t pictureWidth = detector.picture_width, pictureHeight = detector.picture_height;
    const Scale x{fractions ? detector.input_width : 1.0, detector.left, double(pictureWidth) / width, pictureWidth};
    const Scale y{fractions ? detector.input_height : 1.0, detector.top, double(pictureHeight) / height, pictureHeight};
    std::vector<Box> found;
    for (const Row& row : rows.list) {
        Box box = row.box;
        if (!std::isfinite(row.x.low) || !std::isfinite(row.x.high) || !std::isfinite(row.y.low) ||
            !std::isfinite(row.y.high))
            continue;
        box.x1 = x(row.x.low);
        box.x2 = x(row.x.high);
        box.y1 = y(row.y.low);
        box.y2 = y(row.y.high);
        if (box.x1 < box.x2 && box.y1 < box.y2) found.push_back(box);
    }
    std::stable_sort(found.begin(), found.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
    const double usual = rows.scoredByClass ? kUsualOverlap : 1;
    removeOverlaps(found, detector.has_overlap ? detector.overlap : usual);
    if (found.size() > MNN_IMAGE_MAX_BOXES) found.resize(MNN_IMAGE_MAX_BOXES);
    std::vector<double> numbers;
    for (const Box& box : found)
        numbers.insert(numbers.end(), {box.x1, box.y1, box.x2, box.y2, box.score, static_cast<double>(box.classIndex)});
    return numbers;
}

}  // namespace mnnc::image
