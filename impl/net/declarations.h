// What a model says of its tensors before a session exists: the types that the file declares, and what follows from
// them and from the declared inputs by the operators' shape rules.
#pragma once
#include <optional>
#include <vector>

#include "net/net.h"

namespace mnnc {

class DeclaredTypes {
  public:
    explicit DeclaredTypes(const Net& net);
    // The number of the element type that the file declares for a tensor of the main graph, quantised types as the type
    // of their codes; 0: the file does not say. Of an input it is that of its operator, of a constant that of its data,
    // of a cast the type that it casts to, and of others that of the file's description.
    int32_t operator()(int id) const;
    // Whether sessions show a tensor as half, which is a float inside: where the file declares it so, but not
    // constants.
    bool shownAsHalf(int id) const;

  private:
    const Node* makerOf(int id) const;

    const NetGraph& graph_;
    std::vector<size_t> makers_;  // [tensor] its constant, else the last node that makes it
};

struct Declaration {
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    Shape shape;  // -1: open, or it changes with an extent that is open
};

// What the operator of an input says. id: of an input of the main graph.
Declaration declaredInput(const Net& net, int id);
// The declarations of tensors of the main graph, where the declared inputs decide them: not behind values that a
// session computes (moving small integers, as shape arithmetic does, is done here), nor behind control flow and
// operators of the host. Open extents are tried with several sizes.
std::vector<std::optional<Declaration>> declarations(const Net& net, const std::vector<int32_t>& ids);

}  // namespace mnnc
