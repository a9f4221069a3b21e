// The end of every convolution: bias and activation. The includer has kClamp, push.low and push.high.
VALUE4 finished(VALUE4 sum, VALUE4 bias) {
    sum += bias;
    return kClamp ? min(max(sum, VALUE4(push.low)), VALUE4(push.high)) : sum;
}
