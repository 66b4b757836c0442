/* Lifted rows of cells; see rows.h. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* Cells of a lifted row: of shorter ones more than a quarter of the lines would be shifted. */
enum { LEAST = 128 };

const char *rows_lift(struct view *v, int bits)
{
    const int n = v->n[0], places = bits == 16 ? 64 : 32, lines = n / places;
    if (v->place)
        return "sparse memory";
    if (n < LEAST)
        return "a rank has fewer than 128 cells along x";
    if (n > LIFTED_MOST)
        return "a rank has more than 65536 cells along x";
    if (n % places != 0)
        return places == 64 ? "a rank's cells along x are no multiple of 64"
                            : "a rank's cells along x are no multiple of 32";
    v->lifted = (struct lifted_rows){
        .lines = lines,
        .line = places,
        .bits = bits == 16 ? 6 : 5,
        .back = n - 1,
        .inverse = (uint32_t)((((uint64_t)1 << 32) + (uint64_t)lines - 1) / (uint64_t)lines),
        .first = places,
        .last = n - places,
        .up = {places, 1 - (n - places)},
        .down = {-places, n - places - 1}};
    v->seam[0][0] = 0;
    v->seam[0][1] = n - 1;
    v->across[0] = v->ghost[0] ? -1 : n - 1;
    return NULL;
}

bool rows_permute(const struct view *v, void *array, size_t bytes)
{
    const size_t n = (size_t)v->n[0], row = n * bytes;
    int failed = 0;
    if (v->lifted.lines == 1)
        return true;
#pragma omp parallel reduction(| : failed)
    {
        char *const plain = malloc(row);
        failed = !plain;
#pragma omp for collapse(2)
        for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
            for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
                char *const to = (char *)array + position_index(v, 0, y, z) * bytes;
                if (!plain)
                    continue;
                memcpy(plain, to, row);
                for (int x = 0; x < v->n[0]; x++)
                    memcpy(to + (size_t)row_position(v, x) * bytes, plain + (size_t)x * bytes,
                           bytes);
            }
        free(plain);
    }
    return !failed;
}
