// Functions that the rules of the TensorArray operators share: inputs, indices and elements.
#pragma once
#include <algorithm>
#include <vector>

#include "ops/op_helpers.h"
#include "ops/tensor_array.h"

namespace mnnc {

ParamsPtr parseTensorArray(const wire::Op& op, const ParseContext& context);

const TensorArrayParams& tensorArrayParams(const ShapeContext& context);
// Returns the index of the flow among the inputs. listOf() returns its shapes and refuses a flow that is no sequence.
int flowInput(const ShapeContext& context);
const TensorList& listOf(const ShapeContext& context);

// Makes the output a sequence with the shapes of `list` and elements of the type of `value`. Throws when the flow has
// elements of another type or order of axes.
void setSequence(const ShapeContext& context, TensorList list, const Tensor& value);

// Checks the index of an element, and resolves a negative one, which counts from the end. `behind`: also accepts the
// place after the last element.
int64_t elementIndex(const ShapeContext& context, int64_t index, int64_t size, bool behind);
// Checks the index of an element to write: an index beyond the last element extends a dynamic sequence.
int64_t writeIndex(const ShapeContext& context, const TensorList& list, int64_t index);
// Refuses an element that has no shape yet.
const TensorList::Run& knownElement(const ShapeContext& context, const TensorList& list, int64_t index);

// Builds a tensor from linear parts of others.
class Parts {
  public:
    explicit Parts(const OpContext& context) : context_(context) {}
    void copy(int input, int64_t from, int64_t count) {
        Region region;
        region.input = operand(input);
        region.src.offset = from;
        region.dst.offset = at_;
        region.size[2] = count;
        at_ += count;
        if (count == 0) return;
        if (!regions_.empty()) {  // a part that continues where the last one ended is merged with it
            Region& last = regions_.back();
            if (last.input == region.input && last.src.offset + last.size[2] == from &&
                last.dst.offset + last.size[2] == region.dst.offset) {
                last.size[2] += count;
                return;
            }
        }
        regions_.push_back(region);
    }
    void skip(int64_t count) { at_ += count; }  // the skipped elements stay zero
    void emit() {
        context_.geometry.raster(context_.outputs[0], std::move(inputs_), std::move(regions_), context_.node.name);
    }

  private:
    int operand(int input) {
        Tensor* tensor = context_.inputs[static_cast<size_t>(input)];
        const auto found = std::find(inputs_.begin(), inputs_.end(), tensor);
        if (found != inputs_.end()) return static_cast<int>(found - inputs_.begin());
        if (tensor->empty()) return 0;
        inputs_.push_back(tensor);
        return static_cast<int>(inputs_.size()) - 1;
    }

    const OpContext& context_;
    std::vector<Tensor*> inputs_;
    std::vector<Region> regions_;
    int64_t at_ = 0;
};

// Copies elements [first, last) of the flow.
void copyElements(Parts& parts, const OpContext& context, const TensorList& list, int64_t first, int64_t last);

// Input 0, the handle, is never read.
inline uint32_t handleInput(const Node&) {
    return 1u;
}

}  // namespace mnnc
