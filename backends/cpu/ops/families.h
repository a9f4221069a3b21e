// The families of CPU executions, one file each (same base name as in impl/ops): what table.cpp lists.
// Operators whose geometry turns them into Rasters need none.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

CpuFamily rasterCpu();        // Raster, also layout conversions
CpuFamily dynamicSliceCpu();  // SliceTf and StridedSlice whose place only a run knows
CpuFamily castCpu();          // Cast
CpuFamily fillCpu();          // Fill, OneHot, Range, LinSpace, EyeLike, RandomUniform, RandomNormal
CpuFamily paddingCpu();       // reflect, symmetric, edge and run-time fill values
CpuFamily permuteCpu();       // what regions cannot express (ReverseSequence)
CpuFamily gatherCpu();
CpuFamily scatterCpu();
CpuFamily selectCpu();
CpuFamily searchCpu();
CpuFamily scanCpu();
CpuFamily nonMaxSuppressionCpu();
CpuFamily detectionCpu();  // DetectionPostProcess, DetectionOutput, PriorBox, Proposal
CpuFamily convolutionCpu();
CpuFamily convolution3dCpu();
CpuFamily columnsCpu();          // Col2Im
CpuFamily dilation2dCpu();
CpuFamily channelProductsCpu();  // CosineSimilarity
CpuFamily determinantCpu();
CpuFamily segmentCpu();
CpuFamily histogramCpu();
CpuFamily svdCpu();
CpuFamily imageProcessCpu();
CpuFamily gradientsCpu();  // PoolGrad
CpuFamily poolingCpu();
CpuFamily interpCpu();
CpuFamily gridSampleCpu();
CpuFamily regionCpu();  // ROIAlign, ROIPooling, CropAndResize
CpuFamily unaryCpu();
CpuFamily activationCpu();
CpuFamily binaryCpu();
CpuFamily reductionCpu();
CpuFamily scaleCpu();
CpuFamily layerNormCpu();
CpuFamily normalizeCpu();
CpuFamily lrnCpu();
CpuFamily softmaxCpu();
CpuFamily matmulCpu();
CpuFamily attentionCpu();
CpuFamily groupNormCpu();
CpuFamily dequantizeCpu();       // Dequantize, DynamicQuant
CpuFamily uint8Cpu();            // TfQuantizedConv2D, QuantizedAdd and the like
CpuFamily recurrentCpu();        // RNN, LSTM, RNNSequenceGRU
CpuFamily lstmBlockCpu();        // LSTMBlockCell
CpuFamily tensorArrayCpu();      // TensorArrayRead and -Write at an index that only a run knows
CpuFamily stftCpu();             // Stft
CpuFamily regionLoopCpu();       // While in its LoopParam form
CpuFamily quantizedCpu();        // FloatToInt8, Int8ToFloat
CpuFamily int8ConvolutionCpu();  // ConvInt8, DepthwiseConvInt8
CpuFamily customCpu();           // operators of the host

}  // namespace mnnc::cpu
