/* tagflow launch: starts `tagflow run` with the ranks and threads that suit the machine. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "base/cores.h"
#include "base/launcher.h"
#include "base/message.h"
#include "cli/cli.h"
#include "cli/supervise.h"
#include "solver/backend.h"

enum { PROGRAM = 4096, WORDS = 24, TEXTS = 8 };

/* The command line that is run. */
struct command_line {
    const char **word; /* [count], room for `own` words before those of tagflow run */
    int count;
    char text[TEXTS][64]; /* of words made here */
    int texts;
};

struct launch {
    int ranks, threads; /* 0: to be chosen */
    bool dry, cpu;
    const char *path;
};

static void add(struct command_line *line, const char *word)
{
    line->word[line->count++] = word;
}

static void add_number(struct command_line *line, const char *before, int number)
{
    char *const text = line->text[line->texts++];
    snprintf(text, sizeof line->text[0], "%s%d", before, number);
    add(line, text);
}

static bool has_cuda(void)
{
    bool found = false;
    for (int k = 0; backends[k]; k++)
        found = found || strcmp(backends[k]->name, "cuda") == 0;
    return found;
}

int cli_gpus(void)
{
    const char *const visible = getenv("CUDA_VISIBLE_DEVICES");
    int count = 0;
    if (!has_cuda())
        return 0;
    if (visible) {
        count = *visible && strncmp(visible, "-1", 2) != 0;
        for (const char *c = visible; count && *c; c++)
            count += *c == ',';
        return count;
    }
    DIR *const devices = opendir("/dev");
    for (const struct dirent *e; devices && (e = readdir(devices));)
        count += strncmp(e->d_name, "nvidia", 6) == 0 && isdigit((unsigned char)e->d_name[6]);
    if (devices)
        closedir(devices);
    return count;
}

/* A number in the environment; 0: none. */
static int environment(const char *name)
{
    const char *const text = getenv(name);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 1 << 24 ? (int)number : 0;
}

/* Is the program in PATH? Its file, then. */
static bool in_path(const char *name, char file[PROGRAM])
{
    const char *path = getenv("PATH");
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        if (snprintf(file, PROGRAM, "%.*s/%s", (int)length, path, name) < PROGRAM &&
            access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static int slurm_nodes(void)
{
    const int nodes = environment("SLURM_NNODES");
    return nodes > 0 ? nodes : 1;
}

/* Chooses ranks in a Slurm job: the ranks that it was asked for, else one for each GPU, else one
 * for each node. */
static void choose_in_slurm(struct launch *l, bool use_gpus)
{
    if (!l->ranks)
        l->ranks = environment("SLURM_NTASKS");
    if (!l->ranks)
        l->ranks = slurm_nodes() * (use_gpus && cli_gpus() > 0 ? cli_gpus() : 1);
    if (!l->threads)
        l->threads = environment("SLURM_CPUS_PER_TASK");
}

/* How ranks are placed on a machine without a batch system. Ranks that share the cores of a memory
 * node count how many each of them may use. */
enum place { PLACE_ANYWHERE, PLACE_NUMA, PLACE_CORE };

static enum place place(const struct launch *l, const struct cores *c, bool use_gpus)
{
    if (use_gpus || (double)l->ranks * (l->threads > 0 ? l->threads : 1) > c->allowed)
        return PLACE_ANYWHERE;
    if (l->ranks == c->allowed && c->allowed == c->host)
        return PLACE_CORE;
    return c->nodes > 1 && l->ranks % c->nodes == 0 ? PLACE_NUMA : PLACE_ANYWHERE;
}

#ifdef OPEN_MPI
static const char *const starters[] = {"mpirun", "mpirun.openmpi", "orterun", NULL};
static const char *const of_others[] = {"hydra", "mpich", NULL};
static const char slurm_way[] = "--mpi=pmix";

static void add_options(struct command_line *line, const struct launch *l, const struct cores *c,
                        bool use_gpus, bool slurm)
{
    if (geteuid() == 0)
        add(line, "--allow-run-as-root");
    if (!slurm && l->ranks > c->allowed)
        add(line, "--oversubscribe");
    if (slurm && !use_gpus && l->threads > 1) {
        add(line, "--map-by");
        add_number(line, "slot:PE=", l->threads);
        return;
    }
    if (slurm) { /* Slurm has the slots; without tasks they are all cores of the nodes */
        if (!environment("SLURM_NTASKS") && l->ranks % slurm_nodes() == 0) {
            add(line, "--map-by");
            char *const where = line->text[line->texts++];
            snprintf(where, sizeof line->text[0], "ppr:%d:node", l->ranks / slurm_nodes());
            add(line, where);
        }
        add(line, "--bind-to");
        add(line, use_gpus || !environment("SLURM_NTASKS") ? "none" : "core");
        return;
    }
    static const char *const names[] = {"none", "numa", "core"};
    const enum place where = place(l, c, use_gpus);
    if (where == PLACE_NUMA) {
        add(line, "--map-by");
        add(line, "numa");
    }
    add(line, "--bind-to");
    add(line, names[where]);
}
#else
static const char *const starters[] = {"mpiexec", "mpiexec.mpich", "mpiexec.hydra", "mpirun", NULL};
static const char *const of_others[] = {"orterun", "prterun", "openmpi", NULL};
static const char slurm_way[] = "--mpi=pmi2";

/* Adds options of Hydra, MPICH's launcher. It binds nothing by itself and does not count slots. */
static void add_options(struct command_line *line, const struct launch *l, const struct cores *c,
                        bool use_gpus, bool slurm)
{
    if (slurm && !environment("SLURM_NTASKS") && l->ranks % slurm_nodes() == 0) {
        add(line, "-ppn");
        add_number(line, "", l->ranks / slurm_nodes());
    }
    const enum place where = slurm ? PLACE_ANYWHERE : place(l, c, use_gpus);
    if (slurm && environment("SLURM_NTASKS") && !use_gpus) {
        add(line, "-bind-to");
        add_number(line, "core:", l->threads > 0 ? l->threads : 1);
    } else if (where != PLACE_ANYWHERE) {
        add(line, "-bind-to");
        add(line, where == PLACE_CORE ? "core" : "numa");
    }
}
#endif

/* The program in PATH that starts ranks of this program's MPI; NULL: there is none. On Debian
 * `mpirun` and `mpiexec` are links to one of several MPIs. */
static const char *find_starter(void)
{
    for (const char *const *name = starters; *name; name++) {
        char file[PROGRAM], real[PATH_MAX];
        if (!in_path(*name, file) || !realpath(file, real))
            continue;
        const char *const own = strrchr(real, '/') + 1;
        bool other = false;
        for (const char *const *part = of_others; *part; part++)
            other = other || strstr(own, *part);
        if (!other)
            return *name;
    }
    return NULL;
}

/* Adds the words before those of `tagflow run`: none if it needs no launcher. */
static enum status choose(struct command_line *line, struct launch *l)
{
    const bool slurm = getenv("SLURM_JOB_ID"), use_gpus = !l->cpu && has_cuda();
    struct cores c;
    char file[PROGRAM];
    cores_find_alone(&c);
    if (slurm)
        choose_in_slurm(l, use_gpus);
    else if (!l->ranks)
        l->ranks = use_gpus && cli_gpus() > 0 ? cli_gpus() : l->threads ? 1 : c.nodes;
    if (l->ranks == 1)
        return STATUS_OK;
    const char *const starter = find_starter();
    if (starter) {
        add(line, starter);
        add(line, "-n");
        add_number(line, "", l->ranks);
        add_options(line, l, &c, use_gpus && cli_gpus() > 0, slurm);
    } else if (slurm && in_path("srun", file)) {
        add(line, "srun");
        add(line, slurm_way);
        add(line, "-n");
        add_number(line, "", l->ranks);
        if (l->threads)
            add_number(line, "--cpus-per-task=", l->threads);
    } else {
        return fail_machine("there is no %s in PATH to start %d ranks with (load the MPI that "
                            "tagflow was built with, or --ranks 1)",
                            starters[0], l->ranks);
    }
    return STATUS_OK;
}

/* Prints a word so that a shell reads it as one. */
static void print_word(const char *word)
{
    const bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                                                   "VWXYZ0123456789_-+=./:,@%")];
    if (plain) {
        fputs(word, stdout);
        return;
    }
    bool harmless = true; /* a terminal obeys no part of it */
    for (const char *c = word; *c; c++)
        harmless = harmless && (unsigned char)*c >= ' ' && *c != 127 &&
                   !((unsigned char)*c == 0xc2 && (unsigned char)c[1] < 0xa0);
    fputs(harmless ? "'" : "$'", stdout);
    for (const unsigned char *c = (const unsigned char *)word; *c; c++)
        if (!harmless && (*c < ' ' || *c > 126 || *c == '\'' || *c == '\\'))
            printf("\\%03o", *c);
        else if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    putchar('\'');
}

static enum status number(const char *name, const char *text, int most, int *value)
{
    char *end;
    errno = 0;
    const long found = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || found < 1 || found > most)
        return fail_user("%s %s: not a whole number from 1 to %d", name, text, most);
    *value = (int)found;
    return STATUS_OK;
}

/* An option of `tagflow run`; its words go on the line. -1: it is none; else a status. */
static int run_option(struct arguments *a, struct command_line *run, struct launch *l)
{
    static const char *const with_value[] = {"--set", "--output", "--restart", "--backend"};
    const int at = a->next;
    const char *value;
    if (cli_flag(a, "--overwrite") || cli_flag(a, "--share-gpu")) {
        add(run, a->argument[at]);
        return STATUS_OK;
    }
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
        if (!cli_value(a, with_value[k], &value))
            continue;
        if (!value)
            return STATUS_USAGE;
        l->cpu = l->cpu || (k == 3 && strcmp(value, "cpu") == 0);
        for (int i = at; i < a->next; i++)
            add(run, a->argument[i]);
        return STATUS_OK;
    }
    return -1;
}

static enum status read_arguments(struct arguments *a, struct command_line *run, struct launch *l)
{
    static const char *const known[] = {"--ranks",     "--threads", "--dry-run",   "--set",
                                        "--output",    "--restart", "--overwrite", "--backend",
                                        "--share-gpu", NULL};
    while (a->next < a->count) {
        const char *value;
        int status = STATUS_OK;
        if (cli_value(a, "--ranks", &value))
            status = value ? number("--ranks", value, 1 << 24, &l->ranks) : STATUS_USAGE;
        else if (cli_value(a, "--threads", &value))
            status = value ? number("--threads", value, 1024, &l->threads) : STATUS_USAGE;
        else if (cli_flag(a, "--dry-run"))
            l->dry = true;
        else if ((status = run_option(a, run, l)) >= 0)
            ;
        else if (a->argument[a->next][0] == '-' || l->path)
            return cli_unknown(a, "launch", known);
        else
            add(run, l->path = a->argument[a->next++]);
        if (status > 0)
            return (enum status)status;
    }
    return l->path ? STATUS_OK
                   : fail_user("tagflow launch: which case? (tagflow launch CASE.yaml)");
}

enum status command_launch(int count, char **arguments)
{
    struct arguments a = {.count = count, .argument = arguments};
    struct launch l = {0};
    struct command_line run = {.count = 0}, line = {.count = 0};
    char program[PROGRAM];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return fail_machine("cannot find this program's file: %s", strerror(errno));
    program[length] = '\0';
    if (launcher_is_mpi() || launcher_ranks() > 1)
        return fail_user("tagflow launch starts the ranks itself: give it without mpirun or srun");
    run.word = calloc((size_t)count + 4, sizeof *run.word);
    line.word = calloc((size_t)count + WORDS, sizeof *line.word);
    enum status status = STATUS_OK;
    if (!run.word || !line.word)
        status = fail_machine("out of memory");
    if (!status)
        status = read_arguments(&a, &run, &l);
    const bool threads_given = l.threads > 0;
    if (!status)
        status = choose(&line, &l);
    if (!status) {
        const bool by_launcher = line.count > 0, quiet = getenv("HWLOC_COMPONENTS") || !by_launcher;
        add(&line, program);
        add(&line, "run");
        for (int k = 0; k < run.count; k++)
            add(&line, run.word[k]);
        if (threads_given) {
            add(&line, "--set");
            add_number(&line, "run.threads=", l.threads);
        }
        if (!l.dry)
            fputs("launch: ", stdout);
        if (!quiet) { /* hwloc's plugins can swallow signals to mpirun, or end it */
            fputs("HWLOC_COMPONENTS=-opencl,-gl ", stdout);
            setenv("HWLOC_COMPONENTS", "-opencl,-gl", 1);
        }
        if (by_launcher && slurm_nodes() > 1) { /* 2 min, not 8 until a dead node is noticed */
            setenv("OMPI_MCA_oob_tcp_keepalive_time", "30", 0);
            setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "10", 0);
            setenv("OMPI_MCA_oob_tcp_keepalive_probes", "9", 0);
        }
        for (int k = 0; k < line.count; k++) {
            print_word(line.word[k]);
            putchar(k + 1 < line.count ? ' ' : '\n');
        }
        if (!l.dry) {
            fflush(stdout);
            const int ended = by_launcher ? supervise((char *const *)line.word)
                                          : execvp(line.word[0], (char *const *)line.word);
            status = ended >= 0
                         ? (enum status)ended
                         : fail_machine("cannot start %s: %s", line.word[0], strerror(errno));
        }
    }
    free(run.word);
    free(line.word);
    return status;
}
