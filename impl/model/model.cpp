// Builds a Model from verified bytes: graphs, names, inputs and outputs. Verification comes first and is complete; the
// code after it relies on it.
#include "model/model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "base/error.h"
#include "base/op_type.h"
#include "base/os/paths.h"
#include "model/lost_operators.h"
#include "model/operator_order.h"
#include "model/other_formats.h"
#include "model/structure.h"
#include "model/verify.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

std::string defaultWeightPath(const ModelOptions& options) {
    if (!options.externalWeightPath.empty()) return options.externalWeightPath;
    return options.modelPath.empty() ? std::string() : options.modelPath + ".weight";
}

void copyOps(Graph& graph, const flatbuffers::Vector<flatbuffers::Offset<wire::Op>>* ops) {
    graph.ops.assign(ops->begin(), ops->end());
}

void copyNames(std::vector<std::string>& names,
               const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
    if (!texts) return;
    names.reserve(texts->size());
    for (const auto* text : *texts) names.push_back(text->str());
}

void indexDescribes(Graph& graph, const flatbuffers::Vector<flatbuffers::Offset<wire::TensorDescribe>>* describes) {
    if (!describes || describes->size() == 0) return;
    graph.describes.assign(graph.tensorNames.size(), nullptr);
    for (const auto* describe : *describes) graph.describes[static_cast<size_t>(describe->index())] = describe;
}

bool isType(const wire::Op* op, OpType type) {
    return static_cast<int32_t>(op->type()) == static_cast<int32_t>(type);
}

std::vector<int32_t> inputOpTensors(const Graph& graph) {
    std::vector<int32_t> ids;
    for (const auto* op : graph.ops)
        if (isType(op, OpType::Input)) ids.push_back(op->outputIndexes()->Get(0));
    return ids;
}

// verifyModel() has checked that no output needs them.
void dropLostOperators(Graph& graph) {
    const std::vector<char> lost = lostOperators(graph.ops, std::vector<char>(graph.tensorNames.size(), 0));
    size_t at = 0;
    std::erase_if(graph.ops, [&](const wire::Op*) { return lost[at++] != 0; });
}

// Returns the outputs of an old file, which has no outputName: the tensors without a consumer. Constants and inputs
// without a consumer are left-overs, not results.
std::vector<int32_t> unconsumedTensors(const Graph& graph) {
    std::vector<char> produced(graph.tensorNames.size(), 0);
    std::vector<char> consumed(graph.tensorNames.size(), 0);
    for (const auto* op : graph.ops) {
        const bool leaf = isType(op, OpType::Const) || isType(op, OpType::TrainableParam) || isType(op, OpType::Input);
        for (const int32_t id : *op->outputIndexes())
            if (!leaf) produced[static_cast<size_t>(id)] = 1;
        if (op->inputIndexes())
            for (const int32_t id : *op->inputIndexes()) consumed[static_cast<size_t>(id)] = 1;
    }
    std::vector<int32_t> ids;
    for (size_t id = 0; id < produced.size(); ++id)
        if (produced[id] && !consumed[id]) ids.push_back(static_cast<int32_t>(id));
    return ids;
}

std::vector<std::pair<std::string, std::string>> readMetadata(const wire::ExtraInfo* info) {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!info || vectorSize(info->buffer()) < 8) return pairs;
    const size_t size = info->buffer()->size();
    // A nested buffer needs an alignment of its own.
    const auto copy = std::make_unique_for_overwrite<uint8_t[]>(size);
    std::memcpy(copy.get(), info->buffer()->Data(), size);
    flatbuffers::Verifier verifier(copy.get(), size, 64, 100000);
    if (!verifier.VerifyBuffer<wire::Extra>(nullptr)) return pairs;
    const auto* extra = flatbuffers::GetRoot<wire::Extra>(copy.get());
    if (!extra->attr()) return pairs;
    // Many entries of a hostile file may refer to one long text, which becomes a copy for each.
    size_t left = 4 * size;
    for (const auto* attribute : *extra->attr()) {
        if (!attribute) continue;
        const auto bytes = static_cast<size_t>(attribute->key()->size() + vectorSize(attribute->s()));
        if (bytes > left) return {};
        left -= bytes;
        pairs.emplace_back(attribute->key()->str(), copyText(attribute->s()));
    }
    return pairs;
}

// path: the name of the file, with which the sentence of a failure begins; empty for a model from memory.
const wire::Net* verifyFile(const ModelBytes& bytes, const std::string& path) {
    try {
        return verifyModel(bytes.data(), bytes.size());
    } catch (const Error& error) {
        if (path.empty()) throw;
        throw Error(error.status(), format("'%s': %s", path.c_str(), error.what()));
    }
}

}  // namespace

int32_t Graph::findTensor(std::string_view tensorName) const {
    for (size_t i = tensorNames.size(); i-- > 0;)
        if (tensorNames[i] == tensorName) return static_cast<int32_t>(i);
    return -1;
}

int Model::findGraph(std::string_view name) const {
    const auto found = subgraphs_.find(name);
    return found == subgraphs_.end() ? -1 : found->second;
}

std::shared_ptr<const Model> Model::load(ModelBytes bytes, const ModelOptions& options) {
    return std::shared_ptr<const Model>(new Model(std::move(bytes), options));
}

Model::Model(ModelBytes bytes, const ModelOptions& options)
    : bytes_(std::move(bytes)),
      externalFiles_(options.externalWeights, defaultWeightPath(options),
                     os::textOf(os::pathOf(options.modelPath).parent_path()), options.allowExternalPathInOps,
                     options.access),
      attentionScale_(options.attentionScale) {
    options.cancel.check();
    // A file that is no model is read completely, so that the verifier can give the reason.
    if (bytes_.size() <= kMaxModelBytes && fetchStructure(bytes_) != Structure::Sound) {
        const size_t head = std::min(bytes_.size(), kOnnxHead);
        bytes_.fetch(0, head);
        if (isOnnx(bytes_.data(), head))
            fail(Status::BadFormat,
                 "%s is an ONNX model: `mnn convert NET.onnx NET.mnn` makes a .mnn model of it, and so does "
                 "mnn_onnx_convert_file() of libmnn_c_onnx",
                 options.modelPath.empty() ? "this" : ("'" + options.modelPath + "'").c_str());
        bytes_.fetchAll();
    }
    bytes_.requireUnchanged();
    net_ = verifyFile(bytes_, options.modelPath);
    options.cancel.check();

    uuid_ = copyText(net_->mnn_uuid());
    bizCode_ = copyText(net_->bizCode());
    if (net_->extraInfo()) version_ = copyText(net_->extraInfo()->version());
    sourceType_ = static_cast<ModelSource>(net_->sourceType());
    usage_ = static_cast<ModelUsage>(net_->usage());
    copyNames(outputNames_, net_->outputName());
    metadata_ = readMetadata(net_->extraInfo());

    Graph& main = graphs_.emplace_back();
    copyOps(main, net_->oplists());
    copyNames(main.tensorNames, net_->tensorName());
    indexDescribes(main, net_->extraTensorDescribe());
    main.inputs = inputOpTensors(main);
    // A map, because a hostile file may list very many outputs. Later tensors replace earlier ones of the same name.
    std::unordered_map<std::string_view, int32_t> ids;
    if (!outputNames_.empty())
        for (size_t i = 0; i < main.tensorNames.size(); ++i) ids[main.tensorNames[i]] = static_cast<int32_t>(i);
    for (const auto& name : outputNames_) main.outputs.push_back(ids.at(name));
    if (outputNames_.empty())
        main.outputs = unconsumedTensors(main);
    else if (usage_ != ModelUsage::StaticInference)
        dropLostOperators(main);

    if (net_->subgraphs()) addSubgraphs();
    for (Graph& graph : graphs_) {
        options.cancel.check();
        const std::string title = graph.name.empty() ? std::string() : "subgraph '" + graph.name + "': ";
        graph.order = operatorOrder(graph.ops, graph.tensorNames.size(), title);
    }
    if (options.access != ModelBytes::Access::OnDemand) return;
    for (const Graph& graph : graphs_)
        for (const wire::Op* op : graph.ops) externalFiles_.expect(*op);
}

void Model::addSubgraphs() {
    for (const auto* proto : *net_->subgraphs()) {
        Graph& graph = graphs_.emplace_back();
        graph.name = proto->name()->str();
        copyOps(graph, proto->nodes());
        copyNames(graph.tensorNames, proto->tensors());
        indexDescribes(graph, proto->extraTensorDescribe());
        if (proto->inputs()) graph.inputs.assign(proto->inputs()->begin(), proto->inputs()->end());
        graph.outputs.assign(proto->outputs()->begin(), proto->outputs()->end());
        subgraphs_.emplace(proto->name()->string_view(), static_cast<int>(graphs_.size()) - 1);
    }
}

void Model::readingWeights(int64_t bytes) const {
    constexpr int64_t kMany = 1 << 20;
    if (weightBytesRead_.load(std::memory_order_relaxed) > kMany) {
        weightBytesRead_.store(0, std::memory_order_relaxed);
        bytes_.dropPages();
        externalFiles_.dropPages();
    }
    weightBytesRead_.fetch_add(bytes, std::memory_order_relaxed);
}

void Model::weightsRead() const {
    if (weightBytesRead_.load(std::memory_order_relaxed) == 0) return;
    weightBytesRead_.store(0, std::memory_order_relaxed);
    bytes_.dropPages();
    bytes_.dropBuffers();
    externalFiles_.dropPages();
    externalFiles_.dropBuffers();
}

KeptSources Model::keptWeights() const {
    KeptSources kept;
    const ByteRange whole{0, bytes_.size()};
    kept.emplace_back(&bytes_, bytes_.kept({&whole, 1}));
    std::vector<const wire::Op*> ops;
    for (const Graph& graph : graphs_) ops.insert(ops.end(), graph.ops.begin(), graph.ops.end());
    externalFiles_.addKept(ops, kept);
    return kept;
}

void Model::release(KeptSources& kept) const noexcept {
    externalFiles_.close();
    for (auto& [bytes, source] : kept) bytes->exchange(source);
}

void Model::release() const {
    bytes_.release();
    externalFiles_.release();
}

}  // namespace mnnc
