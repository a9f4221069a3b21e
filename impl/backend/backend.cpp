// Reduces the storage that a backend wants to one that all tensors of the command allow.
#include "backend/backend.h"

namespace mnnc {

StorageChoice feasibleStorage(const Backend& backend, const Command& command) {
    const StorageChoice choice = backend.chooseStorage(command);
    const auto packs = [&](const Operand& tensor) {
        return backend.packsInt8() ? canPackOnHost(tensor) : canPack(tensor);
    };
    if (choice.outputBlock > 1)
        for (const Operand* output : command.outputs)
            if (!packs(*output)) return {};
    if (choice.inputBlock > 1)
        for (size_t i = 0; i < command.inputs.size(); ++i)
            if (!choice.wantsRowMajor(i) && !packs(*command.inputs[i])) return {};
    return choice;
}

}  // namespace mnnc
