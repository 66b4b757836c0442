/* tagflow selftest: runs small flows and compares their states with those that they have on every
 * machine. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "base/launcher.h"
#include "base/message.h"
#include "cli/cli.h"
#include "cli/selftest_cases.h"

extern char **environ;

enum { PATH_BYTES = 4096, REASON = 512, FLOWS = sizeof selftest_cases / sizeof *selftest_cases };

static const struct {
    const char *name, *hash;
} known_states[] = {
#define X(name, hash) {#name, hash},
#include "cli/selftest_hashes.h"
#undef X
};

/* The state that a flow has on every machine; "": not known. */
static const char *known_state(const char *name)
{
    for (size_t k = 0; k < sizeof known_states / sizeof *known_states; k++)
        if (strcmp(known_states[k].name, name) == 0)
            return known_states[k].hash;
    return "";
}

struct selftest {
    char program[PATH_BYTES], folder[PATH_BYTES / 2];
    const char *backend;
    bool prints; /* states, instead of comparing them */
};

/* One start of `tagflow launch`. */
struct launch_start {
    int ranks, steps;
    const char *output;
    bool goes_on; /* from the checkpoint in `output` */
};

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    return remove(path);
}

/* The last line that the run wrote, for `reason`. */
static void last_line(const struct selftest *t, char reason[REASON])
{
    char path[PATH_BYTES], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/messages.txt", t->folder);
    if (file_read(path, 1 << 20, &text, &length))
        return;
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *const line = strrchr(text, '\n');
    snprintf(reason + strlen(reason), REASON - strlen(reason), ": %s", line ? line + 1 : text);
    free(text);
}

/* Runs the program with its output in messages.txt. Returns its exit status; -1: it did not start.
 */
static int spawn(const struct selftest *t, char *const *words)
{
    char path[PATH_BYTES];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    snprintf(path, sizeof path, "%s/messages.txt", t->folder);
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int error = posix_spawn(&child, t->program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Is the run done? Else its reason. */
static bool run_flow(const struct selftest *t, const char *path, const struct launch_start *s,
                     char reason[REASON])
{
    char ranks[32], steps[64];
    snprintf(ranks, sizeof ranks, "%d", s->ranks);
    snprintf(steps, sizeof steps, "run.steps=%d", s->steps);
    const char *const words[] = {t->program,
                                 "launch",
                                 path,
                                 "--ranks",
                                 ranks,
                                 "--threads",
                                 "1",
                                 "--set",
                                 steps,
                                 "--set",
                                 "output=none",
                                 "--backend",
                                 t->backend,
                                 "--output",
                                 s->output,
                                 "--share-gpu",
                                 s->goes_on ? "--restart" : NULL,
                                 "auto",
                                 NULL};
    const int status = spawn(t, (char *const *)words);
    if (status == 0)
        return true;
    snprintf(reason, REASON, "%d rank%s: exit status %d", s->ranks, s->ranks == 1 ? "" : "s",
             status);
    last_line(t, reason);
    return false;
}

/* The state hash in the run's report; "": there is none. */
static void read_hash(const char *output, char hash[32])
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/report.json", output);
    json_t *const report = json_load_file(path, 0, NULL);
    const char *const text = json_string_value(json_object_get(report, "state_hash"));
    snprintf(hash, 32, "%s", text ? text : "");
    json_decref(report);
}

/* Runs a flow on 1 rank, then half of it on 2 and the rest on 3. hash: of the first run. Is it
 * right? */
static bool flow_is_right(const struct selftest *t, int k, char hash[32], char reason[REASON])
{
    const struct selftest_case *const flow = &selftest_cases[k];
    char path[PATH_BYTES], one[PATH_BYTES], two[PATH_BYTES], other[32];
    snprintf(path, sizeof path, "%s/%s.yaml", t->folder, flow->name);
    snprintf(one, sizeof one, "%s/%s_%s_1", t->folder, flow->name, t->backend);
    snprintf(two, sizeof two, "%s/%s_%s_2", t->folder, flow->name, t->backend);
    if (file_replace(path, flow->text, strlen(flow->text)))
        return false;
    const struct launch_start starts[] = {{1, flow->steps, one, false},
                                          {2, flow->steps / 2, two, false},
                                          {3, flow->steps, two, true}};
    for (int i = 0; i < 3; i++)
        if (!run_flow(t, path, &starts[i], reason))
            return false;
    read_hash(one, hash);
    read_hash(two, other);
    if (strcmp(hash, other) != 0)
        snprintf(reason, REASON, "state %s on 1 rank, %s on 2, continued on 3", hash, other);
    else if (!t->prints && strcmp(hash, known_state(flow->name)) != 0)
        snprintf(reason, REASON, "state %s, not %s", hash, known_state(flow->name));
    else
        return true;
    return false;
}

/* Returns the number of flows that are not right. */
static int run_flows(const struct selftest *t)
{
    int wrong = 0;
    for (int k = 0; k < FLOWS; k++) {
        char hash[32] = "", reason[REASON] = "";
        const bool right = flow_is_right(t, k, hash, reason);
        wrong += !right;
        if (t->prints && right)
            printf("X(%s, \"%s\")\n", selftest_cases[k].name, hash);
        else
            printf("%-9s %-62s %s%s\n", selftest_cases[k].name, selftest_cases[k].what,
                   right ? "ok" : "NOT OK: ", reason);
        fflush(stdout);
    }
    return wrong;
}

enum status command_selftest(int count, char **arguments)
{
    static const char *const known[] = {"--print", NULL};
    struct arguments a = {.count = count, .argument = arguments};
    struct selftest t = {.backend = "cpu"};
    const char *const temporary = getenv("TMPDIR");
    while (a.next < a.count)
        if (cli_flag(&a, "--print"))
            t.prints = true;
        else
            return cli_unknown(&a, "selftest", known);
    if (launcher_is_mpi() || launcher_ranks() > 1)
        return fail_user(
            "tagflow selftest starts the ranks itself: give it without mpirun or srun");
    const ssize_t length = readlink("/proc/self/exe", t.program, sizeof t.program - 1);
    snprintf(t.folder, sizeof t.folder, "%s/tagflow_selftest_XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (length <= 0 || !mkdtemp(t.folder))
        return fail_machine("cannot make a folder %s: %s", t.folder, strerror(errno));

    int wrong = 0, flows = 0;
    static const char *const backends_tried[] = {"cpu", "cuda"};
    for (int k = 0; k < (t.prints || cli_gpus() == 0 ? 1 : 2); k++) {
        t.backend = backends_tried[k];
        if (!t.prints)
            printf("selftest: %d flows with backend %s, each on 1 rank, and on 2 ranks continued "
                   "on 3\n",
                   (int)FLOWS, t.backend);
        wrong += run_flows(&t);
        flows += FLOWS;
    }
    if (wrong > 0)
        return fail_machine(
            "%d of %d flows are wrong; please report it with the lines above, the output of "
            "`tagflow info`, and the folder %s",
            wrong, flows, t.folder);
    nftw(t.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (!t.prints)
        printf("selftest: all %d states are those of every other machine\n", flows);
    return STATUS_OK;
}
