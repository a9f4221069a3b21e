// Parts of operators of ai.onnx.ml that several families share.
#pragma once
#include "helpers.h"

namespace mnnc::onnx {

// The first input as rows of floats; a list is one row.
V rowsOf(Call& c);
// Throws BadFormat unless a list has the wanted number of elements.
void requireCount(const char* list, size_t has, int64_t wanted);

// x times the rows of coefficients, plus an intercept for each of them where there are any.
V affine(Call& c, V x, const std::vector<float>& coefficients, int64_t rows, const std::vector<float>& intercepts);
// Whether values are other than NaN, which stands for missing ones.
V isNumber(Call& c, V x);

// The function that turns scores into probabilities.
enum class Transform { none, softmax, logistic, softmaxZero };
Transform transformOf(Call& c);
V transformed(Call& c, V scores, Transform transform);
// The scores of both classes, from the score of the second one. Without the logistic transform, the other score is
// 1 - score, or -score.
enum class Other { rest, negative };
V scoresOfBoth(Call& c, V score, Transform transform, Other other);

// The labels of a classifier, which are integers: text is refused.
std::vector<int64_t> labelsOf(Call& c, const char* integers, const char* text);
// The labels with these positions, and the label of the largest score of each row.
V labelAt(Call& c, const std::vector<int64_t>& labels, V positions);
V labelOfBest(Call& c, const std::vector<int64_t>& labels, V scores);
// The second label where a condition of one column holds, else the first one.
V labelOfTwo(Call& c, const std::vector<int64_t>& labels, V second);

}  // namespace mnnc::onnx
