#include "rewrite/raster_through.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "tensor/region_check.h"
#include "tensor/region_compose.h"
#include "tensor/region_overlap.h"

namespace mnnc {

namespace {

constexpr size_t kMostRegions = 32;  // of one Raster that had fewer, and of what is read through
constexpr size_t kMostOuter = 256;   // of one that reads through another

bool moves(const Region& region) {
    return !copiesRange(region);
}

class Through {
  public:
    Through(const std::vector<Command*>& commands, const std::function<bool(const Tensor*)>& kept,
            std::vector<size_t>& owners)
        : commands_(commands), kept_(kept), owners_(owners) {
        for (size_t i = 0; i < commands.size(); ++i) {
            if (owners[i] != i) continue;
            for (const Tensor* output : commands[i]->outputs) ++uses_[output].makers;
            for (const Tensor* input : commands[i]->inputs) uses_[input].readers.insert(i);
        }
    }

    // Each success leaves one Raster less.
    void run() {
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = commands_.size(); i-- > 0;)
                if (owners_[i] == i) changed |= dissolve(i);
        }
    }

  private:
    struct Use {
        int makers = 0;
        std::set<size_t> readers;
    };

    // Command i's readers read its inputs instead, if all of them can.
    bool dissolve(size_t i) {
        const Command& inner = *commands_[i];
        if (inner.type != OpType::Raster || inner.outputs.size() != 1) return false;
        const std::set<size_t> readers = uses_.at(inner.outputs[0]).readers;
        const auto fits = [&](size_t reader) { return reader > i && pays(*commands_[reader], inner); };
        if (readers.empty() || !std::all_of(readers.begin(), readers.end(), fits) || !isComplete(inner))
            return false;
        std::vector<Command> composed;
        for (const size_t reader : readers) {
            std::optional<Command> one = compose(*commands_[reader], inner);
            if (!one) return false;
            composed.push_back(std::move(*one));
        }
        for (const Tensor* input : inner.inputs) uses_.at(input).readers.erase(i);
        size_t next = 0;
        for (const size_t reader : readers) {
            *commands_[reader] = std::move(composed[next++]);
            for (const Tensor* input : commands_[reader]->inputs) uses_.at(input).readers.insert(reader);
        }
        owners_[i] = *readers.begin();
        return true;
    }

    // Whether a Raster writes every element of its output once, from what has its type and does not change.
    bool isComplete(const Command& command) const {
        const Tensor& output = *command.outputs[0];
        if (output.empty() || uses_.at(&output).makers != 1 || kept_(&output)) return false;
        int64_t written = 0;
        for (const Region& region : command.regions) {
            if (!writesOnce(region)) return false;
            written += region.count();
        }
        return written == output.elements() &&
               std::all_of(command.inputs.begin(), command.inputs.end(),
                           [&](const Tensor* input) {
                               return input->type == output.type && uses_.at(input).makers <= 1;
                           }) &&
               !regionsOverlap(command.regions, output.elements());
    }

    // What moves reads through what puts whole tensors in order, and ranges of what has been moved are moved by
    // themselves. A range is not read through, nor is anything moved into a concatenation: of what is concatenated,
    // moved and cut over and over, each piece would be moved as often.
    static bool pays(const Command& outer, const Command& inner) {
        if (outer.type != OpType::Raster || outer.outputs.size() != 1 ||
            outer.outputs[0]->type != inner.outputs[0]->type || outer.regions.size() > kMostOuter ||
            inner.regions.size() > kMostRegions)
            return false;
        if (std::any_of(inner.regions.begin(), inner.regions.end(), moves))
            return outer.inputs.size() == 1 &&
                   std::none_of(outer.regions.begin(), outer.regions.end(), moves);
        return std::any_of(outer.regions.begin(), outer.regions.end(), moves) &&
               std::all_of(inner.regions.begin(), inner.regions.end(), [&](const Region& region) {
                   return isLinear(region, inner.inputs[static_cast<size_t>(region.input)]->elements());
               });
    }

    static std::optional<Command> compose(const Command& outer, const Command& inner) {
        const Tensor* between = inner.outputs[0];
        const size_t most = std::max(kMostRegions, outer.regions.size());
        Command composed = outer;
        composed.regions.clear();
        composed.inputs.clear();
        // Of another list of inputs to the new one, which names each once.
        const auto inputOf = [&](Tensor* tensor) {
            const auto at = std::find(composed.inputs.begin(), composed.inputs.end(), tensor);
            if (at == composed.inputs.end()) composed.inputs.push_back(tensor);
            return static_cast<int>(std::find(composed.inputs.begin(), composed.inputs.end(), tensor) -
                                    composed.inputs.begin());
        };
        for (const Region& region : outer.regions) {
            Tensor* source = outer.inputs[static_cast<size_t>(region.input)];
            const bool through = source == between;
            std::vector<Region> parts{region};
            if (through) {
                if (!writesOnce(region)) return std::nullopt;  // the order of its elements counts
                auto pieces = composeRegion(region, inner.regions, most);
                if (!pieces) return std::nullopt;
                parts = std::move(*pieces);
            }
            for (Region& part : parts) {
                part.input = inputOf(through ? inner.inputs[static_cast<size_t>(part.input)] : source);
                composed.regions.push_back(part);
            }
            if (composed.regions.size() > most) return std::nullopt;
        }
        return composed;
    }

    const std::vector<Command*>& commands_;
    const std::function<bool(const Tensor*)>& kept_;
    std::vector<size_t>& owners_;
    std::unordered_map<const Tensor*, Use> uses_;
};

}  // namespace

void readThroughRasters(const std::vector<Command*>& commands, const std::function<bool(const Tensor*)>& kept,
                        std::vector<size_t>& owners) {
    Through(commands, kept, owners).run();
}

}  // namespace mnnc
