// The form of the input that depthwise convolutions of int8 with AVX512-VNNI multiply. It is included once per
// instruction set, hence the toggling guard.
#if defined(MNNC_INT8_DEPTHWISE_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_INT8_DEPTHWISE_LINES_INL_H
#undef MNNC_INT8_DEPTHWISE_LINES_INL_H
#else
#define MNNC_INT8_DEPTHWISE_LINES_INL_H
#endif

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/int8/int8_math-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// A line has the input rows that one output row reads, in groups of four: part i of a group has channels 4i to 4i + 3
// of all columns, 16 bytes per column (each channel's bytes of the rows). Neighbouring columns are therefore one vector
// for every tap, and the packing instructions give the results of four columns in order. Columns with the same
// remainder by the stride lie together.

struct Line512 {
    char* base;
    ptrdiff_t part, phase;  // bytes
    char* at(int group, int i) const { return base + (group * 4 + i) * part; }
};

constexpr int kVectorColumns = 4;

// Copies columns [first, last) of a group of rows into the line. A row that is `outer` has the border's value.
HWY_INLINE void fillLine(const Line512& line, int group, const int8_t* const (&rows)[4], const bool (&outer)[4],
                         __m512i border, int first, int last, int stride) {
    const __m512i half = _mm512_set1_epi8(-128);
    // Reads up to four columns from col on.
    const auto columnsAt = [&](int col, __m512i(&parts)[4]) HWY_ATTR {
        const int count = std::clamp(last - col, 0, kVectorColumns);
        const auto mask = static_cast<__mmask16>((1u << count * 4) - 1);
        const auto load = [&](int k) HWY_ATTR {
            if (!rows[k]) return _mm512_setzero_si512();
            return _mm512_xor_si512(outer[k] ? border : _mm512_maskz_loadu_epi32(mask, rows[k] + ptrdiff_t(col) * 16),
                                    half);
        };
        const __m512i a = load(0), b = load(1), c = load(2), d = load(3);
        const __m512i ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
        const __m512i cd0 = _mm512_unpacklo_epi8(c, d), cd1 = _mm512_unpackhi_epi8(c, d);
        parts[0] = _mm512_unpacklo_epi16(ab0, cd0), parts[1] = _mm512_unpackhi_epi16(ab0, cd0);
        parts[2] = _mm512_unpacklo_epi16(ab1, cd1), parts[3] = _mm512_unpackhi_epi16(ab1, cd1);
    };
    __m512i parts[4], more[4];
    if (stride == 1) {
        for (int col = first; col < last; col += kVectorColumns) {
            columnsAt(col, parts);
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) _mm512_storeu_si512(line.at(group, i) + ptrdiff_t(col) * 16, parts[i]);
        }
    } else if (stride == 2) {
        for (int col = first; col < last; col += 2 * kVectorColumns) {
            columnsAt(col, parts);
            columnsAt(col + kVectorColumns, more);
            char* even = line.at(group, 0) + col % 2 * line.phase + col / 2 * 16;
            char* odd = line.at(group, 0) + (col + 1) % 2 * line.phase + (col + 1) / 2 * 16;
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) {
                _mm512_storeu_si512(even + i * line.part, _mm512_shuffle_i64x2(parts[i], more[i], 0x88));
                _mm512_storeu_si512(odd + i * line.part, _mm512_shuffle_i64x2(parts[i], more[i], 0xdd));
            }
        }
    } else {
        for (int col = first; col < last; col += kVectorColumns) {
            columnsAt(col, parts);
            const int count = std::min(kVectorColumns, last - col);
            for (int i = 0; i < 4; ++i) {
                HWY_ALIGN char columns[64];
                _mm512_store_si512(columns, parts[i]);
                for (int k = 0; k < count; ++k)
                    std::memcpy(line.at(group, i) + (col + k) % stride * line.phase + (col + k) / stride * 16,
                                columns + k * 16, 16);
            }
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
#endif
