// Goes over the tables by the types that flatc writes down for them.
#include "model/sharing.h"

#include <flatbuffers/minireflect.h>

#include <cstring>

#include "mnn_generated.h"  // the one with types

namespace mnnc {

namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;

class Walk {
  public:
    // Writers share a few names at most.
    Walk(const uint8_t* data, size_t size)
        : data_(data), size_(size), left_(4 * uint64_t{size} + (1 << 20)) {}

    // False where an offset leaves the file, or too much is reached.
    bool root() {
        uint32_t offset = 0;
        return read(0, offset) && table(offset, *wire::NetTypeTable(), 0);
    }
    bool exhausted() const { return exhausted_; }

  private:
    static constexpr int kMaxDepth = 64;

    template <typename T>
    bool read(uint64_t at, T& value) const {
        if (at > size_ || size_ - at < sizeof value) return false;
        std::memcpy(&value, data_ + at, sizeof value);
        return true;
    }

    bool spend(uint64_t bytes) {
        if (bytes > left_) {
            exhausted_ = true;
            return false;
        }
        left_ -= bytes;
        return true;
    }

    // Where the reference at `at` leads.
    bool follow(uint64_t at, uint64_t& target) const {
        uint32_t offset = 0;
        if (!read(at, offset)) return false;
        target = at + offset;
        return target < size_;
    }

    bool text(uint64_t at) {
        uint32_t length = 0;
        return read(at, length) && length <= size_ - at && spend(uint64_t{length} + 4);
    }

    bool vector(uint64_t at, ElementaryType type, const TypeTable* reference, int depth) {
        uint32_t count = 0;
        const bool nested = type == flatbuffers::ET_STRING || type == flatbuffers::ET_SEQUENCE;
        if (!read(at, count)) return false;
        const uint64_t bytes = uint64_t{count} * (nested ? 4 : flatbuffers::InlineSize(type, reference));
        if (bytes > size_ - at - 4 || !spend(bytes + 4)) return false;
        for (uint32_t i = 0; nested && i < count; ++i)
            if (!element(at + 4 + uint64_t{i} * 4, type, reference, depth)) return false;
        return true;
    }

    bool element(uint64_t at, ElementaryType type, const TypeTable* reference, int depth) {
        uint64_t target = 0;
        if (!follow(at, target)) return false;
        return type == flatbuffers::ET_STRING ? text(target) : table(target, *reference, depth + 1);
    }

    bool field(uint64_t at, ElementaryType type, const TypeTable* reference, uint8_t unionType, int depth) {
        if (type == flatbuffers::ET_SEQUENCE && reference->st == flatbuffers::ST_UNION) {
            // Members are numbered in order, with none first; unknown ones are never looked at.
            if (unionType >= reference->num_elems || reference->type_codes[unionType].sequence_ref < 0)
                return true;
            reference = reference->type_refs[reference->type_codes[unionType].sequence_ref]();
        }
        if (type == flatbuffers::ET_STRING || type == flatbuffers::ET_SEQUENCE)
            return element(at, type, reference, depth);
        return true;
    }

    bool table(uint64_t at, const TypeTable& type, int depth) {
        int32_t toLayout = 0;
        uint16_t layoutBytes = 0;
        if (depth > kMaxDepth || !read(at, toLayout)) return false;
        const int64_t layout = static_cast<int64_t>(at) - toLayout;
        if (layout < 0 || !read(static_cast<uint64_t>(layout), layoutBytes) ||
            !spend(uint64_t{layoutBytes} + 4))
            return false;
        uint8_t previous = 0;
        for (size_t i = 0; i < type.num_elems && 4 + 2 * i + 2 <= layoutBytes; ++i) {
            uint16_t offset = 0;
            if (!read(static_cast<uint64_t>(layout) + 4 + 2 * i, offset)) return false;
            if (offset == 0) {
                previous = 0;
                continue;
            }
            const auto code = type.type_codes[i];
            const auto base = static_cast<ElementaryType>(code.base_type);
            const TypeTable* reference =
                code.sequence_ref >= 0 ? type.type_refs[code.sequence_ref]() : nullptr;
            uint64_t target = 0;
            if (code.is_repeating ? !follow(at + offset, target) || !vector(target, base, reference, depth)
                                  : !field(at + offset, base, reference, previous, depth))
                return false;
            if (base == flatbuffers::ET_UTYPE && !code.is_repeating && !read(at + offset, previous))
                return false;
        }
        return true;
    }

    const uint8_t* data_;
    uint64_t size_;
    uint64_t left_;
    bool exhausted_ = false;
};

}  // namespace

Sharing checkSharing(const uint8_t* data, size_t size) {
    Walk walk(data, size);
    if (walk.root()) return Sharing::Fits;
    return walk.exhausted() ? Sharing::TooMuch : Sharing::Malformed;
}

}  // namespace mnnc
