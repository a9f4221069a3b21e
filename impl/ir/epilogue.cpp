// Writes an epilogue as text for reports.
#include "ir/epilogue.h"

namespace mnnc {

std::string epilogueText(const Epilogue& epilogue) {
    static constexpr const char* kActs[] = {"",          " +hardswish",   " +silu", " +gelu",
                                            " +sigmoid", " +hardsigmoid", " +tanh", " +gelu-tanh"};
    std::string text = epilogue.residual ? " +add" : "";
    text += kActs[static_cast<size_t>(epilogue.act)];
    if (epilogue.clips()) text += " +clip";
    return text;
}

}  // namespace mnnc
