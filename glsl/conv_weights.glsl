// A quad of weights of conv_gemm and conv_vector. In the variant Q8 a weight is an int8 code, four in a word, with a scale
// (and a minimum) for each output channel or for each piece of its input channels; scales, then minima, stand behind the
// biases as [piece][output quad]. The includer has CODE_CONSTANTS, the id of the first of three constants, the push
// word outBlocks and the buffer `bias`.
#ifdef Q8
layout(constant_id = CODE_CONSTANTS) const uint kPieces = 1;
layout(constant_id = CODE_CONSTANTS + 1) const uint kPieceBlocks = 1;  // input blocks of a piece, where there are several
layout(constant_id = CODE_CONSTANTS + 2) const bool kMinima = false;
layout(binding = 1) readonly buffer Weights { int weights[]; };
#else
layout(binding = 1) readonly buffer Weights { ELEM4 weights[]; };
#endif

// at: where the quad is; block: the input block of the group; quad: the output quad of the bias.
VALUE4 convWeight(uint at, uint block, uint quad) {
#ifdef Q8
    const int word = weights[at];
    uint place = push.outBlocks + quad;
    if (kPieces > 1) place += block / kPieceBlocks * push.outBlocks;
    VALUE4 value = VALUE4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8), bitfieldExtract(word, 16, 8),
                          bitfieldExtract(word, 24, 8)) * bias[place];
    if (kMinima) value += bias[place + kPieces * push.outBlocks];
    return value;
#else
    return VALUE4(weights[at]);
#endif
}
