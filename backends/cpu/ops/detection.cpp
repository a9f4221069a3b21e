// DetectionPostProcess, DetectionOutput, PriorBox and Proposal. Each runs on one thread, because they are short
// compared with the nets that feed them.
#include "ops/detection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "ops/box_suppression.h"
#include "ops/detection_output.h"

namespace mnnc::cpu {

namespace {

// TFLite's custom operator TFLite_Detection_PostProcess, for every picture of a batch.
class PostProcess final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        const auto& p = params<PostProcessParams>();
        anchors_ = in(0).shape[1];
        width_ = in(0).shape[2];
        columns_ = in(1).shape[2];
        if (anchors_ == 0) return requestScratch(0);
        // The maximum numbers of boxes that the suppression of one class adds, and that are kept of all classes.
        added_ = std::min({p.perClass, p.maxDetections, anchors_});
        kept_ = std::min(p.maxDetections, checkedMul(p.classes, added_, "detections"));
        const int64_t list = p.regular ? checkedMul(checkedAdd(added_, kept_, "detections"),
                                                    static_cast<int64_t>(sizeof(Found)), "detections")
                                       : checkedMul(columns_, 4, "classes");
        requestScratch(checkedAdd(checkedMul(anchors_, 24, "boxes"), list, "detections"));
    }

    void run(const Frame& frame) const override {
        const auto& p = params<PostProcessParams>();
        const int64_t batch = in(0).shape[0], maxRows = p.maxDetections * p.classesPerBox;
        std::fill_n(outData<float>(frame, 0), out(0).elements(), 0.0f);
        std::fill_n(outData<float>(frame, 1), out(1).elements(), 0.0f);
        std::fill_n(outData<float>(frame, 2), out(2).elements(), 0.0f);
        if (anchors_ == 0) {
            // Scores without elements may still have very many classes and pictures to loop over.
            std::fill_n(outData<float>(frame, 3), batch, 0.0f);
            return;
        }
        Work work(frame.scratch(), anchors_);
        for (int64_t n = 0; n < batch; ++n) {
            decode(inData<float>(frame, 0) + n * anchors_ * width_, inData<float>(frame, 2), work.boxes);
            work.rowsOfScores = inData<float>(frame, 1) + n * anchors_ * columns_ + (columns_ - p.classes);
            const Rows rows{outData<float>(frame, 0) + n * maxRows * 4, outData<float>(frame, 1) + n * maxRows,
                            outData<float>(frame, 2) + n * maxRows};
            const int64_t count = p.regular ? eachClass(rows, work) : bestClasses(rows, work);
            outData<float>(frame, 3)[n] = static_cast<float>(count);
        }
    }

  private:
    struct Found {
        float score;
        int32_t label, box;
        bool operator<(const Found& b) const noexcept {
            if (score != b.score) return score > b.score;
            return label != b.label ? label < b.label : box < b.box;
        }
    };
    struct Rows {
        float *boxes, *labels, *scores;
    };

    // The scratch of a run; labels and found boxes share their memory.
    struct Work {
        Work(void* scratch, int64_t anchors)
            : boxes(static_cast<float*>(scratch)),
              scores(boxes + anchors * 4),
              candidates(reinterpret_cast<int32_t*>(scores + anchors)),
              labels(candidates + anchors),
              found(reinterpret_cast<Found*>(labels)) {}

        float *boxes, *scores;
        int32_t *candidates, *labels;
        Found* found;
        const float* rowsOfScores = nullptr;  // of the picture, behind the background's column
    };

    void decode(const float* codes, const float* anchors, float* boxes) const {
        const float* scale = params<PostProcessParams>().scale;
        for (int64_t i = 0; i < anchors_; ++i) {
            const float *code = codes + i * width_, *anchor = anchors + i * 4;
            float* box = boxes + i * 4;
            for (int k = 0; k < 2; ++k) {
                const float centre = code[k] / scale[k] * anchor[2 + k] + anchor[k];
                const float half = 0.5f * std::exp(code[2 + k] / scale[2 + k]) * anchor[2 + k];
                box[k] = centre - half;
                box[2 + k] = centre + half;
            }
        }
    }

    void write(const Rows& rows, const Work& work, int64_t at, int64_t box, int64_t label, float score) const {
        std::copy_n(work.boxes + box * 4, 4, rows.boxes + at * 4);
        rows.labels[at] = static_cast<float>(label);
        rows.scores[at] = score;
    }

    int64_t suppress(const Work& work, int64_t maxBoxes) const {
        const auto& p = params<PostProcessParams>();
        int64_t waiting = 0;
        for (int64_t i = 0; i < anchors_; ++i)
            if (work.scores[i] >= p.score) work.candidates[waiting++] = static_cast<int32_t>(i);
        std::sort(work.candidates, work.candidates + waiting, ByScore{work.scores});
        return suppressBoxes(work.boxes, work.candidates, waiting, maxBoxes, p.overlap, 0);
    }

    // Suppresses once by the best score of each box, and writes the best classes of each box.
    int64_t bestClasses(const Rows& rows, const Work& work) const {
        const auto& p = params<PostProcessParams>();
        constexpr float kNone = -std::numeric_limits<float>::infinity();
        for (int64_t i = 0; i < anchors_; ++i) {
            float best = kNone;
            for (int64_t c = 0; c < p.classes; ++c) best = std::max(best, work.rowsOfScores[i * columns_ + c]);
            work.scores[i] = best;
        }
        const int64_t kept = suppress(work, p.maxDetections), columns = std::min(p.classesPerBox, p.classes);
        for (int64_t k = 0; k < kept; ++k) {
            const int64_t box = work.candidates[k];
            const float* row = work.rowsOfScores + box * columns_;
            std::iota(work.labels, work.labels + p.classes, 0);
            const auto better = [row](int32_t a, int32_t b) {
                const float x = std::isnan(row[a]) ? kNone : row[a], y = std::isnan(row[b]) ? kNone : row[b];
                return x > y || (x == y && a < b);
            };
            std::partial_sort(work.labels, work.labels + columns, work.labels + p.classes, better);
            for (int64_t c = 0; c < columns; ++c)
                write(rows, work, p.classesPerBox * k + c, box, work.labels[c], row[work.labels[c]]);
        }
        return kept;
    }

    // Suppresses within each class, and writes the best boxes of all classes.
    int64_t eachClass(const Rows& rows, const Work& work) const {
        const auto& p = params<PostProcessParams>();
        int64_t count = 0;
        for (int64_t c = 0; c < p.classes; ++c) {
            for (int64_t i = 0; i < anchors_; ++i) work.scores[i] = work.rowsOfScores[i * columns_ + c];
            const int64_t added = suppress(work, added_);
            for (int64_t k = 0; k < added; ++k) {
                const int32_t box = work.candidates[k];
                work.found[count + k] = {work.scores[box], static_cast<int32_t>(c), box};
            }
            std::sort(work.found, work.found + count + added);
            count = std::min(count + added, kept_);
        }
        count = std::min(count, p.maxDetections * p.classesPerBox);
        for (int64_t k = 0; k < count; ++k)
            write(rows, work, k, work.found[k].box, work.found[k].label, work.found[k].score);
        return count;
    }

    int64_t anchors_ = 0, width_ = 0, columns_ = 0, added_ = 0, kept_ = 0;
};

class DetectionOutput final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override { requestScratch(params<DetectionOutputParams>().workBytes()); }
    void run(const Frame& frame) const override {
        DetectionInputs inputs{inData<float>(frame, 0), inData<float>(frame, 1), inData<float>(frame, 2)};
        if (command().inputs.size() > 4) {
            inputs.armConfidence = inData<float>(frame, 3);
            inputs.armLocation = inData<float>(frame, 4);
        }
        const int64_t maxRows = out().elements() / 6;
        const int64_t rows =
            detectBoxes(params<DetectionOutputParams>(), inputs, frame.scratch(), outData<float>(frame), maxRows);
        std::fill(outData<float>(frame) + std::min(rows, maxRows) * 6, outData<float>(frame) + maxRows * 6, 0.0f);
    }
};

// The boxes are those of prior_box_layer.cpp of Caffe's SSD branch.
class PriorBox final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void run(const Frame& frame) const override {
        const auto& p = params<PriorBoxParams>();
        const int64_t width = in(0).width(), height = in(0).height(), half = out().elements() / 2;
        const auto extent = [](int given, int64_t own) { return static_cast<float>(given > 0 ? given : own); };
        const float image[2] = {extent(p.imageWidth, in(1).width()), extent(p.imageHeight, in(1).height())};
        const float step[2] = {
            p.stepWidth > 0 ? static_cast<float>(p.stepWidth) : image[0] / static_cast<float>(width),
            p.stepHeight > 0 ? static_cast<float>(p.stepHeight) : image[1] / static_cast<float>(height)};
        float* box = outData<float>(frame);
        const auto put = [&](const float* centre, float boxWidth, float boxHeight) {
            const float sides[2] = {boxWidth / 2, boxHeight / 2};
            for (int i = 0; i < 4; ++i) {
                const int axis = i % 2;
                const float at = (i < 2 ? centre[axis] - sides[axis] : centre[axis] + sides[axis]) / image[axis];
                *box++ = p.clip ? std::clamp(at, 0.0f, 1.0f) : at;
            }
        };
        for (int64_t y = 0; y < height; ++y)
            for (int64_t x = 0; x < width; ++x) {
                const float centre[2] = {(static_cast<float>(x) + p.offset) * step[0],
                                         (static_cast<float>(y) + p.offset) * step[1]};
                for (size_t s = 0; s < p.minSizes.size(); ++s) {
                    const float size = p.minSizes[s];
                    put(centre, size, size);
                    if (!p.maxSizes.empty()) {
                        const float middle = std::sqrt(size * p.maxSizes[s]);
                        put(centre, middle, middle);
                    }
                    for (size_t r = 1; r < p.ratios.size(); ++r)
                        put(centre, size * std::sqrt(p.ratios[r]), size / std::sqrt(p.ratios[r]));
                }
            }
        float* variance = outData<float>(frame) + half;
        for (int64_t i = 0; i < half; ++i) variance[i] = p.variances[i % 4];
    }
};

// Follows proposal_layer.py of py-faster-rcnn, where a corner is a pixel: boxes that are too small or overlap are left
// out. The number of rows is fixed; those behind the last proposal are 0.
class Proposal final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void prepare() override {
        plane_ = in(0).shape[2] * in(0).shape[3];
        boxes_ = plane_ * params<ProposalParams>().anchors();
        requestScratch(checkedMul(boxes_, 24, "proposals"));
    }

    void run(const Frame& frame) const override {
        const int64_t batch = in(0).shape[0], rows = batch == 0 ? 0 : out().shape[0] / batch;
        const bool own = in(2).elements() >= 3 * batch;  // otherwise one size for all pictures
        const Work work(frame.scratch(), boxes_);
        for (int64_t n = 0; n < batch; ++n) {
            const float* image = inData<float>(frame, 2) + (own ? n * (in(2).elements() / batch) : 0);
            const int64_t kept = propose(frame, n, image, rows, work);
            float* row = outData<float>(frame, 0) + n * rows * 5;
            std::fill_n(row, rows * 5, 0.0f);
            for (int64_t k = 0; k < kept; ++k, row += 5) {
                row[0] = static_cast<float>(n);
                std::copy_n(work.boxes + int64_t{work.candidates[k]} * 4, 4, row + 1);
            }
            if (command().outputs.size() < 2) continue;
            float* score = outData<float>(frame, 1) + n * rows;
            std::fill_n(score, rows, 0.0f);
            for (int64_t k = 0; k < kept; ++k) score[k] = work.scores[work.candidates[k]];
        }
    }

  private:
    // The scratch of a run.
    struct Work {
        Work(void* scratch, int64_t count)
            : boxes(static_cast<float*>(scratch)),
              scores(boxes + count * 4),
              candidates(reinterpret_cast<int32_t*>(scores + count)) {}

        float *boxes, *scores;
        int32_t* candidates;
    };

    // Boxes are numbered cell by cell, with the anchors of a cell one after the other.
    int64_t propose(const Frame& frame, int64_t n, const float* image, int64_t rows, const Work& work) const {
        const auto& p = params<ProposalParams>();
        const int64_t anchors = p.anchors(), width = in(0).shape[3];
        const float* foreground = inData<float>(frame, 0) + (2 * n + 1) * boxes_;
        const float* deltas = inData<float>(frame, 1) + n * 4 * boxes_;
        const float limit[2] = {image[1] - 1, image[0] - 1}, minSize = p.minSize * image[2];
        int64_t waiting = 0;
        for (int64_t cell = 0; cell < plane_; ++cell) {
            const int64_t row = cell / width, column = cell % width;
            const float shift[2] = {static_cast<float>(column) * p.stride + p.centre,
                                    static_cast<float>(row) * p.stride + p.centre};
            for (int64_t a = 0; a < anchors; ++a) {
                const int64_t i = cell * anchors + a;
                float* box = work.boxes + i * 4;
                bool large = true;
                for (int axis = 0; axis < 2; ++axis) {
                    const float size = p.sizes[static_cast<size_t>(2 * a + axis)];
                    const float centre = deltas[(4 * a + axis) * plane_ + cell] * size + shift[axis];
                    const float half = 0.5f * std::exp(deltas[(4 * a + 2 + axis) * plane_ + cell]) * size;
                    box[axis] = std::max(std::min(centre - half, limit[axis]), 0.0f);
                    box[2 + axis] = std::max(std::min(centre + half, limit[axis]), 0.0f);
                    large = large && box[2 + axis] - box[axis] + 1 >= minSize;
                }
                work.scores[i] = foreground[a * plane_ + cell];
                if (large && !std::isnan(work.scores[i])) work.candidates[waiting++] = static_cast<int32_t>(i);
            }
        }
        std::sort(work.candidates, work.candidates + waiting, ByScore{work.scores});
        if (p.beforeSuppression > 0) waiting = std::min(waiting, p.beforeSuppression);
        return suppressBoxes(work.boxes, work.candidates, waiting, rows, p.overlap, 1);
    }

    int64_t plane_ = 0, boxes_ = 0;
};

}  // namespace

constexpr CpuOp kDetectionCpu[] = {
    {OpType::DetectionPostProcess, nullptr, makeExecution<PostProcess>},
    {OpType::DetectionOutput, nullptr, makeExecution<DetectionOutput>},
    {OpType::PriorBox, nullptr, makeExecution<PriorBox>},
    {OpType::Proposal, nullptr, makeExecution<Proposal>},
};
extern constinit const CpuFamily detectionCpu = kDetectionCpu;

}  // namespace mnnc::cpu
