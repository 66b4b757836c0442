/* The levels of a grid, for `check`; see levels.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "cli/levels.h"
#include "run/report.h"
#include "run/room.h"
#include "tags/bodies.h"
#include "tags/caps.h"
#include "tags/create.h"
#include "tags/paths.h"
#include "tags/refine.h"
#include "tags/refine_room.h"

/* Most cells of the boxes of all levels, per process, of which `check` makes tags. */
#define CELLS_LOOKED_AT 0x1p28

/* From so many ranks on messages between levels are not counted: numbers of pairs are int. */
enum { MANY = 46340 };

/* ---- make ---- */

/* Cells of the box of a level that is cut among the ranks. */
static double box_of_level(const struct refined *r, int level)
{
    double cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= r->level[level].hi[a] - r->level[level].lo[a];
    return cells;
}

static double boxes_of(const struct refined *r)
{
    double cells = 0;
    for (int l = 0; l < r->levels; l++)
        cells += box_of_level(r, l);
    return cells;
}

/* The case of a level, as it is and for the ranks on which `check` runs. */
static enum status make_case(struct checked_level *level, const struct flow_case *c, int l,
                             MPI_Comm comm)
{
    enum status status = STATUS_OK;
    level->c = c;
    if (l > 0) {
        status = case_of_level(c, l, &level->own);
        level->cased = !status;
        level->c = &level->own;
    }
    level->plain = *level->c;
    memset(level->plain.run.ranks, 0, sizeof level->plain.run.ranks);
    level->plain.run.sparse = SPARSE_never; /* only tags are needed */
    return status_agree(comm, status);
}

/* Each body has cells on some level, and each cap links, as in a run. */
static enum status find_bodies(const struct checked_levels *k)
{
    int64_t cells[CASE_BODIES] = {0}, links[CASE_CAPS] = {0};
    for (int l = 0; l < k->refined.levels; l++) {
        for (int body = 0; body < CASE_BODIES; body++)
            cells[body] += k->level[l].domain.body_cells[body];
        for (int cap = 0; cap < CASE_CAPS; cap++)
            links[cap] += k->level[l].domain.cap[cap].links;
    }
    const enum status status = bodies_found(k->c, cells);
    return status ? status : caps_found(k->c, links);
}

/* The tags of all levels, and what they tell of bodies and seams. */
static enum status make_tags(struct checked_levels *k, MPI_Comm comm)
{
    const struct refined *const r = &k->refined;
    struct paths_level paths[LEVELS];
    struct survey *survey[LEVELS];
    enum status status = STATUS_OK;
    for (int l = 0; l < r->levels && !status; l++) {
        struct checked_level *const level = &k->level[l];
        paths[l] = (struct paths_level){&level->domain, &level->plain};
        survey[l] = &level->survey;
        status = domain_create_level(&level->domain, &level->plain, r, l, ROW_BYTES, comm);
        level->made = !status;
    }
    if (!status)
        status = find_bodies(k);
    if (!status)
        status = survey_make(survey, paths, r->levels);
    for (int l = 1; l < r->levels && !status; l++) {
        struct checked_level *const level = &k->level[l], *const coarse = level - 1;
        status = seam_look(&level->seam, r, &coarse->plain, &level->plain, &coarse->domain,
                           &level->domain);
    }
    return status;
}

static void say_bodies(const struct checked_levels *k)
{
    struct paths_level level[LEVELS];
    double fluid = 0;
    for (int l = 0; l < k->refined.levels; l++) {
        level[l] = (struct paths_level){&k->level[l].domain, k->level[l].c};
        fluid +=
            ldexp((double)k->level[l].domain.fluid_cells, -refined_dimensions(&k->refined, 3) * l);
    }
    survey_say_bodies(level, k->refined.levels, "  ");
    if (k->c->body_count)
        say("bodies: %.4g %% of the box is fluid", 100 * fluid / box_of_level(&k->refined, 0));
    survey_say(&k->level->survey, &k->level->domain, k->c);
    for (int l = 1; l < k->refined.levels; l++)
        survey_say_finer(&k->level[l].survey, &k->level[l].domain, k->level[l].c);
}

/* A grid whose tags would take too much memory. */
static enum status do_without_tags(const struct checked_levels *k)
{
    const double boxes = boxes_of(&k->refined);
    say("levels: the tags of %.3g cells were not made (check on %.0f processes looks at all). "
        "Fluid cells%s, lists, the edges of levels and the imbalance are not known: all cells "
        "count as fluid, memory is an estimate without lists and edges",
        boxes, ceil(boxes / CELLS_LOOKED_AT),
        k->c->body_count ? ", the distance of bodies from edges" : "");
    return k->c->body_count ? STATUS_OK : check_faces(k->c);
}

enum status levels_make(struct checked_levels *k, const struct flow_case *c, int ranks,
                        MPI_Comm comm)
{
    int processes, cuts[3];
    MPI_Comm_size(comm, &processes);
    *k = (struct checked_levels){.c = c};
    enum status status = refine_look(c, false, comm);
    if (!status)
        status = refine_make(&k->refined, c, comm);
    const int levels = k->refined.levels;
    for (int l = 0; l < levels && !status; l++)
        status = domain_cuts(c, &k->refined, l, ranks, cuts);
    if (status)
        return status;
    k->level = calloc((size_t)levels, sizeof *k->level);
    status = status_agree(comm, k->level ? STATUS_OK : fail_machine("out of memory for levels"));
    for (int l = 0; l < levels && !status; l++) {
        status = make_case(&k->level[l], c, l, comm);
        k->level[l].cells = (double)refined_cells(&k->refined, l);
    }
    if (status || levels == 1)
        return status ? status : check_one_level(k, comm);
    k->known = boxes_of(&k->refined) <= CELLS_LOOKED_AT * processes;
    if (!k->known)
        return do_without_tags(k);
    status = make_tags(k, comm);
    if (!status)
        say_bodies(k);
    return status;
}

void levels_destroy(struct checked_levels *k)
{
    for (int l = 0; k->level && l < k->refined.levels; l++) {
        free(k->level[l].sends);
        parts_destroy(&k->level[l].parts);
        if (k->level[l].made)
            domain_destroy(&k->level[l].domain);
        if (k->level[l].cased)
            case_destroy(&k->level[l].own);
    }
    free(k->level);
    free(k->bodies);
    sampling_destroy(&k->sample);
    refined_destroy(&k->refined);
    *k = (struct checked_levels){.c = NULL};
}

/* ---- cost ---- */

/* A block with the cuts of a level among the ranks, without tags. */
static enum status cuts_of(const struct checked_level *level, struct domain *block)
{
    struct needs needs;
    parts_of(&level->parts, 0, block, &needs);
    return domain_keep_cuts(block, level->parts.balance.at);
}

/* Finds the messages of the seam between a level and the one before. Collective. */
static enum status find_sends(struct checked_levels *k, int l, int ranks,
                              const struct cluster *cluster)
{
    struct checked_level *const level = &k->level[l], *const coarse = level - 1;
    const int per_node = (int)cluster->ranks_per_node;
    struct seam_sends *list;
    struct domain blocks[2] = {{0}};
    int count;
    enum status status = cuts_of(coarse, &blocks[0]);
    if (!status)
        status = cuts_of(level, &blocks[1]);
    level->sends = status ? NULL : calloc((size_t)ranks, sizeof *level->sends);
    if (!status && !level->sends)
        status = fail_machine("out of memory for messages between levels");
    status = status_agree(level->domain.comm, status);
    if (!status)
        status = seam_look_at_sends(&k->refined, &coarse->plain, &level->plain, &coarse->domain,
                                    &level->domain, &blocks[0], &blocks[1], &list, &count,
                                    &level->waits);
    domain_destroy(&blocks[0]);
    domain_destroy(&blocks[1]);
    if (status)
        return status;
    for (int n = 0; n < count; n++) {
        struct load *const load = &level->sends[list[n].from];
        const bool outside = list[n].from / per_node != list[n].to / per_node;
        *(outside ? &load->outside : &load->inside) += list[n].bytes;
        load->messages += list[n].messages;
        load->outside_messages += outside ? list[n].messages : 0;
    }
    free(list);
    return STATUS_OK;
}

/* Adds what a rank does in `steps` steps of a level. */
static void add_steps(struct load *sum, const struct load *l, int steps)
{
    load_add(sum, l, steps);
    sum->messages += steps * l->messages;
    sum->outside_messages += steps * l->outside_messages;
}

static double rank_load(const struct checked_levels *k, int rank, const struct cluster *cluster,
                        struct load *sum)
{
    double lists = 0;
    *sum = (struct load){0};
    for (int l = 0; l < k->refined.levels; l++) {
        const int steps = 1 << l;
        struct domain block;
        struct needs needs;
        struct load one;
        parts_of(&k->level[l].parts, rank, &block, &needs);
        load_find(&one, &block, (int)cluster->ranks_per_node, (int)cluster->sector);
        add_steps(sum, &one, steps);
        lists += needs.lists;
        if (k->level[l].sends)
            add_steps(sum, &k->level[l].sends[rank], steps / 2);
    }
    return lists;
}

double levels_rank_bytes(const struct checked_levels *k, int rank, bool with_averages, bool on_gpu)
{
    double bytes = 0;
    for (int l = 0; l < k->refined.levels; l++) {
        const struct checked_level *const level = &k->level[l];
        struct domain block;
        struct needs needs;
        parts_of(&level->parts, rank, &block, &needs);
        bytes += parts_bytes(&level->parts, &needs) + level->seam.bytes / level->parts.ranks;
        bytes += on_gpu ? parts_bytes_more(&level->parts, &block, &needs) : 0;
        bytes += with_averages ? room_remembered(k->c, l, block.lo, block.view.n) : 0;
    }
    return bytes;
}

/* Adds the messages of a seam: to the mean of the ranks, and of the slowest one to the step. */
static void add_seam(struct scale *sum, const struct checked_level *level, int l)
{
    const int ranks = level->parts.ranks;
    double most = 0;
    for (int rank = 0; rank < ranks && level->sends; rank++) {
        const double seconds = model_seam(&sum->cluster, &level->sends[rank], level->waits);
        load_add(&sum->mean, &level->sends[rank], ldexp(1, l - 1) / ranks);
        most = fmax(most, seconds);
    }
    sum->step.seam += ldexp(most, l - 1);
    sum->step.step += ldexp(most, l - 1);
}

static void add_step(struct model_step *sum, const struct model_step *s, double times)
{
    sum->interior += times * s->interior;
    sum->shell += times * s->shell;
    sum->packing += times * s->packing;
    sum->launches += times * s->launches;
    sum->bandwidth += times * s->bandwidth;
    sum->latency += times * s->latency;
    sum->step += times * s->step;
}

/* Levels run one after the other. */
static void add_level(struct scale *sum, const struct checked_level *level, int l)
{
    const struct scale *const s = &level->scale;
    const double steps = ldexp(1, l);
    const bool sparse = level->parts.sparse;
    sum->dense += s->dense;
    sum->sparse += s->sparse;
    sum->stored += sparse ? s->sparse : s->dense; /* each level chooses its own */
    sum->lists += s->lists;
    sum->bytes += s->bytes + level->seam.bytes;
    sum->fluid_cells += s->updates;
    sum->updates += steps * s->updates;
    sum->seams += level->seam.bytes;
    sum->remembered += level->remembered;
    sum->most_remembered += level->most_remembered;
    load_add(&sum->mean, &s->mean, steps);
    add_steps(&sum->slowest, &s->slowest, 1 << l);
    add_step(&sum->step, &s->step, steps);
}

enum status levels_scale(struct checked_levels *k, int ranks, const struct cluster *cluster,
                         bool machine, struct scale *sum)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < k->refined.levels && !status; l++) {
        struct checked_level *const level = &k->level[l];
        status = parts_create(&level->parts, level->c, &k->refined, l, ranks,
                              level->made ? &level->domain : NULL, k->sampled ? &k->sample : NULL);
    }
    for (int l = 1; l < k->refined.levels && k->known && ranks > 1 && ranks < MANY && !status; l++)
        status = find_sends(k, l, ranks, cluster);
    if (status)
        return status;
    *sum = (struct scale){.parts = &k->level->parts,
                          .cluster = *cluster,
                          .machine = machine,
                          .levels = k,
                          .refined = k->refined.levels > 1};
    for (int l = 0; l < k->refined.levels; l++) {
        struct checked_level *const level = &k->level[l];
        int n[3];
        for (int a = 0; a < 3; a++)
            n[a] = k->refined.level[l].hi[a] - k->refined.level[l].lo[a];
        scale_find(&level->scale, &level->parts, cluster, machine);
        level->remembered = room_remembered(k->c, l, k->refined.level[l].lo, n);
        level->most_remembered = room_remembered(k->c, l, NULL, level->scale.longest);
        sum->most_cells = fmax(sum->most_cells, level->scale.most_cells);
        add_level(sum, level, l);
        add_seam(sum, level, l);
        sum->checkpoint +=
            scale_populations(k->c) * box_of_level(&k->refined, l) + level->remembered;
    }
    if (!sum->refined) {
        const struct scale *const one = &k->level->scale;
        sum->largest = one->largest;
        sum->largest_on_gpu = one->largest_on_gpu;
        sum->listed = one->listed;
        sum->sends = one->sends;
        sum->most = sum->largest + sum->most_remembered;
        sum->most_on_gpu = one->largest_on_gpu + sum->most_remembered;
        return STATUS_OK;
    }
    for (int rank = 0; rank < ranks; rank++) {
        struct load load;
        sum->largest = fmax(sum->largest, levels_rank_bytes(k, rank, false, false));
        sum->largest_on_gpu = fmax(sum->largest_on_gpu, levels_rank_bytes(k, rank, false, true));
        sum->most = fmax(sum->most, levels_rank_bytes(k, rank, true, false));
        sum->most_on_gpu = fmax(sum->most_on_gpu, levels_rank_bytes(k, rank, true, true));
        sum->listed = fmax(sum->listed, rank_load(k, rank, cluster, &load));
        if (load.inside + load.outside > sum->sends.inside + sum->sends.outside)
            sum->sends = load;
    }
    if (!k->known) { /* even cuts are not those of a run, which balances the levels */
        sum->largest_on_gpu += sum->bytes / ranks - sum->largest;
        sum->largest = sum->bytes / ranks;
        sum->most_on_gpu += (sum->bytes + sum->remembered) / ranks - sum->most;
        sum->most = (sum->bytes + sum->remembered) / ranks;
    }
    return STATUS_OK;
}

double levels_updates(const struct checked_levels *k)
{
    double updates = 0;
    for (int l = 0; l < k->refined.levels; l++)
        updates += ldexp(k->level[l].cells, l);
    return updates;
}

double levels_imbalance(const struct checked_levels *k)
{
    double most = 0, all = 0;
    for (int l = 0; l < k->refined.levels && k->known; l++) {
        const double updates = ldexp(k->level[l].scale.updates, l);
        all += updates;
        most += updates * k->level[l].parts.balance.imbalance;
    }
    return k->known ? most / all : 1;
}

double levels_written(const struct checked_levels *k, const struct case_region *region, int levels,
                      int stride)
{
    const struct refined *const r = &k->refined;
    const int level = r->levels > 1 ? levels : 0;
    double cells = level != CASE_LEVELS_all;
    for (int a = 0; a < 3 && level != CASE_LEVELS_all; a++)
        cells *= floor((ldexp(region->hi[a] - region->lo[a], level) - 1) / stride) + 1;
    for (int l = 0; l < r->levels && level == CASE_LEVELS_all; l++) {
        int lo[3], hi[3];
        for (int a = 0; a < 3; a++) {
            lo[a] = region->lo[a] << refined_halved(r, l, a);
            hi[a] = region->hi[a] << refined_halved(r, l, a);
        }
        /* files have the one cell along a flat axis 2^l times */
        cells += ldexp((double)refined_held(r, l, lo, hi), (3 - refined_dimensions(r, 3)) * l);
    }
    return cells;
}

/* ---- the log ---- */

enum { CELL = CASE_NAME + 8, COLUMNS = 13 + 2 * CASE_SCALARS };

/* The columns of the table, in their order; some are left out. */
struct line {
    int count;
    char text[COLUMNS][CELL];
};

static char *next(struct line *line)
{
    return line->text[line->count++];
}

static struct line head(const struct checked_levels *k)
{
    static const char *const names[] = {"level",     "cells",  "fluid",   "volume", "dx",
                                        "tau",       "u/nu",   "updates", "share",  "memory",
                                        "imbalance", "blocks", "links"};
    const bool shown[] = {true,
                          true,
                          k->known,
                          true,
                          k->c->units.given,
                          true,
                          true,
                          true,
                          true,
                          true,
                          k->known && k->level->parts.ranks > 1,
                          k->level->parts.ranks > 1,
                          k->known};
    struct line line = {.count = 0};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (shown[n])
            snprintf(next(&line), CELL, "%s", names[n]);
    for (int n = 0; n < k->c->scalar_count; n++) {
        snprintf(next(&line), CELL, "tau %s", k->c->scalars[n].name);
        snprintf(next(&line), CELL, "u/D %s", k->c->scalars[n].name);
    }
    return line;
}

static double level_bytes(const struct checked_level *level)
{
    return level->scale.bytes + level->remembered + level->seam.bytes;
}

static struct line line_of(const struct checked_levels *k, int l)
{
    const struct checked_level *const level = &k->level[l];
    const struct parts *const p = &level->parts;
    struct line line = {.count = 0};
    char bytes[32], tau[32];
    snprintf(next(&line), CELL, "%d", l);
    snprintf(next(&line), CELL, "%.0f", level->cells);
    if (k->known)
        snprintf(next(&line), CELL, "%.0f", level->scale.updates);
    snprintf(next(&line), CELL, "%.3g %%",
             100 * ldexp(level->cells, -refined_dimensions(&k->refined, 3) * l) /
                 box_of_level(&k->refined, 0));
    if (k->c->units.given)
        snprintf(next(&line), CELL, "%.4g m", ldexp(k->c->units.dx, -l));
    snprintf(next(&line), CELL, "%s", case_tau_text(tau, case_tau(level->c), 6));
    snprintf(next(&line), CELL, "%.3g", case_cell_reynolds(k->c, l));
    snprintf(next(&line), CELL, "%.0f", ldexp(level->cells, l));
    snprintf(next(&line), CELL, "%.1f %%", 100 * ldexp(level->cells, l) / levels_updates(k));
    snprintf(next(&line), CELL, "%s", bytes_text(bytes, sizeof bytes, level_bytes(level)));
    if (k->known && p->ranks > 1)
        snprintf(next(&line), CELL, "%.1f %%", 100 * (p->balance.imbalance - 1));
    if (p->ranks > 1)
        snprintf(next(&line), CELL, "%dx%dx%d", p->cuts[0], p->cuts[1], p->cuts[2]);
    if (k->known && l > 0)
        snprintf(next(&line), CELL, "%lld", (long long)level->seam.crossing);
    else if (k->known)
        snprintf(next(&line), CELL, "-");
    for (int n = 0; n < k->c->scalar_count; n++) {
        const double diffusivity = ldexp(k->c->scalars[n].diffusivity, l);
        snprintf(next(&line), CELL, "%s", case_tau_text(tau, 4 * diffusivity + 0.5, 6));
        snprintf(next(&line), CELL, "%.3g", ldexp(scalar_peclet(k->c, n), -l));
    }
    return line;
}

static void widen(int width[COLUMNS], const struct line *line)
{
    for (int n = 0; n < line->count; n++)
        width[n] = (int)strlen(line->text[n]) > width[n] ? (int)strlen(line->text[n]) : width[n];
}

static void say_line(const struct line *line, const int width[COLUMNS])
{
    char text[COLUMNS * (CELL + 2)] = "";
    int length = 0;
    for (int n = 0; n < line->count; n++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%*s", n ? "  " : "",
                           width[n], line->text[n]);
    say("%s", text);
}

static void say_table(const struct checked_levels *k)
{
    struct line line = head(k);
    int width[COLUMNS] = {0};
    widen(width, &line);
    for (int l = 0; l < k->refined.levels; l++) {
        line = line_of(k, l);
        widen(width, &line);
    }
    line = head(k);
    say_line(&line, width);
    for (int l = 0; l < k->refined.levels; l++) {
        line = line_of(k, l);
        say_line(&line, width);
    }
}

/* Says how much regions were enlarged. */
static void say_grown(const struct checked_levels *k)
{
    for (int l = 1; l < k->refined.levels; l++) {
        const int64_t all = k->refined.level[l].bricks, grown = k->refined.level[l].grown;
        if (grown)
            say("  level %d: %lld of its %lld bricks of %d^3 cells were added to keep %d cells "
                "between its edge and level %d",
                l, (long long)grown, (long long)all, BRICK, REFINE_APART, l + 1);
    }
}

/* One grid of the cells of the finest level, with dense storage. */
static void say_one_grid(const struct checked_levels *k, const struct scale *sum)
{
    const int finest = k->refined.levels - 1;
    const double cells =
        ldexp(box_of_level(&k->refined, 0), refined_dimensions(&k->refined, 3) * finest);
    const double updates = ldexp(cells, finest), bytes = sum->bytes + sum->remembered;
    const double one = cells * (scale_populations(k->c) + 1);
    double all = 0;
    char text[32];
    for (int l = 0; l <= finest; l++)
        all += k->level[l].cells;
    say("  one grid with the cells of level %d: %.4g cells, %.3g times as many; %.4g updates, %.3g "
        "times as many; %s, %.3g times as much",
        finest, cells, cells / all, updates, updates / levels_updates(k),
        bytes_text(text, sizeof text, one), one / bytes);
}

void levels_say(const struct checked_levels *k, const struct scale *sum)
{
    double all = 0;
    for (int l = 0; l < k->refined.levels; l++)
        all += k->level[l].cells;
    say("levels: %d, %.0f cells, %.0f updates in a step of level 0", k->refined.levels, all,
        levels_updates(k));
    say_table(k);
    say_grown(k);
    say_one_grid(k, sum);
}

json_t *levels_json(const struct checked_levels *k)
{
    json_t *const list = json_array();
    for (int l = 0; l < k->refined.levels; l++) {
        const struct checked_level *const level = &k->level[l];
        const int *const cut = level->parts.cuts;
        json_t *const object = json_pack(
            "{s:f, s:o, s:f, s:f, s:f, s:f, s:o, s:[i,i,i], s:b, s:o, s:I, s:I}", "cells",
            level->cells, "fluid_cells", k->known ? json_real(level->scale.updates) : json_null(),
            "updates", ldexp(level->cells, l), "tau", case_tau(level->c), "cell_reynolds",
            case_cell_reynolds(k->c, l), "bytes", level_bytes(level), "imbalance",
            k->known ? json_real(level->parts.balance.imbalance) : json_null(), "cut", cut[0],
            cut[1], cut[2], "sparse", level->parts.sparse, "links",
            k->known ? json_integer(level->seam.crossing) : json_null(), "bricks",
            (json_int_t)k->refined.level[l].bricks, "grown", (json_int_t)k->refined.level[l].grown);
        report_scalars(object, k->c, l);
        json_array_append_new(list, object);
    }
    return list;
}
