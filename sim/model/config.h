/* What the host programs into a lane, value for value as the registers hold it: mantissas, shifts, fixed point.
 * Formats: docs/architecture.md, "Number formats". Plain C, so that ctypes and ns-3 can fill it. */
#ifndef VERMILION_CONFIG_H
#define VERMILION_CONFIG_H

#include <stdint.h>

#include "flow_records.h"

#define VM_COLOURS 3
#define VM_STAGES 6

#ifdef __cplusplus
extern "C" {
#endif

/* A factor m 2^-s. A weight is m 2^-(8+s). */
typedef struct {
  uint32_t m;
  uint32_t s;
} VmScaled;

/* One drop or ECN curve: see curve.h. `on` 0: p is 0 at any average. */
typedef struct {
  uint32_t on;
  uint32_t min_th, max_th, end_th; /* U27 */
  VmScaled inv1;                   /* 2^8 / (max_th - min_th) */
  uint64_t b1_1;                   /* U1.32 */
  VmScaled inv2;                   /* 2^8 / (end_th - max_th) */
  uint64_t base2, b1_2;            /* U1.32 */
  VmScaled b2_2;                   /* 2^16 b2 / (end_th - max_th) */
} VmCurve;

/* The curves of one colour. `ecn_own`: ECT and CE packets of a queue with `ecn` take p from `ecn`. */
typedef struct {
  VmCurve drop;
  uint32_t ecn_own;
  VmCurve ecn;
} VmColour;

enum { VM_NO_MARKER = 0, VM_LEAF = 1, VM_SRTCM = 2, VM_TRTCM = 3, VM_REDP = 4, VM_FLOW = 5 };

/* A queue's marker; see token_marker.h. Fields that its kind does not read are ignored. */
typedef struct {
  uint32_t kind;
  uint32_t colour_aware;    /* srTCM, trTCM */
  uint32_t ip_length;       /* a packet's own length is that of its IP packet (parser.h, ipBytes), else of its frame */
  uint32_t packet_bytes;    /* what every packet counts as, in bytes; 0: its own length */
  VmScaled cost[2];         /* of buckets A and B: ns per byte */
  uint64_t burst_ns[2];     /* their depth as time; srTCM's B: CBS + EBS */
  uint32_t out_colour;      /* leaf: colour out of profile */
  uint64_t low_ns, high_ns; /* REDP: T_L, T_H as time */
  VmScaled demote, promote; /* REDP: span of the draw r16: ((r16 m) 2^26) >> s, U48.16 ns */
  uint32_t drop;            /* REDP: P_drop, U1.16 */
  uint64_t yellow_ns;       /* REDP: how long a yellow packet keeps the dropper off */
  uint32_t drop_colours;    /* bit c: packets that leave with colour c are dropped */
  VmFlowConfig flow;        /* VM_FLOW */
} VmMarker;

enum { VM_GEOMETRIC = 0, VM_UNIFORM = 1, VM_WAIT = 2 };

/* What a packet's distance is taken from; see distance.h. */
typedef struct {
  uint32_t option, infer, share;
} VmDistance;

typedef struct {
  VmScaled weight[VM_STAGES]; /* W[1..6] = 1-(1-w)^n */
  VmScaled lambda;            /* -log2(1-w)/s per ns, U?.10; shift at most 48 */
  uint64_t idle_step;         /* -log2(1-w) in 2^-(10 + lambda.s), U48 */
  uint32_t masks[VM_COLOURS]; /* bit c: the estimator counts colour c */
  uint32_t unit_packets;      /* averages count packets, else bytes */
  uint32_t update_depart;     /* averages also step on departures */
  uint32_t spacing;           /* VM_GEOMETRIC, VM_UNIFORM, VM_WAIT */
  uint32_t size_on;           /* p is weighted by L / L_mean */
  VmScaled size;              /* 2^12 / L_mean */
  uint32_t ecn;               /* mark ECT packets instead of dropping them early */
  uint32_t limit_bytes, limit_packets;
  uint32_t strict, priority; /* strict queues go first, the greatest priority of all first */
  uint32_t quantum;          /* bytes a round, deficit round robin */
  VmScaled cost;             /* ns per byte; m = 0: not shaped */
  uint64_t burst_ns;
  VmColour colour[VM_COLOURS];
  VmMarker marker;
  uint32_t remark;                  /* bit c: packets of colour c leave with remark_dscp[c] */
  uint32_t remark_dscp[VM_COLOURS]; /* 0..63 */
  VmDistance distance;
  uint32_t remove_ttl_option; /* on the way out */
  uint32_t
      nearest; /* the packet that has come least far is the victim of an early or forced drop, or an early mark: push_out.h */
  uint32_t by_colour; /* but only packets of the arriving one's colour or a worse one */
  uint32_t alpha;     /* dynamic threshold in the pool: 2^(alpha - 8) of its free cells, 1 to 11; 0: none */
  uint32_t last; /* with nearest; 1 to 16: instead, the victim of a tail drop is among so many of the last packets */
} VmQueue;

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
