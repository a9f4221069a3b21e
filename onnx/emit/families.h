// The families of rules, one file each.
#pragma once
#include "../call.h"

namespace mnnc::onnx {

Family activationFamily();
Family algebraFamily();
Family attentionFamily();
Family quantisationFamily();
Family spatialFamily();
Family constantFamily();
Family contribAttentionFamily();
Family contribFamily();
Family controlFamily();
Family convolutionFamily();
Family elementwiseFamily();
Family optionalFamily();
Family trainingFamily();
Family poolingFamily();
Family matmulFamily();
Family normalisationFamily();
Family reductionFamily();
Family reshapeFamily();
Family sliceFamily();
Family indexFamily();
Family lossFamily();
Family recurrentFamily();
Family resizeFamily();

}  // namespace mnnc::onnx
