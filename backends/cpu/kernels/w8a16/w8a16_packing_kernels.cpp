// Packing of codes for W8A16 products: lines of words that hold some channels' codes of P outputs.
#include "backends/cpu/kernels/w8a16/w8a16_packing.h"

#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_packing_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

// The instruction sets that have products.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON)
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr bool kFours = HWY_ARCH_ARM;  // codes of an output that are contiguous: four, or two
constexpr size_t kLanes = HWY_TARGET == HWY_AVX3 ? 16 : HWY_TARGET == HWY_AVX2 ? 8 : 4;
using D = hn::FixedTag<uint32_t, kLanes>;
using V = hn::Vec<D>;

// Returns the sum of the four bytes of each word.
HWY_INLINE V sumOfBytes(V bytes) {
    const V mask = hn::Set(D(), 0x00ff00ff);
    const V halves = hn::Add(hn::And(bytes, mask), hn::And(hn::ShiftRight<8>(bytes), mask));
    return hn::Add(hn::And(halves, hn::Set(D(), 0xffff)), hn::ShiftRight<16>(halves));
}

// Returns eight codes in the order that kernels read: `high` has those of even channels in its bytes, `low` the others.
HWY_INLINE V orderedEight(V high, V low) {
    const D d;
    if constexpr (kFours) {  // code i and code 4 + i in byte i
        const V mask = hn::Set(d, 0x00ff00ff);
        const auto bytes = [&](V four) {
            const V two = hn::And(hn::Or(four, hn::ShiftRight<12>(four)), hn::Set(d, 0xffff));
            return hn::And(hn::Or(two, hn::ShiftLeft<8>(two)), mask);
        };
        return hn::Or(bytes(high), hn::ShiftLeft<8>(bytes(low)));
    } else {  // those of even channels first
        const auto word = [&](V four) {
            const V two = hn::And(hn::Or(four, hn::ShiftRight<4>(four)), hn::Set(d, 0x00ff00ff));
            return hn::And(hn::Or(two, hn::ShiftRight<8>(two)), hn::Set(d, 0xffff));
        };
        return hn::Or(word(high), hn::ShiftLeft<16>(word(low)));
    }
}

void packLines4(const PackedLines& t) {
    const D d;
    const V mask = hn::Set(d, 0x0f0f0f0f), sign = hn::Set(d, 0x88888888);
    constexpr int kSummed = 8;  // their sums fit bytes
    V sums = hn::LoadU(d, t.sums);
    uint8_t* to = t.to;
    for (int begin = 0; begin < t.lines; begin += kSummed) {
        const int end = begin + kSummed < t.lines ? begin + kSummed : t.lines;
        V bytes = hn::Zero(d);
        for (int i = begin; i < end; ++i, to += t.stride) {
            const V eight = hn::LoadU(d, t.from + static_cast<size_t>(i) * kLanes);
            const V high = hn::And(hn::ShiftRight<4>(eight), mask), low = hn::And(eight, mask);
            bytes = hn::Add(bytes, hn::Add(high, low));
            hn::StoreU(hn::Xor(orderedEight(high, low), sign), d, reinterpret_cast<uint32_t*>(to));
        }
        sums = hn::Add(sums, sumOfBytes(bytes));
    }
    hn::StoreU(sums, d, t.sums);
}

void packLines8(const PackedLines& t) {
    const D d;
    const V sign = hn::Set(d, 0x80808080);
    V sums = hn::LoadU(d, t.sums);
    uint8_t* to = t.to;
    for (int i = 0; i < t.lines; ++i, to += t.stride) {
        const V four = hn::LoadU(d, t.from + static_cast<size_t>(i) * kLanes);
        sums = hn::Add(sums, sumOfBytes(four));
        const V codes = hn::Xor(four, sign);
        if constexpr (kFours) {
            hn::StoreU(codes, d, reinterpret_cast<uint32_t*>(to));
        } else {
            const hn::Rebind<uint16_t, D> pairs;
            hn::StoreU(hn::TruncateTo(pairs, codes), pairs, reinterpret_cast<uint16_t*>(to));
            if (i + 1 == t.lines && t.halfLine) break;
            hn::StoreU(hn::TruncateTo(pairs, hn::ShiftRight<16>(codes)), pairs,
                       reinterpret_cast<uint16_t*>(to + t.stride / 2));
        }
    }
    hn::StoreU(sums, d, t.sums);
}

}  // namespace

const W8A16Packing& w8a16PackingTable() {
    static constexpr W8A16Packing kTable = {&packLines4, &packLines8};
    return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
const W8A16Packing* w8a16Packing(Isa isa) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512) return &N_AVX3::w8a16PackingTable();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2) return &N_AVX2::w8a16PackingTable();
#endif
#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
    if (isa == Isa::Neon) return &N_NEON::w8a16PackingTable();
#endif
    static_cast<void>(isa);
    return nullptr;
}
}  // namespace mnnc
#endif
