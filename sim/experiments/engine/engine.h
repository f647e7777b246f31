/* The one interface between a network simulator and the lane: frames with their times in, verdicts, colours and departures out.
 * Served by libraries that export `vm_engine`: model_engine.cpp (the bit-exact model) and rtl_engine.cpp (the Verilated RTL).
 *
 * Time is the caller's, ns from 0 up, and never goes back; idle time costs nothing. A frame's verdict is there when `arrive`
 * returns, though in the lane it falls up to 34 clocks of 4 ns (31 without the victim search) behind the frame's last beat. Frames that are admitted come out of `left` in the order in which they leave,
 * at their times, as the lane is advanced. The port's rate is the lane's own: `left` frames have been sent at it, so a link behind
 * it must be no slower.
 *
 *   arrive, left..., evicted, next -> an event at that time: advance, left..., next
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
  uint32_t colour; /* as its marker gave it */
  uint64_t avg;    /* of that colour, as it was compared, U27.16 bytes or packets */
} VmFate;

typedef struct {
  uint64_t id, time;
  uint32_t queue, colour;
  uint32_t traffic_class; /* DSCP and ECN bits as the frame leaves */
} VmGone;

typedef struct {
  const char *name; /* "model", "rtl" */
  /* A lane with the record of docs/hardware-configuration.md. NULL: refused, `error` says why. */
  VmEngine *(*create)(const char *lane_json, char *error, size_t room);
  void (*destroy)(VmEngine *engine);
  /* A frame from its Ethernet header on: the first `head_bytes` of `len_bytes`; the rest counts as zeros. */
  void (*arrive)(VmEngine *engine, uint64_t time, const uint8_t *head, uint32_t head_bytes, uint32_t len_bytes,
                 VmFate *fate);
  void (*advance)(VmEngine *engine, uint64_t time);
  /* 1: advance it at `time`, or with the next frame if that is sooner. 0: nothing is under way. */
  int (*next)(const VmEngine *engine, uint64_t *time);
  int (*left)(VmEngine *engine, VmGone *gone);    /* 1: the next frame that has left. 0: none */
  int (*evicted)(VmEngine *engine, uint64_t *id); /* 1: the next that was taken out again in another's stead. 0: none */
} VmEngineCalls;

const VmEngineCalls *vm_engine(void);

#ifdef __cplusplus
}
#endif
#endif
