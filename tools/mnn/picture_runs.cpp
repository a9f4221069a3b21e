// Reads pictures in batches, runs them and splits the outputs.
#include "picture_runs.h"

#include <algorithm>
#include <optional>
#include <span>

#include "compare_outputs.h"
#include "input_file.h"
#include "picture.h"
#include "picture_list.h"
#include "progress.h"

namespace tool {
namespace {

// The default number of pictures per run: more gain little and take memory.
constexpr size_t kUsualBatch = 8;
// The largest difference, relative to the largest element, between a picture's outputs in a batch and alone: kernels
// may sum in another order, with precision low also with other roundings.
constexpr double kTolerance = 1e-3, kToleranceLow = 2e-2;

struct LoadedPicture {
    const PictureFile* file;
    std::string bytes;
    Array array;  // has batch 1
};

// Returns the outputs' shapes before a run; std::nullopt where they depend on contents.
std::optional<std::vector<std::vector<int64_t>>> outputShapes(const Session& session) {
    std::vector<std::vector<int64_t>> shapes;
    for (const mnn_tensor_t* output : outputsOf(session)) {
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        if (mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank) != MNN_OK) return std::nullopt;
        if (std::any_of(dims, dims + rank, [](int32_t dim) { return dim < 0; })) return std::nullopt;
        shapes.emplace_back(dims, dims + rank);
    }
    return shapes;
}

class PictureRuns {
  public:
    // `count` is the number of all pictures.
    PictureRuns(const Session& session, const RunOptions& options, mnn_tensor_t* input, std::vector<InputFile>& others,
                size_t count, Progress& progress)
        : session_(session),
          options_(options),
          input_(input),
          others_(others),
          progress_(progress),
          shape_(shapeOf(input)) {
        // The model may declare another batch, or none, so one picture is tried first.
        if (!shape_.empty()) shape_[0] = 1;
        form_.emplace(forInput("--image", input_, shape_, [&] { return imageFormOf(input_, shape_); }));
        one_ = shape_;
        resizeInput(session_, input_, shape_);
        shapeInputs(session_, others_);
        writeInputs(others_, options_.image);
        single_ = outputShapes(session_);
        chooseBatch(std::min(options_.batch > 0 ? options_.batch : kUsualBatch, count));
    }

    const ImageForm& form() const { return *form_; }
    const std::vector<int64_t>& shape() const { return one_; }  // the input's shape for one picture

    size_t batch() const { return batch_; }  // number of pictures per run

    // Returns the outputs of each picture, or nothing where each has to run alone.
    std::vector<std::vector<NamedArray>> together(std::span<const LoadedPicture> pictures) {
        if (pictures.size() < 2) return {};
        std::string fault;
        try {
            fault = runTogether(pictures);
        } catch (const ToolError& error) {  // the contents of one of them may be the reason
            fault = error.what();
        }
        if (fault.empty()) return std::move(parts_);
        runAlone(fault);
        return {};
    }

    std::vector<NamedArray> alone(const LoadedPicture& picture) { return outputsFor({&picture, 1}); }

  private:
    // Sets the batch to `wanted` if the outputs' shapes then have a part for each picture, else to 1.
    void chooseBatch(size_t wanted) {
        if (wanted < 2) return;
        std::string fault = "the shapes of outputs depend on contents";
        try {
            if (single_) {
                resize(wanted);
                fault = faultOfShapes(wanted);
            }
            if (fault.empty()) {
                batch_ = wanted;
                return;
            }
        } catch (const ToolError& error) {  // the net has fixed sizes inside
            fault = error.what();
        }
        resize(1);
        if (options_.batch > 0) runAlone(fault);  // reported only where --batch requested more
    }

    void runAlone(const std::string& fault) {
        batch_ = 1;
        progress_.clear();
        text::print(stderr, "mnn run: the pictures run one after another, since {}\n", fault);
    }

    std::vector<NamedArray> outputsFor(std::span<const LoadedPicture> pictures) {
        resize(pictures.size());
        Array batch = pictures[0].array;
        batch.shape[0] = static_cast<int64_t>(pictures.size());
        for (const LoadedPicture& picture : pictures.subspan(1))
            batch.bytes.insert(batch.bytes.end(), picture.array.bytes.begin(), picture.array.bytes.end());
        writeTensor(input_, batch);
        check(mnn_session_state_reset(session_.get()));  // pictures do not see those before them
        check(mnn_session_run(session_.get()));
        return readOutputs(session_);
    }

    // Stores the outputs of each picture in parts_, or returns why they cannot be split.
    std::string runTogether(std::span<const LoadedPicture> pictures) {
        const size_t count = pictures.size();
        const std::vector<NamedArray> all = outputsFor(pictures);
        std::string fault = faultOfShapes(count);
        if (!fault.empty()) return fault;
        parts_.assign(count, {});
        for (const NamedArray& output : all) {
            const size_t bytes = output.array.bytes.size() / count;
            std::vector<int64_t> shape = output.array.shape;
            shape[0] /= static_cast<int64_t>(count);
            for (size_t i = 0; i < count; i++) {
                const auto begin = output.array.bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes);
                parts_[i].push_back(
                    {output.name, {output.array.element, shape, {begin, begin + static_cast<std::ptrdiff_t>(bytes)}}});
            }
        }
        if (proven_) return "";
        proven_ = true;
        return faultOfPart(pictures.back(), parts_.back());
    }

    // Shapes do not show which picture a number belongs to: a net may mix pictures, or interleave their outputs.
    std::string faultOfPart(const LoadedPicture& picture, const std::vector<NamedArray>& part) {
        const std::vector<NamedArray> single = alone(picture);
        for (size_t i = 0; i < single.size(); i++) {
            const double tolerance = options_.flags.precision == "low" ? kToleranceLow : kTolerance;
            const bool isInteger = single[i].array.element != Element::Float32;
            if (!(relativeError(single[i].array, part[i].array) <= (isInteger ? 0 : tolerance)))
                return fmt::format("the output '{}' of '{}' differs when other pictures are in the batch",
                                   single[i].name, picture.file->path);
        }
        return "";
    }

    void resize(size_t batch) {
        if (shape_[0] == static_cast<int64_t>(batch)) return;
        std::vector<int64_t> shape = shape_;
        shape[0] = static_cast<int64_t>(batch);
        resizeInput(session_, input_, shape);
        shape_ = shape;  // the input has this shape now, also when the session cannot be planned for it
        check(mnn_session_resize(session_.get()));
    }

    std::string faultOfShapes(size_t count) const {
        const auto shapes = outputShapes(session_);
        const std::vector<mnn_tensor_t*> outputs = outputsOf(session_);
        for (size_t i = 0; i < outputs.size(); i++) {
            std::vector<int64_t> wanted = (*single_)[i];
            if (!wanted.empty()) wanted[0] *= static_cast<int64_t>(count);
            if (!shapes || wanted.empty() || wanted[0] == 0 || (*shapes)[i] != wanted)
                return fmt::format("'{}' has no part for each picture", nameOf(outputs[i]));
        }
        return "";
    }

    const Session& session_;
    const RunOptions& options_;
    mnn_tensor_t* input_;
    std::vector<InputFile>& others_;
    Progress& progress_;
    std::vector<int64_t> shape_;  // the input's present shape
    std::vector<int64_t> one_;
    std::optional<ImageForm> form_;
    std::optional<std::vector<std::vector<int64_t>>> single_;  // the outputs' shapes for one picture
    size_t batch_ = 1;
    bool proven_ = false;  // a part of a batch was compared with a run of its picture alone
    std::vector<std::vector<NamedArray>> parts_;
};

}  // namespace

void runPictures(const Session& session, const RunOptions& options, mnn_tensor_t* input, std::vector<InputFile>& others,
                 ResultWriter& results) {
    const std::vector<PictureFile> files = pictureFiles(options.images);
    const bool alone = files.size() == 1 && files[0].path == options.images[0];
    if (!alone && !options.output.empty()) requireDifferentNames(files, "--output");
    if (!alone && !options.draw.empty()) requireDifferentNames(files, "--draw");
    if (!alone && (options.output == "-" || options.draw == "-"))
        throw UsageError("standard output takes the result of one picture");
    Progress progress("run", files.size(), Progress::Drawn::ByThread);
    PictureRuns runs(session, options, input, others, files.size(), progress);
    std::vector<LoadedPicture> pictures;
    for (size_t i = 0; i < files.size(); i++) {
        progress.show(i, files[i].path);
        try {
            LoadedPicture picture{&files[i], {}, {}};
            forInput(files[i].path, input, runs.shape(), [&] {
                picture.bytes = readInput(files[i].path, kMaxPictureBytes);
                picture.array = imageInput(picture.bytes, runs.form(), options.image);
            });
            pictures.push_back(std::move(picture));
        } catch (const ToolError& error) {
            progress.clear();
            results.fail(files[i].path, error.what());
        }
        if (pictures.empty() || (pictures.size() < runs.batch() && i + 1 < files.size())) continue;
        std::vector<std::vector<NamedArray>> outputs = runs.together(pictures);
        for (size_t k = 0; k < pictures.size(); k++) {
            const PictureFile& file = *pictures[k].file;
            try {
                Result result{file.path, alone ? "" : file.name, {}, &pictures[k].bytes, runs.form()};
                result.outputs = outputs.empty() ? runs.alone(pictures[k]) : std::move(outputs[k]);
                progress.clear();
                results.write(result);
            } catch (const ToolError& error) {
                progress.clear();
                results.fail(file.path, fmt::format("{}: {}", file.path, error.what()));
            }
        }
        pictures.clear();
    }
}

}  // namespace tool
