#include "table_edits.h"

#include <flatbuffers/minireflect.h>

#include <cstring>

#include "type_tables.h"

namespace fuzz {

namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;

// Longer vectors count as this many places, so that weights do not outweigh the other data.
constexpr size_t kMaxElements = 16;
constexpr size_t kMaxSites = 20000;

struct Site {
    uint8_t* at = nullptr;
    ElementaryType type = flatbuffers::ET_UCHAR;
    const TypeTable* reference = nullptr;  // of an enumeration, a table or a union
    enum Kind : uint8_t { Number, Length, Offset } kind = Number;
};

class Walk {
  public:
    explicit Walk(Random& random) : random_(random) {}

    std::vector<Site> of(uint8_t* root) {
        table(root, fuzz::netTypes(), 0);
        return std::move(sites_);
    }

  private:
    static uint8_t* follow(uint8_t* at) { return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at); }

    void add(uint8_t* at, ElementaryType type, const TypeTable* reference, Site::Kind kind) {
        if (sites_.size() < kMaxSites) sites_.push_back({at, type, reference, kind});
    }

    void value(uint8_t* at, ElementaryType type, const TypeTable* reference, uint8_t unionType, int depth) {
        if (type == flatbuffers::ET_STRING) {
            uint8_t* text = follow(at);
            add(text, type, nullptr, Site::Length);
            const auto length = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(text);
            if (length) add(text + 4 + random_.below(length), flatbuffers::ET_UCHAR, nullptr, Site::Number);
        } else if (type != flatbuffers::ET_SEQUENCE) {
            add(at, type, reference, Site::Number);
        } else if (reference->st == flatbuffers::ST_TABLE) {
            add(at, type, reference, Site::Offset);
            table(follow(at), reference, depth + 1);
        } else if (reference->st == flatbuffers::ST_UNION) {
            add(at, type, reference, Site::Offset);
            const int member = unionMember(unionType, reference);
            if (member >= 0) table(follow(at), reference->type_refs[member](), depth + 1);
        }
    }

    static int unionMember(uint8_t type, const TypeTable* reference) {
        const int64_t index =
            reference->values ? flatbuffers::LookupEnum(type, reference->values, reference->num_elems) : type;
        if (index < 0 || index >= static_cast<int64_t>(reference->num_elems)) return -1;
        return reference->type_codes[index].sequence_ref;
    }

    void table(uint8_t* object, const TypeTable* type, int depth) {
        if (depth > 32) return;
        auto* view = reinterpret_cast<flatbuffers::Table*>(object);
        uint8_t* previous = nullptr;
        for (size_t i = 0; i < type->num_elems; ++i) {
            const auto code = type->type_codes[i];
            const auto base = static_cast<ElementaryType>(code.base_type);
            const TypeTable* reference = code.sequence_ref >= 0 ? type->type_refs[code.sequence_ref]() : nullptr;
            uint8_t* at = view->GetAddressOf(flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i)));
            if (at && code.is_repeating)
                vector(at, base, reference, depth);
            else if (at)
                value(at, base, reference, previous ? *previous : uint8_t{0}, depth);
            previous = at;
        }
    }

    void vector(uint8_t* at, ElementaryType type, const TypeTable* reference, int depth) {
        uint8_t* length = follow(at);
        const auto count = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(length);
        add(length, type, reference, Site::Length);
        const bool nested = type == flatbuffers::ET_STRING || type == flatbuffers::ET_SEQUENCE;
        const size_t width = nested ? 4 : flatbuffers::InlineSize(type, reference);
        if (nested || count <= kMaxElements) {
            for (size_t i = 0; i < count; ++i) value(length + 4 + i * width, type, reference, 0, depth);
        } else {
            for (size_t i = 0; i < kMaxElements; ++i)
                value(length + 4 + random_.below(count) * width, type, reference, 0, depth);
        }
    }

    Random& random_;
    std::vector<Site> sites_;
};

template <typename T>
void changeInteger(uint8_t* at, Random& random) {
    auto value = flatbuffers::ReadScalar<T>(at);
    using Wide = uint64_t;
    switch (random.below(4)) {
        case 0:
            value = static_cast<T>(static_cast<Wide>(value) + random.below(5) - 2);
            break;
        case 1:
            value = static_cast<T>(random.oneIn(2) ? static_cast<Wide>(value) * 2 : static_cast<Wide>(value) / 2);
            break;
        default:
            value = static_cast<T>(random.number());
    }
    flatbuffers::WriteScalar(at, value);
}

template <typename T>
void changeReal(uint8_t* at, Random& random) {
    static constexpr double kReals[] = {0,    -0.0,  1,     -1,  0.5,           2,   1e-7, 1e30, -1e30,
                                        3e38, 1e-40, 127.5, 1e9, -2147483904.0, 100, 0.25};
    auto value = static_cast<T>(random.pick(kReals));
    if (random.oneIn(8)) value = static_cast<T>(random.oneIn(2) ? __builtin_inf() : __builtin_nan(""));
    flatbuffers::WriteScalar(at, value);
}

void changeNumber(const Site& site, Random& random) {
    if (site.reference && site.reference->st == flatbuffers::ST_ENUM && !random.oneIn(8)) {
        const size_t member = random.below(site.reference->num_elems);
        const int64_t value = site.reference->values ? site.reference->values[member] : static_cast<int64_t>(member);
        const size_t width = flatbuffers::InlineSize(site.type, nullptr);
        std::memcpy(site.at, &value, width);
        return;
    }
    switch (site.type) {
        case flatbuffers::ET_BOOL:
            *site.at ^= 1;
            break;
        case flatbuffers::ET_UTYPE:
        case flatbuffers::ET_CHAR:
        case flatbuffers::ET_UCHAR:
            changeInteger<uint8_t>(site.at, random);
            break;
        case flatbuffers::ET_SHORT:
        case flatbuffers::ET_USHORT:
            changeInteger<uint16_t>(site.at, random);
            break;
        case flatbuffers::ET_INT:
            changeInteger<int32_t>(site.at, random);
            break;
        case flatbuffers::ET_UINT:
            changeInteger<uint32_t>(site.at, random);
            break;
        case flatbuffers::ET_LONG:
        case flatbuffers::ET_ULONG:
            changeInteger<uint64_t>(site.at, random);
            break;
        case flatbuffers::ET_FLOAT:
            changeReal<float>(site.at, random);
            break;
        case flatbuffers::ET_DOUBLE:
            changeReal<double>(site.at, random);
            break;
        default:
            break;
    }
}

void changeLength(const Site& site, Random& random) {
    const auto length = flatbuffers::ReadScalar<uint32_t>(site.at);
    uint32_t changed = static_cast<uint32_t>(random.below(size_t{length} + 1));  // shorter stays well-formed
    if (random.oneIn(3) && length > 0) changed = length - 1;
    if (random.oneIn(16)) changed = static_cast<uint32_t>(random.number());
    flatbuffers::WriteScalar(site.at, changed);
}

void changeOffset(const Site& site, const std::vector<Site>& sites, Random& random) {
    if (random.oneIn(4)) {
        changeInteger<uint32_t>(site.at, random);
        return;
    }
    // Two places share one table.
    for (int attempt = 0; attempt < 64; ++attempt) {
        const Site& other = sites[random.below(sites.size())];
        if (other.kind != Site::Offset || other.reference != site.reference || other.at == site.at) continue;
        const uint8_t* target = other.at + flatbuffers::ReadScalar<uint32_t>(other.at);
        if (target <= site.at) continue;
        flatbuffers::WriteScalar(site.at, static_cast<uint32_t>(target - site.at));
        return;
    }
}

}  // namespace

void editTables(std::vector<uint8_t>& bytes, size_t edits, Random& random) {
    uint8_t* root = bytes.data() + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes.data());
    const std::vector<Site> sites = Walk(random).of(root);
    if (sites.empty()) return;
    for (size_t i = 0; i < edits; ++i) {
        const Site& site = sites[random.below(sites.size())];
        // A wrong type of a union or a length makes most files unreadable, so these changes are rare.
        switch (site.kind) {
            case Site::Number:
                if (site.type != flatbuffers::ET_UTYPE || random.oneIn(16)) changeNumber(site, random);
                break;
            case Site::Length:
                if (random.oneIn(4)) changeLength(site, random);
                break;
            case Site::Offset:
                if (random.oneIn(16)) changeOffset(site, sites, random);
                break;
        }
    }
}

}  // namespace fuzz
