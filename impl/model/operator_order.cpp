// Sorts the operators of a graph by their dependences, and moves as few as possible.
#include "model/operator_order.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/error.h"
#include "mnn_generated.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

// Accesses to a tensor while the operators are visited in file order.
struct TensorAccess {
    bool given = false;             // a constant or an input
    uint32_t writers = 0;           // in the whole file
    int64_t lastWriter = -1;        // the latest one visited
    std::vector<uint32_t> readers;  // visited since then

    bool ordered() const { return writers > 1 || given; }
};

class Sorter {
  public:
    Sorter(const std::vector<const wire::Op*>& ops, size_t tensorCount, const std::string& title)
        : ops_(ops), title_(title), tensors_(tensorCount), next_(ops.size()), waits_(ops.size(), 0) {
        for (size_t i = 0; i < ops.size(); ++i)
            for (const int32_t id : *ops[i]->outputIndexes()) {
                TensorAccess& tensor = tensors_[static_cast<size_t>(id)];
                if (isLeaf(opTypeOf(*ops[i])))
                    tensor.given = true;
                else if (tensor.lastWriter != static_cast<int64_t>(i)) {
                    ++tensor.writers;
                    tensor.lastWriter = static_cast<int64_t>(i);  // the only one, if there is one
                }
            }
        for (TensorAccess& tensor : tensors_)
            if (tensor.ordered()) tensor.lastWriter = -1;
        for (size_t i = 0; i < ops.size(); ++i) visit(static_cast<uint32_t>(i));
    }

    // Takes, again and again, the first operator in the file that waits for no other (Kahn, "Topological sorting of
    // large networks", 1962).
    std::vector<uint32_t> sorted() {
        std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
        for (uint32_t i = 0; i < ops_.size(); ++i)
            if (waits_[i] == 0) ready.push(i);
        std::vector<uint32_t> order;
        order.reserve(ops_.size());
        while (!ready.empty()) {
            const uint32_t at = ready.top();
            ready.pop();
            order.push_back(at);
            for (const uint32_t later : next_[at])
                if (--waits_[later] == 0) ready.push(later);
        }
        if (order.size() != ops_.size()) failCycle();
        return order;
    }

  private:
    void visit(uint32_t at) {
        const wire::Op& op = *ops_[at];
        if (isLeaf(opTypeOf(op))) return;
        if (op.inputIndexes())
            for (const int32_t id : *op.inputIndexes()) {
                TensorAccess& tensor = tensors_[static_cast<size_t>(id)];
                if (tensor.writers == 0) continue;
                if (tensor.ordered() && !tensor.given && tensor.lastWriter < 0)
                    fail(Status::BadFormat,
                         "%soperator %u '%s' reads tensor %d, which has %u writers that all come later: file order "
                         "decides between several writers, so the tensor has no value there",
                         title_.c_str(), at, copyText(op.name()).c_str(), id, tensor.writers);
                if (tensor.lastWriter >= 0) after(tensor.lastWriter, at);
                if (tensor.ordered()) tensor.readers.push_back(at);
            }
        for (const int32_t id : *op.outputIndexes()) {
            TensorAccess& tensor = tensors_[static_cast<size_t>(id)];
            if (!tensor.ordered()) continue;
            if (tensor.lastWriter >= 0 && tensor.lastWriter != at) after(tensor.lastWriter, at);
            for (const uint32_t reader : tensor.readers)
                if (reader != at) after(reader, at);
            tensor.readers.clear();
            tensor.lastWriter = at;
        }
    }

    void after(int64_t first, uint32_t second) {
        next_[static_cast<size_t>(first)].push_back(second);
        ++waits_[second];
    }

    // An operator that waits may only come after the cycle, but one before it that also waits is found again and again.
    [[noreturn]] void failCycle() const {
        std::vector<uint32_t> waitingBefore(ops_.size(), 0);
        uint32_t at = 0;
        for (uint32_t i = 0; i < ops_.size(); ++i) {
            if (waits_[i] == 0) continue;
            for (const uint32_t later : next_[i]) waitingBefore[later] = i;
            at = i;
        }
        for (size_t step = 0; step < ops_.size(); ++step) at = waitingBefore[at];
        for (uint32_t other = waitingBefore[at], end = at; other != end; other = waitingBefore[other])
            at = std::min(at, other);
        fail(Status::Cycle, "%soperator %u '%s' waits for its own result: operators read each other's outputs",
             title_.c_str(), at, copyText(ops_[at]->name()).c_str());
    }

    const std::vector<const wire::Op*>& ops_;
    const std::string& title_;
    std::vector<TensorAccess> tensors_;
    std::vector<std::vector<uint32_t>> next_;  // by operator: those that wait for it
    std::vector<uint32_t> waits_;              // by operator: how many others it waits for
};

}  // namespace

std::vector<uint32_t> operatorOrder(const std::vector<const wire::Op*>& ops, size_t tensorCount,
                                    const std::string& title) {
    return Sorter(ops, tensorCount, title).sorted();
}

}  // namespace mnnc
