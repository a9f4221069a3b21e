// Gathers from tables of codes, as language models have them for their words.
#include "../importer.h"
#include "base/checked.h"
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// Rows of a table, by the rule of ONNX's Gather.
V rowsOf(Call& c, V table, V indices, int64_t axis = 0) {
    Node node;
    addAttribute(node, "axis").i = axis;
    return byRule(c, "Gather", node, {table, indices});
}

// The codes of a constant, which may be packed in bytes along its last axis, as integers without a sign.
struct Table {
    Dims dims;
    int64_t bits = 8, offset = 0;  // offset: of a code without a sign
    bool packed = false;
    const Array* from = nullptr;

    int64_t rows() const { return elementCount(dims, "a table") / std::max<int64_t>(dims.back(), 1); }
    int codeAt(int64_t row, int64_t column) const {
        if (!packed) {
            const uint8_t byte = from->bytes[static_cast<size_t>(row * dims.back() + column)];
            return from->type == DataType::DT_INT8 ? static_cast<int8_t>(byte) + static_cast<int>(offset) : byte;
        }
        const int64_t each = 8 / bits, bytes = (dims.back() + each - 1) / each;
        const int byte = from->bytes[static_cast<size_t>(row * bytes + column / each)];
        return byte >> (column % each * bits) & ((1 << bits) - 1);
    }
};

Table tableOfCodes(const Value& value, int64_t bits, int64_t last) {
    Table table;
    table.from = &value.array();
    table.dims = value.array().dims;
    if (table.from->bytes.empty() || table.dims.empty()) refuse("its table is no tensor of integer codes");
    table.packed = !value.fourBits && table.from->type == DataType::DT_UINT8 && bits < 8;
    table.bits = value.fourBits ? 4 : table.packed ? bits : 8;
    if (table.from->type == DataType::DT_INT8) table.offset = int64_t{1} << (table.bits - 1);
    if (table.packed) table.dims.back() = last > 0 ? last : checkedMul(table.dims.back(), 8 / bits, "a table");
    return table;
}

void emitGatherBlockQuantized(Call& c) {
    const Array& scales = c.constant(2);
    c.constant(0);
    V data = c.in(0), indices = c.in(1), points = c.maybe(3);
    const int64_t bits = c.integer("bits", 4), block = c.integer("block_size", 128);
    if ((bits != 2 && bits != 4 && bits != 8) || block < 1)
        refuse("%lld bits and blocks of %lld are not implemented", asLong(bits), asLong(block));
    const Table codes = tableOfCodes(*data, bits, 0);
    const size_t rank = codes.dims.size();
    const int64_t gathered = axisOf(c.integer("gather_axis", 0), rank),
                  along = axisOf(c.integer("quantize_axis", 1), rank);
    const int64_t columns = codes.dims.back(), blocks = columns / block + (columns % block != 0 ? 1 : 0),
                  rows = codes.rows();
    if (along + 1 != static_cast<int64_t>(rank) || rank < 2)
        refuse("its blocks lie along axis %lld of %zu; the last of two or more is needed", asLong(along), rank);
    if (scales.count() != rows * blocks)
        fail(Status::BadFormat, "it has %lld scales for %lld rows of %lld blocks", asLong(scales.count()), asLong(rows),
             asLong(blocks));
    // The zero points, of codes without a sign, as floats: one for all, or one for each block.
    const bool middle = !data->fourBits && codes.from->type == DataType::DT_UINT8;
    std::vector<float> zeros{middle ? static_cast<float>(1 << (bits - 1)) : static_cast<float>(codes.offset)};
    if (points) {
        c.constant(3);
        const Table zero = tableOfCodes(*points, bits, blocks);
        const int64_t each = zero.packed ? 8 / bits : 1;
        if (zero.from->count() != rows * ((blocks + each - 1) / each) || zero.dims.back() != blocks)
            fail(Status::BadFormat, "it has %lld zero points; one for each block is needed",
                 asLong(zero.from->count()));
        zeros.clear();
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t b = 0; b < blocks; ++b) zeros.push_back(static_cast<float>(zero.codeAt(r, b)));
    }
    Dims perBlock = codes.dims;
    perBlock.back() = blocks;
    V scale = c.b.constant(floatArray(perBlock, scales.allFloats()), Elem::Float);
    V zero = zeros.size() == 1 ? c.b.real(zeros[0]) : c.b.constant(floatArray(perBlock, std::move(zeros)), Elem::Float);

    // The table stays codes in the net: two in a byte where they have 4 bits.
    const bool pairs = codes.bits == 4 && columns % 2 == 0;
    auto kept = std::make_shared<Array>();
    kept->type = DataType::DT_UINT8;
    kept->dims = codes.dims;
    if (pairs) kept->dims.back() = columns / 2;
    kept->bytes.reserve(static_cast<size_t>(rows * kept->dims.back()));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < columns; i += pairs ? 2 : 1)
            kept->bytes.push_back(static_cast<uint8_t>(codes.codeAt(r, i) | (pairs ? codes.codeAt(r, i + 1) << 4 : 0)));
    V y = castTo(c, rowsOf(c, c.b.constant(kept, Elem::Uint8), indices, gathered), Elem::Int32);
    const std::vector<int64_t> leading(y->rank() - 1, 0);
    const auto shaped = [&](V value, std::vector<int64_t> last) {
        last.insert(last.begin(), leading.begin(), leading.end());
        return reshape(c, value, last);
    };
    if (pairs) {
        const auto end = static_cast<int64_t>(y->rank());
        V low = binary(c, Binary::BITWISE_AND, y, c.b.number(15, *y));
        V high = binary(c, Binary::RIGHTSHIFT, y, c.b.number(4, *y));
        y = shaped(concat(c, {unsqueeze(c, low, {end}), unsqueeze(c, high, {end})}, end), {columns});
    }
    y = castTo(c, y, Elem::Float);
    scale = rowsOf(c, scale, indices, gathered);
    if (zero->rank() > 0) zero = rowsOf(c, zero, indices, gathered);
    const bool whole = columns % block == 0;
    const auto last = static_cast<int64_t>(scale->rank()) - 1;
    std::vector<int32_t> blockOf;
    for (int64_t i = 0; i < columns && !whole; ++i) blockOf.push_back(static_cast<int32_t>(i / block));
    V places = whole ? nullptr : c.b.constant(intArray({columns}, std::move(blockOf)), Elem::Int64);
    const auto spreadOut = [&](V value) {
        if (value->rank() == 0) return value;
        return whole ? unsqueeze(c, value, {last + 1}) : gatherAxis(c, value, places, last);
    };
    if (whole) y = shaped(y, {blocks, block});
    y = mul(c, sub(c, y, spreadOut(zero)), spreadOut(scale));
    c.out(whole ? shaped(y, {columns}) : y);
}

}  // namespace

constexpr Entry kContribGatherEntries[] = {
    {"GatherBlockQuantized", 1, kNewest, emitGatherBlockQuantized, "GatherV2, Cast, BinaryOp",
     "Blocks along another axis than the last one; tables that are fed, or of floats of 8 bits and less.", kMicrosoft},
};
extern constinit const Family contribGatherFamily = kContribGatherEntries;

}  // namespace mnnc::onnx
