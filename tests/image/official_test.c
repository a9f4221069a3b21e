// Compares with the pixels of official.bin, which the official runtime's ImageProcess computed from the same pictures.
#include "support.h"

typedef struct {
    int32_t source, width, height, stride, source_bytes, target, to_width, to_height, layout, type, filter, wrap,
        padding;
    float matrix[6], mean[4], scale[4];
    int32_t values;
} Record;

static void read_exactly(FILE* file, void* to, size_t bytes) {
    assert_int_equal(fread(to, 1, bytes, file), bytes);
}

static mnn_image_options_t options_of(const Record* record) {
    mnn_image_options_t options;
    OK(mnn_image_options_init(&options, sizeof options));
    options.filter = record->filter;
    options.wrap = record->wrap;
    options.padding = record->padding;
    options.has_matrix = 1;
    memcpy(options.matrix, record->matrix, sizeof options.matrix);
    memcpy(options.mean, record->mean, sizeof options.mean);
    memcpy(options.scale, record->scale, sizeof options.scale);
    options.has_scale = 1;
    return options;
}

// Returns how many values differ. A blended byte may differ by one, where the header says so.
static int differences(const Record* record, const void* ours, const void* theirs) {
    int count = 0;
    for (int32_t i = 0; i < record->values; ++i) {
        if (record->type == MNN_TYPE_FLOAT32) {
            assert_memory_equal((const float*)ours + i, (const float*)theirs + i, sizeof(float));
            continue;
        }
        const int distance = abs(((const uint8_t*)ours)[i] - ((const uint8_t*)theirs)[i]);
        if (distance == 0) continue;
        const int blended = record->filter == MNN_IMAGE_BILINEAR;
        if (!blended || distance > 1)
            fail_msg("format %d to %d, filter %d, wrap %d, %d x %d to %d x %d: value %d is %d, not %d", record->source,
                     record->target, record->filter, record->wrap, record->width, record->height, record->to_width,
                     record->to_height, i, ((const uint8_t*)ours)[i], ((const uint8_t*)theirs)[i]);
        count++;
    }
    return count;
}

static void same_as_the_official_runtime(void** state) {
    (void)state;
    FILE* file = fopen(MNN_C_IMAGE_TESTS "/official.bin", "rb");
    assert_non_null(file);
    int32_t records = 0;
    read_exactly(file, &records, sizeof records);
    assert_in_range(records, 150, 1000);
    int different = 0, values = 0;
    for (int32_t i = 0; i < records; ++i) {
        Record record;
        read_exactly(file, &record, sizeof record);
        const size_t element = record.type == MNN_TYPE_UINT8 ? 1 : sizeof(float);
        const size_t bytes = (size_t)record.values * element;
        // They have the exact sizes, so that a sanitizer detects an access beyond them.
        void *pixels = malloc((size_t)record.source_bytes), *theirs = malloc(bytes), *ours = malloc(bytes);
        assert_true(pixels && theirs && ours);
        read_exactly(file, pixels, (size_t)record.source_bytes);
        read_exactly(file, theirs, bytes);

        mnn_image_t source = picture(record.source, record.width, record.height, pixels, (size_t)record.source_bytes);
        source.stride = (size_t)record.stride;
        const mnn_image_options_t options = options_of(&record);
        mnn_image_values_t result;
        OK(mnn_image_values_init(&result, sizeof result));
        result.format = record.target;
        result.width = record.to_width;
        result.height = record.to_height;
        result.type = record.type;
        result.layout = record.layout;
        result.data = ours;
        result.bytes = bytes;
        OK(mnn_image_convert(&options, &source, &result));
        different += differences(&record, ours, theirs);
        values += record.values;
        free(pixels);
        free(theirs);
        free(ours);
    }
    fclose(file);
    print_message("%d values, of which %d differ by one\n", values, different);
    assert_true(different * 2000 <= values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_the_official_runtime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
