// Reads parameter tables as the binary schema describes them; the schema is compiled in.
#include "net/schema_attributes.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "flatbuffers/reflection_generated.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

alignas(8)  // for the array in the file below, whose longest numbers have 8 bytes
#include "mnn_schema.h"

    using flatbuffers::Table;
using flatbuffers::voffset_t;
using reflection::BaseType;
using reflection::Field;
using reflection::Object;

const reflection::Schema& schema() {
    return *reflection::GetSchema(kSchemaWords);
}

const Object& object(int32_t index) {
    return *schema().objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

// Returns the name without its namespace.
const char* shortName(const Object& table) {
    const char* name = table.name()->c_str();
    const char* dot = std::strrchr(name, '.');
    return dot ? dot + 1 : name;
}

// Returns whether a field is an array of weights, which model/structure.cpp may leave in the file, or a similar array.
bool isWeights(const Field& field) {
    return field.name()->string_view() == "weight" || field.name()->string_view() == "alpha";
}

int64_t readInteger(const Table& table, const Field& field) {
    const voffset_t at = field.offset();
    const int64_t fallback = field.default_integer();
    switch (field.type()->base_type()) {
        case BaseType::Byte:
            return table.GetField<int8_t>(at, static_cast<int8_t>(fallback));
        case BaseType::UByte:
            return table.GetField<uint8_t>(at, static_cast<uint8_t>(fallback));
        case BaseType::Short:
            return table.GetField<int16_t>(at, static_cast<int16_t>(fallback));
        case BaseType::UShort:
            return table.GetField<uint16_t>(at, static_cast<uint16_t>(fallback));
        case BaseType::Int:
            return table.GetField<int32_t>(at, static_cast<int32_t>(fallback));
        case BaseType::UInt:
            return table.GetField<uint32_t>(at, static_cast<uint32_t>(fallback));
        default:
            return table.GetField<int64_t>(at, fallback);
    }
}

class TableReader {
  public:
    TableReader(const WeightFiles& files, const char* node) : files_(files), node_(node) {}

    std::vector<NodeAttribute> read(const Table& table, const Object& type) const {
        std::vector<const Field*> fields(type.fields()->begin(), type.fields()->end());
        std::sort(fields.begin(), fields.end(), [](const Field* a, const Field* b) { return a->id() < b->id(); });
        std::vector<NodeAttribute> result;
        for (const Field* field : fields) {
            NodeAttribute attribute;
            attribute.key = field->name()->c_str();
            if (read(table, *field, attribute)) result.push_back(std::move(attribute));
        }
        return result;
    }

  private:
    // Returns false when the field is left out.
    bool read(const Table& table, const Field& field, NodeAttribute& attribute) const {
        switch (field.type()->base_type()) {
            case BaseType::Bool:
                attribute.truth = table.GetField<uint8_t>(field.offset(), field.default_integer() != 0) != 0;
                attribute.type = static_cast<int32_t>(wire::DataType::DT_BOOL);
                return true;
            case BaseType::Byte:
            case BaseType::UByte:
            case BaseType::Short:
            case BaseType::UShort:
            case BaseType::Int:
            case BaseType::UInt:
                attribute.integer = static_cast<int32_t>(readInteger(table, field));
                attribute.type = static_cast<int32_t>(wire::DataType::DT_INT32);
                return true;
            case BaseType::Float:
                attribute.real = table.GetField<float>(field.offset(), static_cast<float>(field.default_real()));
                attribute.type = static_cast<int32_t>(wire::DataType::DT_FLOAT);
                return true;
            case BaseType::String:
                if (const auto* text = table.GetPointer<const flatbuffers::String*>(field.offset()))
                    attribute.text = text->c_str();
                attribute.type = static_cast<int32_t>(wire::DataType::DT_STRING);
                return attribute.text != nullptr;
            case BaseType::Vector:
                return !isWeights(field) && readVector(table, field, attribute);
            case BaseType::Obj:
                return readTable(table, field, attribute);
            default:
                return false;
        }
    }

    bool readVector(const Table& table, const Field& field, NodeAttribute& attribute) const {
        const auto at = field.offset();
        switch (field.type()->element()) {
            case BaseType::Int:
                return take(table.GetPointer<const flatbuffers::Vector<int32_t>*>(at), attribute.integers);
            case BaseType::Float:
                return take(table.GetPointer<const flatbuffers::Vector<float>*>(at), attribute.reals);
            case BaseType::Bool:
                return take(table.GetPointer<const flatbuffers::Vector<uint8_t>*>(at), attribute.truths);
            case BaseType::String: {
                using Texts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
                const auto* texts = table.GetPointer<const Texts*>(at);
                for (uint32_t i = 0; texts && i < texts->size(); ++i) attribute.texts.push_back(textOr(texts->Get(i)));
                return texts != nullptr;
            }
            default:
                return false;
        }
    }

    template <typename T>
    static bool take(const flatbuffers::Vector<T>* vector, std::span<const T>& to) {
        if (vectorSize(vector) > 0) to = {reinterpret_cast<const T*>(vector->Data()), vector->size()};
        return vector != nullptr;
    }

    bool readTable(const Table& table, const Field& field, NodeAttribute& attribute) const {
        const Object& type = object(field.type()->index());
        const auto* inner = table.GetPointer<const Table*>(field.offset());
        if (!inner || type.is_struct()) return false;
        if (std::strcmp(shortName(type), "Blob") == 0) {
            // Tables of old formats may hold tensors that the library neither reads nor checks.
            try {
                attribute.tensor = decodeBlob(*reinterpret_cast<const wire::Blob*>(inner), files_, node_);
                attribute.hasTensor = true;
            } catch (const Error& error) {
                if (error.status() != Status::BadType && error.status() != Status::BadWeights) throw;
            }
        } else {
            attribute.function = shortName(type);
            attribute.attributes = read(*inner, type);
        }
        return true;
    }

    const WeightFiles& files_;
    const char* node_;
};

}  // namespace

std::vector<NodeAttribute> schemaAttributes(const void* table, int type, const WeightFiles& files, const char* node) {
    const auto* members = schema().enums()->LookupByKey("mnnc.wire.OpParameter");
    const auto* member = members && table ? members->values()->LookupByKey(int64_t{type}) : nullptr;
    if (!member || !member->union_type() || member->union_type()->base_type() != BaseType::Obj) return {};
    return TableReader(files, node).read(*static_cast<const Table*>(table), object(member->union_type()->index()));
}

}  // namespace mnnc
