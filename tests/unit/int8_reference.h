// Int8 convolutions in plain loops: the sums that all plans must give, and conversions to and from the packed layout.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/conv_types.h"
#include "int8_variants.h"

namespace mnnc::test {

// Packs [n][c][plane]; padding lanes get noise, which must not affect any result.
inline Bytes packed(const Bytes& plain, int batch, int channels, int plane, int lanes) {
    const int blocks = (channels + lanes - 1) / lanes;
    Bytes out = randomBytes(static_cast<size_t>(batch * blocks * plane * lanes), 99);
    for (int n = 0; n < batch; ++n)
        for (int c = 0; c < channels; ++c)
            for (int i = 0; i < plane; ++i)
                out[static_cast<size_t>(((n * blocks + c / lanes) * plane + i) * lanes + c % lanes)] =
                    plain[static_cast<size_t>((n * channels + c) * plane + i)];
    return out;
}

template <typename T>
std::vector<T> unpacked(const T* data, int batch, int channels, int plane, int lanes) {
    const int blocks = (channels + lanes - 1) / lanes;
    std::vector<T> out(static_cast<size_t>(batch * channels * plane));
    for (int n = 0; n < batch; ++n)
        for (int c = 0; c < channels; ++c)
            for (int i = 0; i < plane; ++i)
                out[static_cast<size_t>((n * channels + c) * plane + i)] =
                    data[((n * blocks + c / lanes) * plane + i) * lanes + c % lanes];
    return out;
}

struct Window {
    int64_t sum = 0, pixels = 0;
};

// Returns the sums over the window of output (n, o, y, x) of (x + 128) * w and of x + 128.
inline Window window(const ConvShape& s, int groups, const Bytes& src, const Bytes& w, int padding, int n, int o, int y,
                     int x) {
    const int icg = s.ic / groups, ocg = s.oc / groups;
    Window result;
    for (int c = 0; c < icg; ++c)
        for (int ky = 0; ky < s.kh; ++ky)
            for (int kx = 0; kx < s.kw; ++kx) {
                const int iy = y * s.strideH - s.padTop + ky * s.dilateH;
                const int ix = x * s.strideW - s.padLeft + kx * s.dilateW;
                int value = padding;
                if (iy >= 0 && iy < s.ih && ix >= 0 && ix < s.iw)
                    value = src[static_cast<size_t>(((n * s.ic + o / ocg * icg + c) * s.ih + iy) * s.iw + ix)];
                const int weight = w[static_cast<size_t>(((o * icg + c) * s.kh + ky) * s.kw + kx)];
                result.sum += int64_t{value + 128} * weight;
                result.pixels += value + 128;
            }
    return result;
}

inline ConvShape shape(int batch, int ic, int ih, int iw, int oc, int kh, int kw, int stride = 1, int pad = 0,
                       int dilate = 1) {
    ConvShape s;
    s.batch = batch, s.ic = ic, s.ih = ih, s.iw = iw, s.oc = oc, s.kh = kh, s.kw = kw;
    s.strideH = s.strideW = stride;
    s.dilateH = s.dilateW = dilate;
    s.padTop = s.padLeft = pad;
    s.oh = (ih + 2 * pad - (kh - 1) * dilate - 1) / stride + 1;
    s.ow = (iw + 2 * pad - (kw - 1) * dilate - 1) / stride + 1;
    return s;
}

}  // namespace mnnc::test
