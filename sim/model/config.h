/* What the host programs into a lane, value for value as the registers hold it: mantissas, shifts, fixed point.
 * Formats: docs/architecture.md, "Number formats". Plain C, so that ctypes and ns-3 can fill it. */
#ifndef VERMILION_CONFIG_H
#define VERMILION_CONFIG_H

#include <stdint.h>

#include "vm_profile_types.h" /* of the driver's library (sw_driver/lib): what registers hold of a queue */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vm_scaled VmScaled;
typedef struct vm_curve_image VmCurve;
typedef struct vm_colour_image VmColour;
typedef struct vm_marker_image VmMarker;
typedef struct vm_distance_image VmDistance;
typedef struct vm_queue_image VmQueue;

/* Types of the TTL option, docs/ttl-option.md; 0: none. */
typedef struct {
  uint32_t ip4, ip6;
} VmOptionTypes;

/* Where a DSCP goes. */
typedef struct {
  uint32_t queue, colour;
} VmClass;

/* What an egress has for itself: the classes of the packets that go there, and its shaper. */
typedef struct {
  VmClass dscp[64];
  VmClass fallback; /* frames that are not IP */
  VmScaled port_cost;
  uint64_t port_burst_ns;
} VmEgress;

#define VM_MAX_EGRESSES 8

/* How the buffer's cells are shared; PoolLimit.scala. `size` 0: nothing of it is in force. `cap` 0: none. */
typedef struct {
  uint32_t size, reserve[VM_MAX_EGRESSES], cap[VM_MAX_EGRESSES];
} VmPool;

#define VM_MAX_INPUTS 16

typedef struct {
  uint32_t
      queue_count; /* of all egresses, each with as many: egress e has the queues from e queue_count / egress_count on */
  const VmQueue *queues;
  uint32_t egress_count; /* 1, 2, 4 or 8 */
  VmEgress egress[VM_MAX_EGRESSES];
  uint32_t route[VM_MAX_INPUTS]; /* the egress of each input's packets */
  uint32_t buffer_cells;         /* cells of 64 bytes; 0: never out of cells */
  uint32_t max_frame_bytes;      /* longer frames are `nobuf`; 0: 65535 */
  uint64_t seed;                 /* expanded by splitmix64, see random.h */
  uint32_t flows;                /* places of the flow markers' table; 0: 4096 */
  VmOptionTypes ttl_option;
  VmPool pool;
} VmConfig;

#ifdef __cplusplus
}
#endif
#endif
