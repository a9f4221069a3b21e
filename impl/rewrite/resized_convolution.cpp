#include "rewrite/resized_convolution.h"

#include <algorithm>

#include "ops/resized_convolution.h"
#include "rewrite/tensor_uses.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Part = ResizedConvolutionParams::Part;

// Tensors that lie side by side along the channels of another, and the commands that put them there.
struct Sources {
    std::vector<Tensor*> tensors;
    std::vector<Part> parts;
    std::vector<size_t> makers;
};

class Join {
  public:
    Join(const std::vector<Command*>& commands, const Backend& backend,
         const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners)
        : commands_(commands), backend_(backend), kept_(kept), owners_(owners), uses_(commands, owners) {}

    void run() {
        for (size_t i = 0; i < commands_.size(); ++i)
            if (owners_[i] == i && commands_[i]->type == OpType::Convolution && isPlain(*commands_[i]))
                join(i);
    }

  private:
    void join(size_t i) {
        Command& convolution = *commands_[i];
        const std::optional<Sources> sources = sourcesOf(*convolution.inputs[0], i);
        if (!sources) return;
        // All of them are read later than before.
        if (std::any_of(sources->tensors.begin(), sources->tensors.end(),
                        [&](const Tensor* tensor) { return uses_.of(tensor).makers > 1; }))
            return;
        Command joined;
        joined.type = OpType::ResizedConvolution;
        joined.name = convolution.name;
        joined.inputs = sources->tensors;
        joined.outputs = convolution.outputs;
        auto params = std::make_shared<ResizedConvolutionParams>();
        params->parts = sources->parts;
        params->convolution = convolution;
        joined.params = std::move(params);
        if (!backend_.canFuse(joined)) return;
        convolution = std::move(joined);
        for (const size_t maker : sources->makers) owners_[maker] = i;
    }

    // Of the input of command i; none when nothing in it is resized for it alone.
    std::optional<Sources> sourcesOf(const Tensor& input, size_t i) const {
        const size_t maker = onlyMaker(input, i);
        if (maker == TensorUses::kNone || input.shape.rank() != 4) return std::nullopt;
        const Command& command = *commands_[maker];
        if (isResize(command)) return Sources{{command.inputs[0]}, {{input.shape[1], command}}, {maker}};
        if (command.type != OpType::Raster || input.shape[0] != 1) return std::nullopt;
        std::vector<Region> regions = command.regions;
        std::sort(regions.begin(), regions.end(),
                  [](const Region& a, const Region& b) { return a.dst.offset < b.dst.offset; });
        Sources sources;
        sources.makers.push_back(maker);
        int64_t end = 0;
        for (const Region& region : regions) {
            Tensor* from = command.inputs[static_cast<size_t>(region.input)];
            const Shape& shape = from->shape;
            if (region.dst.offset != end || !isLinear(region, from->elements()) || shape.rank() != 4 ||
                shape[0] != 1 || shape[2] != input.shape[2] || shape[3] != input.shape[3] ||
                from->type != input.type)
                return std::nullopt;
            end += from->elements();
            Part part{shape[1], {}};
            const size_t resize = onlyMaker(*from, maker);
            if (resize != TensorUses::kNone && isResize(*commands_[resize])) {
                part.resize = *commands_[resize];
                sources.makers.push_back(resize);
                from = commands_[resize]->inputs[0];
            }
            sources.tensors.push_back(from);
            sources.parts.push_back(std::move(part));
        }
        if (end != input.elements() || sources.makers.size() == 1) return std::nullopt;
        return sources;
    }

    // What alone makes this tensor for command `reader` alone.
    size_t onlyMaker(const Tensor& tensor, size_t reader) const {
        const TensorUses::Use& use = uses_.of(&tensor);
        return use.makers == 1 && use.readers == 1 && use.maker < reader && !kept_(&tensor)
                   ? use.maker
                   : TensorUses::kNone;
    }

    static bool isResize(const Command& command) {
        return command.type == OpType::Interp && isPlain(command) && !command.epilogue.any();
    }

    const std::vector<Command*>& commands_;
    const Backend& backend_;
    const std::function<bool(const Tensor*)>& kept_;
    std::vector<size_t>& owners_;
    const TensorUses uses_;
};

}  // namespace

void joinResizedConvolution(const std::vector<Command*>& commands, const Backend& backend,
                            const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners) {
    Join(commands, backend, kept, owners).run();
}

}  // namespace mnnc
