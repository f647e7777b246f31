/* The configuration of a lane, with the values that the registers hold: mantissas, shifts, fixed point.
 * Formats: docs/architecture.md, "Number formats". Plain C, so that ctypes and ns-3 can fill it. */
#ifndef VERMILION_CONFIG_H
#define VERMILION_CONFIG_H

#include <stdint.h>

/* From the driver's library (sw_driver/lib): the register images of a queue and of a rule. */
#include "vm_profile_types.h"
#include "vm_rule.h"

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

/* The queue and colour of a DSCP. */
typedef struct {
  uint32_t queue, colour;
} VmClass;

/* Settings of one egress: the classes of its packets, and its shaper. */
typedef struct {
  VmClass dscp[64];
  VmClass fallback; /* frames that are not IP */
  VmScaled port_cost;
  uint64_t port_burst_ns;
} VmEgress;

#define VM_MAX_EGRESSES 8

/* How the egresses share the buffer's cells; PoolLimit.scala. `size` 0: the pool is off. `cap` 0: no cap. */
typedef struct {
  uint32_t size, reserve[VM_MAX_EGRESSES], cap[VM_MAX_EGRESSES];
} VmPool;

#define VM_MAX_INPUTS 16

/* A rule by any header fields, rules.h: value and mask of each word of the key, and the words of the registers
 * rule_action and rule_marker. */
#define VM_MAX_RULES 256
typedef struct vm_rule_image VmRule;
typedef struct vm_port_range VmPortRange; /* from `low` to `high`, both included */

typedef struct {
  uint32_t queue_count; /* all egresses together; the queues of egress e begin at e queue_count / egress_count */
  const VmQueue *queues;
  uint32_t egress_count; /* 1, 2, 4 or 8 */
  VmEgress egress[VM_MAX_EGRESSES];
  uint32_t route[VM_MAX_INPUTS]; /* the egress of each input's packets */
  uint32_t buffer_cells;         /* cells of 64 bytes; 0: unlimited */
  uint32_t max_frame_bytes;      /* longer frames are `nobuf`; 0: 65535 */
  uint64_t seed;                 /* expanded by splitmix64, see random.h */
  uint32_t flows;                /* entries of the flow markers' table; 0: 4096 */
  VmOptionTypes ttl_option;
  VmPool pool;
  const VmRule *rules; /* the first that matches a packet */
  uint32_t rule_count;
  VmPortRange port_range[2 * VM_PORT_RANGES]; /* of source ports, then of destination ports */
} VmConfig;

#ifdef __cplusplus
}
#endif
#endif
