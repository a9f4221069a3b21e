// Constants that sessions wrote, in the interpreter and in the bytes of its model.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "session/interpreter.h"

namespace mnnc {

class Session;

// Makes an interpreter of the same model with the values of the session's own constants, for sessions that are created
// from it. Throws InvalidValue when the session belongs to another model.
std::shared_ptr<const Interpreter> withConstantsOf(const std::shared_ptr<const Interpreter>& interpreter,
                                                   const Session& session);

// Returns the bytes of the model with the constants that withConstantsOf() replaced. Throws NotSupported when such a
// constant lies in the file of external weights, InputDataError when the file's type cannot hold a value, FileChanged
// and FileReadFailed.
std::vector<uint8_t> modelBytes(const Interpreter& interpreter);

}  // namespace mnnc
