// One node of the ONNX model while it becomes operators of the format: its inputs as values, its attributes, and where
// its outputs go. The table of entries lists the operators that can be read.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builder.h"

namespace mnnc::onnx {

class Importer;

struct Call {
    Importer& importer;
    Builder& b;
    const Node& node;
    int64_t opset;
    std::vector<V> inputs;   // null: absent
    std::vector<V> outputs;  // null: not made

    // The value of an input; throws BadFormat where it is absent.
    V in(size_t i);
    V maybe(size_t i);
    // The same, which may be codes that no operator made: for rules that know such values.
    V raw(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
    bool wants(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
    void out(size_t i, V value) {
        if (i < outputs.size()) outputs[i] = value;
    }
    void out(V value) { out(0, value); }

    // Attributes, with what ONNX says where they are absent.
    int64_t integer(std::string_view name, int64_t otherwise) const;
    float real(std::string_view name, float otherwise) const;
    std::string text(std::string_view name, std::string_view otherwise) const;
    std::optional<std::vector<int64_t>> integers(std::string_view name) const;
    std::vector<float> reals(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    bool has(std::string_view name) const { return attribute(name) != nullptr; }
    const Attribute* attribute(std::string_view name) const;
    ArrayPtr tensor(std::string_view name) const;

    // The contents of an input that must be a constant; throws NotSupported where it is fed.
    const Array& constant(size_t i);
    std::vector<int64_t> list(size_t i) { return constant(i).list(); }
};

using Emit = void (*)(Call& call);

struct Entry {
    const char* name;
    int first;  // the opset of the first definition that it reads
    int last;   // the last one
    Emit emit;
    const char* writes;       // for the page: the operators of the format
    const char* limits = "";  // for the page: forms that are refused
    const char* domain = "";
};
constexpr int kNewest = 28;  // the opset that this was written for

using Family = std::span<const Entry>;
std::span<const Entry> allEntries();
// Null: there is none. `named`: whether there is one for another opset.
const Entry* findEntry(std::string_view domain, std::string_view name, int64_t opset, bool& named);

// Says why a form is refused: a sentence for the report.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char* format, ...);

}  // namespace mnnc::onnx
