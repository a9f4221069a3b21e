// Copies, borrows, maps or reads the bytes of a model.
#include "model/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/os/memory.h"
#include "model/file.h"
#include "model/memory_source.h"
#include "model/released_bytes.h"

namespace mnnc {

namespace {

constexpr uintptr_t kAlignment = 8;
constexpr size_t kBlock = 4096;              // fetch() reads whole blocks of this size
constexpr size_t kPiece = size_t{16} << 20;  // the part of a file that is read between two checks of the token

class BorrowedMemory final : public MemorySource {
  public:
    BorrowedMemory(const uint8_t* data, size_t size, std::shared_ptr<const void> owner)
        : MemorySource(data, size), owner_(std::move(owner)) {}

  private:
    const std::shared_ptr<const void> owner_;
};

struct Unmap {
    size_t bytes;
    void operator()(void* memory) const noexcept { os::unmapFile(memory, bytes); }
};
using Mapping = std::unique_ptr<void, Unmap>;

class MappedFile final : public MemorySource {
  public:
    explicit MappedFile(Mapping mapping)
        : MemorySource(static_cast<const uint8_t*>(mapping.get()), mapping.get_deleter().bytes),
          mapping_(std::move(mapping)) {}
    void dropPages() const noexcept override { os::dropPages(mapping_.get(), size()); }

  private:
    const Mapping mapping_;
};

std::unique_ptr<const ByteSource> readWhole(const File& file, const Cancellation& cancel) {
    const size_t size = file.size();
    auto memory = std::make_unique<OwnMemory>(size, file.name());
    for (size_t at = 0; at < size; at += kPiece) {
        cancel.check();
        file.read(at, memory->bytes() + at, std::min(kPiece, size - at));
    }
    file.requireUnchanged();
    return memory;
}

}  // namespace

// Reuses memory for reading, because fresh memory costs as much as the reading. It keeps at most two buffers, because
// codes and their scales are read at the same time. All buffers have the same size, of which only used pages take
// memory; larger buffers are not kept.
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
            for (void*& spare : spares_)
                if (!loan->memory) std::swap(spare, loan->memory);
        }
        if (!loan->memory) loan->memory = map();
        return {loan, static_cast<uint8_t*>(loan->memory)};
    }
    void clear() noexcept {
        const std::lock_guard lock(mutex_);
        for (void*& spare : spares_) unmap(std::exchange(spare, nullptr));
    }
    ~ReadBuffers() { clear(); }

  private:
    static constexpr size_t kBytes = size_t{4} << 20;
    static constexpr size_t kSlack = 4096;  // after the end, as in AlignedBuffer

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
        void* memory = os::reserveMemory(kBytes + kSlack, true);
        if (!memory) fail(Status::OutOfMemory, "there is no memory for a buffer of %zu bytes", kBytes);
        os::preferSmallPages(memory, kBytes + kSlack);
        return memory;
    }
    static void unmap(void* memory) noexcept { os::releaseMemory(memory, kBytes + kSlack); }
    void giveBack(void* memory) noexcept {
        {
            const std::lock_guard lock(mutex_);
            for (void*& spare : spares_)
                if (!spare) std::swap(spare, memory);
        }
        unmap(memory);
    }

    std::mutex mutex_;
    std::array<void*, 2> spares_ = {};
};

ModelBytes::ModelBytes(ModelBytes&& other) noexcept {
    *this = std::move(other);
}

ModelBytes& ModelBytes::operator=(ModelBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(fetched_, other.fetched_);
    std::swap(held_, other.held_);
    std::swap(buffers_, other.buffers_);
    return *this;
}

ModelBytes::~ModelBytes() {
    releaseZeros(mapping_, size_);
}

ModelBytes ModelBytes::fromFile(const char* path, Access access, const Cancellation& cancel) {
    auto file = std::make_unique<const File>(path);
    if (access == Access::Map) {
        const size_t size = file->size();
        Mapping mapping(file->system().map(size), {size});
        if (mapping) return fromSource(std::make_unique<const MappedFile>(std::move(mapping)));
    }
    if (access != Access::OnDemand || file->justModified()) return fromSource(readWhole(*file, cancel));
    return fromSource(std::move(file));
}

ModelBytes ModelBytes::fromSource(std::unique_ptr<const ByteSource> source) {
    ModelBytes bytes;
    bytes.size_ = source->size();
    if (!source->data()) bytes.buffers_ = std::make_shared<ReadBuffers>();
    bytes.held_ = std::make_unique<Held>();
    bytes.held_->source = std::move(source);
    return bytes;
}

std::shared_ptr<const ByteSource> ModelBytes::source() const {
    if (!held_) return nullptr;
    const std::lock_guard lock(held_->mutex);
    return held_->source;
}

void ModelBytes::release() const noexcept {
    std::shared_ptr<const ByteSource> last;  // destroyed without the lock, because that may call the host
    if (held_) {
        const std::lock_guard lock(held_->mutex);
        last.swap(held_->source);
    }
    if (last) last->giveBackRest();
    dropBuffers();
}

void ModelBytes::exchange(std::shared_ptr<const ByteSource>& source) const noexcept {
    {
        const std::lock_guard lock(held_->mutex);
        if (held_->source) held_->source.swap(source);
    }
    dropBuffers();
}

std::shared_ptr<const ByteSource> ModelBytes::kept(std::span<const ByteRange> ranges) const {
    std::shared_ptr<const ByteSource> from = source();
    if (!from || from->isOwn()) return from;
    auto read = std::make_unique<OwnMemory>(size_, from->name());
    from->requireUnchanged();
    for (const ByteRange& range : ranges)
        for (size_t at = 0; at < range.bytes; at += kPiece)
            from->read(range.offset + at, read->bytes() + range.offset + at, std::min(kPiece, range.bytes - at));
    from->requireUnchanged();
    return read;
}

bool ModelBytes::fetch(size_t offset, size_t bytes) {
    if (offset > size_ || bytes > size_ - offset) return false;
    if (bytes == 0) return true;
    const std::shared_ptr<const ByteSource> from = source();
    if (!mapping_) {
        mapping_ = reserveZeros(size_, from->name());
        data_ = static_cast<const uint8_t*>(mapping_);
    }
    if (fetched_.empty()) fetched_.resize((size_ + kBlock - 1) / kBlock);
    const size_t end = (offset + bytes + kBlock - 1) / kBlock;
    for (size_t block = offset / kBlock; block < end; ++block) {
        if (fetched_[block]) continue;
        size_t last = block + 1;
        while (last < end && !fetched_[last]) ++last;
        const size_t first = block * kBlock, to = std::min(size_, last * kBlock);
        from->read(first, static_cast<uint8_t*>(mapping_) + first, to - first);
        for (; block < last; ++block) fetched_[block] = true;
    }
    return true;
}

void ModelBytes::fetchAll() {
    fetch(0, size_);
    requireUnchanged();
}

void ModelBytes::requireUnchanged() const {
    if (const auto from = source()) from->requireUnchanged();
}

bool ModelBytes::inMemory(size_t offset, size_t bytes) const noexcept {
    if (bytes == 0 || !held_) return true;  // without a source all bytes are in memory
    if (fetched_.empty()) return false;
    const auto first = fetched_.begin() + static_cast<ptrdiff_t>(offset / kBlock);
    const auto last = fetched_.begin() + static_cast<ptrdiff_t>((offset + bytes + kBlock - 1) / kBlock);
    return std::all_of(first, last, [](bool fetched) { return fetched; });
}

HeldBytes ModelBytes::view(size_t offset, size_t bytes) const {
    if (bytes == 0) return {};
    if (inMemory(offset, bytes)) return {{data_ + offset, bytes}, nullptr};
    const std::shared_ptr<const ByteSource> from = source();
    if (!from) throw ReleasedBytes();
    if (from->data()) {
        std::shared_ptr<const void> owner = from->hold(from, offset, bytes);
        if (!owner) throw ReleasedBytes();
        return {{from->data() + offset, bytes}, std::move(owner)};
    }
    const std::shared_ptr<uint8_t> buffer = buffers_->take(bytes);
    from->requireUnchanged();
    from->read(offset, buffer.get(), bytes);
    from->requireUnchanged();
    return {{buffer.get(), bytes}, buffer};
}

void ModelBytes::dropPages() const noexcept {
    if (const auto from = source()) from->dropPages();
}

void ModelBytes::dropBuffers() const noexcept {
    if (buffers_) buffers_->clear();
}

ModelBytes ModelBytes::copied(const void* data, size_t size) {
    if (!data) fail(Status::NullArgument, "the model buffer is NULL");
    if (size == 0) fail(Status::Truncated, "the model buffer is empty");
    auto memory = std::make_unique<OwnMemory>(size, MemorySource::kName);
    std::memcpy(memory->bytes(), data, size);
    return fromSource(std::move(memory));
}

ModelBytes ModelBytes::borrowed(const void* data, size_t size, std::shared_ptr<const void> owner) {
    if (!data || size == 0 || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return copied(data, size);
    return fromSource(
        std::make_unique<const BorrowedMemory>(static_cast<const uint8_t*>(data), size, std::move(owner)));
}

}  // namespace mnnc
