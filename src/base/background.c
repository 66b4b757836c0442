/* Work beside the main thread; see background.h. */
#include "base/background.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

struct job {
    background_job *run;
    void *data;
    struct job *next;
};

struct background {
    pthread_t thread;
    pthread_mutex_t lock;  /* of everything below */
    pthread_cond_t change; /* a job came or was done, or the end */
    struct job *first, *last;
    int open; /* jobs that are not done */
    bool end;
    enum status status;
};

static void *work(void *data)
{
    struct background *const b = data;
    pthread_mutex_lock(&b->lock);
    while (b->first || !b->end) {
        struct job *const job = b->first;
        if (!job) {
            pthread_cond_wait(&b->change, &b->lock);
            continue;
        }
        b->first = job->next;
        pthread_mutex_unlock(&b->lock);
        const enum status status = job->run(job->data);
        free(job);
        pthread_mutex_lock(&b->lock);
        b->status = status > b->status ? status : b->status;
        b->open--;
        pthread_cond_broadcast(&b->change);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

enum status background_create(struct background **out)
{
    struct background *const b = calloc(1, sizeof *b);
    sigset_t all, before;
    if (!b)
        return fail_machine("out of memory");
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->change, NULL);
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&b->thread, NULL, work, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(b);
        return fail_machine("cannot start a thread that writes beside the steps: %s",
                            strerror(failed));
    }
    *out = b;
    return STATUS_OK;
}

void background_give(struct background *b, background_job *run, void *data)
{
    struct job *const job = malloc(sizeof *job);
    if (!job) {
        const enum status status = run(data);
        pthread_mutex_lock(&b->lock);
        b->status = status > b->status ? status : b->status;
        pthread_mutex_unlock(&b->lock);
        return;
    }
    *job = (struct job){.run = run, .data = data};
    pthread_mutex_lock(&b->lock);
    if (b->first)
        b->last->next = job;
    else
        b->first = job;
    b->last = job;
    b->open++;
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->lock);
}

bool background_busy(struct background *b)
{
    if (!b)
        return false;
    pthread_mutex_lock(&b->lock);
    const bool busy = b->open > 0;
    pthread_mutex_unlock(&b->lock);
    return busy;
}

enum status background_wait(struct background *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->open > 0)
        pthread_cond_wait(&b->change, &b->lock);
    const enum status status = b->status;
    b->status = STATUS_OK;
    pthread_mutex_unlock(&b->lock);
    return status;
}

void background_destroy(struct background *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->end = true;
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->change);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
