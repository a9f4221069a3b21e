// Opens external weight files and checks ranges against their real size.
#include "model/external_file.h"

#include <algorithm>
#include <filesystem>

#include "base/checked.h"
#include "base/error.h"
#include "base/os/paths.h"
#include "mnn_generated.h"
#include "model/released_bytes.h"
#include "model/wire_access.h"

namespace mnnc {

ExternalFile::ExternalFile(const std::string& path, ModelBytes::Access access)
    : name_(path), bytes_(ModelBytes::fromFile(path.c_str(), access)) {}

StoredBytes ExternalFile::range(int64_t offset, int64_t bytes, const char* opName) const {
    if (offset < 0 || bytes < 0)
        fail(Status::BadWeights, "operator '%s': the external range at %lld of %lld bytes has a negative number",
             opName, asLong(offset), asLong(bytes));
    const int64_t end = checkedAdd(offset, bytes, "external weight range");
    if (end > size())
        fail(Status::Truncated, "operator '%s': the external range ends at byte %lld, '%s' has %lld", opName,
             asLong(end), name_.c_str(), asLong(size()));
    return {bytes_, static_cast<size_t>(offset), static_cast<size_t>(bytes)};
}

namespace {

using Entries = flatbuffers::Vector<int64_t>;

// Calls a function with the list of ranges of each table of an operator that refers to the file. A list counts only
// when it has more than one entry.
template <typename Function>
void eachExternal(const wire::Op& op, Function&& function) {
    const auto visit = [&](const auto* table) {
        if (table && vectorSize(table->external()) > 1) function(*table->external());
    };
    visit(op.main_as_Convolution2D());
    visit(op.main_as_Blob());
    visit(op.main_as_Convolution3D());
    visit(op.main_as_Scale());
    visit(op.main_as_LayerNorm());
    const auto* fused = op.main_as_FusedLinearParam();
    if (!fused) return;
    visit(fused->ln());
    if (fused->convs())
        for (const auto* conv : *fused->convs()) visit(conv);
}

// Returns the range from the first to the last byte that a list names, cut off at the end of the file.
ByteRange wholeRange(const Entries& entries, size_t fileSize) {
    if (entries.Get(0) < 0 || static_cast<uint64_t>(entries.Get(0)) > fileSize) return {0, 0};
    const auto offset = static_cast<size_t>(entries.Get(0));
    size_t bytes = 0;
    for (uint32_t i = 1; i < entries.size(); ++i)
        if (entries.Get(i) > 0) bytes += std::min(static_cast<size_t>(entries.Get(i)), fileSize - offset - bytes);
    return {offset, bytes};
}

// Sorts ranges, and joins those that touch one another.
void merge(std::vector<ByteRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    size_t kept = 0;
    for (const ByteRange& range : ranges) {
        if (kept > 0 && range.offset <= ranges[kept - 1].offset + ranges[kept - 1].bytes) {
            ByteRange& last = ranges[kept - 1];
            last.bytes = std::max(last.bytes, range.offset + range.bytes - last.offset);
        } else {
            ranges[kept++] = range;
        }
    }
    ranges.resize(kept);
}

}  // namespace

bool usesExternalData(const wire::Op& op) {
    bool found = false;
    eachExternal(op, [&](const Entries&) { found = true; });
    return found;
}

const ExternalFile* ExternalFiles::forOp(const wire::Op& op) const {
    if (!usesExternalData(op)) return nullptr;
    if (!op.externalPath() || op.externalPath()->size() == 0) {
        if (given_) return given_.get();
        return defaultPath_.empty() ? nullptr : open(defaultPath_);
    }
    const std::string written = op.externalPath()->str();
    const char* name = op.name() ? op.name()->c_str() : "";
    if (!allowPathInOps_)
        fail(Status::InvalidValue, "operator '%s' names its own weight file '%s', which is not allowed", name,
             written.c_str());
    const std::filesystem::path path = os::pathOf(written);
    bool climbs = path.has_root_path();  // a drive is a root, too
    for (const auto& part : path) climbs = climbs || part == "..";
    if (climbs || written.find('\0') != std::string::npos)
        fail(Status::InvalidValue, "operator '%s': weight file '%s' lies outside the model's folder", name,
             written.c_str());
    return open(os::textOf(os::pathOf(modelFolder_) / path));
}

void ExternalFiles::expect(const wire::Op& op) const noexcept {
    try {
        forOp(op);
    } catch (const std::exception&) {
    }
}

void ExternalFiles::dropPages() const {
    if (given_) given_->bytes().dropPages();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [path, file] : files_)
        if (file) file->bytes().dropPages();
}

void ExternalFiles::dropBuffers() const {
    if (given_) given_->bytes().dropBuffers();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [path, file] : files_)
        if (file) file->bytes().dropBuffers();
}

void ExternalFiles::addKept(std::span<const wire::Op* const> ops, KeptSources& kept) const {
    std::map<const ExternalFile*, std::vector<ByteRange>> ranges;
    for (const wire::Op* op : ops) {
        if (!usesExternalData(*op)) continue;
        const ExternalFile* file = nullptr;
        try {
            file = forOp(*op);
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory) throw;
            continue;  // no plan has weights of this file either
        }
        if (!file) continue;
        eachExternal(*op, [&](const Entries& entries) {
            ranges[file].push_back(wholeRange(entries, static_cast<size_t>(file->size())));
        });
    }
    for (auto& [file, list] : ranges) {
        merge(list);
        kept.emplace_back(&file->bytes(), file->bytes().kept(list));
    }
}

void ExternalFiles::release() const {
    if (given_) given_->bytes().release();
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
    for (const auto& [path, file] : files_)
        if (file) file->bytes().release();
}

void ExternalFiles::close() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
}

const ExternalFile* ExternalFiles::open(const std::string& path) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& file = files_[path];
    if (!file && released_) throw ReleasedBytes();
    if (!file) file = std::make_unique<const ExternalFile>(path, access_);
    return file.get();
}

}  // namespace mnnc
