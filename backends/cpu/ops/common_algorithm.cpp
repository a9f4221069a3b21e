// Chooses one algorithm for convolutions that have the same constant as their weights but maps of different sizes: the
// heads of a detector, which run on each level of a pyramid. Each algorithm packs weights in its own way, and a
// separate packing for each level would take several times the memory of the weights.
#include "backends/cpu/ops/common_algorithm.h"

#include <algorithm>
#include <map>
#include <optional>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/ops/packed_conv_weights.h"

namespace mnnc::cpu {

namespace {

// The cost of computing the commands with one algorithm: cycles of a run on one thread, and the packings that it needs.
struct AlgorithmCost {
    double cycles = 0;
    std::map<std::string, int64_t> packings;  // bytes of each

    // An additional packing must save, in a run, twice the time that making it takes (it is written and read once),
    // because its memory stays allocated.
    double total(const Kernels& k) const {
        double bytes = 0;
        for (const auto& [variant, size] : packings) bytes += static_cast<double>(size);
        return cycles + 4 * bytes / k.costs->cycles.weightBytesPerCycle;
    }
};

// Returns std::nullopt where a command cannot be computed with the algorithm. All of them read packed channels.
std::optional<AlgorithmCost> costOf(const CpuBackend& backend, std::span<const Command* const> commands,
                                    ConvAlgorithm algorithm) {
    const Kernels& k = backend.kernels();
    AlgorithmCost cost;
    for (const Command* command : commands) {
        if (command->inputs[0]->type != DataType::Float32 || command->outputs[0]->empty()) return {};
        const ConvWindow w = windowOf(*command);
        const ConvShape shape = planShape(w, command->paramsAs<ConvParams>());
        Command asked = *command;
        asked.algorithm = static_cast<int>(algorithm);
        ConvOptions options = convOptions(backend, asked, w);
        options.srcNchw = false;
        for (const ConvCandidate& each : convCandidates(k, shape, options))
            if (each.chosen) cost.cycles += each.cycles;
        const auto plan = makeConvPlan(k, shape, options);
        cost.packings.emplace(weightVariant(backend, *plan, w), plan->packedWeightBytes());
    }
    return cost;
}

}  // namespace

int commonAlgorithm(const CpuBackend& backend, std::span<const Command* const> commands) {
    const Kernels& k = backend.kernels();
    const std::optional<AlgorithmCost> own = costOf(backend, commands, ConvAlgorithm::Auto);
    if (!own || own->packings.size() < 2) return 0;
    ConvAlgorithm best = ConvAlgorithm::Auto;
    double lowestCost = own->total(k);
    for (const ConvAlgorithm each :
         {ConvAlgorithm::Direct, ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        const std::optional<AlgorithmCost> cost = costOf(backend, commands, each);
        if (!cost || cost->packings.size() != 1 || cost->total(k) >= lowestCost) continue;
        best = each;
        lowestCost = cost->total(k);
    }
    return static_cast<int>(best);
}

}  // namespace mnnc::cpu
