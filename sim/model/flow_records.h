/* Inputs and outputs of the flow markers (flow_marker.h), plain C: bundles of hw/src/vermilion/flow/Bundles.scala. */
#ifndef VERMILION_FLOW_RECORDS_H
#define VERMILION_FLOW_RECORDS_H

#include <stdint.h>

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vm_flow_image VmFlowConfig; /* the marker of one queue */

/* A flow's state. */
typedef struct {
  uint32_t raised;      /* A_Y is average / (1 - alpha) */
  uint32_t average;     /* U16.8 */
  uint32_t burst;       /* L_Y, U17 */
  uint32_t highest_seq; /* SN_h */
  uint32_t credits;     /* U8 */
} VmFlowState;

/* The colour, the flow's state after the packet (0 if it has none), and the events. */
typedef struct {
  uint32_t colour, has_state;
  VmFlowState state;
  uint32_t adopted, collision, aged_out, displaced, table_full, loss, jump, probe;
} VmFlowAnswer;

#ifdef __cplusplus
}
#endif
#endif
