// The families of operators, one file each (same base name): what op_table.cpp lists.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

OpFamily sourceOps();      // Const, TrainableParam, Input, Identity, Dropout
OpFamily castOps();        // Cast, CastLike
OpFamily shapeQueryOps();  // Shape, Size, Rank
OpFamily reshapeOps();     // Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims
OpFamily permuteOps();     // Permute, Transpose, Reverse, ReverseSequence
OpFamily concatOps();      // Concat, Pack, Slice, Unpack
OpFamily sliceOps();       // SliceTf, StridedSlice, Crop
OpFamily paddingOps();     // Padding
OpFamily fillOps();        // Tile, BroadcastTo, Fill, ZerosLike, OneHot, EyeLike
OpFamily rangeOps();       // Range, LinSpace, RandomUniform, RandomNormal
OpFamily gatherOps();      // Gather, GatherV2, GatherND, GatherElements
OpFamily scatterOps();     // ScatterNd, ScatterElements
OpFamily selectOps();      // Select, Where, Unique, SetDiff1D, UnravelIndex
OpFamily searchOps();      // ArgMax, ArgMin, TopKV2
OpFamily scanOps();        // CumSum, CumProd, MatrixBandPart
OpFamily spaceOps();       // DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND
OpFamily nonMaxSuppressionOps();  // NonMaxSuppressionV2
OpFamily detectionOps();          // DetectionPostProcess, PriorBox, Proposal
OpFamily detectionOutputOps();    // DetectionOutput
OpFamily tensorArrayOps();        // TensorArray, TensorArraySize, -Read, -Write, -Insert, -Erase
OpFamily tensorPieceOps();        // TensorArrayGather, -Scatter, -Split, -Concat
OpFamily controlOps();            // If, While
OpFamily rasterOps();             // Raster, ConvertTensor
OpFamily convolutionOps();  // Convolution, ConvolutionDepthwise, Deconvolution*, ConvInt8, DepthwiseConvInt8
OpFamily convolution3dOps();  // Convolution3D, ConvTranspose3D
OpFamily columnOps();          // Im2Col, Col2Im
OpFamily dilation2dOps();      // Dilation2D
OpFamily channelProductOps();  // SpatialProduct, CosineSimilarity
OpFamily determinantOps();     // Det
OpFamily segmentOps();         // Segment
OpFamily momentsOps();         // Moments
OpFamily histogramOps();       // Histogram
OpFamily svdOps();             // Svd
OpFamily imageProcessOps();    // ImageProcess
OpFamily gradientOps();        // PoolGrad, Conv2DBackPropFilter
OpFamily poolingOps();      // Pooling, Pooling3D
OpFamily interpOps();       // Interp, Interp3D, Resize
OpFamily gridSampleOps();   // GridSample
OpFamily regionOps();       // ROIAlign, ROIPooling, CropAndResize
OpFamily unaryOps();        // UnaryOp, Sigmoid, TanH
OpFamily activationOps();   // ReLU, ReLU6, PReLU, ELU, Selu, Threshold
OpFamily binaryOps();       // BinaryOp, Eltwise
OpFamily reductionOps();    // Reduction
OpFamily scaleOps();        // Scale, BatchNorm, InstanceNorm
OpFamily layerNormOps();    // LayerNorm
OpFamily normalizeOps();    // Normalize
OpFamily lrnOps();          // LRN
OpFamily softmaxOps();      // Softmax
OpFamily matmulOps();       // MatMul, BatchMatMul, InnerProduct
OpFamily attentionOps();    // Attention
OpFamily groupNormOps();    // GroupNorm
OpFamily splitGeluOps();    // SplitGeLU
OpFamily dequantizeOps();   // Dequantize, DynamicQuant
OpFamily uint8Ops();        // TfQuantizedConv2D, QuantizedDepthwiseConv2D, QuantizedAvgPool, QuantizedMaxPool
OpFamily uint8PointwiseOps();  // QuantizedAdd, QuantizedLogistic, QuantizedSoftmax
OpFamily recurrentOps();    // RNN, LSTM, RNNSequenceGRU, LSTMBlockCell
OpFamily stftOps();         // Stft
OpFamily quantizedOps();    // FloatToInt8, Int8ToFloat

}  // namespace mnnc
