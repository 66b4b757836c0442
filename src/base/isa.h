/* Instruction sets of the CPU kernels: their names, those that this program was compiled for, and
 * those that this processor has. No other file asks for features of the processor. */
#ifndef TAGFLOW_ISA_H
#define TAGFLOW_ISA_H

#include <stdbool.h>
#include <stddef.h>

/* The words of run.isa. Of one architecture: each includes those before it. auto: the last one that
 * this processor has. generic: what every processor of the architecture has; v3, v4: levels of x86-64; neon, and sve512 (SVE with vectors of 512 bits): of aarch64. */
#define ISA_LIST(X) X(auto) X(generic) X(v3) X(v4) X(neon) X(sve512)
enum isa {
#define X(name) ISA_##name,
    ISA_LIST(X)
#undef X
        ISAS,
    ISA_FIRST = ISA_auto + 1
};

/* "v3", as in a case; "x86-64-v3", for messages. */
const char *isa_name(enum isa);
const char *isa_title(enum isa);

/* Has this program kernels for it? */
bool isa_built(enum isa);
/* Has it, and can this processor run them? */
bool isa_runs(enum isa);
/* The last that isa_runs. */
enum isa isa_best(void);

/* "generic, v3, v4 (x86-64)": those that this program has. */
enum { ISA_TEXT = 128 };
const char *isa_list(char text[static ISA_TEXT]);

#endif
