// The list of implementations that makeConvPlan chooses from. Each has a file of its own.
#pragma once
#include <memory>
#include <span>

#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

struct ConvImplementation {
    const char* name;
    // Returns whether make() can be called, and for approximate products (of rounded inputs) whether the gain is worth
    // the rounding.
    bool (*accepts)(const Kernels& k, const ConvShape& shape, const ConvOptions& options);
    // Returns an estimate of the cycles of a run on one thread, infinity where it cannot pay. It is only called after
    // accepts() returned true.
    double (*cycles)(const Kernels& k, const ConvShape& shape, const ConvOptions& options);
    std::unique_ptr<ConvPlan> (*make)(const Kernels& k, const ConvShape& shape, const ConvOptions& options);
    // Whether it may replace an implementation before it in the list: where it needs clearly fewer cycles, or
    // ConvOptions::algorithm names it.
    bool contests = false;
    bool storesPhases = false;  // whether it takes ConvOptions::phases
};

// Returns whether the convolution is a product of floats whose rows are the images of the batch.
bool isFullyConnected(const ConvShape& shape, const ConvOptions& options);

// The list. The first implementation that accepts is taken, unless a later one contests it.
std::span<const ConvImplementation* const> convImplementations();

// Returns the shape that implementations are given in place of the model's.
ConvShape plannedShape(const ConvShape& shape, const ConvOptions& options);

// Returns the implementation to take. Throws InvalidValue for a shape that makes no sense, and NotSupported where none
// accepts it.
const ConvImplementation& chooseConv(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

extern const ConvImplementation kDepthwiseConv;           // depthwise_conv.cpp
extern const ConvImplementation kW8A16Conv;               // w8a16_conv.cpp
extern const ConvImplementation kGroupedPlanesConv;       // grouped_planes_conv.cpp
extern const ConvImplementation kFirstLayerConv;          // first_layer_conv.cpp
extern const ConvImplementation kPointwiseConv;           // pointwise_conv.cpp
extern const ConvImplementation kDirectConv;              // direct_conv.cpp
extern const ConvImplementation kClippedConv;             // clipped_conv.cpp
extern const ConvImplementation kFewOutputsConv;          // few_outputs_conv.cpp
extern const ConvImplementation kDilatedConv;             // dilated_conv.cpp
extern const ConvImplementation kSeparateGroupsConv;      // separate_groups_conv.cpp
extern const ConvImplementation kDeconvolution;           // deconvolution.cpp
extern const ConvImplementation kPhasedConv;              // phased_conv.cpp
extern const ConvImplementation kWinograd2Conv;           // winograd_conv.cpp
extern const ConvImplementation kWinograd4Conv;           // winograd_conv.cpp
extern const ConvImplementation kWinograd6Conv;           // winograd_conv.cpp
extern const ConvImplementation kWinograd2Of2x2Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd4Of2x2Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd5x5Conv;         // winograd_conv.cpp
extern const ConvImplementation kWinograd4Of1x3Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd6Of1x3Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd1x5Conv;         // winograd_conv.cpp
extern const ConvImplementation kWinograd1x7Conv;         // winograd_conv.cpp
extern const ConvImplementation kWinograd4Of3x1Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd6Of3x1Conv;      // winograd_conv.cpp
extern const ConvImplementation kWinograd5x1Conv;         // winograd_conv.cpp
extern const ConvImplementation kWinograd7x1Conv;         // winograd_conv.cpp
extern const ConvImplementation kStridedWinogradConv;     // winograd_conv.cpp
extern const ConvImplementation kStridedWinograd4x4Conv;  // winograd_conv.cpp
extern const ConvImplementation kStridedWinograd5x5Conv;  // winograd_conv.cpp
extern const ConvImplementation kStridedWinograd1x3Conv;  // winograd_conv.cpp
extern const ConvImplementation kStridedWinograd3x1Conv;  // winograd_conv.cpp

}  // namespace mnnc
