/* A PNG file of a canvas, with lines of text that are not shown. */
#ifndef TAGFLOW_PNGFILE_H
#define TAGFLOW_PNGFILE_H

#include "base/status.h"
#include "io/canvas.h"
#include "io/colormap.h"

struct image_note {
    const char *key, *text; /* key: 1 to 79 letters, Latin-1; text: UTF-8 */
};

struct image_notes {
    int count;
    const struct image_note *note;
};

/* Writes the file, whole or not at all; failures are reported. */
enum status pngfile_write(const char *path, const struct canvas *canvas, enum colormap map,
                          const struct image_notes *notes);

#endif
