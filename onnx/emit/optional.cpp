// Optional values, whose presence is known while converting; and other operators that depend only on types.
#include "helpers.h"

namespace mnnc::onnx {
namespace {

void emitOptional(Call& c) {
    c.out(c.maybe(0) ? c.in(0) : c.b.nothing(c.b.name()));
}

void emitHasElement(Call& c) {
    V value = c.maybe(0);
    c.out(c.b.constant(intScalar(value && !value->isNothing), Elem::Bool));
}

void emitGetElement(Call& c) {
    V value = c.in(0);
    if (value->isNothing) refuse("the optional value is not there");
    c.out(value);
}

int bitsOf(Elem elem) {
    switch (elem) {
        case Elem::Bool:
        case Elem::Int8:
        case Elem::Uint8:
            return 8;
        case Elem::Int16:
        case Elem::Uint16:
            return 16;
        case Elem::Int32:
        case Elem::Uint32:
            return 32;
        default:
            return 0;
    }
}

// Between integers of the same width.
void emitBitCast(Call& c) {
    V x = c.in(0);
    const Elem to = static_cast<Elem>(c.integer("to", 0));
    if (bitsOf(to) == 0 || bitsOf(to) != bitsOf(x->elem))
        refuse("a cast of the bits of %s to %s is not implemented", elemName(x->elem), elemName(to));
    c.out(castTo(c, x, to));
}

}  // namespace

constexpr Entry kOptionalEntries[] = {
    {"BitCast", 26, kNewest, emitBitCast, "Cast", "Other than integers of up to 32 bits of the same width."},
    {"Optional", 15, kNewest, emitOptional, "nothing", "Sequences as inputs and outputs of the net."},
    {"OptionalGetElement", 15, kNewest, emitGetElement, "nothing"},
    {"OptionalHasElement", 15, kNewest, emitHasElement, "Const", "An optional input of the net counts as given."},
};
extern constinit const Family optionalFamily = kOptionalEntries;

}  // namespace mnnc::onnx
