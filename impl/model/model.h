// A loaded and verified net: an immutable view over the bytes, shared by everything made from it.
// Graph 0 is the main net, the others are the bodies of If and While. All text is copied out at load.
// Nothing here runs or interprets operators; unknown operators load and are refused when a session needs
// them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
    std::string modelPath;           // gives the default weight file; empty for a model from memory
    std::string externalWeightPath;  // replaces modelPath + ".weight"
    std::shared_ptr<const ExternalFile> externalWeights;  // replaces both; null: a file
    bool allowExternalPathInOps = false;
    ModelBytes::Access access = ModelBytes::Access::OnDemand;  // of weight files
    Cancellation cancel;                                       // ends the load
};

struct Graph {
    std::string name;                      // empty for the main net
    std::vector<const wire::Op*> ops;      // as the file lists them; their numbers are positions in this list
    std::vector<uint32_t> order;           // those positions in the order in which they run (operator_order.h)
    std::vector<std::string> tensorNames;  // position = tensor id
    std::vector<int32_t> inputs;           // ids: Input ops in order, or the formal inputs of a subgraph
    std::vector<int32_t> outputs;
    // By tensor id, nullptr where the file says nothing. Empty when it says nothing at all.
    std::vector<const wire::TensorDescribe*> describes;

    const wire::TensorDescribe* describe(int32_t id) const {
        return static_cast<size_t>(id) < describes.size() ? describes[static_cast<size_t>(id)] : nullptr;
    }
    // The last tensor of that name (the reference's rule for outputs), or -1.
    int32_t findTensor(std::string_view tensorName) const;
};

enum class ModelSource : int8_t { Caffe = 0, TensorFlow = 1, TfLite = 2, Onnx = 3, Torch = 4 };
enum class ModelUsage : int8_t { Inference = 0, Train = 1, StaticInference = 2 };

class Model {
  public:
    // Throws Error: Truncated, BadFormat, BadIndex, BadParameter, BadWeights, Overflow, Cycle, BadType,
    // FileChanged, FileReadFailed.
    static std::shared_ptr<const Model> load(ModelBytes bytes, const ModelOptions& options = {});

    const wire::Net* net() const noexcept { return net_; }
    const std::vector<Graph>& graphs() const noexcept { return graphs_; }
    const Graph& mainGraph() const noexcept { return graphs_[0]; }
    int findGraph(std::string_view name) const;  // number of the subgraph, or -1; never 0

    const std::string& uuid() const noexcept { return uuid_; }
    const std::string& version() const noexcept { return version_; }  // of the writer; "" in old files
    const std::string& bizCode() const noexcept { return bizCode_; }
    const std::vector<std::string>& outputNames() const noexcept { return outputNames_; }  // as the file has them
    ModelSource sourceType() const noexcept { return sourceType_; }
    ModelUsage usage() const noexcept { return usage_; }
    bool isWeightless() const noexcept { return bizCode_ == "benchmark"; }
    // Key and text of extraInfo.buffer; empty when it is absent or damaged.
    const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept { return metadata_; }

    size_t byteSize() const noexcept { return bytes_.size(); }
    // Where the tables are; contents of large arrays have to be read through it.
    const ModelBytes& bytes() const noexcept { return bytes_; }
    // Where the arrays of an operator lie. Throws as ExternalFiles::forOp does.
    WeightFiles weightFiles(const wire::Op& op) const { return {&bytes_, externalFiles_.forOp(op)}; }
    // Callers announce here how many bytes of weights they are about to read. Those read earlier have been prepared
    // then and their pages of a mapped file are given back once they are many. Safe to call from several threads.
    void readingWeights(int64_t bytes) const;
    // Gives back what was kept for reading: pages of mapped files, and memory.
    void weightsRead() const;
    // Gives back the bytes of the model and of its external weights. What is read of them afterwards is BadState; the
    // tables, and weights that are small, stay.
    void release() const;
    const ExternalFiles& externalFiles() const noexcept { return externalFiles_; }

  private:
    Model(ModelBytes bytes, const ModelOptions& options);
    void addSubgraphs();

    ModelBytes bytes_;
    ExternalFiles externalFiles_;
    const wire::Net* net_ = nullptr;
    std::vector<Graph> graphs_;
    std::string uuid_;
    std::string version_;
    std::string bizCode_;
    std::vector<std::string> outputNames_;
    ModelSource sourceType_ = ModelSource::Caffe;
    ModelUsage usage_ = ModelUsage::Inference;
    std::vector<std::pair<std::string, std::string>> metadata_;
    mutable std::atomic<int64_t> weightBytesRead_{0};
};

}  // namespace mnnc
