#include "backend/backend.h"

namespace mnnc {

StorageChoice feasibleStorage(const Backend& backend, const Command& command) {
    const StorageChoice choice = backend.chooseStorage(command);
    if (choice.outputPack > 1)
        for (const Tensor* output : command.outputs)
            if (!canPack(*output)) return {};
    if (choice.inputPack > 1)
        for (size_t i = 0; i < command.inputs.size(); ++i)
            if (!choice.wantsPlain(i) && !canPack(*command.inputs[i])) return {};
    return choice;
}

}  // namespace mnnc
