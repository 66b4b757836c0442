/* Every key of a case, described once: reading it, writing it back, `tagflow keys`, docs/cases.md
 * and messages all come from this table (record.h). */
#ifndef TAGFLOW_KEYS_H
#define TAGFLOW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "case/quantity.h"

struct given;
struct held;
struct key;
struct map;
struct node;
struct writer;

enum { KEYS_PATH = 512, KEYS_TYPE = 256 };

/* Wall times are above 0 s and at most this, 31 years: doubles still resolve it well. */
#define WALL_MAX 1e9

/* clang-format off */
/* X(name, read, write, properties, what it takes in words, words after its choices): the functions are in
 * types.c and given.c; read_code, write_code: the code of the section does it. */
#define KEY_TYPE_LIST(X)                                                                                              \
    X(MAP,      read_code,     write_code,     0, "a map", "") /* of the keys below it */                             \
    X(NAMES,    read_code,     write_code,     TYPE_PAIR,                                                             \
      "a map from names to maps", "") /* names that the user chooses */                                               \
    X(INTEGER,  given_whole,   write_whole,    TYPE_NUMBER | TYPE_WHOLE, "a whole number", "")                        \
    X(COUNT,    given_whole,   write_whole,    TYPE_NUMBER | TYPE_WHOLE | TYPE_AUTO, "auto or a whole number", "")    \
    X(INTEGERS, read_integers, write_integers, TYPE_NUMBER, "a list of three whole numbers", "")                      \
    X(RANKS,    read_integers, write_integers, TYPE_NUMBER | TYPE_AUTO, "auto or a list of three whole numbers", "")  \
    X(NUMBER,   given_checked, write_double,   TYPE_NUMBER,                                                           \
      "a number", "") /* in lattice units; with a unit if it has a dimension */                                       \
    X(AUTO,     given_checked, write_double,   TYPE_NUMBER | TYPE_AUTO, "auto or a number", "")                       \
    X(VECTOR,   read_vector,   write_vector,   TYPE_NUMBER,                                                           \
      "a list of three numbers", "") /* the range: of the magnitude */                                                \
    X(EACH,     read_each,     write_each,     TYPE_NUMBER,                                                           \
      "a number, or a list of three for x, y and z", "")                                                              \
    X(RANGE,    read_code,     write_vector,   TYPE_NUMBER, "a list of two numbers", "") /* lower and upper end */    \
    X(PHYSICAL, given_checked, write_physical, TYPE_NUMBER | TYPE_SI, "a number with a unit", "")                     \
    X(SIZE,     read_vector,   write_code,     TYPE_NUMBER | TYPE_SI, "a list of three numbers with a unit", "")      \
    X(CHOICE,   read_choice,   write_choice,   TYPE_WHOLE, "one of ", "")                                             \
    X(CHOICES,  read_choices,  write_choices,  0, "one or a list of ", "")                                            \
    X(ARRAYS,   read_choices,  write_choices,  TYPE_PAIR | TYPE_SCALARS,                                              \
      "one or a list of ", ", and names of scalars")                                                                  \
    X(SHOWN,    read_shown,    write_shown,    TYPE_PAIR | TYPE_SCALARS,                                              \
      "one of ", ", or the name of a scalar") /* IMAGE_scalar: the choice after the last */                           \
    X(WATCHED,  read_choice,   write_code,     TYPE_WHOLE, "one of ", ", or a column of a series such as drag.c_x")   \
    X(INTERVAL, read_interval, write_whole,    TYPE_NUMBER | TYPE_WHOLE | TYPE_STEPS,                                 \
      "a number of steps or a time with a unit", "") /* not 0 by rounding */                                          \
    X(STEP,     read_interval, write_whole,    TYPE_NUMBER | TYPE_WHOLE | TYPE_STEPS,                                 \
      "a step or a time with a unit", "")                                                                             \
    X(WALL,     read_wall,     write_wall,     TYPE_NUMBER,                                                           \
      "a wall time (11h50m, 90 s, 11:50:00) or none", "") /* the range: in seconds */                                 \
    X(DUE,      read_due,      write_due,      TYPE_NUMBER | TYPE_STEPS | TYPE_PAIR,                                  \
      "a number of steps or a wall time (30 min, 1h30m)", "")                                                         \
    X(POSITION, read_position, write_vector,   TYPE_NUMBER, "a list of three numbers", "") /* lengths in the box */   \
    X(COLUMNS,  read_columns,  write_choices,  TYPE_PAIR,                                                             \
      "one or a list of ", "") /* or one of the words that stand alone */                                             \
    X(OR_MAP,   read_code,     write_code,     TYPE_MAP, "", " or a map") /* a choice, or the keys below it */        \
    X(REGION,   read_region,   write_region,   TYPE_MAP, "", " or a map") /* all, or two positions: from, to */       \
    X(VALUE,    given_checked, write_code,     TYPE_NUMBER | TYPE_MAP,                                                \
      "a number or a map", "") /* of the keys below it */                                                             \
    X(FACE,     read_code,     write_code,     TYPE_MAP, "one of ", ", or a map such as {wall: {velocity: ...}}")     \
    X(EMPTY,    read_empty,    write_code,     0, "an empty map", "")                                                 \
    X(TEXT,     read_text,     write_text,     0, "text", "") /* any: the name of a file, for example */              \
    X(CHECKSUM, read_code,     write_checksum, 0, "text", "") /* of a file's content */                               \
    X(BODY,     read_body,     write_body,     0, "text", "") /* the name of a body */                                \
    X(SCALAR,   read_scalar,   write_scalar,   0, "text", "") /* the name of a scalar */                              \
    X(POINT,    read_point,    write_vector,   TYPE_NUMBER,                                                           \
      "a list of two numbers", "") /* lengths along the axes of a face */                                             \
    X(PLANE,    read_code,     write_whole,    TYPE_NUMBER,                                                           \
      "a whole number or a length with a unit", "") /* of cells */                                                    \
    X(LABELS,   read_labels,   write_labels,   TYPE_NUMBER | TYPE_PAIR, "a whole number or a list of them", "")       \
    X(AXIS,     read_axis,     write_axis,     0, "one of ", ", or a list of three numbers") /* of any length but 0 */

/* X(name, noun, symbol, example, exponents of m, s, kg and K): what a number measures */
#define UNIT_LIST(X)                                                                               \
    X(NONE,         "a number without unit", "",                 "0.1",         0,  0, 0,  0)      \
    X(LENGTH,       "a length",              "m",                "5 mm",        1,  0, 0,  0)      \
    X(AREA,         "an area",               "m2",               "0.01 m2",     2,  0, 0,  0)      \
    X(TIME,         "a time",                "s",                "1 ms",        0,  1, 0,  0)      \
    X(VELOCITY,     "a velocity",            "m/s",              "0.2 m/s",     1, -1, 0,  0)      \
    X(FLOW_RATE,    "a flow rate",           "m3/s",             "5e-6 m3/s",   3, -1, 0,  0)      \
    X(VISCOSITY,    "a viscosity",           "m2/s",             "1e-6 m2/s",   2, -1, 0,  0)      \
    X(DENSITY,      "a density",             "kg/m3",            "1000 kg/m3", -3,  0, 1,  0)      \
    X(ACCELERATION, "an acceleration",       "m/s2",             "9.81 m/s2",   1, -2, 0,  0)      \
    X(PRESSURE,     "a pressure",            "Pa",               "10 Pa",      -1, -2, 1,  0)      \
    X(STRESS,       "a stress",              "Pa",               "5 mPa",      -1, -2, 1,  0)      \
    X(RATE,         "a rate",                "1/s",              "5 1/s",       0, -1, 0,  0)      \
    X(ROTATION,     "an angular velocity",   "rad/s",            "10 rad/s",    0, -1, 0,  0)      \
    X(SHOWN,        "what is shown",         "of what is shown", "0.1",         0,  0, 0,  0) /* by an image */ \
    X(DIFFUSIVITY,  "a diffusivity",         "m2/s",             "2.2e-5 m2/s", 2, -1, 0,  0)      \
    X(HEAT_CAPACITY, "a heat capacity of a mass", "J/kg/K", "4180 J/kg/K",      2, -2, 0, -1)      \
    X(SLOWNESS,     "a time for a length",   "s/m",              "100 s/m",    -1,  1, 0,  0)      \
    X(SLOPE,        "a change in a length",  "1/m",              "100 1/m",    -1,  0, 0,  0)      \
    /* of scalars of kind heat */                                                                  \
    X(TEMPERATURE,  "a temperature",         "K",                "300 K",       0,  0, 0,  1)      \
    X(DIFFERENCE,   "a difference of temperatures", "K",         "20 K",        0,  0, 0,  1)      \
    X(GRADIENT,     "a gradient of temperature", "K/m",          "100 K/m",    -1,  0, 0,  1)      \
    X(HEATING,      "a temperature in a time", "K/s",            "0.1 K/s",     0, -1, 0,  1)      \
    X(EXPANSION,    "an expansion",          "1/K",              "3.3e-3 1/K",  0,  0, 0, -1)      \
    X(HEAT_FLUX,    "a flux of heat",        "W/m2",             "100 W/m2",    0, -3, 1,  0)      \
    X(TRANSFER,     "a heat transfer coefficient", "W/m2/K",     "10 W/m2/K",   0, -3, 1, -1)      \
    X(RESISTANCE,   "a thermal resistance of an area", "m2 K/W", "0.1 m2 K/W",  0,  3, -1, 1)      \
    X(CONDUCTIVITY, "a thermal conductivity", "W/m/K",           "148 W/m/K",   1, -3, 1, -1)      \
    X(CAPACITY,     "a heat capacity of a volume", "J/m3/K",     "1.6e6 J/m3/K", -1, -2, 1, -1)    \
    X(HEAT_SOURCE,  "a heat source",         "W/m3",             "1e6 W/m3",   -1, -3, 1,  0)

/* X(of heat, of species): what a number of a species measures in place of one of heat. In units of
 * the fluid's heat capacity of a volume a number of heat with an energy is one of the other
 * kind. */
#define SPECIES_UNIT_LIST(X)                                                                       \
    X(TEMPERATURE, NONE)                                                                           \
    X(DIFFERENCE, NONE)                                                                            \
    X(GRADIENT, SLOPE)                                                                             \
    X(HEATING, RATE)                                                                               \
    X(EXPANSION, NONE)                                                                             \
    X(HEAT_FLUX, VELOCITY)                                                                         \
    X(TRANSFER, VELOCITY)                                                                          \
    X(RESISTANCE, SLOWNESS)                                                                        \
    X(CONDUCTIVITY, DIFFUSIVITY)                                                                   \
    X(CAPACITY, NONE)                                                                              \
    X(HEAT_SOURCE, RATE)
/* clang-format on */

#define X(name, ...) KEY_##name,
enum key_type { KEY_TYPE_LIST(X) };
#undef X
#define X(name, ...) UNIT_##name,
enum key_unit { UNIT_LIST(X) };
#undef X

/* Properties of a type. */
enum {
    TYPE_NUMBER = 1,   /* a resolved case has a number, or several */
    TYPE_WHOLE = 2,    /* read as an int64_t; the member may be smaller */
    TYPE_STEPS = 4,    /* the range is in steps */
    TYPE_SI = 8,       /* must have a unit; the range is in SI units */
    TYPE_PAIR = 16,    /* the second member is a part of the value (struct key.beside) */
    TYPE_SCALARS = 32, /* names of scalars, too */
    TYPE_MAP = 64,     /* may be a word, or a number, in place of a map */
    TYPE_AUTO = 128,   /* or the word auto, which gives zeros */
};

/* A row of KEY_TYPE_LIST. */
struct key_type_info {
    const char *takes, *after;
    unsigned properties;
    enum status (*read)(struct given g, void *to);
    void (*write)(struct writer *w, struct held v);
};
extern const struct key_type_info type_table[]; /* by enum key_type */

/* Has the key's type this property? */
bool type_is(const struct key *key, unsigned property);

struct unit_info {
    const char *noun, *symbol, *example; /* "a velocity", "m/s", "0.2 m/s" */
    struct dimension dimension;
};
const struct unit_info *unit_info(enum key_unit unit);

/* The lattice unit in words: "cells a step". */
const char *unit_lattice_text(enum key_unit unit);

/* The unit of a species in place of one of heat; others stay. */
enum key_unit unit_of_species(enum key_unit unit);

/* A missing limit is infinite; an open limit is itself out of range. */
struct key_range {
    double low, high;
    bool low_open, high_open;
};

/* Rules of the table. A rule counts for the key and for all keys below it, until one of them has
 * its own; 0: as the map. */

/* How the number of a key changes from level 0 to level l. */
enum level_rule {
    LEVEL_UNKNOWN, /* no map has a rule: by its unit, if it has one */
    LEVEL_SAME,    /* it has no dimension, or is no number */
    LEVEL_UNIT,    /* times a power of 2^l, by its unit */
    LEVEL_CELLS,   /* a number of cells: times 2^l */
    LEVEL_STEPS,   /* a number of steps: times 2^l */
    LEVEL_SHARE,   /* a share s that each step removes: 1 - (1 - s)^(1 / 2^l) */
    LEVEL_ABSENT,  /* level l has no such key */
};

/* May a key change when a run is continued? */
enum restart_rule {
    RESTART_SAME = 1, /* no; this is the rule of a key without one */
    RESTART_FREE,     /* yes */
    RESTART_VERSION,  /* if the physics has another version: its default depends on that */
    RESTART_TOGETHER, /* its map has a function that compares (`same`) */
};

/* May a number without a unit, in a case with units, be a slip? */
enum bare_rule {
    BARE_UNIT = 1, /* if it is improbable for its unit; this is the rule of a key without one */
    BARE_BODY,     /* the same; warnings name it before keys of other things */
    BARE_ALWAYS,
    BARE_NEVER, /* lattice units are usual */
};

typedef enum status thing_reader(struct map m, void *thing);
typedef void key_writer(struct writer *w, const struct key *key, const void *from);
/* Compares keys of two maps (NULL: not given). `whose`: names the earlier run in messages. */
typedef enum status key_comparer(const struct node *now, const struct node *before,
                                 const char *whose);

struct key {
    const char *path; /* `*` stands for a name, `<face>` for one of key_faces */
    enum key_type type;
    enum key_unit unit;
    struct key_range range;
    const char *const *choices; /* NULL at the end; the index is the enumerator */
    const char *const *alone;   /* KEY_COLUMNS: the words in place of the choices */
    const char *fallback;       /* the default, as in a case file */
    const char *otherwise;      /* without fallback: the default in words */
    bool required;              /* in its map */
    enum level_rule level;
    enum restart_rule restart;
    enum bare_rule bare;
    /* The key, if it is given and is not the default, does not go with `refine`: the remedy. Levels
     * above 0 do not have it. */
    const char *refine;
    bool ordered;       /* KEY_NAMES: the order of the things may not change on a restart */
    key_comparer *same; /* on a restart, for keys below it that are RESTART_TOGETHER */
    const char *also;   /* the path of a map whose keys this one has, too */
    const char *each;   /* KEY_NAMES: the path of each thing, in place of one ending in `*` */
    const char *example;
    const char *meaning;
    /* Offset and bytes of the member that holds the value, in the struct into which the map is
     * read; size 0: there is no member. */
    size_t at, size;
    /* Offset of a second member: a bool that tells whether the key was given; of a KEY_DUE its
     * seconds; of KEY_LABELS and KEY_NAMES their number; of KEY_ARRAYS a bit for each scalar; of
     * KEY_SHOWN the scalar. 0: there is none. */
    size_t beside;
    /* KEY_NAMES with a member: a pointer to an array of things, structs of `size` bytes whose first
     * member is the name. `most`: the largest number of things. `read` reads one, which is zeroed
     * but for its name. */
    int most;
    thing_reader *read; /* NULL: record_read() reads one */
    int first;          /* the enumerator of the first choice */
    bool optional;      /* a number that is 0 when it was not given */
    bool within;        /* a map whose keys are read into the struct of the enclosing map */
    bool late;          /* read by the code of its section, not by record_read() */
    unsigned where;     /* bits: kinds of things that have the key; 0: all have it */
    unsigned needed;    /* bits: kinds that must have it */
    key_writer *write;  /* writes the key from its struct; NULL: as its type says */
};

/* clang-format off */
/* X(name, words): the words of choices, key_<name>, NULL at the end; the index is the enumerator. */
#define KEY_WORD(name, ...) #name,
#define KEY_WORDS_LIST(X)                                                                          \
    X(faces,             "xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "x", "y", "z",)           \
    X(sides,             "xmin", "xmax", "ymin", "ymax", "zmin", "zmax",)                          \
    X(axes,              "x", "y", "z",)                                                           \
    X(collisions,        COLLISION_LIST(KEY_WORD))                                                 \
    X(collision_choices, COLLISION_LIST(KEY_WORD) "auto",)                                         \
    X(storages,          STORAGE_LIST(KEY_WORD))                                                   \
    X(precisions,        PRECISION_LIST(KEY_WORD))                                                 \
    X(flows,             INITIAL_LIST(KEY_WORD))                                                   \
    X(pressures,         "exact", "uniform",)                                                      \
    X(face_kinds,        FACE_LIST(KEY_WORD))                                                      \
    X(face_rules,        FACE_RULE_LIST(KEY_WORD))                                                 \
    X(profiles,          "uniform", "parabola", "duct",) /* others need a number or a file */      \
    X(shapes,            SHAPE_LIST(KEY_WORD))                                                     \
    X(refines,           REFINE_LIST(KEY_WORD))                                                    \
    X(packs,             PACK_LIST(KEY_WORD))                                                      \
    X(opens,             "refuse", "accept",)                                                      \
    X(switches,          "false", "true",)                                                        \
    X(voxel_types,       VOXEL_TYPE_LIST(KEY_WORD))                                                \
    X(byte_orders,       "little", "big",)                                                         \
    X(isolated,          "keep", "fill",)                                                          \
    X(body_walls,        BODY_WALL_LIST(KEY_WORD))                                                 \
    X(mesh_fluids,       MESH_FLUID_LIST(KEY_WORD))                                                \
    X(cap_kinds,         CAP_LIST(KEY_WORD))                                                       \
    X(cap_profiles,      CAP_PROFILE_LIST(KEY_WORD))                                               \
    X(series,            SERIES_LIST(KEY_WORD))                                                    \
    X(series_kinds,      SERIES_KIND_LIST(KEY_WORD))                                               \
    X(densities,         "reference", "xmin", "xmax", "ymin", "ymax", "zmin", "zmax",)             \
    X(fields,            FIELD_LIST(KEY_WORD))                                                     \
    X(averages,          AVERAGE_LIST(KEY_WORD))                                                   \
    X(images,            IMAGE_LIST(KEY_WORD))                                                     \
    X(temperature_units, TEMPERATURE_UNIT_LIST(KEY_WORD))                                          \
    X(surfaces,          SURFACE_LIST(KEY_WORD))                                                   \
    X(stops,             STOP_LIST(KEY_WORD))                                                      \
    X(isas,              ISA_LIST(KEY_WORD))                                                       \
    X(transports,        TRANSPORT_LIST(KEY_WORD))                                                 \
    X(exchanges,         EXCHANGE_LIST(KEY_WORD))                                                  \
    X(sparse,            SPARSE_LIST(KEY_WORD))                                                    \
    X(row_orders,        ROW_ORDER_LIST(KEY_WORD))                                                 \
    X(scalar_kinds,      SCALAR_KIND_LIST(KEY_WORD))                                               \
    X(limiters,          LIMITER_LIST(KEY_WORD))                                                   \
    X(scalar_walls,      "adiabatic",)                                                             \
    X(scalar_openings,   "outflow",)                                                               \
    X(regions,           "all",)                                                                   \
    X(levels,            "all", "0", "1", "2", "3", "4", "5", "6", "7", "8",)                      \
    X(nones,             "none",)
/* clang-format on */
#define X(name, ...) extern const char *const key_##name[];
KEY_WORDS_LIST(X)
#undef X

/* The table, in the order in which it is printed; ends with path NULL. */
extern const struct key key_table[];

/* The row of exactly this pattern ("output.series.*.every"); NULL if there is none. */
const struct key *keys_row(const char *pattern);

/* The next row directly below `row`, after `before` (NULL: the first); NULL: there is no more. */
const struct key *keys_child(const char *row, const struct key *before);

/* The key's name: the last part of its path. */
const char *keys_name(const struct key *key);

/* The row of the map that holds the key; NULL: it is a section. */
const struct key *keys_map(const struct key *key);

/* The rule that counts for the key. */
enum restart_rule keys_restart(const struct key *key);

/* The path of a map whose keys the pattern has besides its own; NULL: none. */
const char *keys_also(const char *pattern);

/* The pattern of child `segment` of `pattern` ("" is the root); false if it is not a key. */
bool keys_step(const char *pattern, const char *segment, char child[static KEYS_PATH]);

/* The pattern of a whole path ("faces.xmin.wall" gives "faces.<face>.wall"). */
bool keys_match(const char *path, char pattern[static KEYS_PATH]);

/* The pattern of a key, or of keys joined by dots, below a row: for keys that several rows have. */
struct key_path {
    char text[KEYS_PATH];
};
struct key_path keys_below(const char *row, const char *keys);

/* Has this pattern keys below it? */
bool keys_inner(const char *pattern);

/* Index of `text` in a list of choices, or -1. */
int choice_index(const char *const *choices, const char *text);

/* "a, b, c" */
void choice_text(const char *const *choices, char *text, size_t size);

/* "above 0, at most 0.577"; "" without limits. */
void range_text(const struct key *key, char *text, size_t size);

/* Type of a key's value, in words: "a whole number"; at most KEYS_TYPE bytes. */
void type_text(const struct key *key, char *text, size_t size);

/* Print every key whose path begins with `prefix` (NULL or "": all), in concrete names too
 * ("faces.ymax"). Returns how many; prints nothing when none matches. */
int keys_print(FILE *to, const char *prefix);

#endif
