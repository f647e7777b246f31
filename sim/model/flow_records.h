/* What goes in and out of the per-flow markers (flow_marker.h), plain C; the bundles of hw/src/vermilion/flow/Bundles.scala. */
#ifndef VERMILION_FLOW_RECORDS_H
#define VERMILION_FLOW_RECORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VM_FLOW_NONE = 0, VM_FLOW_THREE_COLOUR = 1, VM_FLOW_WEB = 2, VM_FLOW_ADAPTIVE = 3 };

/* The marker of one queue. */
typedef struct {
  uint32_t kind;               /* U2 */
  uint32_t alpha_eighths;      /* U4, alpha = n/8; more than 8 counts as 8 */
  uint32_t initial_average;    /* A_0, U16.8 */
  uint32_t start_credits;      /* N_s, U8 */
  uint32_t recovery_credits;   /* N_a, U8 */
  uint32_t increase_by_factor; /* A_Y / (1 - alpha), else 2 (A_Y + 1) */
  uint32_t ack_green;
  uint32_t idle_age, half_open_age; /* U16, ticks of 2^22 ns */
} VmFlowConfig;

/* A flow's state. */
typedef struct {
  uint32_t raised;      /* A_Y is average / (1 - alpha) */
  uint32_t average;     /* U16.8 */
  uint32_t burst;       /* L_Y, U17 */
  uint32_t highest_seq; /* SN_h */
  uint32_t credits;     /* U8 */
} VmFlowState;

/* The colour, the state after the packet (0 where it has none), and what happened. */
typedef struct {
  uint32_t colour, has_state;
  VmFlowState state;
  uint32_t adopted, collision, aged_out, displaced, table_full, loss, jump, probe;
} VmFlowAnswer;

#ifdef __cplusplus
}
#endif
#endif
