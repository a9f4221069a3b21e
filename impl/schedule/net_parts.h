// Divides the main graph among the paths of a session: determines the inputs and outputs of each path, and the tensors
// that it passes to later ones. A session without explicit paths has one part, the whole graph.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "net/net.h"

namespace mnnc {

// The request for one path, by names: see mnn_schedule_config_t.
struct PartRequest {
    std::vector<std::string> inputs;       // tensors that are supplied instead of being computed
    std::vector<std::string> outputs;      // replace the model's outputs; empty: the model's
    std::vector<std::string> saveTensors;  // additional outputs
    std::vector<std::string> operators;    // run these and no others; excludes inputs and outputs
    // The operators at which the path begins and ends: it runs them, the operators between them, and the producers of
    // all other tensors that these read. This excludes all fields above except saveTensors. Without sources the path
    // begins with the model's inputs; without sinks it ends with those outputs of the model that depend on a source.
    std::vector<std::string> sources, sinks;

    bool byEnds() const noexcept { return !sources.empty() || !sinks.empty(); }
};

struct NetPart {
    std::vector<int> inputs;   // tensors that exist before the part runs: from the caller or from earlier parts
    std::vector<int> outputs;  // tensors that it produces for the caller or for later parts
    bool updates = false;      // runs all operators of the net that write constants
};

// The parts of the main graph; tensors are named by their ids.
struct NetParts {
    struct Port {
        size_t part;
        int tensor;
    };
    // A tensor that part `to` reads, and that an earlier part, `from`, produces or gets as an input.
    struct Link {
        size_t from, to;
        int tensor;
    };
    std::vector<NetPart> parts;
    std::vector<Port> inputs, outputs;  // of the session, in its order
    std::vector<Link> links;            // ordered by `to`
};

// Runs an action for a path, and names the path in its errors where there are several.
template <typename Action>
void inPath(size_t path, size_t count, Action action) {
    try {
        action();
    } catch (const Error& error) {
        if (count == 1) throw;
        throw Error(error.status(), format("path %zu: %s", path, error.message().c_str()));
    }
}

// Throws NotFound for an unknown name, InvalidValue for requests that contradict each other and BadFormat where nothing
// would be computed; the sentence names the path where there are several.
NetParts netParts(const NetGraph& graph, const std::vector<PartRequest>& requests);

}  // namespace mnnc
