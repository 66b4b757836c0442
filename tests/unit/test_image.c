/* Images: what is where in them, the maps' colours, and that a file is whole or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>

#include "base/file.h"
#include "io/canvas.h"
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

/* Is the text somewhere in the picture, pixel by pixel? */
static bool has_text(const struct picture *picture, double size, bool turned, const char *text)
{
    const struct lettering how = {.size = size, .turned = turned};
    const int along = (int)ceil(canvas_text_length(text, how)), across = (int)(1.6 * size);
    struct canvas canvas = {turned ? across : along, turned ? along : across, NULL};
    const int pixels = canvas.width * canvas.height;
    canvas.pixel = malloc((size_t)pixels);
    assert_non_null(canvas.pixel);
    canvas_fill(&canvas, 0, 0, canvas.width, canvas.height, CANVAS_PAPER);
    canvas_text(&canvas, turned ? (int)(1.2 * size) : 0, turned ? along : (int)(1.2 * size), how,
                text);
    bool found = false;
    for (int y = 0; !found && y + canvas.height <= picture->height; ++y)
        for (int x = 0; !found && x + canvas.width <= picture->width; ++x) {
            found = true;
            for (int k = 0; found && k < pixels; ++k) {
                const int shade = canvas.pixel[k] - CANVAS_PAPER;
                const int grey_of = 255 - (255 - 38) * shade / (CANVAS_INKS - 1);
                found = pixel(picture, x + k % canvas.width, y + k / canvas.width)[0] == grey_of;
            }
        }
    free(canvas.pixel);
    return found;
}

static void must_have(const struct picture *picture, double size, bool turned, const char *text)
{
    if (!has_text(picture, size, turned, text))
        fail_msg("'%s' is not in the picture", text);
}

/* The largest rectangle of a picture's plane: the pixels within the first frame of ink. */
struct rectangle {
    int x, y, width, height;
};

static bool is_ink(const struct picture *picture, int x, int y)
{
    static const unsigned char ink[3] = {38, 38, 43};
    return x < picture->width && y < picture->height && !memcmp(pixel(picture, x, y), ink, 3);
}

/* The first line of ink of at least 50 pixels is the upper side of the plane's frame. */
static struct rectangle plane_of(const struct picture *picture)
{
    for (int y = 0; y < picture->height; ++y)
        for (int x = 0; x < picture->width; ++x) {
            int n = 0, down = 0;
            while (is_ink(picture, x + n, y))
                ++n;
            while (n >= 50 && is_ink(picture, x, y + down))
                ++down;
            if (n >= 50)
                return (struct rectangle){x + 1, y + 1, n - 2, down - 2};
            x += n;
        }
    fail_msg("no plane");
    return (struct rectangle){0};
}

/* The colour of a value between 0 and 1; 235 colours: neighbours differ by less than 5. */
static void must_be(const struct picture *picture, int x, int y, enum colormap map, double value)
{
    const unsigned char *got = pixel(picture, x, y);
    unsigned char expected[3];
    colormap_color(map, value, expected);
    for (int c = 0; c < 3; ++c)
        if (abs(got[c] - expected[c]) > 5)
            fail_msg("pixel %d, %d is %d %d %d and not %d %d %d", x, y, got[0], got[1], got[2],
                     expected[0], expected[1], expected[2]);
}

/* The plane of 3 x 2 cells, 200 pixels a cell: rows go up, and colours are linear between the
 * middles of cells, also in cells beside the solid one, whose value has no part in it. */
static void colours_are_linear_between_cells(void **state)
{
    (void)state;
    const double values[2][3] = {{0, 1, NAN}, {0.25, 0.5, 0.75}};
    const struct image image = {.width = 3, .height = 2, .values = values[0], .title = "speed"};
    const char *path = scratch_path("a.png");
    assert_int_equal(image_write(path, &image), STATUS_OK);
    assert_int_equal(scratch_files(0), 1);

    struct picture picture = decode(path);
    const struct rectangle at = plane_of(&picture);
    assert_int_equal(at.width, 600);
    assert_int_equal(at.height, 400);
    const struct {
        int x, y; /* pixels from the lower left corner */
        double value;
    } points[] = {{100, 100, 0},      {5, 5, 0},       {300, 100, 1},    {200, 100, 0.5},
                  {100, 300, 0.25},   {300, 300, 0.5}, {500, 300, 0.75}, {400, 300, 0.625},
                  {200, 200, 0.4375}, {390, 60, 1},    {500, 230, 0.75}, {595, 395, 0.75}};
    for (size_t k = 0; k < sizeof points / sizeof *points; ++k)
        must_be(&picture, at.x + points[k].x, at.y + at.height - 1 - points[k].y,
                COLORMAP_sequential, points[k].value);
    /* The solid cell is grey, but for its corner in the fluid, which is round. */
    int box[4];
    const int grey_pixels = find(&picture, grey, box);
    assert_in_range(grey_pixels, 0.6 * 200 * 200, 200 * 200);
    assert_in_range(box[0], at.x + 400, at.x + 440);
    assert_in_range(box[1], at.y + 200, at.y + 240);
    assert_int_equal(box[2], at.x + 599);
    assert_int_equal(box[3], at.y + 399);
    free(picture.rgb);
}

/* Two channels with a wall of one cell between them: no colour of one is in the other, and the wall
 * is one cell wide. */
static void walls_keep_colours_apart(void **state)
{
    (void)state;
    enum { N = 5, PIXELS = 120 };
    double values[N][N];
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
            values[y][x] = x < 2 ? 0 : x == 2 ? NAN : 1;
    const struct image image = {.width = N, .height = N, .values = values[0]};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    struct picture picture = decode(scratch_path("a.png"));
    const struct rectangle at = plane_of(&picture);
    for (int y = 0; y < at.height; ++y)
        for (int x = 0; x < at.width; ++x)
            if (x / PIXELS == 2)
                assert_memory_equal(pixel(&picture, at.x + x, at.y + y), grey, 3);
            else
                must_be(&picture, at.x + x, at.y + y, COLORMAP_sequential, x / PIXELS > 2);
    free(picture.rgb);
}

/* Cells of 4 entries beside cells of one: linear from middle to middle of the large ones. */
static void coarse_cells_are_smooth(void **state)
{
    (void)state;
    enum { WIDTH = 8, HEIGHT = 4 };
    double values[HEIGHT][WIDTH];
    unsigned char coarse[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) {
            coarse[y][x] = x < 4 ? 1 : 0;
            values[y][x] = x < 4 ? 0.25 * (x / 2) + 0.125 : (x + 0.5) / 8;
        }
    const struct image image = {.width = WIDTH,
                                .height = HEIGHT,
                                .values = values[0],
                                .coarse = coarse[0],
                                .fixed_range = true,
                                .range = {0, 1}};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    struct picture picture = decode(scratch_path("a.png"));
    const struct rectangle at = plane_of(&picture);
    assert_int_equal(at.width, 600);
    /* A value is the place from left to right, as far as there are cells on both sides. */
    for (int x = 113; x < 560; ++x)
        for (int y = 10; y < at.height; y += 40)
            must_be(&picture, at.x + x, at.y + y, COLORMAP_sequential, (x + 0.5) / 600);
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
    enum { WIDTH = 1000, HEIGHT = 140 };
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

/* Narrow planes are stretched, so that something is to be seen, and say so. */
static void narrow_planes_are_stretched(void **state)
{
    (void)state;
    enum { LONG = 1000, SHORT = 8 };
    static double values[LONG * SHORT];
    for (int tall = 0; tall < 2; ++tall) {
        const struct image image = {.width = tall ? SHORT : LONG,
                                    .height = tall ? LONG : SHORT,
                                    .values = values,
                                    .title = "t",
                                    .across = {"x", "cells", 0, tall ? SHORT : LONG},
                                    .up = {"y", "cells", 0, tall ? LONG : SHORT}};
        assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
        struct picture picture = decode(scratch_path("a.png"));
        const struct rectangle at = plane_of(&picture);
        assert_int_equal(tall ? at.height : at.width, LONG);
        assert_int_equal(tall ? at.width : at.height, 13 * SHORT);
        must_have(&picture, 10 * LONG / 900.0, false,
                  tall ? "x stretched 13 times" : "min 0    max 0    y stretched 13 times");
        assert_in_range(picture.width + picture.height, LONG + 13 * SHORT, LONG + 500);
        free(picture.rgb);
    }
}

/* The axes have their lengths, the bar its quantity, unit and values. */
static void texts_say_what_is_shown(void **state)
{
    (void)state;
    double values[20 * 40];
    for (int i = 0; i < 20 * 40; ++i)
        values[i] = 20 + 15.0 * i / 799;
    for (int wide = 0; wide < 2; ++wide) {
        const struct image image = {.width = wide ? 40 : 20,
                                    .height = wide ? 20 : 40,
                                    .values = values,
                                    .title = "temperature at y = 2.5 mm",
                                    .when = "step 10, time 0.5 s",
                                    .quantity = "temperature",
                                    .unit = "degC",
                                    .across = {"x", "mm", 0, wide ? 20 : 10},
                                    .up = {"z", "mm", 0, wide ? 10 : 20}};
        assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
        struct picture picture = decode(scratch_path("a.png"));
        must_have(&picture, 10, false, "step 10, time 0.5 s    min 20    max 35");
        must_have(&picture, 10, false, "x [mm]");
        must_have(&picture, 10, true, "z [mm]");
        must_have(&picture, 10, !wide, "temperature [degC]");
        must_have(&picture, 10, false, "34"); /* of the bar */
        must_have(&picture, 10, false, wide ? "20" : "10");
        assert_false(has_text(&picture, 10, false, "36"));
        assert_false(has_text(&picture, 10, false, "x [cells]"));
        free(picture.rgb);
    }
}

/* A map with both signs is symmetric about 0, but the bar ends with the values. Where one sign
 * prevails the other map is taken, and no half of it is left over. */
static void no_half_of_a_map_is_left_over(void **state)
{
    (void)state;
    const struct {
        double low, high;
        enum colormap map;
        double first, last; /* of the map */
    } ranges[] = {{-1, 1, COLORMAP_diverging, 0, 1},
                  {-0.5, 1, COLORMAP_diverging, 0.25, 1},
                  {-1, 0.5, COLORMAP_diverging, 0, 0.75},
                  {-0.05, 1, COLORMAP_sequential, 0, 1},
                  {0.05, 1, COLORMAP_sequential, 0.05, 1},
                  {0.5, 1, COLORMAP_sequential, 0, 1},
                  {-1, -0.5, COLORMAP_sequential, 0, 1},
                  {-1, 3, COLORMAP_diverging, 1.0 / 3, 1}}; /* the last by a given range */
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; ++k) {
        const double values[2] = {ranges[k].low, ranges[k].high};
        const struct image image = {.width = 2,
                                    .height = 1,
                                    .values = values,
                                    .map = COLORMAP_diverging,
                                    .fixed_range = k + 1 == sizeof ranges / sizeof *ranges,
                                    .range = {ranges[k].low, ranges[k].high}};
        assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
        struct picture picture = decode(scratch_path("a.png"));
        const struct rectangle at = plane_of(&picture);
        must_be(&picture, at.x, at.y, ranges[k].map, ranges[k].first);
        must_be(&picture, at.x + at.width - 1, at.y, ranges[k].map, ranges[k].last);
        /* The bar is below the plane, and as wide. */
        int y = at.y + at.height + 2;
        while (!is_ink(&picture, at.x + 20, y) || !is_ink(&picture, at.x + 40, y))
            assert_true(++y < picture.height);
        const double low = k == 4 ? 0 : ranges[k].first;
        must_be(&picture, at.x, y + 3, ranges[k].map, low);
        must_be(&picture, at.x + at.width - 1, y + 3, ranges[k].map, ranges[k].last);
        free(picture.rgb);
    }
}

/* A side has at most 8192 cells and letters of 60 pixels. */
static void large_planes_are_thinned_out(void **state)
{
    enum { CELLS = 20000 };
    double *const values = malloc(CELLS * sizeof *values);
    (void)state;
    assert_non_null(values);
    for (int k = 0; k < CELLS; k++)
        values[k] = k;
    const struct image image = {.width = CELLS,
                                .height = 1,
                                .values = values,
                                .title = "speed",
                                .quantity = "speed",
                                .across = {"x", "m", 0, 1}};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    struct picture picture = decode(scratch_path("a.png"));
    assert_true(picture.width > 6667 && picture.width < 8192 && picture.height < 2048);
    free(picture.rgb);
    free(values);
}

/* A label longer than its bar is cut. */
static void long_labels_are_cut(void **state)
{
    (void)state;
    double values[60 * 60];
    for (int k = 0; k < 60 * 60; k++)
        values[k] = k;
    const struct image image = {.width = 60,
                                .height = 60,
                                .values = values,
                                .quantity = "a_name_of_a_scalar_that_is_as_long_as_names_may_be_"
                                            "here_and_some_letters_more_than_that",
                                .unit = "degC"};
    assert_int_equal(image_write(scratch_path("a.png"), &image), STATUS_OK);
    struct picture picture = decode(scratch_path("a.png"));
    char cut[128];
    const struct lettering how = {.size = 10, .turned = true};
    snprintf(cut, sizeof cut, "%s [degC]", image.quantity);
    assert_false(has_text(&picture, 10, true, cut));
    for (size_t n = strlen(cut); canvas_text_length(cut, how) > 600; --n)
        snprintf(cut + n - 4, 4, "...");
    must_have(&picture, 10, true, cut);
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
        .width = 1, .height = 1, .values = &value, .title = "t", .notes = {2, note}};
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

/* Drawn as small as in an image, no two letters are the same, nor empty. */
static void letters_can_be_told_apart(void **state)
{
    (void)state;
    enum { SIDE = 20, FIRST = ' ', LETTERS = '~' - ' ' + 1 };
    static unsigned char seen[LETTERS][SIDE * SIDE];
    const struct lettering how = {.size = 10};
    for (int c = 0; c < LETTERS; ++c) {
        const char text[2] = {(char)(FIRST + c), '\0'};
        struct canvas canvas = {SIDE, SIDE, seen[c]};
        canvas_fill(&canvas, 0, 0, SIDE, SIDE, CANVAS_PAPER);
        canvas_text(&canvas, 2, 15, how, text);
        int dark = 0;
        for (int k = 0; k < SIDE * SIDE; ++k)
            dark += seen[c][k] > (CANVAS_PAPER + CANVAS_INK) / 2;
        assert_true(c == 0 ? dark == 0 : dark > 0);
        assert_true(canvas_text_length(text, how) > 0);
        for (int other = 0; other < c; ++other) {
            int differ = 0;
            for (int k = 0; k < SIDE * SIDE; ++k)
                differ += abs(seen[c][k] - seen[other][k]) > CANVAS_INKS / 3;
            if (differ < 2)
                fail_msg("'%c' and '%c' look the same", FIRST + c, FIRST + other);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(colours_are_linear_between_cells),
        SCRATCH_TEST(walls_keep_colours_apart),
        SCRATCH_TEST(coarse_cells_are_smooth),
        SCRATCH_TEST(what_is_not_finite_has_its_colour),
        SCRATCH_TEST(large_planes_have_a_pixel_a_cell),
        SCRATCH_TEST(narrow_planes_are_stretched),
        SCRATCH_TEST(texts_say_what_is_shown),
        SCRATCH_TEST(no_half_of_a_map_is_left_over),
        SCRATCH_TEST(large_planes_are_thinned_out),
        SCRATCH_TEST(long_labels_are_cut),
        SCRATCH_TEST(odd_planes_are_drawn_too),
        SCRATCH_TEST(notes_are_kept),
        SCRATCH_TEST(a_full_disk_keeps_the_old_image),
        SCRATCH_TEST(colours_get_lighter_evenly),
        SCRATCH_TEST(maps_stay_within_their_ends),
        SCRATCH_TEST(letters_can_be_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
