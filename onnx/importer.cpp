// See importer.h.
#include "importer.h"

#include <algorithm>

#include "base/checked.h"
#include "emit/codes.h"
#include "node_order.h"

namespace mnnc::onnx {
namespace {

// Deeper calls of functions count as recursion.
constexpr size_t kMaxCallDepth = 64;
constexpr int64_t kMaxNodes = 1 << 18;
// A function's nodes, with bodies that are not taken, are visited with every call of it.
constexpr uint64_t kMaxVisits = uint64_t{1} << 26;
// Limits on the memory of an operator over guesses for free extents, after which smaller guesses are tried: this many
// bytes, and this multiple of the bytes that constants may take, if those are limited.
constexpr uint64_t kMaxGuessed = uint64_t{2} << 30, kTimesConstants = 16;

std::string shown(std::string_view text) {
    return shortName(text);
}

std::string nameOf(const Node& node) {
    if (!node.name.empty()) return shown(node.name);
    for (const std::string_view output : node.outputs)
        if (!output.empty()) return shown(output);
    return shown(node.type);
}

// The type to which a QuantizeLinear without a zero point quantises, or the attribute of a call that says it.
std::pair<int64_t, std::string_view> typeOfCodes(const Node& node) {
    const Attribute* type = node.find("output_dtype");
    return type ? std::pair(type->i, type->reference) : std::pair<int64_t, std::string_view>();
}

}  // namespace

Functions functionsOf(const ModelFile& model) {
    Functions functions;
    for (const Function& one : model.functions)
        if (!functions.emplace(std::array{one.domain, one.name, one.overload}, &one).second)
            fail(Status::BadFormat, "the function '%s' is defined twice", shown(one.name).c_str());
    return functions;
}

ArrayPtr Reading::tensor(const TensorData& from) {
    ArrayPtr& known = tensors[&from];
    if (!known) {
        known = readTensor(from, folder);
        if (from.external) {
            uint64_t& counted = external[externalFile(from, folder)];
            const uint64_t end = from.offset + known->byteSize();
            budget.foundExternal(end - std::min(counted, end));
            counted = std::max(counted, end);
        }
        budget.take(known->byteSize());
        known->charged = true;
        if (from.raw && known->lent.empty() && options.write.forget) options.write.forget(*from.raw);
    }
    return known;
}

Importer::Importer(Reading& reading)
    : reading_(reading),
      model_(reading.model),
      options_(reading.options),
      builder_(reading.evaluator, reading.budget) {}

void Importer::note(std::string text) {
    if (noted_.insert(text).second) report_.notes.push_back(std::move(text));
}

void Importer::problem(const Node& node, const std::string& reason, int32_t status) {
    report_.problems.push_back(
        {nameOf(node), shown(node.domain), shown(node.type), reason, opsetOf(node.domain), status});
}

void Importer::spend(uint64_t visits) {
    spent_ += visits;
    if (spent_ > kMaxVisits)
        fail(Status::LimitExceeded,
             "the nodes of functions and bodies, counted as often as they are visited, have more than %llu names",
             static_cast<unsigned long long>(kMaxVisits));
}

// Throws BadFormat where a value of this graph has the name of an output already.
void Importer::requireNew(const Node& node) const {
    std::unordered_set<std::string_view> own;
    for (const std::string_view output : node.outputs)
        if (!output.empty() && (frame_->names.count(output) || !own.insert(output).second))
            fail(Status::BadFormat, "'%s' is defined twice", shown(output).c_str());
}

V Importer::find(std::string_view name) const {
    for (const Frame* frame = frame_; frame; frame = frame->outer)
        if (const auto found = frame->names.find(name); found != frame->names.end()) return found->second;
    return nullptr;
}

V Importer::countName(V value) {
    if (!value) return value;
    value->shared |= value->named;
    value->named = true;
    return value;
}

int64_t Importer::opsetOf(std::string_view domain) const {
    for (const Frame* frame = frame_; frame; frame = frame->outer) {
        if (!frame->opsets) continue;
        for (const Opset& opset : *frame->opsets)
            if (opset.domain == domain) return opset.version;
        break;
    }
    return 0;
}

const Attribute* Importer::resolve(const Frame* frame, std::string_view name) {
    while (frame && !frame->function) frame = frame->outer;
    if (!frame) return nullptr;
    if (const Attribute* given = frame->call->find(name)) {
        if (given->reference.empty()) return given;
        // The call is part of a function: the attribute refers to that function's call, which may leave it out.
        if (const Attribute* found = resolve(frame->caller, given->reference)) return found;
    }
    for (const Attribute& one : frame->function->defaults)
        if (one.name == name) return &one;
    return nullptr;
}

void Importer::readInitializers(const Graph& graph) {
    for (const TensorData& tensor : graph.initializers) {
        if (tensor.name.empty()) fail(Status::BadFormat, "an initializer has no name");
        if (frame_->names.count(tensor.name))
            fail(Status::BadFormat, "'%s' is defined twice", shown(tensor.name).c_str());
        const bool fourBits = tensor.type == Elem::Uint4 || tensor.type == Elem::Int4;
        if ((heldAs(tensor.type) == DataType::DT_INVALID && !fourBits) || tensor.hasStrings) {
            // Its consumers report the failure.
            frame_->names[tensor.name] = builder_.failedValue(shown(tensor.name));
            Node node;
            node.name = tensor.name;
            node.type = "initializer";
            problem(node,
                    "it holds " + std::string(elemName(tensor.type)) + ", for which the .mnn format has no tensor", 2);
            continue;
        }
        V value = builder_.constant(reading_.tensor(tensor), tensor.type, shown(tensor.name));
        frame_->names[tensor.name] = countName(value);
    }
}

void Importer::readInputs(const Graph& graph, int strategy) {
    std::unordered_set<std::string_view> listed;
    for (const ValueInfo& info : graph.inputs) {
        if (!listed.insert(info.name).second)
            fail(Status::BadFormat, "the input '%s' is listed twice", shown(info.name).c_str());
        // Before IR version 4 initializers were also listed as inputs.
        if (frame_->names.count(info.name)) continue;
        const std::string name(info.name);
        if (!info.isTensor)
            fail(Status::NotSupported,
                 "the input '%s' is a sequence, a map or an optional value: inputs of a net are tensors",
                 shown(name).c_str());
        std::array<Dims, kProbes> dims;
        const auto given = options_.shapes.find(name);
        if (given != options_.shapes.end()) {
            if (info.hasShape && given->second.size() != info.shape.size())
                fail(Status::InvalidValue, "the input '%s' has rank %zu, the given shape has rank %zu",
                     shown(name).c_str(), info.shape.size(), given->second.size());
            for (size_t i = 0; i < given->second.size(); ++i) {
                Extent extent = info.hasShape ? info.shape[i] : Extent();
                if (extent.value >= 0 && given->second[i] >= 0 && extent.value != given->second[i])
                    fail(Status::InvalidValue, "axis %zu of the input '%s' has %lld elements, not %lld", i,
                         shown(name).c_str(), asLong(extent.value), asLong(given->second[i]));
                if (given->second[i] >= 0) extent.value = given->second[i];
                const auto numbers = standsFor(extent, i, given->second.size(), strategy);
                for (size_t p = 0; p < kProbes; ++p) dims[p].push_back(numbers[p]);
            }
        } else {
            if (!info.hasShape)
                fail(Status::NotSupported, "the file does not say the rank of the input '%s': give its shape",
                     shown(name).c_str());
            if (info.shape.size() > 9)
                fail(Status::NotSupported, "the input '%s' has rank %zu; the format has 9 axes at most",
                     shown(name).c_str(), info.shape.size());
            for (size_t i = 0; i < info.shape.size(); ++i) {
                const auto numbers = standsFor(info.shape[i], i, info.shape.size(), strategy);
                for (size_t p = 0; p < kProbes; ++p) dims[p].push_back(numbers[p]);
            }
        }
        for (const Dims& one : dims) elementCount(one, "the input '" + shown(name) + "'");
        if (free_) builder_.probes = 2;
        frame_->names[info.name] = countName(builder_.input(name, info.type, dims));
    }
}

void Importer::callFunction(const Function& function, const Node& node, const std::vector<V>& inputs) {
    if (active_.size() >= kMaxCallDepth || std::find(active_.begin(), active_.end(), &function) != active_.end())
        fail(Status::Cycle, "the function '%s' calls itself, or lies in more than %zu calls",
             shown(function.name).c_str(), kMaxCallDepth);
    const size_t tensors = builder_.scope().tensors.size();
    ++report_.functions;
    Frame frame;
    frame.opsets = &function.opsets;
    frame.call = &node;
    frame.function = &function;
    frame.caller = frame_;
    if (inputs.size() > function.inputs.size())
        fail(Status::BadFormat, "the function '%s' has %zu inputs, and the node gives %zu",
             shown(function.name).c_str(), function.inputs.size(), inputs.size());
    for (size_t i = 0; i < function.inputs.size(); ++i)
        if (!frame.names.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : nullptr).second)
            fail(Status::BadFormat, "the function '%s' lists the input '%s' twice", shown(function.name).c_str(),
                 shown(function.inputs[i]).c_str());
    // Other nodes of the caller may read these values, too, so they count as read elsewhere.
    frame.readElsewhere.insert(function.inputs.begin(), function.inputs.end());
    frame.readElsewhere.insert(function.outputs.begin(), function.outputs.end());
    Frame* before = frame_;
    frame_ = &frame;
    active_.push_back(&function);
    try {
        readNodes(function.nodes);
    } catch (...) {
        frame_ = before;
        active_.pop_back();
        throw;
    }
    std::vector<V> results;
    for (const std::string_view name : function.outputs) {
        const auto found = frame.names.find(name);
        results.push_back(found == frame.names.end() ? nullptr : found->second);
    }
    frame_ = before;
    active_.pop_back();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        V value = i < results.size() ? results[i] : nullptr;
        if (i >= results.size())
            problem(node, "the function has " + std::to_string(results.size()) + " outputs",
                    static_cast<int32_t>(Status::BadFormat));
        else if (!value)
            problem(node, "no node of the function makes its output '" + shown(function.outputs[i]) + "'",
                    static_cast<int32_t>(Status::BadFormat));
        if (value) builder_.nameResult(value, node.outputs[i], tensors);
        frame_->names[node.outputs[i]] = countName(value ? value : builder_.failedValue(shown(node.outputs[i])));
    }
}

void Importer::callEntry(const Node& node, std::vector<V> inputs) {
    const int64_t opset = opsetOf(node.domain);
    if (opset == 0) fail(Status::BadFormat, "the model imports no opset of its domain");
    bool named = false;
    const Entry* entry = findEntry(node.domain, node.type, opset, named);
    if (!entry && named) refuse("opset %lld of it is not known", asLong(opset));
    if (!entry) refuse("there is no form of it");
    Call call{*this, builder_, node, opset, std::move(inputs), std::vector<V>(node.outputs.size())};
    const Frame& frame = *frame_;
    // Bodies are read while their node is: `declared` of the enclosing node is restored when this one is done.
    struct Kept {
        Builder& builder;
        decltype(Builder::declared) before;
        ~Kept() { builder.declared = std::move(before); }
    } const kept{builder_, std::move(builder_.declared)};
    builder_.declared = [&](size_t output, std::array<Dims, kProbes>& dims) {
        if (output >= node.outputs.size()) return false;
        const auto found = frame.declared.find(node.outputs[output]);
        if (found == frame.declared.end() || !found->second->hasShape) return false;
        std::vector<int64_t> extents;
        for (const Extent& extent : found->second->shape) extents.push_back(extent.value);
        dims = builder_.openDims(extents);
        return true;
    };
    const int64_t coded = coded_;
    const size_t tensors = builder_.scope().tensors.size();
    const std::optional<std::vector<V>> moved = movedCodes(node, call.inputs);
    const std::vector<V> given = call.inputs;
    if (moved) call.inputs = *moved;
    entry->emit(call);
    if (moved)
        for (V& output : call.outputs) {
            if (!output) continue;
            if (!output->steps) output->steps = given[0]->real->steps;
            output = builder_.codesOf(output, given[0]->elem);
        }
    noteFloats(node, given, coded);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        if (!call.outputs[i]) refuse("its output %zu has no form", i);
        builder_.nameResult(call.outputs[i], node.outputs[i], tensors);
        frame_->names[node.outputs[i]] = countName(call.outputs[i]);
    }
}

void Importer::readNode(const Node& node) {
    if (++report_.nodes > kMaxNodes)
        fail(Status::LimitExceeded,
             "the model has more than %lld nodes, those of functions counted as often as they are called",
             asLong(kMaxNodes));
    reading_.total = std::max(reading_.total, ++reading_.done);
    if (options_.progress) options_.progress(reading_.done, reading_.total);
    spend(1 + node.inputs.size() + node.outputs.size());
    requireNew(node);
    std::vector<V> inputs;
    bool failed = false;
    for (const std::string_view name : node.inputs) {
        V value = nullptr;
        if (!name.empty()) {
            bool known = false;
            for (const Frame* frame = frame_; frame && !known; frame = frame->outer)
                if (const auto found = frame->names.find(name); found != frame->names.end()) {
                    known = true;
                    value = found->second;
                }
            if (!known)
                fail(Status::Cycle,
                     "the node '%s' reads '%s', which no node makes, or only one that waits for this node",
                     nameOf(node).c_str(), shown(name).c_str());
        }
        failed = failed || (value && value->failed);
        inputs.push_back(value);
    }
    builder_.setName(nameOf(node));
    for (const std::string_view output : node.outputs)
        if (!output.empty()) {
            builder_.setName(output);
            break;
        }
    std::string reason;
    int32_t status = 2;
    if (const auto function = reading_.functions.find({node.domain, node.type, node.overload});
        function != reading_.functions.end()) {
        callFunction(*function->second, node, inputs);
        return;
    }
    if (failed) {
        bool named = false;
        if (!findEntry(node.domain, node.type, opsetOf(node.domain), named))
            reason = named ? "this opset of it is not known" : "there is no form of it";
    } else {
        try {
            callEntry(node, inputs);
            return;
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory || error.status() == Status::Cancelled ||
                error.status() == Status::CallbackStop || error.status() == Status::Cycle ||
                error.status() == Status::LimitExceeded)
                throw;
            reason = error.message();
            status = static_cast<int32_t>(error.status());
        } catch (const std::out_of_range&) {
            reason = "an axis, an attribute or a list of it is too short";
            status = static_cast<int32_t>(Status::BadFormat);
        }
    }
    if (!reason.empty()) problem(node, reason, status);
    for (const std::string_view output : node.outputs)
        if (!output.empty()) frame_->names[output] = builder_.failedValue(shown(output));
}

// A branch that is taken while converting reads the values of the graphs around it, whose frames know their readers.
bool Importer::readElsewhere(std::string_view name) const {
    for (const Frame* frame = frame_; frame; frame = frame->outer) {
        if (frame->readElsewhere.count(name)) return true;
        if (frame->names.count(name)) return false;
    }
    return false;
}

// Notes the values that a node reads other than to quantise them, those that two nodes quantise by different constants
// or to different types, and all that bodies read, because bodies also read values of the graphs around them.
void Importer::noteReaders(const std::vector<Node>& nodes, bool inBody) {
    std::unordered_map<std::string_view, const Node*> quantisers;
    for (const Node& node : nodes) {
        spend(1 + node.inputs.size());
        const bool quantises = !inBody && node.type == "QuantizeLinear" && node.domain.empty();
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const std::string_view name = node.inputs[i];
            if (quantises && i == 0) {
                const Node*& first = quantisers[name];
                const bool same = !first || (std::equal(node.inputs.begin() + 1, node.inputs.end(),
                                                        first->inputs.begin() + 1, first->inputs.end()) &&
                                             typeOfCodes(node) == typeOfCodes(*first));
                if (!same) frame_->readElsewhere.insert(name);
                first = &node;
            } else {
                frame_->readElsewhere.insert(name);
            }
        }
        for (const Attribute& attribute : node.attributes)
            if (attribute.graph) {
                noteReaders(attribute.graph->nodes, true);
                for (const ValueInfo& output : attribute.graph->outputs) frame_->readElsewhere.insert(output.name);
            }
    }
}

void Importer::noteFloats(const Node& node, const std::vector<V>& inputs, int64_t codedBefore) {
    static const std::set<std::string_view> kLayers{"Conv",  "ConvTranspose", "Gemm",         "MatMul",
                                                    "QGemm", "QLinearConv",   "QLinearMatMul"};
    if (coded_ != codedBefore || !kLayers.count(node.type)) return;
    bool any = false;
    for (const V value : inputs) any = any || (value && (value->real || value->steps || value->codes));
    if (any) ++floats_[std::string(node.type)];
}

void Importer::readNodes(const std::vector<Node>& nodes) {
    noteReaders(nodes, false);
    std::vector<const Node*>& order = reading_.orders[&nodes];
    if (order.empty()) order = inOrder(nodes);
    for (const Node* node : order) readNode(*node);
}

std::vector<V> Importer::body(const Graph& graph, const std::vector<V>& inputs) {
    if (++depth_ > 32) fail(Status::LimitExceeded, "bodies lie deeper in one another than 32");
    Frame frame;
    frame.outer = frame_;
    declareValues(graph, frame);
    Frame* before = frame_;
    frame_ = &frame;
    std::vector<V> results;
    const auto restore = [&] {
        frame_ = before;
        --depth_;
    };
    try {
        if (graph.inputs.size() < inputs.size())
            fail(Status::BadFormat, "the body '%s' has %zu inputs, and %zu are needed", shown(graph.name).c_str(),
                 graph.inputs.size(), inputs.size());
        spend(1 + inputs.size() + graph.outputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
            if (!frame.names.emplace(graph.inputs[i].name, countName(inputs[i])).second)
                fail(Status::BadFormat, "the body '%s' lists the input '%s' twice", shown(graph.name).c_str(),
                     shown(graph.inputs[i].name).c_str());
        readInitializers(graph);
        readNodes(graph.nodes);
        for (const ValueInfo& info : graph.outputs) {
            V value = find(info.name);
            if (!value) fail(Status::BadFormat, "no node makes the output '%s' of a body", shown(info.name).c_str());
            if (value->failed) refuse("a node of its body has no form");
            results.push_back(madeValue(value));
        }
    } catch (...) {
        restore();
        throw;
    }
    restore();
    return results;
}

// Makes an operator produce codes that exist only on demand.
V Importer::madeValue(V value) {
    if (!value->real) return value;
    static const Node none;
    Call call{*this, builder_, none, kNewest, {}, {}};
    return madeCodes(call, value);
}

// Makes the declared shapes of a graph known to its frame. Its outputs count as read elsewhere.
void Importer::declareValues(const Graph& graph, Frame& frame) {
    for (const ValueInfo& info : graph.values) frame.declared[info.name] = &info;
    for (const ValueInfo& info : graph.outputs) {
        frame.declared[info.name] = &info;
        frame.readElsewhere.insert(info.name);
    }
}

void Importer::noteOpset() {
    for (const Opset& opset : model_.opsets)
        if (opset.domain.empty() && opset.version > kNewest)
            note("The model's opset " + std::to_string(opset.version) + " is newer than " + std::to_string(kNewest) +
                 ", for which this library was written: operators are read as that one has them.");
}

void Importer::limitEvaluator() {
    const bool limited = options_.maxBytes && options_.maxBytes < kMaxGuessed / kTimesConstants;
    const uint64_t maxBytes = limited ? kTimesConstants * options_.maxBytes : kMaxGuessed;
    reading_.evaluator.maxFolded = std::min(maxBytes, kMaxGuessed / 2);
    reading_.evaluator.maxGuessed = free_ ? maxBytes : 0;
}

// Makes the requested values the outputs of the net, or those of the model. Each gets a tensor with its name, which is
// neither an input of another name nor another output.
void Importer::addOutputs() {
    std::vector<std::string> outputs = options_.outputs;
    if (outputs.empty())
        for (const ValueInfo& info : model_.graph.outputs) outputs.emplace_back(info.name);
    if (outputs.empty()) fail(Status::BadFormat, "the model has no outputs");
    std::unordered_set<int> named;                     // tensors
    std::unordered_map<int, std::string> inputsOfNet;  // by tensor
    for (const Operator& one : builder_.scope().operators)
        if (one.op.type == OpType::Input) inputsOfNet[one.op.outputIndexes[0]] = one.op.name;
    std::vector<std::pair<V, std::string>> renames;
    for (const std::string& name : outputs) {
        V value = find(name);
        if (!value) fail(Status::NotFound, "the model has no value '%s'", shown(name).c_str());
        if (value->failed) continue;
        Node node;
        node.name = name;
        node.type = "output";
        try {
            value = madeValue(value);
            if (value->isSequence) refuse("it is a sequence: outputs of a net are tensors");
            if (value->isNothing) refuse("it is an optional value that is not there");
            builder_.setName(name);
            bool own = !value->constant && value->scope == &builder_.scope() && value->tensor >= 0;
            const auto input = inputsOfNet.find(value->tensor);
            own = own && (input == inputsOfNet.end() || input->second == name) && !named.count(value->tensor);
            if (!own) value = builder_.copy(value);
            const auto declared = frame_->declared.find(name);
            ranksDiffer_ = ranksDiffer_ || (declared != frame_->declared.end() && declared->second->hasShape &&
                                            declared->second->shape.size() != value->rank());
            named.insert(value->tensor);
            renames.emplace_back(value, name);
            netOutputs_.push_back(value);
        } catch (const Error& error) {
            problem(node, error.message(), static_cast<int32_t>(error.status()));
        }
    }
    builder_.giveNames(renames);
}

void Importer::noteResults() {
    if (coded_)
        note(std::to_string(coded_) +
             " layers have the codes of the model as weights, and compute with codes where their inputs and outputs "
             "are quantised.");
    for (const auto& [type, count] : floats_)
        note(std::to_string(count) + " " + type +
             " nodes over quantised values compute with floats, because their weights are fed, or have no form of "
             "codes.");
    if (builder_.unchecked)
        note(std::to_string(builder_.unchecked) +
             " operators refuse the numbers that stood for free extents, so they fit other numbers alone, if any.");
    if (builder_.reachedOne)
        note(
            "Windows that make 1 of an image's height, for two heights that stood for it, count as doing so for every "
            "height, as in nets that read lines of text.");
    if (builder_.trusts)
        note(
            "Extents that came out of arithmetic over free extents and were equal for two sets of numbers count as "
            "fixed.");
}

bool Importer::run(int strategy) {
    Frame frame;
    frame.opsets = &model_.opsets;
    frame_ = &frame;
    builder_.lenient = strategy == kLenientStrategy;
    builder_.trusts = strategy == kTrustingStrategy;
    builder_.windowsReachOne = strategy == kTextStrategies[0] || strategy == kTextStrategies[1];
    if (builder_.trusts) strategy = 0;
    const Graph& graph = model_.graph;
    declareValues(graph, frame);
    for (const std::string& name : options_.outputs) frame.readElsewhere.insert(name);
    reading_.total = reading_.done + graph.nodes.size();
    if (graph.hasSparse) fail(Status::NotSupported, "the model has sparse initializers");
    noteOpset();
    readInitializers(graph);
    readInputs(graph, strategy);
    limitEvaluator();
    readNodes(graph.nodes);
    addOutputs();
    noteResults();
    report_.operators = static_cast<int64_t>(builder_.scope().operators.size());
    report_.folded = builder_.foldedCount();
    frame_ = nullptr;
    return free_ || builder_.probes > 1;
}

}  // namespace mnnc::onnx
