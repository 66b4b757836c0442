/* Runs the translated PTX in place of the kernels that nvcc compiled. A program is linked with
 * nvcc's objects, as for a GPU: their constructors register the address that a launch gives
 * together with the kernel's name in the PTX. Names are the same in all variants. So a kernel's
 * variant is the one whose table (struct cuda_variant) has the address. */
#include "ptx_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ptx_mutant;

#define X(storage, arithmetic) extern const struct ptx_module ptx_module_##storage##_##arithmetic;
PTX_PRECISIONS
#undef X

static const struct ptx_module *const modules[] = {
#define X(storage, arithmetic) &ptx_module_##storage##_##arithmetic,
    PTX_PRECISIONS
#undef X
};
enum { MODULES = sizeof modules / sizeof *modules, KERNELS_MOST = 1000 };

static struct {
    const void *function;
    const char *name;
    const struct ptx_kernel *kernel; /* NULL: not looked up yet */
} registered[KERNELS_MOST];
static int count;

/* The calls of nvcc's objects, declared nowhere. */
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *function, char *, const char *name, int,
                            struct uint3 *, struct uint3 *, dim3 *, dim3 *, int *);
cudaError_t __cudaPopCallConfiguration(void);
cudaError_t __cudaGetKernel(void);
cudaError_t __cudaLaunchKernel(void);

static standin_kernel *find(const void *function);
static bool has(const struct ptx_module *module, const void *function);

/* Status 99 if a kernel of a variant that ran was never launched. */
static void at_exit(void)
{
    int left = 0;
    for (int m = 0; m < MODULES; m++)
        for (int pass = 0, launched = 0; pass < 2; pass++)
            for (int k = 0; k < count; k++) {
                if (!has(modules[m], registered[k].function))
                    continue;
                if (pass == 0)
                    launched += registered[k].kernel != NULL;
                else if (launched && !registered[k].kernel && ++left)
                    fprintf(stderr, "never launched: %s, module %d\n", registered[k].name, m);
            }
    if (left) {
        fflush(NULL);
        _exit(99);
    }
}

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    const char *const mutant = getenv("TAGFLOW_PTX_MUTANT");
    (void)binary;
    if (!standin_find && getenv("TAGFLOW_PTX_ALL") && atexit(at_exit) != 0)
        standin_die("atexit failed");
    standin_find = find;
    ptx_mutant = mutant ? atoi(mutant) : 0;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *function, char *host, const char *name,
                            int threads, struct uint3 *thread, struct uint3 *block,
                            dim3 *block_size, dim3 *grid_size, int *warp)
{
    (void)handle, (void)host, (void)threads, (void)thread, (void)block, (void)block_size;
    (void)grid_size, (void)warp;
    if (count == KERNELS_MOST)
        standin_die("more than %d kernels", KERNELS_MOST);
    registered[count].function = function;
    registered[count++].name = name;
}

/* Launches written as <<<>>>, of which there are none. */
#define NEVER(name)                                                                                \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        standin_die(#name ": launches are calls of cudaLaunchKernel");                             \
    }
NEVER(__cudaPopCallConfiguration)
NEVER(__cudaGetKernel)
NEVER(__cudaLaunchKernel)

/* Is the address in the module's table? All pointers there are kernels. */
static bool has(const struct ptx_module *module, const void *function)
{
    const struct cuda_variant table = module->variant();
    const void *pointer[sizeof table / sizeof(void *)];
    memcpy(pointer, &table, sizeof pointer);
    for (size_t k = 0; k < sizeof pointer / sizeof *pointer; k++)
        if (pointer[k] == function)
            return true;
    return false;
}

static const struct ptx_kernel *look_up(const void *function, const char *name)
{
    for (int m = 0; m < MODULES; m++)
        for (const struct ptx_kernel *k = modules[m]->kernels; k->name; k++)
            if (strcmp(k->name, name) == 0 && has(modules[m], function)) {
                if (k->argument != sizeof(struct cuda_call))
                    standin_die("%s: its argument has %zu bytes in the PTX, %zu here", name,
                                k->argument, sizeof(struct cuda_call));
                return k;
            }
    standin_die("%s: not among the translated kernels", name);
}

static standin_kernel *find(const void *function)
{
    for (int k = 0; k < count; k++)
        if (registered[k].function == function) {
            if (!registered[k].kernel)
                registered[k].kernel = look_up(function, registered[k].name);
            return registered[k].kernel->function;
        }
    standin_die("a launch of what is not a kernel");
}
