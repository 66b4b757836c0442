/* The machine that `tagflow check --machine FILE` computes the time of a step for: a few numbers of
 * a device, of its memory and of the network. */
#ifndef TAGFLOW_CLUSTER_H
#define TAGFLOW_CLUSTER_H

#include <stdbool.h>

#include "base/status.h"

enum cluster_unit {
    CLUSTER_bandwidth, /* bytes per second; in files B/s, kB/s, MB/s, GB/s, TB/s */
    CLUSTER_time,      /* seconds; ns, us, ms, s */
    CLUSTER_bytes,     /* B, kB, MB, GB, TB */
    CLUSTER_rate,      /* lattice updates per second; MLUPS, GLUPS */
    CLUSTER_share,     /* above 0, at most 1 */
    CLUSTER_count      /* a whole number, from 1 */
};

/* Keys of a machine file: name, unit, default, meaning. A default of 0: none. */
#define CLUSTER_LIST(X)                                                                            \
    X(bandwidth, bandwidth, 3.825e12, "of the memory of a rank's device, as a copy reaches it")    \
    X(updates, rate, 0, "measured rate of one device, in place of bandwidth")                      \
    X(memory, bytes, 141e9, "of a device")                                                         \
    X(ranks_per_node, count, 8, "ranks on each node")                                              \
    X(shell, share, 0.5, "rate of shell and packing relative to that of the interior")             \
    X(launch, time, 5e-6, "of a kernel launch")                                                    \
    X(sector, count, 32, "bytes that the memory moves at least")                                   \
    X(node_bandwidth, bandwidth, 450e9, "from a device to others of its node, each way")           \
    X(node_latency, time, 3e-6, "of a message within a node")                                      \
    X(network_bandwidth, bandwidth, 50e9, "from a device to other nodes, each way")                \
    X(network_latency, time, 5e-6, "of a message between nodes")                                   \
    X(message, time, 1e-6, "of the host, for each message")                                        \
    X(reached, share, 0.8, "share of node_bandwidth and network_bandwidth that messages reach")    \
    X(disk, bandwidth, 0, "of the file system, for all ranks together")

struct cluster {
#define X(name, unit, value, meaning) double name;
    CLUSTER_LIST(X)
#undef X
    bool assumed; /* `bandwidth` is the default */
};

/* The defaults: nodes of eight H200, NVLink and NDR InfiniBand by their data sheets; what no data
 * sheet has is assumed. */
struct cluster cluster_default(void);

/* Reads a machine file, a YAML map of keys of CLUSTER_LIST; keys that it does not have keep their
 * defaults. Reported with file:line:column: STATUS_USAGE; STATUS_MACHINE without memory. */
enum status cluster_read(struct cluster *c, const char *path);

#endif
