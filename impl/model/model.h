// A loaded and verified net: an immutable view over the bytes, shared by all objects that are made from it. Graph 0 is
// the main net, the others are the bodies of If and While. All text is copied at load. A Model neither runs nor
// interprets operators; unknown operators load, and a session that needs one refuses it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "model/bytes.h"
#include "model/external_file.h"

namespace mnnc {

namespace wire {
struct Net;
struct Op;
struct TensorDescribe;
}  // namespace wire

struct ModelOptions {
    std::string modelPath;           // determines the default weight file; empty for a model from memory
    std::string externalWeightPath;  // replaces modelPath + ".weight"
    std::shared_ptr<const ExternalFile> externalWeights;  // replaces both; null: a file is used
    bool allowExternalPathInOps = false;
    ModelBytes::Access access = ModelBytes::Access::OnDemand;  // for weight files
    Cancellation cancel;                                       // ends the load
    float attentionScale = 0;  // factor of scores where an operator Attention has none; 0: 1 / sqrt(depth)
};

struct Graph {
    std::string name;                      // empty for the main net
    std::vector<const wire::Op*> ops;      // in file order; their numbers are positions in this list
    std::vector<uint32_t> order;           // those positions in execution order (operator_order.h)
    std::vector<std::string> tensorNames;  // by tensor id
    std::vector<int32_t> inputs;           // ids: Input ops in order, or the formal inputs of a subgraph
    std::vector<int32_t> outputs;
    // By tensor id, nullptr where the file has no description. Empty when it has none at all.
    std::vector<const wire::TensorDescribe*> describes;

    const wire::TensorDescribe* describe(int32_t id) const {
        return static_cast<size_t>(id) < describes.size() ? describes[static_cast<size_t>(id)] : nullptr;
    }
    // The last tensor with that name (the reference's rule for outputs), or -1.
    int32_t findTensor(std::string_view tensorName) const;
};

enum class ModelSource : int8_t { Caffe = 0, TensorFlow = 1, TfLite = 2, Onnx = 3, Torch = 4 };
enum class ModelUsage : int8_t { Inference = 0, Train = 1, StaticInference = 2 };

class Model {
  public:
    // Throws Error. mnn_c.h lists the statuses with their causes at mnn_interpreter_create_from_file().
    static std::shared_ptr<const Model> load(ModelBytes bytes, const ModelOptions& options = {});

    const wire::Net* net() const noexcept { return net_; }
    const std::vector<Graph>& graphs() const noexcept { return graphs_; }
    const Graph& mainGraph() const noexcept { return graphs_[0]; }
    int findGraph(std::string_view name) const;  // index of the subgraph, or -1; never 0

    const std::string& uuid() const noexcept { return uuid_; }
    const std::string& version() const noexcept { return version_; }  // of the writer; "" in old files
    const std::string& bizCode() const noexcept { return bizCode_; }
    const std::vector<std::string>& outputNames() const noexcept { return outputNames_; }  // as in the file
    ModelSource sourceType() const noexcept { return sourceType_; }
    ModelUsage usage() const noexcept { return usage_; }
    float attentionScale() const noexcept { return attentionScale_; }  // of ModelOptions
    bool isWeightless() const noexcept { return bizCode_ == "benchmark"; }
    // Key and text of extraInfo.buffer; empty when it is absent or damaged.
    const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept { return metadata_; }

    size_t byteSize() const noexcept { return bytes_.size(); }
    // The bytes that contain the tables; contents of large arrays have to be read through them.
    const ModelBytes& bytes() const noexcept { return bytes_; }
    // The files with the arrays of an operator. Throws what ExternalFiles::forOp() throws.
    WeightFiles weightFiles(const wire::Op& op) const { return {&bytes_, externalFiles_.forOp(op)}; }
    // Callers announce here how many bytes of weights they are about to read. Earlier ones are prepared by then, and
    // their pages of a mapped file are released once they are many. Safe to call from several threads.
    void readingWeights(int64_t bytes) const;
    // Releases what was kept for reading: pages of mapped files, and memory.
    void weightsRead() const;
    // Releases the bytes of the model and of its external weights. Reading them afterwards throws BadState; the tables
    // and small weights stay.
    void release() const;
    // Copies the weights of all operators to memory of the library, as sources for release(). Throws what reading
    // throws.
    KeptSources keptWeights() const;
    // Replaces the sources of the model and its files by the kept ones. The caller gets the replaced sources, and frees
    // them.
    void release(KeptSources& kept) const noexcept;
    const ExternalFiles& externalFiles() const noexcept { return externalFiles_; }

  private:
    Model(ModelBytes bytes, const ModelOptions& options);
    void addSubgraphs();

    ModelBytes bytes_;
    ExternalFiles externalFiles_;
    const wire::Net* net_ = nullptr;
    std::vector<Graph> graphs_;
    std::unordered_map<std::string_view, int> subgraphs_;  // their indices by names, which lie in the tables
    std::string uuid_;
    std::string version_;
    std::string bizCode_;
    std::vector<std::string> outputNames_;
    ModelSource sourceType_ = ModelSource::Caffe;
    ModelUsage usage_ = ModelUsage::Inference;
    float attentionScale_ = 0;
    std::vector<std::pair<std::string, std::string>> metadata_;
    mutable std::atomic<int64_t> weightBytesRead_{0};
};

}  // namespace mnnc
