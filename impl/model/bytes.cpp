// Copies, borrows, maps or reads the bytes of a model.
#include "model/bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "model/file.h"

namespace mnnc {

namespace {

constexpr uintptr_t kAlignment = 8;
constexpr size_t kBlock = 4096;  // what fetch() reads at least

}  // namespace

// Memory for what is read, used again: fresh memory costs as much as the reading. One buffer is kept at most. All are of
// one size, of which only what is used takes memory; larger ones are not kept.
class ReadBuffers : public std::enable_shared_from_this<ReadBuffers> {
  public:
    std::shared_ptr<uint8_t> take(size_t bytes) {
        if (bytes > kBytes) {
            const auto large = std::make_shared<AlignedBuffer>(static_cast<int64_t>(bytes));
            return {large, large->as<uint8_t>()};
        }
        const auto loan = std::make_shared<Loan>();
        loan->home = weak_from_this();
        {
            const std::lock_guard lock(mutex_);
            std::swap(spare_, loan->memory);
        }
        if (!loan->memory) loan->memory = map();
        return {loan, static_cast<uint8_t*>(loan->memory)};
    }
    void clear() noexcept {
        const std::lock_guard lock(mutex_);
        unmap(std::exchange(spare_, nullptr));
    }
    ~ReadBuffers() { unmap(spare_); }

  private:
    static constexpr size_t kBytes = size_t{4} << 20;
    static constexpr size_t kSlack = 4096;  // behind the end, as AlignedBuffer has it

    struct Loan {
        void* memory = nullptr;
        std::weak_ptr<ReadBuffers> home;
        ~Loan() {
            if (const auto buffers = home.lock())
                buffers->giveBack(memory);
            else
                unmap(memory);
        }
    };

    static void* map() {
        void* memory =
            ::mmap(nullptr, kBytes + kSlack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) fail(Status::OutOfMemory, "no memory for a buffer of %zu bytes", kBytes);
#ifdef MADV_NOHUGEPAGE
        ::madvise(memory, kBytes + kSlack, MADV_NOHUGEPAGE);
#endif
        return memory;
    }
    static void unmap(void* memory) noexcept {
        if (memory) ::munmap(memory, kBytes + kSlack);
    }
    void giveBack(void* memory) noexcept {
        {
            const std::lock_guard lock(mutex_);
            if (!spare_) std::swap(spare_, memory);
        }
        unmap(memory);
    }

    std::mutex mutex_;
    void* spare_ = nullptr;
};

ModelBytes::ModelBytes(ModelBytes&& other) noexcept {
    *this = std::move(other);
}

ModelBytes& ModelBytes::operator=(ModelBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(isMapped_, other.isMapped_);
    std::swap(owned_, other.owned_);
    std::swap(owner_, other.owner_);
    std::swap(source_, other.source_);
    std::swap(fetched_, other.fetched_);
    std::swap(buffers_, other.buffers_);
    return *this;
}

ModelBytes::~ModelBytes() {
    if (mapping_) ::munmap(mapping_, size_);
}

ModelBytes ModelBytes::fromFile(const char* path, Access access, const Cancellation& cancel) {
    auto file = std::make_unique<const File>(path);
    ModelBytes bytes;
    bytes.size_ = file->size();
    if (access == Access::Map) {
        void* mapping = ::mmap(nullptr, bytes.size_, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
        if (mapping != MAP_FAILED) {
            bytes.mapping_ = mapping;
            bytes.isMapped_ = true;
            bytes.data_ = static_cast<const uint8_t*>(mapping);
            return bytes;
        }
    }
    const bool whole = access != Access::OnDemand || file->justModified();
    bytes = fromSource(std::move(file));
    if (whole) bytes.fetchAll(cancel);
    return bytes;
}

ModelBytes ModelBytes::fromSource(std::unique_ptr<const ByteSource> source) {
    ModelBytes bytes;
    bytes.size_ = source->size();
    bytes.source_ = std::move(source);
    bytes.buffers_ = std::make_shared<ReadBuffers>();
    return bytes;
}

bool ModelBytes::fetch(size_t offset, size_t bytes) {
    if (offset > size_ || bytes > size_ - offset) return false;
    if (!source_ || bytes == 0) return true;
    if (!mapping_) {
        void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            fail(Status::OutOfMemory, "no address space for the %zu bytes of '%s'", size_,
                 source_->name().c_str());
#ifdef MADV_NOHUGEPAGE
        ::madvise(memory, size_, MADV_NOHUGEPAGE);  // most of it stays untouched
#endif
        mapping_ = memory;
        data_ = static_cast<const uint8_t*>(memory);
    }
    if (fetched_.empty()) fetched_.resize((size_ + kBlock - 1) / kBlock);
    const size_t end = (offset + bytes + kBlock - 1) / kBlock;
    for (size_t block = offset / kBlock; block < end; ++block) {
        if (fetched_[block]) continue;
        size_t last = block + 1;
        while (last < end && !fetched_[last]) ++last;
        const size_t from = block * kBlock, to = std::min(size_, last * kBlock);
        source_->read(from, static_cast<uint8_t*>(mapping_) + from, to - from);
        for (; block < last; ++block) fetched_[block] = true;
    }
    return true;
}

void ModelBytes::fetchAll(const Cancellation& cancel) {
    if (!source_) return;
    if (!mapping_) {
        owned_ = std::make_unique_for_overwrite<uint8_t[]>(size_);
        constexpr size_t kPiece = size_t{16} << 20;
        for (size_t at = 0; at < size_; at += kPiece) {
            cancel.check();
            source_->read(at, owned_.get() + at, std::min(kPiece, size_ - at));
        }
        data_ = owned_.get();
    } else {
        fetch(0, size_);
    }
    source_->requireUnchanged();
    source_.reset();
}

void ModelBytes::requireUnchanged() const {
    if (source_) source_->requireUnchanged();
}

bool ModelBytes::inMemory(size_t offset, size_t bytes) const noexcept {
    if (!source_ || bytes == 0) return true;
    if (fetched_.empty()) return false;
    const auto first = fetched_.begin() + static_cast<ptrdiff_t>(offset / kBlock);
    const auto last = fetched_.begin() + static_cast<ptrdiff_t>((offset + bytes + kBlock - 1) / kBlock);
    return std::all_of(first, last, [](bool fetched) { return fetched; });
}

HeldBytes ModelBytes::view(size_t offset, size_t bytes) const {
    if (bytes == 0) return {};
    if (inMemory(offset, bytes)) return {{data_ + offset, bytes}, nullptr};
    const std::shared_ptr<uint8_t> buffer = buffers_->take(bytes);
    source_->requireUnchanged();
    source_->read(offset, buffer.get(), bytes);
    source_->requireUnchanged();
    return {{buffer.get(), bytes}, buffer};
}

void ModelBytes::dropPages() const noexcept {
    if (isMapped()) ::madvise(mapping_, size_, MADV_DONTNEED);
}

void ModelBytes::dropBuffers() const noexcept {
    if (buffers_) buffers_->clear();
}

ModelBytes ModelBytes::copied(const void* data, size_t size) {
    if (!data) fail(Status::NullArgument, "the model buffer is NULL");
    if (size == 0) fail(Status::Truncated, "the model buffer is empty");
    ModelBytes bytes;
    bytes.owned_ = std::make_unique_for_overwrite<uint8_t[]>(size);
    std::memcpy(bytes.owned_.get(), data, size);
    bytes.data_ = bytes.owned_.get();
    bytes.size_ = size;
    return bytes;
}

ModelBytes ModelBytes::borrowed(const void* data, size_t size, std::shared_ptr<const void> owner) {
    if (!data || size == 0 || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return copied(data, size);
    ModelBytes bytes;
    bytes.data_ = static_cast<const uint8_t*>(data);
    bytes.size_ = size;
    bytes.owner_ = std::move(owner);
    return bytes;
}

}  // namespace mnnc
