// The model's description of its tensors before a session exists: the types that the file declares, and the shapes that
// follow from the declared inputs by the shape rules of the operators.
#pragma once
#include <optional>
#include <vector>

#include "net/net.h"

namespace mnnc {

class DeclaredTypes {
  public:
    explicit DeclaredTypes(const Net& net);
    // Returns the number of the element type that the file declares for a tensor of the main graph, with quantised
    // types as the type of their codes; 0: the file has none. The source is the operator of an input, the data of a
    // constant, the target type of a cast, and the file's description for all others.
    int32_t operator()(int id) const;
    // Returns whether sessions show a tensor as half, although it is a float inside. They do so where the file declares
    // half, but not for constants.
    bool shownAsHalf(int id) const;

  private:
    const Node* producerOf(int id) const;

    const NetGraph& graph_;
    std::vector<size_t> producers_;  // [tensor] its constant, or else the last node that produces it
};

struct Declaration {
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    Shape shape;  // -1: open, or it changes with an open extent
};

// Returns the declarations that the Input operators of the main graph make.
std::vector<Declaration> declaredInputs(const Net& net, const std::vector<int32_t>& ids);
// Returns the declarations of tensors of the main graph that follow from the declared inputs. None follows where a
// shape depends on values that a session computes (except shape arithmetic on small integers, which is computed here),
// on control flow, or on operators of the host. Open extents are tried with several sizes.
std::vector<std::optional<Declaration>> declarations(const Net& net, const std::vector<int32_t>& ids);

}  // namespace mnnc
