// Runs a net whose operators may be replaced by one when it is parsed, completely or with a tensor kept that the
// rewrite would remove.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "net_builder.h"
#include "tensor/host_copy.h"

namespace mnnc::test {

inline size_t rewritesOf(const wire::NetT& net) {
    return parseNet(loadNet(net))->graphs[0].rewrites.size();
}

struct RewrittenRun {
    std::vector<float> values;              // of the first output
    std::map<std::string, int> operations;  // how many of each type ran
};

inline RewrittenRun runRewritten(const std::shared_ptr<const Interpreter>& interpreter,
                                 std::vector<std::string> saveTensors) {
    SessionConfig config;
    config.part.saveTensors = std::move(saveTensors);
    Session session(interpreter, config);
    Operand& input = session.input(0);
    std::vector<float> values(static_cast<size_t>(input.elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::cos(static_cast<float>(i) * 0.37f);
    copyFromHost(input, session.inputData(0), values.data(), Format::NCHW);
    session.run();
    const Operand& output = session.output(0);
    RewrittenRun result;
    result.values.resize(static_cast<size_t>(output.elements()));
    copyToHost(output, session.outputData(0), result.values.data(), Format::NCHW);
    for (const OpRecord& record : session.records()) ++result.operations[record.type];
    return result;
}

}  // namespace mnnc::test
