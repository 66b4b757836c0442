/* Verification of the program's steps; see verify.h.
 *
 * Each step is compared with the plain step of the state before it, so that only one copy of the
 * block and one layer of neighbouring cells are needed. This layer is exchanged here by the cells'
 * positions in the box, without any code of the program's halos. */
#include "bench/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "bench/plain.h"
#include "boundary.h"
#include "solver/step.h"

#define X(storage, arithmetic) extern const struct plain_step plain_step_##storage##_##arithmetic;
#include "plain_steps.h"
#undef X

static const struct plain_step *const plain_steps[] = {
#define X(storage, arithmetic) &plain_step_##storage##_##arithmetic,
#include "plain_steps.h"
#undef X
};

const struct plain_step *plain_find(int storage, int arithmetic)
{
    for (size_t k = 0; k < sizeof plain_steps / sizeof *plain_steps; k++)
        if (plain_steps[k]->storage == storage && plain_steps[k]->arithmetic == arithmetic)
            return plain_steps[k];
    return NULL;
}

static const struct plain_step *step_of(const struct flow_case *c)
{
    return plain_find(precision_bits(c->solver.storage), precision_bits(c->solver.arithmetic));
}

static size_t own_cells(const struct plain *p)
{
    return (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
}

double verify_bytes(const struct domain *d, const struct flow_case *c)
{
    const struct plain p = {.n = {d->view.n[0], d->view.n[1], d->view.n[2]},
                            .sets = 1 + c->scalar_count};
    const struct plain_step *const step = step_of(c);
    return (double)plain_cells(&p) * (double)(1 + (step ? plain_width(&p) * step->real : 0)) +
           (c->body_count ? (double)own_cells(&p) * sizeof(uint32_t) : 0);
}

/* The feature of a cell type that the plain step lacks; NULL: none. */
static const char *unknown_row(const struct tag_row *row)
{
    return row->damped ? "a subgrid model damped by walls" : row->sponge ? "sponges" : NULL;
}

/* Feature of a case with scalars that the plain step lacks; NULL: none. */
static const char *unknown_scalars(const struct flow_case *c)
{
    for (int k = 0; k < c->scalar_count; k++) {
        for (int face = 0; face < 6; face++) {
            const struct case_face *const f = &c->faces[face];
            const bool closed = !face_open(f->kind);
            const enum scalar_wall kind = f->scalar[k].kind;
            if (closed && kind != SCALAR_WALL_adiabatic && kind != SCALAR_WALL_value)
                return "scalars at walls of given flux or transfer";
            if (!closed && c->scalars[k].expansion != 0)
                return "buoyancy at open faces";
            if (f->scalar[k].profile)
                return "scalars whose values vary over a face";
        }
        for (int i = 0; i < c->body_count; i++)
            if (case_oblique_flux(c, i) || c->bodies[i].label_count > 0 ||
                c->bodies[i].scalar[k].kind == SCALAR_WALL_conduct ||
                (c->bodies[i].scalar[k].kind == SCALAR_WALL_value &&
                 c->bodies[i].wall == BODY_WALL_interpolated))
                return "scalars in bodies or at interpolated surfaces";
    }
    return NULL;
}

bool verify_knows(const struct domain *d, const struct flow_case *c, char why[VERIFY_WHY])
{
    const char *what = unknown_scalars(c);
    if (c->patch_count)
        what = "patches of faces";
    if (c->zone_count)
        what = "regions with a method of their own";
    if (c->levels > 1)
        what = "refined grids";
    if (d->signals > 1)
        what = "what changes in time";
    if (!step_of(c))
        what = "this storage with this arithmetic";
    for (int k = 0; k < d->row_count && !what; k++)
        what = unknown_row(&d->rows[k]);
    /* other ranks, too: they may have bodies that this one has not */
    int mine = what != NULL, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, d->comm);
    if (any)
        snprintf(why, VERIFY_WHY, "the plain step that verifies does not know %s",
                 what ? what : "what another rank has");
    return !any;
}

/* ---- the layer around a block ---- */

/* Where a rank's block is, in cells of the whole box. */
struct place {
    int lo[3], hi[3];
};

struct verifier {
    struct solver *solver;
    const struct plain_step *step;
    struct plain plain;
    struct view view;     /* the domain's, with what kernels derive from it */
    struct place *places; /* [ranks] */
};

enum { SHIFTS = 27 }; /* periodic images of the box, on all its sides */

/* How far an image is from the box. */
static void shifted(const struct domain *d, int shift, int by[3])
{
    const int boxes[3] = {shift % 3 - 1, shift / 3 % 3 - 1, shift / 9 - 1};
    for (int a = 0; a < 3; a++)
        by[a] = boxes[a] * d->cells[a];
}

/* The cells of rank `from`, shifted by whole boxes, that are in the block of rank `to` or the layer
 * around it, in coordinates of that block; false: there are none. */
static bool shared(const struct verifier *v, int from, int to, int shift, struct box *b)
{
    const struct domain *const d = v->solver->domain;
    int by[3];
    shifted(d, shift, by);
    for (int a = 0; a < 3; a++) {
        const int n = v->places[to].hi[a] - v->places[to].lo[a];
        const int move = by[a] - v->places[to].lo[a];
        if (by[a] && !d->periodic[a])
            return false;
        b->lo[a] = v->places[from].lo[a] + move > -1 ? v->places[from].lo[a] + move : -1;
        b->hi[a] = v->places[from].hi[a] + move < n + 1 ? v->places[from].hi[a] + move : n + 1;
        if (b->lo[a] >= b->hi[a])
            return false;
    }
    return from != to || shift != SHIFTS / 2;
}

/* These cells of the block and its layer as a type of MPI; box: they are moved by `by`. */
static MPI_Datatype cells_in(const struct plain *p, const struct box *b, const int by[3],
                             MPI_Datatype cell)
{
    MPI_Datatype type;
    int whole[3], part[3], first[3];
    for (int a = 0; a < 3; a++) {
        whole[2 - a] = p->n[a] + 2;
        part[2 - a] = b->hi[a] - b->lo[a];
        first[2 - a] = b->lo[a] + by[a] + 1;
    }
    MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, cell, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Fills the layer around the block with the cells that lie there, `bytes` each. */
static enum status exchange(const struct verifier *v, void *cells, size_t bytes)
{
    const struct domain *const d = v->solver->domain;
    MPI_Request *const request = malloc(2 * SHIFTS * (size_t)d->ranks * sizeof *request);
    const enum status status = status_agree(
        d->comm, request ? STATUS_OK : fail_machine("out of memory for the layer around a block"));
    MPI_Datatype cell, part;
    struct box b;
    int count = 0;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &cell);
    for (int k = 0; k < d->ranks * SHIFTS && !status; k++) {
        const int peer = k / SHIFTS, shift = k % SHIFTS;
        int by[3] = {0, 0, 0};
        if (shared(v, peer, d->rank, shift, &b)) {
            part = cells_in(&v->plain, &b, by, cell);
            MPI_Irecv(cells, 1, part, peer, shift, d->comm, &request[count++]);
            MPI_Type_free(&part);
        }
        if (!shared(v, d->rank, peer, shift, &b))
            continue;
        shifted(d, shift, by);
        for (int a = 0; a < 3; a++) /* from the peer's coordinates to this block's */
            by[a] = v->places[peer].lo[a] - v->places[d->rank].lo[a] - by[a];
        part = cells_in(&v->plain, &b, by, cell);
        MPI_Isend(cells, 1, part, peer, shift, d->comm, &request[count++]);
        MPI_Type_free(&part);
    }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&cell);
    free(request);
    return status;
}

/* ---- set-up and comparison ---- */

/* PLAIN_* for a place beyond walls and planes of symmetry; else the cell type of the domain's tag,
 * or 0 if the cell is not this rank's. Beyond an edge a wall goes before all others; of two walls
 * neither moves. */
static uint8_t what_is(const struct domain *d, const struct flow_case *c, const int at[3])
{
    int outside = 0, walls = 0, planes = 0, face = 0;
    bool mine = true;
    for (int a = 0; a < 3; a++) {
        const int g = d->lo[a] + at[a];
        mine = mine && at[a] >= 0 && at[a] < d->view.n[a];
        if (d->periodic[a] || (g >= 0 && g < d->cells[a]))
            continue;
        const int side = 2 * a + (g >= 0);
        outside++;
        walls += c->faces[side].kind == FACE_wall;
        planes += c->faces[side].kind == FACE_slip;
        if (outside == 1 || c->faces[side].kind == FACE_wall)
            face = side;
    }
    if (outside > 2 || walls > 1 || planes > 1)
        return PLAIN_EDGE;
    if (walls || (outside && planes == outside))
        return (uint8_t)(PLAIN_FACE + face);
    return mine || outside ? d->tags[view_index(&d->view, at[0], at[1], at[2])] & TAG_ROW : 0;
}

/* The wall gives value T: -g_out + T/4, half-way between cells; or nothing passes. */
static void face_rule(const struct case_scalar_wall *wall, double rule[2])
{
    const bool given = wall->kind == SCALAR_WALL_value;
    rule[0] = given ? -1 : 1;
    rule[1] = given ? 0.25 * wall->value : 0;
}

static enum status start(struct verifier *v, const struct flow_case *c)
{
    const struct domain *const d = v->solver->domain;
    struct plain *const p = &v->plain;
    for (int a = 0; a < 3; a++)
        p->n[a] = d->view.n[a];
    for (int face = 0; face < 6; face++) {
        memcpy(p->face_velocity[face], c->faces[face].velocity, sizeof p->face_velocity[face]);
        p->mirrors[face] = c->faces[face].kind == FACE_slip;
    }
    p->rows = d->rows;
    v->view = d->view;
    view_derive(&v->view);
    p->view = &v->view;
    p->what = malloc(plain_cells(p));
    if (d->view.near.count)
        p->listed = calloc(own_cells(p), sizeof *p->listed);
    p->sets = 1 + c->scalar_count;
    p->f = calloc(plain_cells(p), plain_width(p) * v->step->real);
    p->face_scalar = calloc((size_t)p->sets, sizeof *p->face_scalar);
    v->places = malloc((size_t)d->ranks * sizeof *v->places);
    enum status status = STATUS_OK;
    if (!p->what || !p->f || !p->face_scalar || !v->places || (d->view.near.count && !p->listed))
        status =
            fail_machine("out of memory for the plain step of %zu cells, %.4g GB", plain_cells(p),
                         1e-9 * (double)(plain_cells(p) * plain_width(p) * v->step->real));
    status = status_agree(d->comm, status);
    if (status)
        return status;
    for (int k = 0; k < c->scalar_count; k++)
        for (int face = 0; face < 6; face++)
            face_rule(&c->faces[face].scalar[k], p->face_scalar[k][face]);
    struct place mine;
    for (int a = 0; a < 3; a++) {
        mine.lo[a] = d->lo[a];
        mine.hi[a] = d->lo[a] + d->view.n[a];
    }
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, v->places, sizeof mine, MPI_BYTE, d->comm);
    for (int z = -1; z <= p->n[2]; z++)
        for (int y = -1; y <= p->n[1]; y++)
            for (int x = -1; x <= p->n[0]; x++)
                p->what[plain_cell(p, x, y, z)] = what_is(d, c, (const int[3]){x, y, z});
    for (size_t k = 0; k < d->view.near.count; k++) {
        const int32_t *const at = d->view.near.cell[k].at;
        p->listed[plain_own(p, at[0], at[1], at[2])] = (uint32_t)k + 1;
    }
    return exchange(v, p->what, 1);
}

/* Copies the solver's state into the plain step; or, with a number for it, counts this rank's wrong
 * populations. *fault: the first one. */
static enum status look(struct verifier *v, int step, const struct verify_spoil *spoil,
                        size_t *wrong, struct plain_fault *fault)
{
    struct solver *const s = v->solver;
    const struct box all = domain_all(s->domain);
    struct box piece;
    enum status status = STATUS_OK;
    for (int set = 0; set < v->plain.sets; set++)
        for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
            struct plain_fault here;
            void *const populations = (void *)(uintptr_t)solver_get(s, set, &piece);
            if (!populations) {
                status = STATUS_MACHINE;
            } else if (!wrong) {
                v->step->take(&v->plain, set, &piece, populations);
            } else {
                if (spoil)
                    spoil->call(spoil->context, step, set, &piece, populations);
                const size_t more = v->step->compare(&v->plain, set, &piece, populations, &here);
                if (more && !*wrong)
                    *fault = here;
                *wrong += more;
            }
        }
    return status_agree(s->domain->comm, status);
}

/* Gives all ranks the message of the lowest rank that has found a difference. */
static bool judge(const struct verifier *v, size_t wrong, const struct plain_fault *fault,
                  char why[VERIFY_WHY])
{
    const struct domain *const d = v->solver->domain;
    unsigned long long mine = wrong, all;
    int who = wrong ? d->rank : d->ranks, first;
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, d->comm);
    MPI_Allreduce(&who, &first, 1, MPI_INT, MPI_MIN, d->comm);
    if (!all)
        return true;
    char of[16] = "";
    if (fault->set)
        snprintf(of, sizeof of, " of scalar %d", fault->set);
    if (d->rank == first)
        snprintf(why, VERIFY_WHY,
                 "after step %lld population %d%s of cell %d %d %d is %.9g, not %.9g (%llu of them "
                 "are wrong)",
                 (long long)v->solver->step, fault->i, of, d->lo[0] + fault->at[0],
                 d->lo[1] + fault->at[1], d->lo[2] + fault->at[2], fault->is, fault->was_to_be,
                 all);
    MPI_Bcast(why, VERIFY_WHY, MPI_CHAR, first, d->comm);
    return false;
}

static enum status steps(struct verifier *v, int count, const struct verify_spoil *spoil,
                         bool *right, char why[VERIFY_WHY])
{
    enum status status = STATUS_OK;
    for (int k = 0; k < count && *right && !status; k++) {
        struct plain_fault fault = {0};
        size_t wrong = 0;
        status = look(v, k, NULL, NULL, NULL);
        if (status)
            break;
        v->step->collide(&v->plain);
        status = exchange(v, v->plain.f, plain_width(&v->plain) * v->step->real);
        if (status)
            break;
        status = solver_step(v->solver);
        if (solver_wait(v->solver))
            status = STATUS_MACHINE;
        status = status_agree(v->solver->domain->comm, status);
        if (!status)
            status = look(v, k, spoil, &wrong, &fault);
        if (!status)
            *right = judge(v, wrong, &fault, why);
    }
    return status;
}

enum status verify_steps(struct solver *s, const struct flow_case *c, int count,
                         const struct verify_spoil *spoil, bool *right, char why[VERIFY_WHY])
{
    struct verifier v = {.solver = s, .step = step_of(c)};
    *right = true;
    enum status status = start(&v, c);
    if (!status)
        status = steps(&v, count, spoil, right, why);
    free(v.plain.what);
    free(v.plain.listed);
    free(v.plain.f);
    free(v.plain.face_scalar);
    free(v.places);
    return status;
}
