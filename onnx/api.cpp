// The functions of mnn_c_onnx.h: arguments, handles, statuses and sentences.
#include <mnn_c_onnx.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/boundary.h"
#include "base/os/files.h"
#include "base/os/paths.h"
#include "c_api/arguments.h"
#include "convert.h"

namespace mnnc::onnx {
namespace {

// A plain array: a thread-local with a destructor would keep the library mapped after dlclose.
thread_local char lastError[1024];

void keepSentence(const char* sentence) noexcept {
    std::snprintf(lastError, sizeof lastError, "%s", sentence);
}

template <typename Body>
mnn_status guard(Body&& body) noexcept {
    return static_cast<mnn_status>(statusOf(keepSentence, body));
}

// ---- Results ----

// Handles are numbers, so that handles of destroyed results are recognised.
class Results {
  public:
    mnn_onnx_result_t* add(std::shared_ptr<const Converted> result) {
        const std::lock_guard lock(mutex_);
        results_[++last_] = std::move(result);
        return reinterpret_cast<mnn_onnx_result_t*>(last_);
    }
    std::shared_ptr<const Converted> get(const mnn_onnx_result_t* handle) {
        required(handle, "result");
        const std::lock_guard lock(mutex_);
        const auto found = results_.find(reinterpret_cast<uintptr_t>(handle));
        if (found == results_.end())
            fail(Status::BadHandle, "the handle is no result of this library, or it is destroyed");
        return found->second;
    }
    void remove(const mnn_onnx_result_t* handle) {
        std::shared_ptr<const Converted> last = get(handle);  // freed after the lock is released
        const std::lock_guard lock(mutex_);
        results_.erase(reinterpret_cast<uintptr_t>(handle));
    }

  private:
    std::mutex mutex_;
    std::map<uintptr_t, std::shared_ptr<const Converted>> results_;
    uintptr_t last_ = 0;
};

Results& results() {
    static Results all;
    return all;
}

// ---- Arguments ----

void readWriting(const mnn_onnx_options_t& read, WriteOptions& to) {
    if (read.weights < MNN_ONNX_WEIGHTS_FLOAT32 || read.weights > MNN_ONNX_WEIGHTS_INT4)
        fail(Status::InvalidValue, "weights is %d; it must be one of MNN_ONNX_WEIGHTS_*", read.weights);
    to.weights = static_cast<Weights>(read.weights);
    const bool coded = read.weights >= MNN_ONNX_WEIGHTS_INT8;
    if (read.weight_block && !coded)
        fail(Status::InvalidValue, "weight_block is %d, but only weights of int8 and int4 have blocks",
             read.weight_block);
    if (read.weight_block < 0 || read.weight_block % 16)
        fail(Status::InvalidValue, "weight_block is %d, which is no multiple of 16", read.weight_block);
    to.block = static_cast<size_t>(read.weight_block);
    if (read.weights_beside != 0 && read.weights_beside != 1)
        fail(Status::InvalidValue, "weights_beside is %d; it must be 0 or 1", read.weights_beside);
    to.beside = read.weights_beside != 0;
}

// folder: where the model's file is, or empty for a model in memory, for which the options may name a folder.
ImportOptions readOptions(const mnn_onnx_options_t* given, DataFolder& folder) {
    ImportOptions options;
    if (!given) return options;
    const auto read = readStruct(*given, sizeof *given, "mnn_onnx_options_t");
    readWriting(read, options.write);
    options.maxBytes = read.max_memory_bytes;
    options.cancel = read.cancel;
    if (read.progress)
        options.progress = [call = read.progress, user = read.progress_user_data](uint64_t done, uint64_t total) {
            if (call(user, done, total) != 0)
                fail(Status::CallbackStop, "progress asked to stop after %llu nodes",
                     static_cast<unsigned long long>(done));
        };
    if (read.shape_count) required(read.shapes, "options.shapes");
    for (size_t i = 0; i < read.shape_count; ++i) {
        const mnn_onnx_shape_t& shape = read.shapes[i];
        required(shape.input, "options.shapes.input");
        if (shape.rank) required(shape.dims, "options.shapes.dims");
        if (shape.rank > MNN_MAX_RANK)
            fail(Status::InvalidValue, "the shape of '%s' has rank %zu; %d is the maximum", shape.input, shape.rank,
                 static_cast<int>(MNN_MAX_RANK));
        for (size_t k = 0; k < shape.rank; ++k)
            if (shape.dims[k] < -1)
                fail(Status::InvalidValue, "the shape of '%s' has an extent of %d; it must be -1 or more", shape.input,
                     shape.dims[k]);
        options.shapes[shape.input].assign(shape.dims, shape.dims + shape.rank);
    }
    if (read.extent_count) required(read.extents, "options.extents");
    for (size_t i = 0; i < read.extent_count; ++i) {
        required(read.extents[i].name, "options.extents.name");
        if (read.extents[i].extent < 0)
            fail(Status::InvalidValue, "the extent '%s' is %d; it must be 0 or more", read.extents[i].name,
                 read.extents[i].extent);
        options.extents[read.extents[i].name] = read.extents[i].extent;
    }
    if (read.output_count) required(read.outputs, "options.outputs");
    for (size_t i = 0; i < read.output_count; ++i)
        options.outputs.emplace_back(&required(read.outputs[i], "options.outputs"));
    if (read.follow_links != 0 && read.follow_links != 1)
        fail(Status::InvalidValue, "follow_links is %d; it must be 0 or 1", read.follow_links);
    folder.followLinks = read.follow_links != 0;
    if (read.data_folder && folder.path.empty()) folder.path = read.data_folder;
    return options;
}

// Throws `status` with the sentence that the path cannot be `done`, or OutOfMemory where the system lacks memory.
[[noreturn]] void failFile(Status status, const char* path, const char* done, int error) {
    fail(os::saysNoMemory(error) ? Status::OutOfMemory : status, "'%s' cannot be %s: %s", path, done,
         os::errorText(error).c_str());
}

class MappedFile {
  public:
    explicit MappedFile(const char* path) {
        os::InputFile file;
        if (!file.open(path)) {
            const int error = os::lastError();
            failFile(os::saysMissing(error) ? Status::FileNotExist : Status::FileOpenFailed, path, "opened", error);
        }
        os::FileFacts facts;
        if (!file.facts(facts) || facts.kind != os::FileFacts::Kind::Regular)
            fail(Status::FileOpenFailed, "'%s' is no file", path);
        size_ = static_cast<size_t>(facts.bytes);
        if (size_ == 0) return;
        bytes_ = file.map(size_);
        if (!bytes_) failFile(Status::FileReadFailed, path, "mapped", os::lastError());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() { os::unmapFile(bytes_, size_); }
    Bytes bytes() const { return {static_cast<const std::byte*>(bytes_), size_}; }
    // Allows the pages of a part to leave memory: a later access reads them from the file again.
    static void forget(Bytes part) {
        constexpr uintptr_t kPage = 4096, kLarge = 1 << 20;
        if (part.size() < kLarge) return;
        const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + kPage - 1) / kPage * kPage;
        const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / kPage * kPage;
        if (begin < end) os::dropPages(reinterpret_cast<void*>(begin), end - begin);
    }

  private:
    void* bytes_ = nullptr;
    size_t size_ = 0;
};

// ---- Files ----

// A file that is written beside its place, and moved there once all files are complete.
class PartFile {
  public:
    PartFile(std::string path, const void* data, size_t size) : path_(std::move(path)), beside_(path_ + ".part") {
        std::FILE* file = os::openStream(beside_.c_str(), "wb");
        if (!file) failFile(Status::FileWriteFailed, beside_.c_str(), "written", os::lastError());
        const bool written = std::fwrite(data, 1, size, file) == size;
        if (std::fclose(file) != 0 || !written) giveUp();
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile() {
        if (!moved_) os::removeFile(beside_.c_str());
    }
    void move() {
        if (!os::renameFile(beside_.c_str(), path_.c_str())) giveUp();
        moved_ = true;
    }

  private:
    [[noreturn]] void giveUp() {
        const int reason = os::lastError();
        os::removeFile(beside_.c_str());
        failFile(Status::FileWriteFailed, path_.c_str(), "written", reason);
    }

    std::string path_, beside_;
    bool moved_ = false;
};

const Converted& complete(const Converted& result) {
    if (result.report.problems.empty()) return result;
    const Problem& first = result.report.problems.front();
    fail(Status::NotSupported, "the model has %zu nodes that have no form; the first is '%s' (%s): %s",
         result.report.problems.size(), first.node.c_str(), first.type.c_str(), first.reason.c_str());
}

}  // namespace
}  // namespace mnnc::onnx

using namespace mnnc;
using namespace mnnc::onnx;

extern "C" {

mnn_status mnn_onnx_options_init(mnn_onnx_options_t* options, size_t size) {
    return guard([&] { initStruct(&required(options, "options"), size, sizeof *options, "mnn_onnx_options_t"); });
}

const char* mnn_onnx_last_error(void) {
    return lastError;
}

mnn_status mnn_onnx_convert_file(const char* path, const mnn_onnx_options_t* options, mnn_onnx_result_t** out) {
    return guard([&] {
        required(path, "path");
        required(out, "out");
        DataFolder folder;
        folder.path = os::textOf(os::pathOf(path).parent_path());
        if (folder.path.empty()) folder.path = ".";
        ImportOptions read = readOptions(options, folder);
        const MappedFile file(path);
        read.write.forget = MappedFile::forget;
        *out = results().add(std::make_shared<Converted>(convert(file.bytes(), read, folder)));
    });
}

mnn_status mnn_onnx_convert_memory(const void* data, size_t size, const mnn_onnx_options_t* options,
                                   mnn_onnx_result_t** out) {
    return guard([&] {
        required(static_cast<const std::byte*>(data), "data");
        required(out, "out");
        DataFolder folder;
        const ImportOptions read = readOptions(options, folder);
        *out = results().add(
            std::make_shared<Converted>(convert({static_cast<const std::byte*>(data), size}, read, folder)));
    });
}

mnn_status mnn_onnx_result_destroy(mnn_onnx_result_t** result) {
    return guard([&] {
        if (!result || !*result) return;
        results().remove(*result);
        *result = nullptr;
    });
}

mnn_status mnn_onnx_result_report(const mnn_onnx_result_t* result, mnn_onnx_report_t* report) {
    return guard([&] {
        const auto converted = results().get(result);
        checkStructSize(required(report, "report").struct_size, sizeof *report, "mnn_onnx_report_t");
        const Report& from = converted->report;
        writeStruct(report, {0, from.nodes, from.functions, from.operators, from.folded, from.problems.size(),
                             from.notes.size()});
    });
}

mnn_status mnn_onnx_result_problem(const mnn_onnx_result_t* result, size_t index, mnn_onnx_problem_t* problem) {
    return guard([&] {
        const auto converted = results().get(result);
        checkStructSize(required(problem, "problem").struct_size, sizeof *problem, "mnn_onnx_problem_t");
        const std::vector<Problem>& problems = converted->report.problems;
        if (index >= problems.size())
            fail(Status::BadIndex, "there is no problem %zu: the report has %zu", index, problems.size());
        const Problem& one = problems[index];
        writeStruct(problem, {0, one.node.c_str(), one.domain.c_str(), one.type.c_str(), one.reason.c_str(), one.opset,
                              one.status, 0});
    });
}

mnn_status mnn_onnx_result_note(const mnn_onnx_result_t* result, size_t index, const char** note) {
    return guard([&] {
        const auto converted = results().get(result);
        required(note, "note");
        const std::vector<std::string>& notes = converted->report.notes;
        if (index >= notes.size())
            fail(Status::BadIndex, "there is no note %zu: the report has %zu", index, notes.size());
        *note = notes[index].c_str();
    });
}

mnn_status mnn_onnx_result_data(const mnn_onnx_result_t* result, const void** data, size_t* size) {
    return guard([&] {
        const auto converted = results().get(result);
        required(data, "data");
        required(size, "size");
        const Converted& whole = complete(*converted);
        *data = whole.net.net.data();
        *size = whole.net.net.size();
    });
}

mnn_status mnn_onnx_result_weights(const mnn_onnx_result_t* result, const void** data, size_t* size) {
    return guard([&] {
        const auto converted = results().get(result);
        required(data, "data");
        required(size, "size");
        const Converted& whole = complete(*converted);
        *data = whole.net.weights.empty() ? nullptr : whole.net.weights.data();
        *size = whole.net.weights.size();
    });
}

mnn_status mnn_onnx_result_save(const mnn_onnx_result_t* result, const char* path) {
    return guard([&] {
        const auto converted = results().get(result);
        required(path, "path");
        const Converted& whole = complete(*converted);
        std::optional<PartFile> weights;
        if (!whole.net.weights.empty())
            weights.emplace(std::string(path) + ".weight", whole.net.weights.data(), whole.net.weights.size());
        PartFile net(path, whole.net.net.data(), whole.net.net.size());
        if (weights) weights->move();
        net.move();
    });
}

}  // extern "C"
