/* Prints the best instruction set of this processor: for -Disas=auto (../meson.build). */
#define TAGFLOW_ISAS X(generic) X(v3) X(v4) X(neon) X(sve512)
#define TAGFLOW_ARCHITECTURE ""
#include "base/isa.c"

int main(void)
{
    puts(isa_name(isa_best()));
    return 0;
}
