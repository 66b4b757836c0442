/* The colours of images: one map for magnitudes, one for quantities with a sign. */
#ifndef TAGFLOW_COLORMAP_H
#define TAGFLOW_COLORMAP_H

enum colormap {
    COLORMAP_sequential, /* dark to light: speed, density, pressure */
    COLORMAP_diverging,  /* blue, light in the middle, red: components, vorticity */
};

/* The colour of t, clamped to [0, 1], as sRGB. Lightness is linear in t (diverging: in |t - 1/2|),
 * so that equal steps of the quantity look equal, also in a grey copy. */
void colormap_color(enum colormap map, double t, unsigned char srgb[3]);

#endif
