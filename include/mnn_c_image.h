/*
 * mnn_c_image.h - pictures as inputs of nets: the whole public interface of libmnn_c_image.
 *
 *     mnn_image_t photo;
 *     mnn_image_init(&photo, sizeof photo);
 *     if (mnn_image_info(file, file_bytes, &photo) == MNN_OK) {
 *         photo.pixels = malloc(photo.bytes);
 *         mnn_image_decode(file, file_bytes, &photo);
 *     }
 *
 * libmnn_c_image decodes PNG, JPEG, BMP, GIF, TGA, PGM and PPM, crops, resizes, turns pictures into the
 * values of tensors as ImageProcess of the official runtime does, and finds boxes in the outputs of detectors.
 * It is a library of its own: it needs neither libmnn_c nor a session. It uses only the statuses, MNN_TYPE_*
 * and MNN_FORMAT_* of mnn_c.h.
 *
 * Errors     Functions return an mnn_status and write their results on MNN_OK only. mnn_image_last_error()
 *            has a sentence. Every one of them can return MNN_ERROR_NULL_ARGUMENT (a pointer is NULL and its
 *            comment does not allow it), MNN_ERROR_VERSION_MISMATCH (a struct_size that no version has),
 *            MNN_ERROR_OUT_OF_MEMORY and MNN_ERROR_INTERNAL (a defect of this library).
 * Memory     All memory of pixels and values belongs to the caller. Nothing is kept from one call to the
 *            next, and the caller frees nothing that this library returns.
 * Threads    Any function may be called from any thread at any time. Memory that a call writes must not be in
 *            use by another call.
 * Structs    As in mnn_c.h: prepared by their _init functions, which set struct_size and make every other
 *            field zero.
 */
#ifndef MNN_C_IMAGE_H
#define MNN_C_IMAGE_H

#include "mnn_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Pictures ------------------------------------------------------------------------------------------ */

/* The order of the bytes of a pixel. The numbers are those of the official runtime. A YUV picture is a plane
 * of brightness, a byte for each pixel, followed by a quarter as many pairs of colour: V and U in turn (NV21),
 * U and V in turn (NV12), or a plane of U and then one of V (I420). Odd sizes are rounded up for the planes of
 * colour. */
enum {
    MNN_IMAGE_RGBA = 0,  /* red, green, blue, alpha */
    MNN_IMAGE_RGB = 1,   /* red, green, blue */
    MNN_IMAGE_BGR = 2,   /* blue, green, red */
    MNN_IMAGE_GRAY = 3,  /* brightness */
    MNN_IMAGE_BGRA = 4,  /* blue, green, red, alpha */
    MNN_IMAGE_NV21 = 11, /* YUV: V and U in turn */
    MNN_IMAGE_NV12 = 12, /* YUV: U and V in turn */
    MNN_IMAGE_I420 = 13  /* YUV: a plane of U, then one of V */
};

/* The largest width and height of a picture, and the most pixels that a file may have. */
#define MNN_IMAGE_MAX_EXTENT 65535
#define MNN_IMAGE_MAX_PIXELS 67108864

/* A picture in memory of the caller. Functions that take it as a source do not write its pixels. */
typedef struct mnn_image {
    size_t struct_size; /* sizeof(mnn_image_t), written by the init function */
    int32_t format;     /* MNN_IMAGE_* */
    int32_t width;      /* 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t height;     /* 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t reserved;   /* 0 */
    /* Bytes from one row to the next; 0: rows follow each other without gaps. Rows of the colour planes of NV21 and
     * NV12 have as many bytes, rounded up to an even number; those of I420 have half of that. */
    size_t stride;
    void* pixels; /* the first row, which is the upper one */
    size_t bytes; /* size of the memory at `pixels`: at least mnn_image_byte_size() */
} mnn_image_t;

/* Prepares a picture: MNN_IMAGE_RGBA without pixels. `size` is sizeof(mnn_image_t). Since 0.2. */
MNN_C_API mnn_status mnn_image_init(mnn_image_t* image, size_t size);

/* The number of bytes that the pixels of a picture take, from its format, extents and stride; `pixels` and
 * `bytes` are not read.
 * Errors: MNN_ERROR_INVALID_VALUE (no such format), MNN_ERROR_BAD_RANGE (extents, or a stride below a row or
 * above 2^30). Since 0.2. */
MNN_C_API mnn_status mnn_image_byte_size(const mnn_image_t* image, size_t* bytes);

/* The sentence of the last error on this thread, "" before the first one; valid until the next call of this
 * library on this thread. Never NULL. Since 0.2. */
MNN_C_API const char* mnn_image_last_error(void);

/* ---- Files --------------------------------------------------------------------------------------------- */

/* Describes the picture in the `file_bytes` bytes of a file: format (MNN_IMAGE_GRAY, RGB or RGBA), extents,
 * and `bytes`, which its pixels take. `stride` becomes 0, `pixels` does not change. The content of the file
 * chooses the reader.
 * Errors: MNN_ERROR_BAD_FORMAT (no picture of a known kind, or a damaged one), MNN_ERROR_TRUNCATED (the file
 * ends too early), MNN_ERROR_LIMIT_EXCEEDED (more than MNN_IMAGE_MAX_PIXELS, an extent above
 * MNN_IMAGE_MAX_EXTENT, or a file above 2^29 bytes). Since 0.2. */
MNN_C_API mnn_status mnn_image_info(const void* file, size_t file_bytes, mnn_image_t* image);

/* Decodes a file into `image`, whose extents must be those of the file. Its format may be any but the YUV
 * ones: gray becomes three equal colours, colours become their brightness (77 R + 150 G + 29 B, divided by
 * 256), an alpha that the file lacks is 255, one that the result lacks is left out.
 * Errors: those of mnn_image_info() and mnn_image_byte_size(); MNN_ERROR_COMPUTE_SIZE (other extents than the
 * file), MNN_ERROR_NOT_SUPPORTED (a YUV format), MNN_ERROR_BUFFER_TOO_SMALL (`bytes`). Since 0.2. */
MNN_C_API mnn_status mnn_image_decode(const void* file, size_t file_bytes, const mnn_image_t* image);

/* Writes a picture as a PNG file into a buffer, as mnn_c.h says under Buffers: capacity 0 asks for the size.
 * The size of a picture is the same each time.
 * Errors: those of mnn_image_byte_size(); MNN_ERROR_NOT_SUPPORTED (a YUV format), MNN_ERROR_LIMIT_EXCEEDED
 * (more than MNN_IMAGE_MAX_PIXELS), MNN_ERROR_BUFFER_TOO_SMALL (the picture's `bytes`, or the buffer). Since
 * 0.2. */
MNN_C_API mnn_status mnn_image_encode_png(const mnn_image_t* image, void* buffer, size_t capacity, size_t* needed);

/* ---- Cropping and resizing ----------------------------------------------------------------------------- */

/* Makes `part` a view of the rectangle of `image` with the upper left pixel (x, y): nothing is copied, and
 * the view lives as long as the pixels of `image`. `part` may be `image`.
 * Errors: those of mnn_image_byte_size(); MNN_ERROR_BAD_RANGE (a rectangle that is empty or not inside of the
 * picture), MNN_ERROR_NOT_SUPPORTED (a YUV format), MNN_ERROR_BUFFER_TOO_SMALL (`bytes` of `image`). Since
 * 0.2. */
MNN_C_API mnn_status mnn_image_crop(const mnn_image_t* image, int32_t x, int32_t y, int32_t width, int32_t height,
                                    mnn_image_t* part);

/* Resizes `source` to the extents of `target`, into its pixels. Every pixel of the source counts: shrinking
 * averages with Mitchell's filter, enlarging interpolates with Catmull and Rom's, and equal extents copy.
 * Formats must be equal. The memory of both must not overlap.
 * Errors: those of mnn_image_byte_size(); MNN_ERROR_BAD_TYPE (two formats), MNN_ERROR_NOT_SUPPORTED (a YUV
 * format), MNN_ERROR_LIMIT_EXCEEDED (one of them has more than MNN_IMAGE_MAX_PIXELS, or so many
 * rows become one of a wide target that more than 2^30 bytes of them are needed at once),
 * MNN_ERROR_BUFFER_TOO_SMALL (`bytes`). Since 0.2. */
MNN_C_API mnn_status mnn_image_resize(const mnn_image_t* source, const mnn_image_t* target);

/* ---- Values of tensors --------------------------------------------------------------------------------- */

/* How a value between pixels is computed. The numbers are those of the official runtime, which takes the
 * nearest pixel for MNN_IMAGE_BICUBIC; here it is Catmull and Rom's filter over 4 x 4 pixels. YUV pictures are
 * always sampled by the nearest pixel, as in the official runtime. */
enum {
    MNN_IMAGE_NEAREST = 0,  /* the nearest pixel */
    MNN_IMAGE_BILINEAR = 1, /* linear between four pixels */
    MNN_IMAGE_BICUBIC = 2   /* Catmull and Rom's filter over 4 x 4 pixels */
};

/* The values outside of a picture: the nearest pixel, the value `padding`, or the picture again. The numbers
 * are those of the official runtime, which takes the nearest pixel for MNN_IMAGE_REPEAT, too. YUV pictures
 * are not repeated (MNN_ERROR_NOT_SUPPORTED). */
enum {
    MNN_IMAGE_CLAMP = 0, /* the nearest pixel */
    MNN_IMAGE_ZERO = 1,  /* the value `padding` */
    MNN_IMAGE_REPEAT = 2 /* the picture again; not for YUV formats */
};

/* How values are taken from a picture. */
typedef struct mnn_image_options {
    size_t struct_size; /* sizeof(mnn_image_options_t), written by the init function */
    int32_t filter;     /* MNN_IMAGE_NEAREST, ... */
    int32_t wrap;       /* MNN_IMAGE_CLAMP, ... */
    int32_t padding;    /* for MNN_IMAGE_ZERO: 0 to 255 */
    int32_t has_matrix; /* 0: `matrix` is not read, places of the result are places of the picture */
    /* Maps the place (x, y) of a pixel of the result to one in the picture:
     *     matrix[0] x + matrix[1] y + matrix[2],  matrix[3] x + matrix[4] y + matrix[5]
     * Pixels have whole numbers as places: {w / W, 0, (w / W - 1) / 2, 0, h / H, (h / H - 1) / 2} resizes from w x h to
     * W x H with equal centres. */
    float matrix[6];
    /* A value of the result is (value - mean) * scale, in float; channels are those of the result. Neither is used for
     * results of bytes. */
    float mean[4];
    float scale[4];    /* see mean */
    int32_t has_scale; /* 0: the scale is 1 */
    int32_t reserved;  /* 0 */
} mnn_image_options_t;

/* The values that a picture becomes, in memory of the caller. */
typedef struct mnn_image_values {
    size_t struct_size; /* sizeof(mnn_image_values_t), written by the init function */
    int32_t format;     /* MNN_IMAGE_RGBA, RGB, BGR, GRAY or BGRA: the channels */
    int32_t width;      /* 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t height;     /* 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t type;       /* MNN_TYPE_FLOAT32 or MNN_TYPE_UINT8; 0: MNN_TYPE_FLOAT32 */
    int32_t layout;     /* MNN_FORMAT_NCHW (the default) or MNN_FORMAT_NHWC */
    int32_t reserved;   /* 0 */
    void* data;         /* memory for the values */
    size_t bytes;       /* size of the memory at `data`: at least width * height * channels * (4 or 1) */
} mnn_image_values_t;

/* Prepares options: the defaults. `size` is sizeof(mnn_image_options_t). Since 0.2. */
MNN_C_API mnn_status mnn_image_options_init(mnn_image_options_t* options, size_t size);

/* Prepares the description of values: floats, without memory. `size` is sizeof(mnn_image_values_t). Since 0.2. */
MNN_C_API mnn_status mnn_image_values_init(mnn_image_values_t* values, size_t size);

/* Samples a picture at the places of the result's pixels, converts its colours and writes the values.
 * `options` may be NULL: the defaults of its _init function. The memory of picture and values must not
 * overlap.
 *
 * Results are those of the official runtime's ImageProcess: samples are rounded to bytes before colours are
 * converted (with MNN_IMAGE_BILINEAR those of four channels are truncated, others rounded to nearest), gray is
 * (19 R + 38 G + 7 B) / 64 truncated, and places are summed along a row in float. Where it has no rule, the
 * result is the most exact one: for RGB to BGRA and BGR to RGBA, which it leaves empty, for I420 with a
 * matrix, whose colours it takes from other places, and for the two values named above. With
 * MNN_IMAGE_BILINEAR a byte may differ by one where the sum lies on the border of two steps, about one byte of
 * ten thousand; with MNN_IMAGE_ZERO a pixel whose place is, to all digits of a float, the edge of the picture
 * or halfway between two pixels may get the other value.
 *
 * Errors: those of mnn_image_byte_size(); MNN_ERROR_INVALID_VALUE (filter, wrap, type or layout; a matrix,
 * mean or scale that is not finite), MNN_ERROR_BAD_RANGE (padding or extents), MNN_ERROR_NOT_SUPPORTED
 * (values in a YUV format, YUV repeated), MNN_ERROR_BUFFER_TOO_SMALL (`bytes`). Since 0.2. */
MNN_C_API mnn_status mnn_image_convert(const mnn_image_options_t* options, const mnn_image_t* source,
                                       const mnn_image_values_t* values);

/* ---- Boxes of detectors -------------------------------------------------------------------------------- */

/* The meaning of a number in a row that describes a box. */
enum {
    MNN_IMAGE_BOX_X1 = 0,       /* the left edge */
    MNN_IMAGE_BOX_Y1 = 1,       /* the upper edge */
    MNN_IMAGE_BOX_X2 = 2,       /* the right edge */
    MNN_IMAGE_BOX_Y2 = 3,       /* the lower edge */
    MNN_IMAGE_BOX_CENTRE_X = 4, /* the horizontal place of the centre */
    MNN_IMAGE_BOX_CENTRE_Y = 5, /* the vertical place of the centre */
    MNN_IMAGE_BOX_WIDTH = 6,    /* the horizontal extent */
    MNN_IMAGE_BOX_HEIGHT = 7,   /* the vertical extent */
    MNN_IMAGE_BOX_SCORE = 8,    /* the score, or a factor of it */
    MNN_IMAGE_BOX_CLASS = 9,    /* the class */
    MNN_IMAGE_BOX_CLASSES = 10, /* this and all remaining numbers of the row: a score for each class */
    MNN_IMAGE_BOX_OTHER = 11    /* a number that is not read */
};

/* The unit of coordinates. */
enum {
    MNN_IMAGE_UNIT_GUESSED = 0,  /* fractions where no edge of a box with a sufficient score exceeds 2 in magnitude,
                                    else pixels */
    MNN_IMAGE_UNIT_PIXELS = 1,   /* pixels of the input */
    MNN_IMAGE_UNIT_FRACTIONS = 2 /* fractions of the input */
};

/* The most boxes that mnn_image_boxes() finds in a picture. */
#define MNN_IMAGE_MAX_BOXES 1000

/* How the outputs of a detector describe boxes, and which boxes are wanted. Shapes are those of tensors in the order of
 * MNN_FORMAT_NCHW; leading extents of 1 do not count. */
typedef struct mnn_image_detector {
    size_t struct_size;      /* sizeof(mnn_image_detector_t), written by the init function */
    int32_t columns[64];     /* MNN_IMAGE_BOX_*: the numbers in a row of the output with boxes */
    int32_t column_count;    /* 1 to 64 */
    int32_t unit;            /* MNN_IMAGE_UNIT_* */
    int32_t boxes_dims[9];   /* a row for each box, or, which is recognised, a column for each box */
    int32_t boxes_rank;      /* 1 to 9 */
    int32_t scores_dims[9];  /* a number for each box, or one for each class of each box */
    int32_t scores_rank;     /* 0: there is no output of scores */
    int32_t classes_dims[9]; /* a number for each box: its class */
    int32_t classes_rank;    /* 0: there is no output of classes */
    int32_t input_width;     /* extents of the net's input, in pixels: 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t input_height;    /* see input_width */
    int32_t left;            /* the part of the input that holds the picture, in pixels of the input */
    int32_t top;             /* see left */
    int32_t width;           /* see left; 0: the picture fills the input */
    int32_t height;          /* see width */
    int32_t picture_width;   /* extents of the picture, in pixels: 1 to MNN_IMAGE_MAX_EXTENT */
    int32_t picture_height;  /* see picture_width */
    int32_t has_background;  /* 0: each class is one of objects */
    int32_t background;      /* the class that means no object */
    int32_t has_overlap;     /* 0: 0.45 where outputs have a score for each class, else 1 */
    int32_t reserved;        /* 0 */
    double min_score;        /* boxes with smaller scores are left out */
    /* 0 to 1: a box is left out that shares more than this part (intersection over union) with a better one of its
     * class. 1: none is left out. */
    double overlap;
} mnn_image_detector_t;

/* Prepares the description of a detector: no columns. `size` is sizeof(mnn_image_detector_t). Since 0.2. */
MNN_C_API mnn_status mnn_image_detector_init(mnn_image_detector_t* detector, size_t size);

/* Finds the boxes of one picture in the outputs of a net, as mnn_c.h says under Buffers: capacity 0 asks for their
 * numbers. A box is six numbers: the edges x1, y1, x2 and y2 in pixels of the picture, inside of it, x1 < x2 and
 * y1 < y2; the score, which is the product of the scores that the outputs have, or 1; the class, or -1 where it is not
 * known. The best box is first, and there are at most MNN_IMAGE_MAX_BOXES. Boxes that are empty, not finite or outside
 * of the picture are left out. Where overlaps are removed, only the 5,000 boxes with the highest scores are considered.
 *
 * boxes, scores, classes: values of the outputs, as many as the extents of the detector say; NULL where there is no
 * such output, or no value.
 *
 * Errors: MNN_ERROR_INVALID_VALUE (columns that do not describe a box, a unit, a min_score that is no number),
 * MNN_ERROR_BAD_RANGE (a rank, an extent, the part of the input, or overlap), MNN_ERROR_COMPUTE_SIZE (an output that is
 * no table with these columns, or does not have a number for each box), MNN_ERROR_OVERFLOW (the product of extents),
 * MNN_ERROR_BUFFER_TOO_SMALL. Since 0.2. */
MNN_C_API mnn_status mnn_image_boxes(const mnn_image_detector_t* detector, const float* boxes, const float* scores,
                                     const float* classes, double* buffer, size_t capacity, size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
