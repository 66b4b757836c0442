/* Images: what is where in them, the maps' colours, and that a file is whole or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <png.h>

#include "base/file.h"
#include "io/font.h"
#include "io/image.h"
#include "scratch.h"

struct picture {
    int width, height;
    unsigned char *rgb;
};

static struct picture decode(const char *path)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&png, path));
    png.format = PNG_FORMAT_RGB;
    struct picture picture = {(int)png.width, (int)png.height, malloc(PNG_IMAGE_SIZE(png))};
    assert_non_null(picture.rgb);
    assert_true(png_image_finish_read(&png, NULL, picture.rgb, 0, NULL));
    return picture;
}

static const unsigned char *pixel(const struct picture *picture, int x, int y)
{
    return picture->rgb + 3 * ((size_t)y * (size_t)picture->width + (size_t)x);
}

/* The smallest rectangle around all pixels of a colour; the number of them. */
static int find(const struct picture *picture, const unsigned char rgb[3], int box[4])
{
    int found = 0;
    box[0] = box[1] = 1 << 30;
    box[2] = box[3] = -1;
    for (int y = 0; y < picture->height; ++y)
        for (int x = 0; x < picture->width; ++x)
            if (memcmp(pixel(picture, x, y), rgb, 3) == 0) {
                ++found;
                box[0] = x < box[0] ? x : box[0];
                box[1] = y < box[1] ? y : box[1];
                box[2] = x > box[2] ? x : box[2];
                box[3] = y > box[3] ? y : box[3];
            }
    return found;
}

static const unsigned char grey[3] = {150, 150, 150};

/* The plane of 3 x 2 cells with one masked cell, 200 pixels a cell: the mask tells where it is. */
static void rows_go_up_and_cells_are_squares(void **state)
{
    (void)state;
    const double values[2][3] = {{0, 1, NAN}, {0.25, 0.5, 0.75}};
    const struct image image = {
        .width = 3, .height = 2, .values = values[0], .title = "speed", .across = "x", .up = "y"};
    const char *path = scratch_path("a.png");
    assert_int_equal(image_write(path, &image), STATUS_OK);
    assert_int_equal(scratch_files(0), 1);

    struct picture picture = decode(path);
    int box[4];
    assert_int_equal(find(&picture, grey, box), 200 * 200);
    assert_int_equal(box[2] - box[0], 199);
    assert_int_equal(box[3] - box[1], 199);
    int left = box[0] - 400, top = box[1] - 200;
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x) {
            unsigned char expected[3];
            colormap_color(COLORMAP_sequential, values[y][x], expected);
            if (isnan(values[y][x]))
                memcpy(expected, grey, 3);
            for (int corner = 0; corner < 4; ++corner) {
                const unsigned char *got = pixel(&picture, left + 200 * x + 199 * (corner & 1),
                                                 top + 200 * (1 - y) + 199 * (corner >> 1));
                for (int c = 0; c < 3; ++c) /* 251 colours: neighbours differ by less than 4 */
                    assert_in_range(got[c] + 4, expected[c], expected[c] + 8);
            }
        }
    free(picture.rgb);
}

/* What is no number any more is not what is no fluid, nor a value. */
static void what_is_not_finite_has_its_colour(void **state)
{
    static const unsigned char magenta[3] = {255, 0, 255};
    const double values[] = {0, INFINITY, NAN, -INFINITY};
    int box[4];
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        const struct image image = {.width = 4,
                                    .height = 1,
                                    .values = values,
                                    .title = "t",
                                    .fixed_range = fixed,
                                    .range = {-1, 1}};
        assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
        struct picture picture = decode(scratch_path("a.png"));
        assert_int_equal(find(&picture, magenta, box), 2 * 150 * 150);
        assert_int_equal(find(&picture, grey, box), 150 * 150);
        free(picture.rgb);
    }
}

static void large_planes_have_a_pixel_a_cell(void **state)
{
    (void)state;
    enum { WIDTH = 1000, HEIGHT = 40 };
    static double values[WIDTH * HEIGHT];
    values[5] = values[7] = NAN;
    const struct image image = {.width = WIDTH, .height = HEIGHT, .values = values, .title = "t"};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    struct picture picture = decode(scratch_path("a.png"));
    int box[4];
    assert_int_equal(find(&picture, grey, box), 2);
    assert_int_equal(box[2] - box[0], 2);
    assert_in_range(picture.width, WIDTH, WIDTH + 200);
    free(picture.rgb);
}

/* Nothing may fail or read out of bounds, whatever is in the plane. */
static void odd_planes_are_drawn_too(void **state)
{
    (void)state;
    const double odd[][4] = {
        {NAN, NAN, NAN, NAN},
        {0, 0, 0, 0},
        {1, 1, 1, 1},
        {-3, -3, -3, -3},
        {INFINITY, -INFINITY, 0, 1},
        {1e-308, 2e-308, 0, NAN},
        {-1e308, 1e308, 0, 1},
        {1, 1 + 2e-16, 1, 1},
        {1e300, 2e300, 3e300, 4e300},
        {1000000, 1000001, 1000002, 1000003},
    };
    const int shape[][2] = {{2, 2}, {4, 1}, {1, 4}};
    const struct {
        bool fixed;
        double range[2];
    } ranges[] = {{false, {0, 0}}, {true, {0, 0.1}}, {true, {-1, 1}}, {true, {0.5, 0.5}}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; ++s)
            for (size_t r = 0; r < sizeof ranges / sizeof *ranges; ++r) {
                struct image image = {.width = shape[s][0],
                                      .height = shape[s][1],
                                      .values = odd[i],
                                      .map = i & 1 ? COLORMAP_diverging : COLORMAP_sequential,
                                      .fixed_range = ranges[r].fixed,
                                      .range = {ranges[r].range[0], ranges[r].range[1]},
                                      .title = r ? "\xc2\xb5 title" : NULL};
                assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
            }
}

static void notes_are_kept(void **state)
{
    (void)state;
    const double value = 1;
    const struct image_note note[] = {{"Software", "tagflow"}, {"Case", "a: 1\nb: \xc2\xb5\n"}};
    const struct image image = {
        .width = 1, .height = 1, .values = &value, .title = "t", .notes = 2, .note = note};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    FILE *file = fopen(scratch_path("a.png"), "rb");
    assert_non_null(file);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_info(png, info);
    png_textp text = NULL;
    assert_int_equal(png_get_text(png, info, &text, NULL), 2);
    for (int i = 0; i < 2; ++i) {
        assert_string_equal(text[i].key, note[i].key);
        assert_string_equal(text[i].text, note[i].text);
    }
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
}

static void a_full_disk_keeps_the_old_image(void **state)
{
    (void)state;
    const double value = 1;
    const struct image image = {.width = 1, .height = 1, .values = &value, .title = "t"};
    const char *path = scratch_path("a.png");
    assert_int_equal(file_replace(path, "old", 3), STATUS_OK);
    scratch_listen();
    scratch_limit(500);
    enum status status = image_write(path, &image);
    scratch_limit(RLIM_INFINITY);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_one_line(heard, "File too large");
    char *text = NULL;
    assert_int_equal(file_read(path, 10, &text, NULL), STATUS_OK);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(scratch_files(0), 1);
}

/* CIE 1976 lightness of an sRGB colour, 0 to 100: another measure than the maps are made with. */
static double lightness(enum colormap map, double t)
{
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    unsigned char rgb[3];
    double luminance = 0;
    colormap_color(map, t, rgb);
    for (int c = 0; c < 3; ++c) {
        double v = rgb[c] / 255.0;
        luminance += weight[c] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return 116 * cbrt(luminance) - 16;
}

static void colours_get_lighter_evenly(void **state)
{
    (void)state;
    enum { STEPS = 50 };
    for (int i = 0; i < STEPS; ++i) {
        double from = (double)i / STEPS, to = (i + 1.0) / STEPS;
        double mean = lightness(COLORMAP_sequential, 1) - lightness(COLORMAP_sequential, 0);
        double step = lightness(COLORMAP_sequential, to) - lightness(COLORMAP_sequential, from);
        mean /= STEPS;
        assert_true(step > 0.5 * mean && step < 1.6 * mean);
        step = lightness(COLORMAP_diverging, to) - lightness(COLORMAP_diverging, from);
        assert_true(to <= 0.5 ? step > 0 : step < 0);
        double skew = lightness(COLORMAP_diverging, from) - lightness(COLORMAP_diverging, 1 - from);
        assert_true(fabs(skew) < 5); /* neither sign stands out */
    }
}

static void maps_stay_within_their_ends(void **state)
{
    (void)state;
    for (int map = COLORMAP_sequential; map <= COLORMAP_diverging; ++map) {
        unsigned char end[2][3], beyond[2][3];
        colormap_color((enum colormap)map, 0, end[0]);
        colormap_color((enum colormap)map, 1, end[1]);
        colormap_color((enum colormap)map, -5, beyond[0]);
        colormap_color((enum colormap)map, 5, beyond[1]);
        assert_memory_equal(end, beyond, sizeof end);
    }
    unsigned char middle[3];
    colormap_color(COLORMAP_diverging, 0.5, middle);
    assert_in_range(abs(middle[0] - middle[2]), 0, 3); /* zero has no hue */
}

static void letters_can_be_told_apart(void **state)
{
    (void)state;
    uint64_t seen[95];
    for (int c = ' '; c <= '~'; ++c) {
        uint64_t dots = 0;
        for (int y = 0; y < FONT_HEIGHT; ++y)
            for (int x = 0; x < FONT_WIDTH; ++x)
                dots = dots << 1 | font_dot((char)c, x, y);
        assert_true(c == ' ' ? dots == 0 : dots != 0);
        for (int other = ' '; other < c; ++other)
            assert_true(seen[other - ' '] != dots);
        seen[c - ' '] = dots;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(rows_go_up_and_cells_are_squares),
        SCRATCH_TEST(what_is_not_finite_has_its_colour),
        SCRATCH_TEST(large_planes_have_a_pixel_a_cell),
        SCRATCH_TEST(odd_planes_are_drawn_too),
        SCRATCH_TEST(notes_are_kept),
        SCRATCH_TEST(a_full_disk_keeps_the_old_image),
        SCRATCH_TEST(colours_get_lighter_evenly),
        SCRATCH_TEST(maps_stay_within_their_ends),
        SCRATCH_TEST(letters_can_be_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
