// Returns whether the number given with a region is that of a picture of the batch.
bool isPicture(int picture, int pictures) {
    return picture >= 0 && picture < pictures;
}
bool isPicture(float picture, int pictures) {
    const bool number = (floatBitsToUint(picture) & 0x7fffffffu) <= 0x7f800000u;
    return number && picture >= 0.0 && picture < float(pictures);
}
