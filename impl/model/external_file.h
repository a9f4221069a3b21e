// The external weights of a model: one flat file of byte ranges without header or index, or the same bytes from the
// host. ExternalFiles decides which file belongs to an operator and opens each at most once, when it is first used or
// expected. Paths inside a model are untrusted: they are used only when the application allows it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/bytes.h"
#include "model/stored_bytes.h"

namespace mnnc {

namespace wire {
struct Op;
}

class ExternalFile {
  public:
    // Throws what ModelBytes::fromFile() throws.
    explicit ExternalFile(const std::string& path, ModelBytes::Access access = ModelBytes::Access::OnDemand);
    // Bytes that the host supplies in place of a file. name: for error sentences.
    ExternalFile(std::string name, ModelBytes bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

    const std::string& name() const noexcept { return name_; }
    int64_t size() const noexcept { return static_cast<int64_t>(bytes_.size()); }
    const ModelBytes& bytes() const noexcept { return bytes_; }
    // Throws BadWeights for negative numbers, Overflow when the end does not fit, Truncated beyond the file's end.
    StoredBytes range(int64_t offset, int64_t bytes, const char* opName) const;

  private:
    std::string name_;
    ModelBytes bytes_;
};

// The files with the arrays of a table: the model itself and its weight file. Either may be null: then the table's
// arrays are all in memory, or there is no weight file.
struct WeightFiles {
    WeightFiles(const ExternalFile* weightFile) : external(weightFile) {}
    WeightFiles(const ModelBytes* bytes, const ExternalFile* weightFile) : model(bytes), external(weightFile) {}

    const ModelBytes* model = nullptr;
    const ExternalFile* external = nullptr;
};

// Whether the operator's table refers to external data at all.
bool usesExternalData(const wire::Op& op);

// Pairs of bytes and a source for ModelBytes::exchange(): before the exchange the new source, after it the replaced
// one.
using KeptSources = std::vector<std::pair<const ModelBytes*, std::shared_ptr<const ByteSource>>>;

class ExternalFiles {
  public:
    // defaultPath may be empty: a model from memory has no external file. given: replaces that file; may be null.
    ExternalFiles(std::shared_ptr<const ExternalFile> given, std::string defaultPath, std::string modelFolder,
                  bool allowPathInOps, ModelBytes::Access access)
        : given_(std::move(given)),
          defaultPath_(std::move(defaultPath)),
          modelFolder_(std::move(modelFolder)),
          allowPathInOps_(allowPathInOps),
          access_(access) {}

    // Returns the file of this operator; null when all its arrays are inline or the model has no file. Throws when the
    // file cannot be opened, or when the operator names a separate file that is not allowed. Safe to call from several
    // threads.
    const ExternalFile* forOp(const wire::Op& op) const;
    // Opens the operator's file, if it has one, to record which file belongs to the model. The first use reports a
    // failure.
    void expect(const wire::Op& op) const noexcept;
    void dropPages() const;
    void dropBuffers() const;
    // Releases the bytes of all files; no further file is opened.
    void release() const;
    // Adds, for each file, a source in memory with the ranges that these operators use. The files stay open for
    // reading. A file that cannot be opened is left out. Throws what reading throws.
    void addKept(std::span<const wire::Op* const> ops, KeptSources& kept) const;
    // Makes sure that no further file is opened.
    void close() const;

  private:
    const ExternalFile* open(const std::string& path) const;

    std::shared_ptr<const ExternalFile> given_;
    std::string defaultPath_;
    std::string modelFolder_;
    bool allowPathInOps_;
    mutable bool released_ = false;
    ModelBytes::Access access_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::unique_ptr<const ExternalFile>> files_;
};

}  // namespace mnnc
