// Tables of the functions that compute tiles, and the partition of panels into tiles.
#pragma once
#include <utility>

namespace mnnc {

// fn[NB - 1][R - 1] computes tiles of NB vectors of output channels and R pixels.
template <typename Fn>
struct TileTable {
    Fn fn[4][24] = {};
};

// tile.operator()<R, NB>() returns the function; with NB vectors there are tiles of up to Rows[NB] pixels.
template <const int (&Rows)[5], typename Tile>
consteval auto makeTiles(Tile tile) {
    TileTable<decltype(tile.template operator()<1, 1>())> table;
    const auto fill = [&]<int NB, int... R>(std::integer_sequence<int, NB>, std::integer_sequence<int, R...>) {
        ((table.fn[NB - 1][R] = tile.template operator()<R + 1, NB>()), ...);
    };
    fill(std::integer_sequence<int, 1>(), std::make_integer_sequence<int, Rows[1]>());
    fill(std::integer_sequence<int, 2>(), std::make_integer_sequence<int, Rows[2]>());
    fill(std::integer_sequence<int, 3>(), std::make_integer_sequence<int, Rows[3]>());
    fill(std::integer_sequence<int, 4>(), std::make_integer_sequence<int, Rows[4]>());
    return table;
}

// Calls tile(at, rows) for m pixels in equal tiles of at most maxRows: 49 are five of 8 and one of 9, not five of 9 and
// one of 4.
template <typename Tile>
inline void forEqualTiles(int m, int maxRows, Tile tile) {
    const int count = (m + maxRows - 1) / maxRows;
    for (int i = 0, at = 0; i < count; ++i) {
        const int end = static_cast<int>(static_cast<int64_t>(m) * (i + 1) / count);
        tile(at, end - at);
        at = end;
    }
}

}  // namespace mnnc
