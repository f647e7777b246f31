/* The interface between a network simulator and the lane: frames and their times in; verdicts, colours, departures out.
 * Libraries that export `vm_engine` implement it: model_engine.cpp (bit-exact model), rtl_engine.cpp (Verilated RTL).
 *
 * The caller sets the time, in ns from 0 up. It never decreases, and idle time costs nothing. `arrive` returns the
 * verdict of a frame at once. In the lane the verdict comes up to 34 cycles of 4 ns (31 without the victim search)
 * after the frame's last beat. `left` returns admitted frames in the order and with the times of their departures, as
 * the lane advances. The lane itself sends at the port's rate, so a downstream link must not be slower.
 *
 *   arrive, left..., evicted, dropped..., next -> an event at that time: advance, left..., dropped..., next
 */
#ifndef VERMILION_ENGINE_H
#define VERMILION_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VmEngine VmEngine;

typedef struct {
  uint64_t id;      /* of the frame: 0, 1, ... in the order of calls */
  uint32_t verdict; /* VM_ENQUEUE ... of sim/model/records.h; above VM_MARK: lost */
  uint32_t queue;
  uint32_t colour; /* from its marker */
  uint64_t avg;    /* of that colour, as compared with the curve, U27.16 bytes or packets */
} VmFate;

typedef struct {
  uint64_t id, time;
  uint32_t queue, colour;
  uint32_t traffic_class; /* DSCP and ECN bits as the frame leaves */
} VmGone;

typedef struct {
  const char *name; /* "model", "rtl" */
  /* Creates a lane from the record of docs/hardware-configuration.md. NULL: refused; `error` gives the reason. */
  VmEngine *(*create)(const char *lane_json, char *error, size_t room);
  void (*destroy)(VmEngine *engine);
  /* A frame from its Ethernet header on: the first `head_bytes` of `len_bytes`. The other bytes count as zeros. */
  void (*arrive)(VmEngine *engine, uint64_t time, const uint8_t *head, uint32_t head_bytes, uint32_t len_bytes,
                 VmFate *fate);
  void (*advance)(VmEngine *engine, uint64_t time);
  /* 1: advance the lane at `time`, or with the next frame if that is sooner. 0: the lane is quiescent. */
  int (*next)(const VmEngine *engine, uint64_t *time);
  int (*left)(VmEngine *engine, VmGone *gone);    /* 1: the next frame that has left. 0: none */
  int (*evicted)(VmEngine *engine, uint64_t *id); /* 1: the next evicted frame. 0: none */
  int (*dropped)(VmEngine *engine, uint64_t *id); /* 1: the next frame that was dropped as it left its queue. 0: none */
} VmEngineCalls;

const VmEngineCalls *vm_engine(void);

#ifdef __cplusplus
}
#endif
#endif
