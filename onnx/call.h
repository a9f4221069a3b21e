// One node of the ONNX model while it becomes operators of the format: its inputs as values, its attributes, and its
// outputs. The table of entries lists the supported operators.
#pragma once
#include <initializer_list>
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
    std::vector<V> outputs;  // null: not produced

    // The value of an input; throws BadFormat where it is absent.
    V in(size_t i);
    V maybe(size_t i);  // null where it is absent
    // Like maybe(), but a quantised value may still be without an operator that produces its codes (madeCodes() of
    // emit/codes.h).
    V raw(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
    bool wants(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
    void out(size_t i, V value) {
        if (i < outputs.size()) outputs[i] = value;
    }
    void out(V value) { out(0, value); }

    // Read attributes. An absent one gives `otherwise`, which callers set to ONNX's default, nullopt or an empty list.
    // They throw BadFormat where the file has another type.
    int64_t integer(std::string_view name, int64_t otherwise) const;
    float real(std::string_view name, float otherwise) const;
    std::string text(std::string_view name, std::string_view otherwise) const;
    std::optional<std::vector<int64_t>> integers(std::string_view name) const;
    std::vector<float> reals(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    // Throws BadFormat where the node has one of these attributes although they are inputs since this opset.
    void refuseAttributes(std::initializer_list<const char*> names, int64_t since) const;
    bool has(std::string_view name) const { return attribute(name) != nullptr; }
    const Attribute* attribute(std::string_view name) const;
    ArrayPtr tensor(std::string_view name) const;

    // The contents of an input that must be a constant; throws NotSupported where it is none.
    const Array& constant(size_t i);
    std::vector<int64_t> list(size_t i) { return constant(i).list(); }
};

using Emit = void (*)(Call& call);

struct Entry {
    const char* name;
    int first;  // opset of the first definition that it supports
    int last;   // opset of the last one
    Emit emit;
    const char* writes;       // for the documentation: the operators of the format
    const char* limits = "";  // for the documentation: forms that are refused
    const char* domain = "";
};
constexpr int kNewest = 28;                          // the latest opset that the rules support
constexpr const char* kMicrosoft = "com.microsoft";  // the domain of operators that onnxruntime's tools write
constexpr const char* kLearned = "ai.onnx.ml";       // the domain of operators of scikit-learn's models

using Family = std::span<const Entry>;
std::span<const Entry> allEntries();
// Returns null where there is no entry. `named`: set to whether there is one for any opset.
const Entry* findEntry(std::string_view domain, std::string_view name, int64_t opset, bool& named);

// Throws the reason why a form is refused, as a sentence for the report.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char* format, ...);

}  // namespace mnnc::onnx
