// Divides the main graph among the paths of a session: which tensors each path is fed, which it makes, and which it
// hands to later ones. A session without paths of its own has one part, the whole graph.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "net/net.h"

namespace mnnc {

// What a path is asked for, by names: see mnn_schedule_config_t.
struct PartRequest {
    std::vector<std::string> inputs;       // tensors to feed instead of making them
    std::vector<std::string> outputs;      // instead of the model's; empty: the model's
    std::vector<std::string> saveTensors;  // beside those
    std::vector<std::string> operators;    // to run, and no others; then neither inputs nor outputs
    // Where the path begins and ends, by operators: it runs both, what lies between them, and what those need beside;
    // then none of the above but saveTensors. No sources: it begins with the model's inputs. No sinks: it ends with
    // those of the model's outputs that a source leads to.
    std::vector<std::string> sources, sinks;

    bool byWays() const noexcept { return !sources.empty() || !sinks.empty(); }
};

struct NetPart {
    std::vector<int> inputs;   // tensors that are there before the part runs: of the caller or of earlier parts
    std::vector<int> outputs;  // those that it makes for the caller or for later parts
    bool updates = false;      // all operators of the net run that write constants
};

// Tensor ids of the main graph.
struct NetParts {
    struct Port {
        size_t part;
        int tensor;
    };
    // A tensor that part `to` reads and an earlier one, `from`, makes or is fed.
    struct Link {
        size_t from, to;
        int tensor;
    };
    std::vector<NetPart> parts;
    std::vector<Port> inputs, outputs;  // of the session, in its order
    std::vector<Link> links;            // by `to`
};

// Does something for a path, and names the path in its errors where there are several.
template <typename Action>
void inPath(size_t path, size_t count, Action action) {
    try {
        action();
    } catch (const Error& error) {
        if (count == 1) throw;
        throw Error(error.status(), format("path %zu: %s", path, error.message().c_str()));
    }
}

// Throws NotFound for an unknown name, InvalidValue for requests that contradict each other and BadFormat where there
// is nothing to compute; the sentence names the path where there are several.
NetParts netParts(const NetGraph& graph, const std::vector<PartRequest>& requests);

}  // namespace mnnc
