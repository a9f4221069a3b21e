#include "random_operators/table.h"

#include <flatbuffers/minireflect.h>

#include <limits>
#include <vector>

#include "type_tables.h"

namespace fuzz {
namespace {

namespace wire = mnnc::wire;
using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;
using Builder = flatbuffers::FlatBufferBuilder;
using Reference = flatbuffers::Offset<void>;

constexpr int kMaxDepth = 4;  // attributes hold lists of attributes

class Filler {
  public:
    Filler(Builder& builder, bool wild, Random& random) : builder_(builder), wild_(wild), random_(random) {}

    Reference table(const TypeTable* type, int depth) {
        struct Field {
            ElementaryType type;
            const TypeTable* reference;
            Reference child;
            bool isOffset;
        };
        std::vector<Field> fields;  // children lie before their parents
        uint8_t member = 0;
        for (size_t i = 0; i < type->num_elems; ++i) {
            const auto code = type->type_codes[i];
            Field field{static_cast<ElementaryType>(code.base_type),
                        code.sequence_ref >= 0 ? type->type_refs[code.sequence_ref]() : nullptr, 0, true};
            if (code.is_repeating) {
                field.child = vector(field.type, field.reference, depth);
            } else if (field.type == flatbuffers::ET_STRING) {
                field.child = text();
            } else if (field.type == flatbuffers::ET_SEQUENCE) {
                field.child = sequence(field.reference, member, depth);
            } else {
                field.isOffset = false;
                if (field.type == flatbuffers::ET_UTYPE)
                    member = depth < kMaxDepth ? static_cast<uint8_t>(1 + random_.below(field.reference->num_elems - 1))
                                               : uint8_t{0};
            }
            fields.push_back(field);
        }
        const auto start = builder_.StartTable();
        for (size_t i = 0; i < fields.size(); ++i) {
            const auto slot = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
            if (fields[i].isOffset)
                builder_.AddOffset(slot, fields[i].child);
            else if (fields[i].type == flatbuffers::ET_UTYPE)
                builder_.AddElement<uint8_t>(slot, member);
            else if (!random_.oneIn(3))  // otherwise the default
                number(fields[i].type, fields[i].reference, [&](auto value) { builder_.AddElement(slot, value); });
        }
        return Reference(builder_.EndTable(start));
    }

  private:
    bool wildNow() { return wild_ && random_.oneIn(4); }

    int64_t integer() {
        static constexpr int kTame[] = {0, 0, 1, 1, 1, 2, 2, 3, 4, -1};
        return wildNow() ? random_.number() : random_.pick(kTame);
    }
    double real() {
        static constexpr double kTame[] = {0, 1, 0.5, 1, 2, 0.25, -1, 1e-5};
        static constexpr double kWild[] = {-0.0,
                                           1e30,
                                           -1e30,
                                           1e-40,
                                           3e9,
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()};
        return wildNow() ? random_.pick(kWild) : random_.pick(kTame);
    }
    int64_t enumerated(const TypeTable* type) {
        if (wildNow()) return random_.number();
        if (type == dataTypes() && !random_.oneIn(6)) {
            static constexpr int kCommon[] = {1, 1, 1, 3, 3, 4, 6, 0};  // float, int32, uint8, int8, none
            return random_.pick(kCommon);
        }
        const size_t member = random_.below(type->num_elems);
        return type->values ? type->values[member] : static_cast<int64_t>(member);
    }

    template <typename Add>
    void number(ElementaryType type, const TypeTable* reference, const Add& add) {
        if (type == flatbuffers::ET_FLOAT) return add(static_cast<float>(real()));
        if (type == flatbuffers::ET_DOUBLE) return add(real());
        if (type == flatbuffers::ET_BOOL) return add(static_cast<uint8_t>(random_.below(2)));
        const int64_t value = reference ? enumerated(reference) : integer();
        switch (type) {
            case flatbuffers::ET_CHAR:
            case flatbuffers::ET_UCHAR:
                return add(static_cast<int8_t>(value));
            case flatbuffers::ET_SHORT:
            case flatbuffers::ET_USHORT:
                return add(static_cast<int16_t>(value));
            case flatbuffers::ET_LONG:
            case flatbuffers::ET_ULONG:
                return add(value);
            default:
                return add(static_cast<int32_t>(value));
        }
    }

    Reference text() {
        static constexpr const char* kTexts[] = {"", "a", "b", "then", "else", "body", "x"};
        return Reference(builder_.CreateString(random_.pick(kTexts)).o);
    }

    // The table may be missing, too: a null offset is not written.
    Reference sequence(const TypeTable* type, uint8_t member, int depth) {
        if (depth >= kMaxDepth) return 0;
        if (type->st == flatbuffers::ST_TABLE) return wild_ && random_.oneIn(8) ? Reference(0) : table(type, depth + 1);
        if (type->st != flatbuffers::ST_UNION || member == 0) return 0;
        return table(type->type_refs[type->type_codes[member].sequence_ref](), depth + 1);
    }

    Reference vector(ElementaryType type, const TypeTable* reference, int depth) {
        size_t count = random_.below(random_.oneIn(4) ? 9 : 5);
        if (type == flatbuffers::ET_SEQUENCE || type == flatbuffers::ET_STRING) {
            if (depth >= kMaxDepth) return 0;
            std::vector<Reference> children;
            for (count = random_.below(3); count > 0; --count)
                children.push_back(type == flatbuffers::ET_STRING ? text() : table(reference, depth + 1));
            return Reference(builder_.CreateVector(children).o);
        }
        // 64 bit numbers are places in a weight file, which these nets do not have.
        if (type == flatbuffers::ET_LONG && !wildNow()) return 0;
        const size_t width = flatbuffers::InlineSize(type, reference);
        builder_.StartVector(count, width);
        for (size_t i = 0; i < count; ++i) number(type, reference, [&](auto value) { builder_.PushElement(value); });
        return Reference(builder_.EndVector(count));
    }

    Builder& builder_;
    const bool wild_;
    Random& random_;
};

}  // namespace

void fillTable(wire::OpParameterUnion& parameters, wire::OpParameter type, bool wild, Random& random) {
    parameters.Reset();
    if (type == wire::OpParameter::NONE) return;
    const TypeTable* all = parameterTypes();
    Builder builder;
    builder.ForceDefaults(true);
    const auto root = Filler(builder, wild, random)
                          .table(all->type_refs[all->type_codes[static_cast<size_t>(type)].sequence_ref](), 0);
    builder.Finish(root);
    parameters.value =
        wire::OpParameterUnion::UnPack(flatbuffers::GetRoot<void>(builder.GetBufferPointer()), type, nullptr);
    parameters.type = type;
}

}  // namespace fuzz
