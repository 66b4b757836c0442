/* Decomposition of the box among ranks; see decompose.h. */
#include "domain/decompose.h"

#include <stdbool.h>

#include "base/message.h"

int block_cells(int cells, int parts, int index, int *lo)
{
    const long long begin = (long long)cells * index / parts;
    const long long end = (long long)cells * (index + 1) / parts;
    *lo = (int)begin;
    return (int)(end - begin);
}

void cut_evenly(int cells, int parts, int *at)
{
    for (int k = 0; k < parts; k++)
        block_cells(cells, parts, k, &at[k]);
    at[parts] = cells;
}

/* Positions in cells from those in grains. */
static void ungrain(int cells, int parts, int grain, int *at)
{
    for (int k = 0; k < parts; k++)
        at[k] *= grain;
    at[parts] = cells;
}

void cut_evenly_by(int cells, int parts, int grain, int *at)
{
    cut_evenly((cells + grain - 1) / grain, parts, at);
    ungrain(cells, parts, grain, at);
}

/* Fills one part after the other up to `most`, and leaves at least one cell to each later part.
 * Returns whether this is possible. */
static bool cut_at_most(const int64_t *count, int cells, int parts, int64_t most, int *at)
{
    int next = 0;
    for (int k = 0; k < parts; k++) {
        const int last = cells - (parts - 1 - k); /* later parts need the rest */
        int64_t sum = 0;
        at[k] = next;
        while (next < last && (next == at[k] || sum + count[next] <= most))
            sum += count[next++];
        if (sum > most)
            return false;
    }
    at[parts] = cells;
    return next == cells;
}

void cut_fairly(const int64_t *count, int cells, int parts, int *at)
{
    int64_t low = -1, high = 0; /* smallest feasible `most`: low < most <= high */
    for (int g = 0; g < cells; g++)
        high += count[g];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(cut_at_most(count, cells, parts, middle, at) ? &high : &low) = middle;
    }
    cut_at_most(count, cells, parts, high, at);
}

void cut_fairly_by(int64_t *count, int cells, int parts, int grain, int *at)
{
    const int grains = (cells + grain - 1) / grain;
    for (int k = 0; k < grains; k++) {
        int64_t sum = 0;
        for (int g = k * grain; g < (k + 1) * grain && g < cells; g++)
            sum += count[g];
        count[k] = sum;
    }
    cut_fairly(count, grains, parts, at);
    ungrain(cells, parts, grain, at);
}

/* Relative cost of a step on the largest block: its cells, and its halo weighted by the memory it
 * touches: a face normal to x uses one value of every cache line. */
static double cost(const int cells[3], const int cuts[3])
{
    static const double price[3] = {8, 1.25, 1};
    double n[3], volume, halo = 0;
    for (int a = 0; a < 3; a++)
        n[a] = (double)((cells[a] + cuts[a] - 1) / cuts[a]);
    volume = n[0] * n[1] * n[2];
    for (int a = 0; a < 3; a++)
        if (cuts[a] > 1)
            halo += price[a] * volume / n[a];
    return volume + halo;
}

/* Do all messages between blocks fit MPI's counts? */
static bool messages_fit(const int cells[3], const int cuts[3])
{
    double n[3];
    bool fit = true;
    for (int a = 0; a < 3; a++)
        n[a] = (double)((cells[a] + cuts[a] - 1) / cuts[a]);
    for (int a = 0; a < 3; a++)
        fit = fit && (cuts[a] == 1 || n[(a + 1) % 3] * n[(a + 2) % 3] <= DECOMPOSE_FACE);
    return fit;
}

enum status decompose(const int cells[3], const int wanted[3], int ranks, int cuts[3])
{
    if (wanted[0]) {
        const long long product = (long long)wanted[0] * wanted[1] * wanted[2];
        if (product != ranks)
            return fail_user(
                "run.ranks [%d, %d, %d] makes %lld ranks, but %d %s started (mpirun -n %lld, "
                "or run.ranks: auto)",
                wanted[0], wanted[1], wanted[2], product, ranks, ranks == 1 ? "is" : "are",
                product);
        for (int a = 0; a < 3; a++) {
            if (wanted[a] > cells[a])
                return fail_user(
                    "run.ranks cuts %c into %d, but there are only %d cells along it (at most one "
                    "cut a cell, or run.ranks: auto)",
                    "xyz"[a], wanted[a], cells[a]);
            cuts[a] = wanted[a];
        }
        if (!messages_fit(cells, cuts))
            return fail_user(
                "run.ranks [%d, %d, %d] leaves faces between blocks of more than %d cells, whose "
                "populations are no message (cut along other axes, too, or run.ranks: auto)",
                wanted[0], wanted[1], wanted[2], DECOMPOSE_FACE);
        return STATUS_OK;
    }

    double best = 0;
    for (int pz = 1; pz <= ranks && pz <= cells[2]; pz++) {
        for (int py = 1; ranks % pz == 0 && py <= ranks / pz && py <= cells[1]; py++) {
            const int px = ranks / pz / py;
            const int candidate[3] = {px, py, pz};
            if (ranks / pz % py != 0 || px > cells[0] || !messages_fit(cells, candidate))
                continue;
            const double c = cost(cells, candidate);
            if (best > 0 && c >= best)
                continue;
            best = c;
            for (int a = 0; a < 3; a++)
                cuts[a] = candidate[a];
        }
    }
    if (best > 0)
        return STATUS_OK;
    return fail_user("%d ranks cannot be placed: no px x py x pz = %d cuts %d x %d x %d cells so "
                     "that every rank "
                     "has one, and faces between them are small enough for a message (start fewer "
                     "ranks, or more)",
                     ranks, ranks, cells[0], cells[1], cells[2]);
}
