/* Launcher of this process; see launcher.h. */
#include "base/launcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "base/message.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#if defined(OPEN_MPI)
#define OWN_MPI                                                                                    \
    "Open MPI " TEXT_OF(OMPI_MAJOR_VERSION) "." TEXT_OF(OMPI_MINOR_VERSION) "." TEXT_OF(           \
        OMPI_RELEASE_VERSION)
#define OWN_START "its mpirun"
#define OWN_SRUN "srun --mpi=pmix"
#elif defined(MPICH)
#define OWN_MPI "MPICH " MPICH_VERSION
#define OWN_START "its mpiexec"
#define OWN_SRUN "srun --mpi=pmi2"
#else
#define OWN_MPI "another MPI"
#define OWN_START "the mpiexec of that MPI"
#define OWN_SRUN "another --mpi of srun"
#endif

/* Launchers by the variables of their processes: of all that are set, the program's own MPI
 * decides, then the one that is nearest to the process: Slurm may have started the mpirun. A batch
 * script has SLURM_PROCID, but no SLURM_STEP_NUM_TASKS. Intel MPI, MVAPICH and Cray MPICH set
 * PMI_SIZE, too. */
enum kind { OPENMPI, PMI, SLURM, KINDS };
static const struct {
    const char *name, *rank, *ranks;
} kinds[KINDS] = {
    [OPENMPI] = {"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    [PMI] = {"mpiexec of MPICH", "PMI_RANK", "PMI_SIZE"},
    [SLURM] = {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static struct {
    bool known, found, slurm, openmpi;
    bool connects;    /* offers processes a way to find each other */
    const char *name; /* NULL: none that says how many processes it started */
    int rank, ranks;
} launcher;

static int number(const char *name)
{
    const char *const text = getenv(name);
    return text ? atoi(text) : 0;
}

void launcher_find(void)
{
    if (launcher.known)
        return;
    launcher.known = true;
#ifdef MPICH
    static const enum kind order[KINDS] = {PMI, OPENMPI, SLURM};
#else
    static const enum kind order[KINDS] = {OPENMPI, PMI, SLURM};
#endif
    bool ranked = false;
    for (int k = 0; k < KINDS; k++) {
        const enum kind kind = order[k];
        if (!getenv(kinds[kind].rank) && (kind == SLURM || !getenv(kinds[kind].ranks)))
            continue;
        launcher.found = true;
        if (!ranked)
            launcher.rank = number(kinds[kind].rank);
        ranked = true;
        if (launcher.name || !getenv(kinds[kind].ranks))
            continue;
        launcher.ranks = number(kinds[kind].ranks);
        launcher.name = kinds[kind].name;
        launcher.slurm =
            kind == SLURM || (getenv(kinds[SLURM].rank) && !getenv("HYDI_CONTROL_FD") &&
                              kind == PMI); /* srun --mpi=pmi2 */
    }
    /* prun has this alone. Open MPI sets it even in a program that was started alone, as 0. */
    if (!ranked)
        launcher.rank = number("PMIX_RANK");
    launcher.openmpi = getenv(kinds[OPENMPI].ranks);
    for (char **e = environ; *e; e++)
        launcher.connects =
            launcher.connects || strncmp(*e, "PMI_", 4) == 0 || strncmp(*e, "PMIX_", 5) == 0;
}

bool launcher_found(void)
{
    launcher_find();
    return launcher.found;
}

bool launcher_is_mpi(void)
{
    launcher_find();
    return launcher.name && !launcher.slurm;
}

bool launcher_is_openmpi(void)
{
    launcher_find();
    return launcher.openmpi;
}

int launcher_ranks(void)
{
    launcher_find();
    return launcher.name ? launcher.ranks : 0;
}

int launcher_rank(void)
{
    launcher_find();
    return launcher.rank;
}

/* Rank 0 says it. The others wait until it has: a launcher ends all when the first one ends. */
static enum status refuse(void)
{
    enum { MOMENT = 5 }; /* seconds */
    fail_user("%s started %d processes, but they do not find each other through " OWN_MPI
              ", with which tagflow was built. Each would run the whole case alone. Start them "
              "with %s (or set TAGFLOW_ALONE=1 if each is to run alone)",
              launcher.slurm ? "srun" : launcher.name, launcher.ranks,
              launcher.slurm ? OWN_SRUN " or with " OWN_START
                             : OWN_START ", or build tagflow with the other MPI");
    if (launcher.rank > 0)
        sleep(MOMENT);
    return STATUS_USAGE;
}

#ifdef OPEN_MPI
/* A program that was started alone needs neither the daemon that Open MPI 4 starts beside it nor
 * folders for other ranks: most of the time of a short command. Open MPI 5 ignores both. */
static const char no_daemon[] = "OMPI_MCA_ess_singleton_isolated",
                  no_folders[] = "OMPI_MCA_orte_create_session_dirs";
static bool set_alone; /* both were set here */

/* With a daemon the folders are needed: so a user who sets one decides about both. */
static void start_alone(void)
{
    if (getenv(no_daemon) || getenv(no_folders))
        return;
    set_alone = true;
    setenv(no_daemon, "1", 0);
    setenv(no_folders, "0", 0);
}
#endif

void launcher_started(void)
{
#ifdef OPEN_MPI
    if (set_alone) {
        unsetenv(no_daemon);
        unsetenv(no_folders);
    }
#endif
}

enum status launcher_check_before(void)
{
    launcher_find();
#ifdef OPEN_MPI
    if (!launcher.found && !launcher.connects)
        start_alone();
    /* In a step of Slurm Open MPI ends the program if Slurm does not connect its processes, even
     * one process. Without this variable it does not look for Slurm. */
    const bool alone = launcher.ranks == 1 || getenv("TAGFLOW_ALONE");
    if (launcher.slurm && alone && !getenv("PMIX_NAMESPACE"))
        unsetenv("SLURM_NODELIST");
    else if (launcher.slurm && !alone && !launcher.connects)
        return refuse();
#endif
    return STATUS_OK;
}

enum status launcher_check(int ranks)
{
    launcher_find();
    if (ranks > 1 || !launcher.name || launcher.ranks < 2 || getenv("TAGFLOW_ALONE"))
        return STATUS_OK;
    return refuse();
}
