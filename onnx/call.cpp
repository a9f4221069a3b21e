// See call.h.
#include "call.h"

#include <cstdarg>
#include <cstdio>
#include <iterator>

#include "base/error.h"
#include "emit/codes.h"
#include "importer.h"

namespace mnnc::onnx {

V Call::maybe(size_t i) {
    return i < inputs.size() && inputs[i] ? madeCodes(*this, inputs[i]) : nullptr;
}

V Call::in(size_t i) {
    V value = maybe(i);
    if (!value) fail(Status::BadFormat, "input %zu is missing", i);
    return value;
}

namespace {

// AttributeProto.type.
enum class AttributeType : int32_t { None, Float, Int, String, Tensor, Graph, Floats, Ints, Strings };

constexpr const char* kTypeNames[] = {"of no type", "a float", "an integer", "a text",         "a tensor",
                                      "a graph",    "floats",  "integers",   "a list of texts"};

bool isList(AttributeType type) {
    return type >= AttributeType::Floats && type <= AttributeType::Strings;
}

// Returns the attribute where it has this type, or none, as in models of before IR version 2. Some writers give an
// empty list the type of another list. Throws BadFormat for other types.
const Attribute* typed(const Attribute* found, AttributeType wanted, std::string_view name) {
    if (!found) return found;
    const auto type = static_cast<AttributeType>(found->type);
    if (type == AttributeType::None || type == wanted) return found;
    if (isList(type) && isList(wanted) && found->floats.empty() && found->ints.empty() && found->strings.empty())
        return found;
    const bool known = found->type > 0 && found->type < static_cast<int32_t>(std::size(kTypeNames));
    fail(Status::BadFormat, "the attribute %.*s is %s, and %s is expected", static_cast<int>(name.size()), name.data(),
         known ? kTypeNames[found->type] : "of another type", kTypeNames[static_cast<int32_t>(wanted)]);
}

}  // namespace

void Call::refuseAttributes(std::initializer_list<const char*> names, int64_t since) const {
    for (const char* name : names)
        if (opset >= since && has(name))
            fail(Status::BadFormat, "the attribute %s is an input since opset %lld", name, asLong(since));
}

const Attribute* Call::attribute(std::string_view name) const {
    const Attribute* found = node.find(name);
    return found && !found->reference.empty() ? importer.resolve(*found) : found;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
    const Attribute* found = typed(attribute(name), AttributeType::Int, name);
    return found ? found->i : otherwise;
}

float Call::real(std::string_view name, float otherwise) const {
    const Attribute* found = typed(attribute(name), AttributeType::Float, name);
    return found ? found->f : otherwise;
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
    const Attribute* found = typed(attribute(name), AttributeType::String, name);
    return std::string(found ? found->s : otherwise);
}

std::optional<std::vector<int64_t>> Call::integers(std::string_view name) const {
    const Attribute* found = typed(attribute(name), AttributeType::Ints, name);
    if (!found) return std::nullopt;
    return found->ints;
}

std::vector<float> Call::reals(std::string_view name) const {
    const Attribute* found = typed(attribute(name), AttributeType::Floats, name);
    return found ? found->floats : std::vector<float>();
}

std::vector<std::string> Call::texts(std::string_view name) const {
    const Attribute* found = typed(attribute(name), AttributeType::Strings, name);
    return found ? std::vector<std::string>(found->strings.begin(), found->strings.end()) : std::vector<std::string>();
}

ArrayPtr Call::tensor(std::string_view name) const {
    const Attribute* found = attribute(name);
    if (!found || !found->tensor) return nullptr;
    return importer.tensor(*found->tensor);
}

const Array& Call::constant(size_t i) {
    V value = in(i);
    if (!value->constant) refuse("input %zu ('%s') is no constant", i, value->name.c_str());
    return value->array();
}

void refuse(const char* format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    throw Error(Status::NotSupported, sentence);
}

}  // namespace mnnc::onnx
