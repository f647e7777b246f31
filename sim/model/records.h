/* Inputs and outputs of the model, one record per packet. Plain C: the RTL's trace, ctypes and ns-3 fill them. */
#ifndef VERMILION_RECORDS_H
#define VERMILION_RECORDS_H

#include <stdint.h>

#include "config.h"
#include "flow_records.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  VM_ENQUEUE = 0,
  VM_MARK = 1,
  VM_EARLY = 2,
  VM_FORCED = 3,
  VM_TAIL = 4,
  VM_NOBUF = 5,
  VM_BAD = 6,
  VM_POLICED = 7,
  VM_VERDICTS = 8
};

/* Inputs and result of a queue's marker; see token_marker.h. */
typedef struct {
  uint64_t time;   /* ns */
  uint64_t level;  /* of bucket A before the packet, U48.16 ns */
  uint32_t colour; /* before the marker */
  uint32_t marked; /* after the marker */
  uint32_t draw, policed;
  uint32_t has_flow; /* the packet's flow has state; `flow` is that after the packet */
  VmFlowState flow;
  uint32_t flow_events; /* bit i: event i of the register flow_events; always 0 from the RTL's trace */
} VmMark;

/* What a decision saw. Backlogs are those before the packet: by colour for the averages, at its queue state lookup, and
 * in total for the limit, at its verdict (see pipeline_view.h). */
typedef struct {
  uint64_t time; /* ns */
  uint32_t queue, colour, len_bytes;
  uint32_t ecn; /* the two ECN bits, 0 if not IP */
  uint32_t bad, no_buffer, policed;
  uint32_t backlog_bytes[VM_COLOURS], backlog_packets[VM_COLOURS];
  uint32_t n[VM_COLOURS]; /* per estimator, 1..6, see average.h; used only if the estimator is updated */
  uint64_t last_departure[VM_COLOURS];
  uint32_t draw;
  uint32_t queued_bytes, queued_packets;
  uint32_t distance;  /* distance.h */
  uint32_t pool_full; /* the pool has no room for it: same verdict as over its queue's limit */
} VmArrival;

/* A packet that left its queue. Backlogs are those after it. */
typedef struct {
  uint64_t time;
  uint32_t queue, colour;
  uint32_t backlog_bytes[VM_COLOURS], backlog_packets[VM_COLOURS];
  uint32_t n[VM_COLOURS];
} VmDeparture;

/* decide.h says which values are reported with which verdict. */
typedef struct {
  uint32_t verdict;
  uint64_t avg; /* U27.16 */
  uint64_t p;   /* U1.32 */
  uint64_t sum; /* U2.32 */
} VmDecision;

/* See parser.h. */
typedef struct {
  uint32_t is_ptp_type; /* EtherType 0x88f7 */
  uint32_t is_ip4, is_ip6;
  uint32_t l3_offset; /* 14, 18, 22 */
  uint32_t vlan;      /* VLAN IDs, 12 bits each, the inner or only one low; 0: no tag, or a priority tag */
  uint32_t ip_bytes;  /* length of the IP packet by its header, U16 saturating; 0: unknown, or not IP */
  uint32_t dscp, ecn, ttl, proto;
  uint32_t has_ports, src_port, dst_port;
  uint32_t is_tcp, tcp_flags, tcp_seq;
  uint32_t tcp_payload;
  uint32_t has_ttl_option, initial_ttl,
      final_ttl;                     /* well formed; the TTL may be above initial_ttl; final_ttl 0: not known */
  uint32_t ttl_option_at;            /* 0..8, bytes into the options */
  uint32_t src_addr[4], dst_addr[4]; /* least significant word first: IPv4 in [0] */
} VmHeaders;

/* A frame that left the lane. */
typedef struct {
  uint64_t time, arrival; /* ns */
  uint64_t id;            /* 0 for the first frame that arrived; bad and dropped frames count */
  uint32_t queue, colour, len_bytes;
  uint32_t ce_written;
} VmSent;

/* A frame that was evicted from its queue: the victim of a later frame (push_out.h). It is never sent. */
typedef struct {
  uint64_t time, arrival; /* ns; time: of the other frame's verdict */
  uint64_t id, by;        /* as in VmSent; the frame that pushed it out */
  uint32_t queue, colour, len_bytes;
} VmEvicted;

/* A frame that its queue's AQM dropped as it left its queue. It is never sent. */
typedef struct {
  uint64_t time, arrival; /* ns; time: of its departure */
  uint64_t id;            /* as in VmSent */
  uint32_t queue, colour, len_bytes;
} VmDepartureDrop;

/* Packets and bytes of one (queue, colour). */
typedef struct {
  uint64_t packets[VM_VERDICTS], bytes[VM_VERDICTS]; /* by final verdict; arrived is their sum */
  uint64_t ce_written_packets, ce_written_bytes;     /* of `mark`, those that were not CE before; counted when sent */
  uint64_t sent_packets, sent_bytes;
  uint64_t evicted_packets, evicted_bytes;             /* of this colour, evicted in place of an arriving packet */
  uint64_t victim_marked_packets, victim_marked_bytes; /* of this colour, marked CE in place of an arriving packet */
  uint64_t departure_dropped_packets, departure_dropped_bytes; /* by the queue's AQM as they left their queue */
  uint64_t departure_marked_packets, departure_marked_bytes;   /* marked CE as they left their queue; sent, too */
} VmCounters;

#ifdef __cplusplus
}
#endif
#endif
