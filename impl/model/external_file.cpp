// Opens external weight files and checks ranges against their real size.
#include "model/external_file.h"

#include <filesystem>

#include "base/checked.h"
#include "base/error.h"
#include "mnn_generated.h"
#include "model/wire_access.h"

namespace mnnc {

ExternalFile::ExternalFile(const std::string& path, ModelBytes::Access access)
    : name_(path), bytes_(ModelBytes::fromFile(path.c_str(), access)) {}

StoredBytes ExternalFile::range(int64_t offset, int64_t bytes, const char* opName) const {
    if (offset < 0 || bytes < 0)
        fail(Status::BadWeights, "operator '%s': external range at %lld of %lld bytes is negative", opName,
             static_cast<long long>(offset), static_cast<long long>(bytes));
    const int64_t end = checkedAdd(offset, bytes, "external weight range");
    if (end > size())
        fail(Status::Truncated, "operator '%s': external range ends at byte %lld, '%s' has %lld", opName,
             static_cast<long long>(end), name_.c_str(), static_cast<long long>(size()));
    return {bytes_, static_cast<size_t>(offset), static_cast<size_t>(bytes)};
}

namespace {

// A field is used only when it has more than one entry.
template <typename Table>
bool refersOut(const Table* table) {
    return table && vectorSize(table->external()) > 1;
}

}  // namespace

bool usesExternalData(const wire::Op& op) {
    if (refersOut(op.main_as_Convolution2D()) || refersOut(op.main_as_Blob()) ||
        refersOut(op.main_as_Convolution3D()) || refersOut(op.main_as_Scale()) || refersOut(op.main_as_LayerNorm()))
        return true;
    const auto* fused = op.main_as_FusedLinearParam();
    if (!fused) return false;
    if (refersOut(fused->ln())) return true;
    if (fused->convs())
        for (const auto* conv : *fused->convs())
            if (refersOut(conv)) return true;
    return false;
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
    const std::filesystem::path path(written);
    bool climbs = path.is_absolute();
    for (const auto& part : path) climbs = climbs || part == "..";
    if (climbs || written.find('\0') != std::string::npos)
        fail(Status::InvalidValue, "operator '%s': weight file '%s' lies outside the model's folder", name,
             written.c_str());
    return open((std::filesystem::path(modelFolder_) / path).string());
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

void ExternalFiles::release() const {
    if (given_) given_->bytes().release();
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
    for (const auto& [path, file] : files_)
        if (file) file->bytes().release();
}

const ExternalFile* ExternalFiles::open(const std::string& path) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& file = files_[path];
    if (!file && released_)
        fail(Status::BadState, "weights in '%s' are needed, which mnn_interpreter_release_model() gave back",
             path.c_str());
    if (!file) file = std::make_unique<const ExternalFile>(path, access_);
    return file.get();
}

}  // namespace mnnc
