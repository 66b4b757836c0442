/* Attributes and datasets of HDF5 files; see h5read.h. */
#include "io/h5read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool h5read_numbers(hid_t file, const char *object, const char *name, hid_t type, int count,
                    void *out)
{
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    const bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == count &&
                      H5Aread(attribute, type, out) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return good;
}

char *h5read_text(hid_t file, const char *object, const char *name)
{
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    char *text = NULL;
    if (type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Tget_class(type) == H5T_STRING) {
        if (H5Tis_variable_str(type) > 0) {
            const hid_t memory = H5Tcopy(H5T_C_S1);
            char *found = NULL;
            if (memory >= 0 && H5Tset_size(memory, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(memory, H5Tget_cset(type)) >= 0 &&
                H5Aread(attribute, memory, &found) >= 0 && found) {
                text = strdup(found);
                H5free_memory(found);
            }
            if (memory >= 0)
                H5Tclose(memory);
        } else {
            const size_t size = H5Tget_size(type);
            text = calloc(size + 1, 1);
            if (text && H5Aread(attribute, type, text) < 0) {
                free(text);
                text = NULL;
            }
        }
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return text;
}

bool h5read_short_text(hid_t file, const char *object, const char *name, char *out, size_t size)
{
    char *const text = h5read_text(file, object, name);
    const bool good = text && (size_t)snprintf(out, size, "%s", text) < size;
    free(text);
    return good;
}

static bool is_type(hid_t type, enum sample sample)
{
    const hid_t other = sample_type(sample);
    const bool same = other >= 0 && H5Tequal(type, other) > 0;
    if (other >= 0)
        H5Tclose(other);
    return same;
}

static int sample_of(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    int found = -1;
#define X(name, c_type, hdf5_type)                                                                 \
    if (type >= 0 && is_type(type, SAMPLE_##name))                                                 \
        found = SAMPLE_##name;
    SAMPLE_LIST(X)
#undef X
    if (type >= 0)
        H5Tclose(type);
    return found;
}

bool h5read_dataset(hid_t file, const char *name, int axes, hsize_t *size, int *sample,
                    int64_t *offset)
{
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = dataset < 0 ? H5I_INVALID_HID : H5Dget_space(dataset);
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == axes &&
                H5Sget_simple_extent_dims(space, size, NULL) == axes;
    if (good) {
        const haddr_t place = H5Dget_offset(dataset);
        *sample = sample_of(dataset);
        *offset = (int64_t)place;
        good = place != HADDR_UNDEF && *sample >= 0;
    }
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return good;
}
