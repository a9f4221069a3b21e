// Reads pictures in batches, runs them and splits the outputs.
#include "picture_runs.h"

#include <algorithm>
#include <optional>

#include "input_file.h"
#include "picture.h"
#include "picture_list.h"
#include "progress.h"

namespace tool {
namespace {

// How many run at once unless --batch says it: more gain little and take memory.
constexpr size_t kUsualBatch = 8;

struct LoadedPicture {
    const PictureFile* file;
    std::string bytes;
    Array array;  // of batch 1
};

// The outputs' shapes before a run; nothing where they depend on contents.
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
    PictureRuns(const Session& session, const RunOptions& options, mnn_tensor_t* input,
                std::vector<InputFile>& others)
        : session_(session), options_(options), input_(input), others_(others), shape_(shapeOf(input)) {
        // The model may declare another batch, or none: one picture at once is tried first.
        if (!shape_.empty()) shape_[0] = 1;
        form_.emplace(forInput("--image", input_, shape_, [&] { return imageFormOf(input_, shape_); }));
        one_ = shape_;
        resizeInput(session_, input_, shape_);
        shapeInputs(session_, others_);
        writeInputs(others_, options_.image);
        single_ = outputShapes(session_);
    }

    Extents extents() const {
        return {static_cast<double>(form_->width), static_cast<double>(form_->height)};
    }
    const ImageForm& form() const { return *form_; }
    const std::vector<int64_t>& shape() const { return one_; }  // of the input, for one picture

    // The largest batch up to `wanted` with which every output has a part for each picture: 1, or `wanted`.
    size_t batchFor(size_t wanted) {
        if (wanted < 2 || !single_) return 1;
        try {
            resize(wanted);
            if (isBatchOf(wanted)) return wanted;
        } catch (const ToolError&) {  // the net has fixed sizes inside
        }
        resize(1);
        return 1;
    }

    // The outputs of each picture.
    std::vector<std::vector<NamedArray>> run(const std::vector<LoadedPicture>& pictures) {
        resize(pictures.size());
        Array batch = pictures[0].array;
        batch.shape[0] = static_cast<int64_t>(pictures.size());
        for (size_t i = 1; i < pictures.size(); i++)
            batch.bytes.insert(batch.bytes.end(), pictures[i].array.bytes.begin(),
                               pictures[i].array.bytes.end());
        writeTensor(input_, batch);
        check(mnn_session_run(session_.get()));
        const std::vector<NamedArray> all = readOutputs(session_);
        if (pictures.size() == 1) return {all};
        std::vector<std::vector<NamedArray>> split(pictures.size());
        for (const NamedArray& output : all) {
            const size_t bytes = output.array.bytes.size() / pictures.size();
            std::vector<int64_t> shape = output.array.shape;
            shape[0] /= static_cast<int64_t>(pictures.size());
            for (size_t i = 0; i < pictures.size(); i++) {
                const auto begin = output.array.bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes);
                split[i].push_back(
                    {output.name,
                     {output.array.element, shape, {begin, begin + static_cast<std::ptrdiff_t>(bytes)}}});
            }
        }
        return split;
    }

  private:
    void resize(size_t batch) {
        if (shape_[0] == static_cast<int64_t>(batch)) return;
        std::vector<int64_t> shape = shape_;
        shape[0] = static_cast<int64_t>(batch);
        resizeInput(session_, input_, shape);
        shape_ = shape;  // what the input has now, also when the session cannot be planned for it
        check(mnn_session_resize(session_.get()));
    }

    bool isBatchOf(size_t count) const {
        const auto shapes = outputShapes(session_);
        if (!shapes) return false;
        for (size_t i = 0; i < shapes->size(); i++) {
            std::vector<int64_t> one = (*single_)[i];
            if (one.empty() || one[0] == 0) return false;
            one[0] *= static_cast<int64_t>(count);
            if ((*shapes)[i] != one) return false;
        }
        return true;
    }

    const Session& session_;
    const RunOptions& options_;
    mnn_tensor_t* input_;
    std::vector<InputFile>& others_;
    std::vector<int64_t> shape_;  // of the input now
    std::vector<int64_t> one_;
    std::optional<ImageForm> form_;
    std::optional<std::vector<std::vector<int64_t>>> single_;  // the outputs' shapes with one picture
};

}  // namespace

void runPictures(const Session& session, const RunOptions& options, mnn_tensor_t* input,
                 std::vector<InputFile>& others, ResultWriter& results) {
    const std::vector<PictureFile> files = pictureFiles(options.images);
    const bool alone = files.size() == 1 && files[0].path == options.images[0];
    if (!alone && !options.output.empty()) requireDifferentNames(files, "--output");
    if (!alone && !options.draw.empty()) requireDifferentNames(files, "--draw");
    if (!alone && (options.output == "-" || options.draw == "-"))
        throw UsageError("standard output takes the result of one picture");
    PictureRuns runs(session, options, input, others);
    const size_t batch =
        runs.batchFor(std::min(options.batch > 0 ? options.batch : kUsualBatch, files.size()));
    Progress progress("run", files.size(), Progress::Drawn::ByThread);
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
        if (pictures.empty() || (pictures.size() < batch && i + 1 < files.size())) continue;
        const std::vector<std::vector<NamedArray>> outputs = runs.run(pictures);
        progress.clear();
        for (size_t k = 0; k < pictures.size(); k++)
            results.write({pictures[k].file->path, alone ? "" : pictures[k].file->name, outputs[k],
                           &pictures[k].bytes, runs.extents()});
        pictures.clear();
    }
}

}  // namespace tool
