/* The flow once more, as plainly as it can be said: two copies of the populations, the whole box on
 * every rank, one cell after the other. Tests compare the product with it bit for bit.
 *
 * Only what happens inside a cell (moments and collision) and the rounding of what is stored (which
 * test_stored.c looks at) are the product's; streaming, walls, lids,
 * periodic faces, neighbours and the hash are written here from their definitions.
 *
 * What includes this is compiled once per precision, with TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC.
 */
#ifndef TAGFLOW_TEST_REFERENCE_H
#define TAGFLOW_TEST_REFERENCE_H

#include "boundary.h"
#include "law.h"
#include "solver/step.h"
#include "stored.h"

/* First row that reference_row gives out: beyond those that the domain makes of a case. */
enum { REFERENCE_ROWS = 40 };

struct reference {
    int cells[3];
    bool periodic[3];
    double face_velocity[6][3];
    double wall_units;          /* y+ of a distance y that walls damp the subgrid model by, or 0 */
    struct tag_row face_row[6]; /* rules beyond the faces; those of walls are not used */
    struct tag_row row[TAG_ROWS]; /* TAG_WALL, TAG_FLUID and those from reference_row */
    int rows;
    double law[LAW_VALUES]; /* table of a viscosity law */
    double resist[RESIST_VALUES];
    size_t count;           /* cells */
    uint8_t *tag; /* [cells] row of each, x fastest */
    stored *now,
        *next; /* [Q][cells] canonical populations as stored; zeros where a cell is not fluid */
};

/* Signals of a flow that does not change in time. */
extern const struct view reference_still;

/* Velocity of population i and the one that goes the other way. */
extern const signed char reference_velocities[19][3];
static inline int reference_velocity(int i, int axis)
{
    return reference_velocities[i][axis];
}
int reference_opposite(int i);

/* A periodic box of this many cells, a fluid without force, this variant's precision, one thread.
 */
struct flow_case reference_case(int nx, int ny, int nz);

/* Six letters for xmin xmax ymin ymax zmin zmax: p periodic, w wall, a and b a wall that moves
 * along the first or second other axis, c one that moves along both; s slip, v velocity and d
 * density by links, o outflow, n nonreflecting; V velocity and D density on nodes. */
void reference_faces(struct flow_case *c, const char *letters);

/* By how much a population may change when it is stored: half of the last of 11, 24 or 53 bits, and
 * of the smallest number of fp16. */
double reference_rounding(double population);

/* Random numbers of a test, the same everywhere: 64 bits, or uniform in [-1, 1). */
uint64_t reference_random(uint64_t *state);
double reference_uniform(uint64_t *state);

/* One of the instruction sets that this processor has, by a random number. */
enum isa reference_isa(uint64_t number);

/* All cells fluid, populations zero. */
void reference_create(struct reference *r, const struct flow_case *c);
void reference_destroy(struct reference *r);

/* A new row of the table, whose number may then be put in r->tag. */
uint8_t reference_row(struct reference *r, struct tag_row row);

/* Random populations in all fluid cells, of a flow that is far from equilibrium but stays finite.
 */
void reference_fill(struct reference *r, uint64_t seed);

/* Make one of so many cells a wall at rest, a moving wall (of three) or, where `regions`, a fluid
 * of other parameters. Walls come as single cells, rows along x and small boxes; with one seed in
 * three there are two large boxes, too. */
void reference_obstacles(struct reference *r, uint64_t seed, int one_of, bool regions);

size_t reference_cell(const struct reference *r, int x, int y, int z);

/* What lies at global coordinates of which any may be one beyond the box. NULL: fluid, whose cell
 * is *cell; else the velocity of the wall there. */
const double *reference_wall(const struct reference *r, const int at[3], size_t *cell);

/* What a fluid cell collides: populations as they arrive, at nodes of open faces what these make of
 * them. */
void reference_arrived(const struct reference *r, const int at[3], real f[19]);

void reference_step(struct reference *r);

/* As USERS would compute it from a checkpoint. */
uint64_t reference_mix(uint64_t x);
uint64_t reference_hash(const struct reference *r);

/* Put the obstacles and rows into a domain just created: tags of owned and ghost cells, and which
 * of them are beside something that is not fluid. */
void reference_tags(const struct reference *r, struct domain *d);
/* A domain with these tags, its populations sparse as the case has it. */
enum status reference_domain(const struct reference *r, struct domain *d, const struct flow_case *c,
                             MPI_Comm comm);

/* Every place of the solver's populations becomes a NaN, so that nothing is right by chance. */
/* The backend that tests open: TAGFLOW_BACKEND, or the CPU's. */
#ifndef TAGFLOW_BACKEND
#define TAGFLOW_BACKEND backend_cpu
#endif
extern const struct backend_type TAGFLOW_BACKEND;
static inline enum status reference_open(struct backend **b, const struct flow_case *c,
                                         MPI_Comm comm)
{
    const struct backend_wanted wanted = backend_wanted(c, comm, true);
    return TAGFLOW_BACKEND.open(b, &wanted);
}

/* A solver of the case as a run would have it. */
enum status reference_solver(struct solver *s, struct domain *d, struct backend *b,
                             const struct flow_case *c);

/* Bytes of the backend's memory from and to the host. */
void reference_memory_get(struct backend *b, void *host, const void *memory, size_t bytes);
void reference_memory_put(struct backend *b, void *memory, const void *host, size_t bytes);

void reference_poison(struct solver *s);

/* The rank's part of the state into the solver (NaN where a cell is not fluid), and whether the
 * solver has exactly that part; if not, the first place that differs is described in `where`. */
void reference_put(const struct reference *r, struct solver *s);
bool reference_same(const struct reference *r, struct solver *s, char *where, size_t size);

#endif
