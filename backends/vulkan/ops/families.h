// The families of operators that table.cpp lists, one file each.
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

VulkanFamily rasterVulkan();             // Raster, and every change of storage
VulkanFamily activationVulkan();         // ReLU, ReLU6, PReLU, ELU, Selu, Threshold
VulkanFamily convolutionVulkan();        // convolutions and deconvolutions
VulkanFamily convolution3dVulkan();      // Convolution3D, ConvTranspose3D
VulkanFamily unaryVulkan();              // UnaryOp
VulkanFamily binaryVulkan();             // BinaryOp
VulkanFamily scaleVulkan();              // Scale
VulkanFamily castVulkan();               // Cast
VulkanFamily poolingVulkan();            // Pooling, Pooling3D
VulkanFamily matmulVulkan();             // MatMul, BatchMatMul, InnerProduct
VulkanFamily interpVulkan();             // Interp
VulkanFamily gatherVulkan();             // GatherV2, GatherND, GatherElements
VulkanFamily attentionVulkan();          // Attention
VulkanFamily gridSampleVulkan();         // GridSample
VulkanFamily scatterVulkan();            // ScatterNd, ScatterElements
VulkanFamily softmaxVulkan();            // Softmax
VulkanFamily layerNormVulkan();          // LayerNorm, InstanceNorm
VulkanFamily groupNormVulkan();          // GroupNorm
VulkanFamily regionVulkan();             // ROIAlign
VulkanFamily nonMaxSuppressionVulkan();  // NonMaxSuppressionV2
VulkanFamily reductionVulkan();          // Reduction
VulkanFamily searchVulkan();             // ArgMax, ArgMin, TopKV2
VulkanFamily selectVulkan();             // Select
VulkanFamily fillVulkan();               // Range
VulkanFamily recurrentVulkan();          // RNN, LSTM, RNNSequenceGRU
VulkanFamily recurrentBlockVulkan();     // LSTMBlockCell
VulkanFamily scanVulkan();               // CumSum, CumProd, MatrixBandPart, OneHot

}  // namespace mnnc::vulkan
