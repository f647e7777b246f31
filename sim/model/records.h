/* What goes in and out of the model, one record a packet. Plain C, filled by the RTL's trace, ctypes and ns-3. */
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

/* What a queue's marker saw and gave; see token_marker.h. */
typedef struct {
  uint64_t time;   /* ns */
  uint64_t level;  /* of bucket A before the packet, U48.16 ns */
  uint32_t colour; /* as it came */
  uint32_t marked; /* as it goes on */
  uint32_t draw, policed;
  uint32_t has_flow; /* the packet's flow has state, which after the packet is: */
  VmFlowState flow;
  uint32_t flow_events; /* bit i: event i of the register flow_events; 0 from the RTL, whose decision has none */
} VmMark;

/* What a decision saw. Backlogs are those before the packet: by colour for the averages, as it came in, and in all for
 * the limit, at its verdict (see pipeline_view.h). */
typedef struct {
  uint64_t time; /* ns */
  uint32_t queue, colour, len_bytes;
  uint32_t ecn; /* the two ECN bits, 0 where not IP */
  uint32_t bad, no_buffer, policed;
  uint32_t backlog_bytes[VM_COLOURS], backlog_packets[VM_COLOURS];
  uint32_t n[VM_COLOURS]; /* per estimator, 1..6, see average.h; read where the estimator is updated */
  uint64_t last_departure[VM_COLOURS];
  uint32_t draw;
  uint32_t queued_bytes, queued_packets;
  uint32_t distance;  /* distance.h */
  uint32_t pool_full; /* the pool has no room for it: as over its queue's limit */
} VmArrival;

/* A packet that left its queue. Backlogs are those after it. */
typedef struct {
  uint64_t time;
  uint32_t queue, colour;
  uint32_t backlog_bytes[VM_COLOURS], backlog_packets[VM_COLOURS];
  uint32_t n[VM_COLOURS];
} VmDeparture;

/* See decide.h for what is reported with which verdict. */
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
  uint32_t ip_bytes;  /* length of the IP packet by its header, U16 saturating; 0: not said, or not IP */
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
  uint64_t id;            /* 0 for the first frame that came in, bad and dropped ones counted */
  uint32_t queue, colour, len_bytes;
  uint32_t ce_written;
} VmSent;

/* A frame that was taken out of its queue again, as the victim of another that came later (push_out.h). It never leaves. */
typedef struct {
  uint64_t time, arrival; /* ns; time: when the other's verdict fell */
  uint64_t id, by;        /* as VmSent's; the one that pushed it out */
  uint32_t queue, colour, len_bytes;
} VmEvicted;

/* Packets and bytes of one (queue, colour). */
typedef struct {
  uint64_t packets[VM_VERDICTS], bytes[VM_VERDICTS]; /* by verdict, what became of it; arrived is their sum */
  uint64_t ce_written_packets, ce_written_bytes;     /* of `mark`, those that were not CE already; counted when sent */
  uint64_t sent_packets, sent_bytes;
  uint64_t evicted_packets, evicted_bytes;             /* of this colour, taken out of the queue in another's stead */
  uint64_t victim_marked_packets, victim_marked_bytes; /* of this colour, CE chosen while queued in another's stead */
} VmCounters;

#ifdef __cplusplus
}
#endif
#endif
