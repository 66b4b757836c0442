/* Every key of a case, described once: reading it, writing it back, `tagflow keys`, docs/cases.md
 * and messages all come from this table (record.h). */
#ifndef TAGFLOW_KEYS_H
#define TAGFLOW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "case/quantity.h"

struct reader;
struct node;
struct writer;

enum { KEYS_PATH = 512, KEYS_TYPE = 256 };

/* Wall times are above 0 s and at most this, 31 years: doubles still resolve it well. */
#define WALL_MAX 1e9

enum key_type {
    KEY_MAP,   /* of the keys below it */
    KEY_NAMES, /* a map from names the user chooses */
    KEY_INTEGER,
    KEY_INTEGERS, /* three */
    KEY_RANKS,    /* three integers, or auto */
    KEY_NUMBER,   /* in lattice units, or with a unit where it has a dimension */
    KEY_VECTOR,   /* three such numbers; the range is that of the magnitude */
    KEY_RANGE,    /* two numbers, lower and upper end */
    KEY_PHYSICAL, /* a number that must have a unit; the range is in SI units */
    KEY_SIZE,     /* three such numbers */
    KEY_CHOICE,   /* one of a list */
    KEY_CHOICES,  /* one or several of a list */
    KEY_WATCHED,  /* one of a list, or the column of a series: drag.c_x */
    KEY_INTERVAL, /* a number of steps, or a time with a unit, which must not round to 0 steps */
    KEY_STEP,     /* the number of a step, or a time with a unit */
    KEY_WALL,     /* a wall time, or none; the range is in seconds */
    KEY_DUE,      /* a number of steps, or a wall time; the range is in steps */
    KEY_POSITION, /* three lengths in the box */
    KEY_COLUMNS,  /* one or several of a list, or one of the words that stand alone */
    KEY_OR_MAP,   /* a choice, or a map of the keys below it */
    KEY_REGION,   /* all, or a map of two positions: from, to */
    KEY_VALUE,    /* a number, or a map of the keys below it */
    KEY_FACE,     /* a choice, or a map {choice: {keys}} */
    KEY_EMPTY,    /* a map without keys */
    KEY_TEXT,     /* any text: the name of a file, for example */
    KEY_CHECKSUM, /* of a file's content */
    KEY_BODY,     /* the name of a body */
    KEY_POINT,    /* two lengths, along the axes of a face */
    KEY_PLANE,    /* the index of a plane of cells, or a length inside the plane */
    KEY_LABELS,   /* one or several integers */
    KEY_AXIS,     /* x, y or z, or a vector of any length but 0 */
};

/* What a number measures; the order is that of the table in keys.c. */
enum key_unit {
    UNIT_NONE,
    UNIT_LENGTH,
    UNIT_AREA,
    UNIT_TIME,
    UNIT_VELOCITY,
    UNIT_VISCOSITY,
    UNIT_DENSITY,
    UNIT_ACCELERATION,
    UNIT_PRESSURE,
    UNIT_RATE,
    UNIT_SHOWN, /* that of the quantity which the image shows */
};

struct unit_info {
    const char *noun, *symbol, *example; /* "a velocity", "m/s", "0.2 m/s" */
    struct dimension dimension;
};
const struct unit_info *unit_info(enum key_unit unit);

/* A missing limit is infinite; an open limit is itself out of range. */
struct key_range {
    double low, high;
    bool low_open, high_open;
};

struct key;
typedef enum status thing_reader(const struct reader *r, const struct node *map, void *thing);
typedef void key_writer(struct writer *w, const struct key *key, const void *from);

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
    bool restart; /* may change when a run is continued, and so may all keys below it */
    const char *example;
    const char *meaning;
    /* Offset and bytes of the member that holds the value, in the struct into which the map is
     * read; size 0: there is no member. */
    size_t at, size;
    /* Offset of a second member: a bool that tells whether the key was given; of a KEY_DUE its
     * seconds; of KEY_LABELS and KEY_NAMES their number. 0: there is none. */
    size_t beside;
    /* KEY_NAMES with a member: a pointer to an array of things, structs of `size` bytes whose first
     * member is the name. `most`: the largest number of things. `read` reads one, which is zeroed
     * but for its name. */
    int most;
    thing_reader *read;
    int first;         /* the enumerator of the first choice */
    bool optional;     /* a number that is 0 when it was not given */
    bool within;       /* a map whose keys are read into the struct of the enclosing map */
    bool late;         /* read by the code of its section, not by record_read() */
    unsigned where;    /* bits: kinds of things that have the key; 0: all have it */
    unsigned needed;   /* bits: kinds that must have it */
    key_writer *write; /* writes the key from its struct; NULL: as its type says */
};

/* The words of choices, NULL at the end; the index is the enumerator. */
extern const char *const key_faces[];
extern const char *const key_sides[];
extern const char *const key_axes[];
extern const char *const key_collisions[];
extern const char *const key_collision_choices[];
extern const char *const key_storages[];
extern const char *const key_precisions[];
extern const char *const key_flows[];
extern const char *const key_face_kinds[];
extern const char *const key_profiles[];
extern const char *const key_shapes[];
extern const char *const key_packs[];
extern const char *const key_series[];
extern const char *const key_series_kinds[];
extern const char *const key_fields[];
extern const char *const key_images[];
extern const char *const key_surfaces[];
extern const char *const key_stops[];
extern const char *const key_isas[];

/* The table, in the order in which it is printed; ends with path NULL. */
extern const struct key key_table[];

/* The row of exactly this pattern ("output.series.*.every"); NULL if there is none. */
const struct key *keys_row(const char *pattern);

/* The next row directly below `row`, after `before` (NULL: the first); NULL: there is no more. */
const struct key *keys_child(const char *row, const struct key *before);

/* May the key change when a run is continued? */
bool keys_restart(const struct key *key);

/* The pattern of child `segment` of `pattern` ("" is the root); false if it is not a key. */
bool keys_step(const char *pattern, const char *segment, char child[static KEYS_PATH]);

/* Parts of a shape have the keys of a shape, and at any depth the pattern of a shape. */

/* The pattern of a whole path ("faces.xmin.wall" gives "faces.<face>.wall"). */
bool keys_match(const char *path, char pattern[static KEYS_PATH]);

/* The pattern of a key, or of keys joined by dots, below a row: for keys that several rows have. */
struct key_path {
    char text[KEYS_PATH];
};
struct key_path keys_below(const char *row, const char *keys);

/* May this type be a word, or a number, in place of a map? */
bool keys_word_or_map(enum key_type type);

/* Has this pattern keys below it? */
bool keys_inner(const char *pattern);

/* Index of `text` in a list of choices, or -1. */
int choice_index(const char *const *choices, const char *text);

/* "a, b, c" */
void choice_text(const char *const *choices, char *text, size_t size);

/* "above 0, at most 0.577"; "" without limits. */
void range_text(const struct key *key, char *text, size_t size);

/* What type of value a key takes, in words: "a whole number"; at most KEYS_TYPE bytes. */
void type_text(const struct key *key, char *text, size_t size);

/* Print every key whose path begins with `prefix` (NULL or "": all), in concrete names too
 * ("faces.ymax"). Returns how many; prints nothing when none matches. */
int keys_print(FILE *to, const char *prefix);

#endif
