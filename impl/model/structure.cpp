// Traverses the tables of a file that has not been verified, guided by the type tables that flatc generates. An offset
// is followed only if it leads inside the file. Where the traversal fetches a file, all bytes that it misses read as
// zeros afterwards, also for the verifier: this affects which files are accepted, never safety.
#include "model/structure.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "mnn_generated.h"

namespace mnnc {

namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;

constexpr size_t kLarge = 8192;  // bytes of an array; smaller ones are fetched completely

size_t elementSize(ElementaryType type) {
    switch (type) {
        case flatbuffers::ET_SHORT:
        case flatbuffers::ET_USHORT:
            return 2;
        case flatbuffers::ET_INT:
        case flatbuffers::ET_UINT:
        case flatbuffers::ET_FLOAT:
            return 4;
        case flatbuffers::ET_LONG:
        case flatbuffers::ET_ULONG:
        case flatbuffers::ET_DOUBLE:
            return 8;
        default:
            return 1;
    }
}

// Whether an array's content is read on demand. A Blob stays in the file only as an operator's own table; others are
// read in place.
bool staysInFile(const TypeTable* type, size_t slot, bool ownParameters) {
    const auto is = [&](const TypeTable* table, std::initializer_list<int> slots) {
        return type == table && std::find(slots.begin(), slots.end(), static_cast<int>(slot)) != slots.end();
    };
    using wire::Blob;
    using wire::IDSTQuan;
    return is(wire::Convolution2DTypeTable(), {wire::Convolution2D::VT_WEIGHT}) ||
           is(wire::IDSTQuanTypeTable(),
              {IDSTQuan::VT_BUFFER, IDSTQuan::VT_ALPHA, IDSTQuan::VT_INDEX, IDSTQuan::VT_ALPHAFP16}) ||
           is(wire::QuantizedFloatParamTypeTable(), {wire::QuantizedFloatParam::VT_WEIGHT}) ||
           is(wire::InnerProductTypeTable(), {wire::InnerProduct::VT_WEIGHT}) ||
           is(wire::Convolution3DTypeTable(), {wire::Convolution3D::VT_WEIGHT}) ||
           (ownParameters && is(wire::BlobTypeTable(), {Blob::VT_UINT8S, Blob::VT_INT8S, Blob::VT_INT32S,
                                                        Blob::VT_INT64S, Blob::VT_FLOAT32S}));
}

// Bytes that are completely in memory.
struct MemoryBytes {
    const uint8_t* begin;
    size_t count;
    const uint8_t* data() const { return begin; }
    size_t size() const { return count; }
    bool fetch(size_t offset, size_t bytes) const { return offset <= count && bytes <= count - offset; }
};

// When data lies beyond the end of the bytes, the traversal records that and continues with the rest: a truncated file
// has no other fault, however little of it is left. The traversal ends at the first contradiction.
template <typename Bytes>
class Traversal {
  public:
    explicit Traversal(Bytes& bytes) : bytes_(bytes), left_(4 * uint64_t{bytes.size()} + (1 << 20)) {}

    Structure net() {
        size_t root = 0;
        if (follow(0, root)) table(root, wire::NetTypeTable(), 0, false);
        if (exhausted_) return Structure::SharesTooMuch;
        if (malformed_) return Structure::Malformed;
        return cut_ ? Structure::Cut : Structure::Sound;
    }

  private:
    bool goesOn() const { return !malformed_ && !exhausted_; }
    bool malformed() {
        malformed_ = true;
        return false;
    }
    // Returns false when the range ends beyond the end of the bytes.
    bool fetch(size_t at, size_t bytes) {
        if (bytes_.fetch(at, bytes)) return true;
        cut_ = true;
        return false;
    }
    template <typename T>
    bool read(size_t at, T& value) {
        if (!fetch(at, sizeof value)) return false;
        std::memcpy(&value, bytes_.data() + at, sizeof value);
        return true;
    }

    // Returns false when the offset leads beyond the end, or can lead nowhere.
    bool follow(size_t at, size_t& target) {
        uint32_t offset = 0;
        if (!read(at, offset)) return false;
        target = at + offset;
        if (offset > kMaxOffset || target % sizeof(uint32_t) != 0) return malformed();
        return fetch(target, 1);
    }

    // Objects may be referenced repeatedly, and count each time. Writers share only a few names.
    bool spend(uint64_t bytes) {
        exhausted_ |= bytes > left_;
        if (!exhausted_) left_ -= bytes;
        return !exhausted_;
    }

    // These return whether the traversal continues.
    bool table(size_t at, const TypeTable* type, int depth, bool ownParameters) {
        if (depth > kMaxTableDepth) return malformed();
        int32_t back = 0;
        uint16_t slots = 0;
        if (!read(at, back)) return goesOn();
        const int64_t vtable = static_cast<int64_t>(at) - back;
        if (vtable < 0 || vtable % 2 != 0) return malformed();
        const auto first = static_cast<size_t>(vtable);
        if (!read(first, slots)) return goesOn();
        if (slots % 2 != 0) return malformed();
        if (!fetch(first, slots) || !spend(uint64_t{slots} + 4)) return goesOn();
        uint8_t member = 0;  // type of the union whose value is the next field
        for (size_t i = 0; i < type->num_elems; ++i) {
            const size_t slot = 4 + 2 * i;
            uint16_t place = 0;
            if (slot + 2 > slots) break;
            if (!read(first + slot, place)) return goesOn();
            if (place == 0) continue;
            const size_t field = at + place;
            const flatbuffers::TypeCode code = type->type_codes[i];
            const auto kind = static_cast<ElementaryType>(code.base_type);
            if (code.is_repeating) {
                if (!array(field, type, i, depth, staysInFile(type, slot, ownParameters))) return false;
            } else if (kind == flatbuffers::ET_UTYPE) {
                read(field, member);
            } else if (kind == flatbuffers::ET_STRING) {
                if (!text(field)) return false;
            } else if (kind == flatbuffers::ET_SEQUENCE) {
                if (!sequence(field, type->type_refs[code.sequence_ref](), member, depth)) return false;
            } else {
                fetch(field, elementSize(kind));
            }
        }
        return goesOn();
    }

    bool sequence(size_t field, const TypeTable* type, uint8_t member, int depth) {
        size_t target = 0;
        if (type->st == flatbuffers::ST_TABLE)
            return follow(field, target) ? table(target, type, depth + 1, false) : goesOn();
        // Union fields: without a member there is no value, and the verifier skips unknown members.
        if (type->st != flatbuffers::ST_UNION) return malformed();
        if (member == 0 || member >= type->num_elems) {
            fetch(field, sizeof(uint32_t));
            return goesOn();
        }
        const TypeTable* chosen = type->type_refs[type->type_codes[member].sequence_ref]();
        return follow(field, target) ? table(target, chosen, depth + 1, true) : goesOn();
    }

    bool text(size_t field) {
        size_t target = 0;
        uint32_t length = 0;
        if (follow(field, target) && read(target, length) &&
            fetch(target, sizeof length + size_t{length} + 1))  // including the terminating zero
            spend(uint64_t{length} + 4);
        return goesOn();
    }

    bool array(size_t field, const TypeTable* type, size_t index, int depth, bool staysThere) {
        const flatbuffers::TypeCode code = type->type_codes[index];
        const auto kind = static_cast<ElementaryType>(code.base_type);
        size_t target = 0;
        uint32_t count = 0;
        if (!follow(field, target) || !read(target, count)) return goesOn();
        const size_t begin = target + sizeof count;
        const bool offsets = kind == flatbuffers::ET_STRING || kind == flatbuffers::ET_SEQUENCE;
        const size_t bytes = size_t{count} * (offsets ? sizeof(uint32_t) : elementSize(kind));
        // Elements of eight bytes are read in place; the verifier checks only the alignment of the length.
        if (elementSize(kind) == 8 && count > 0 && begin % 8 != 0) return malformed();
        if (bytes > bytes_.size() - begin) {
            cut_ = true;
            return true;
        }
        if (!spend(bytes + 4)) return false;
        const bool headOnly = staysThere && bytes > kLarge;
        fetch(begin, headOnly ? kFetchedHead : bytes);
        if (!offsets || headOnly) return true;
        for (uint32_t i = 0; i < count; ++i) {
            const size_t entry = begin + size_t{i} * sizeof(uint32_t);
            if (kind == flatbuffers::ET_STRING ? !text(entry)
                                               : !sequence(entry, type->type_refs[code.sequence_ref](), 0, depth))
                return false;
        }
        return true;
    }

    static constexpr uint32_t kMaxOffset = 0x7fffffff;

    Bytes& bytes_;
    uint64_t left_;
    bool cut_ = false, malformed_ = false, exhausted_ = false;
};

}  // namespace

Structure walkStructure(const uint8_t* data, size_t size) {
    MemoryBytes bytes{data, size};
    return Traversal(bytes).net();
}

Structure fetchStructure(ModelBytes& bytes) {
    return Traversal(bytes).net();
}

}  // namespace mnnc
