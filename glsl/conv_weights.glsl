// A quad of weights of conv_gemm and conv_vector. In the variant Q8 a weight is an int8 code, four in a word. Where all
// codes are -8 to 7 it is half a byte, and a word has two rows of a quad. Each output channel, or each piece of its
// input channels, has a scale (and a minimum); the scales, then the minima, follow the biases as [piece][output quad].
// The includer defines CODE_CONSTANTS, the id of the first of four constants, the push words quads and outBlocks, and
// the buffer `bias`.
#ifdef Q8
layout(constant_id = CODE_CONSTANTS) const uint kPieces = 1;
layout(constant_id = CODE_CONSTANTS + 1) const uint kPieceBlocks = 1;  // input blocks of a piece of several
layout(constant_id = CODE_CONSTANTS + 2) const bool kMinima = false;
layout(constant_id = CODE_CONSTANTS + 3) const bool kHalfBytes = false;
layout(binding = 1) readonly buffer Weights { int weights[]; };

VALUE4 codesOf(uint row, uint quad) {
    if (kHalfBytes) {
        const int word = weights[row / 2 * push.quads + quad] >> int(row % 2 * 16);
        return VALUE4(bitfieldExtract(word, 0, 4), bitfieldExtract(word, 4, 4), bitfieldExtract(word, 8, 4),
                      bitfieldExtract(word, 12, 4));
    }
    const int word = weights[row * push.quads + quad];
    return VALUE4(bitfieldExtract(word, 0, 8), bitfieldExtract(word, 8, 8), bitfieldExtract(word, 16, 8),
                  bitfieldExtract(word, 24, 8));
}
#else
layout(binding = 1) readonly buffer Weights { ELEM4 weights[]; };
#endif

// row: in the depth, four for each input block; quad: of the outputs of this binding; block: the input block of the
// group; biasQuad: the output quad of the bias.
VALUE4 convWeight(uint row, uint quad, uint block, uint biasQuad) {
#ifdef Q8
    uint place = push.outBlocks + biasQuad;
    if (kPieces > 1) place += block / kPieceBlocks * push.outBlocks;
    VALUE4 value = codesOf(row, quad) * bias[place];
    if (kMinima) value += bias[place + kPieces * push.outBlocks];
    return value;
#else
    return VALUE4(weights[row * push.quads + quad]);
#endif
}
