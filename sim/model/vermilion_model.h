/* The C interface of the model, for ctypes, ns-3 and test benches.
 *
 * Build: g++ -std=c++20 -O2 -fPIC -shared sim/model/(all).cpp -o libvermilion_model.so    (config_json.cpp:
 * nlohmann-json3-dev) Functions that return int give 0 when done and -1 when an argument was refused: then nothing has
 * changed. Handles are not shared between threads. No C++ exception leaves these functions. */
#ifndef VERMILION_MODEL_H
#define VERMILION_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "flow_records.h"
#include "records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decisions: what the RTL's trace is replayed in. Only config->queues and queue_count are read. NULL where refused. */
typedef struct VmModel VmModel;
VmModel *vm_create(const VmConfig *config);
void vm_destroy(VmModel *model);
/* What a commit does: another configuration for one queue, from its next decision on. -1: no such queue. */
int vm_configure(VmModel *model, uint32_t queue, const VmQueue *record);
int vm_decide(VmModel *model, const VmArrival *arrival, VmDecision *decision);
int vm_depart(VmModel *model, const VmDeparture *departure);
int vm_average(const VmModel *model, uint32_t queue, uint32_t colour, uint64_t *avg);
/* What a host reads of an average of an empty queue: n from 1 to 6 as in VmArrival, `idle_ns` since the later of the last departure and
 * the update that is looked at. */
int vm_average_aged(const VmModel *model, uint32_t queue, uint32_t colour, uint32_t n, uint64_t idle_ns, uint64_t *avg);

/* A lane of one input, lane_session.h. Frames have at least one byte. */
typedef struct VmLane VmLane;
VmLane *vm_lane_create(const VmConfig *config);
void vm_lane_destroy(VmLane *lane);
int vm_lane_arrive(VmLane *lane, uint64_t time, const uint8_t *frame, uint32_t len_bytes, uint32_t bad, VmArrival *seen,
                   VmDecision *decision); /* seen may be NULL */
void vm_lane_advance(VmLane *lane, uint64_t time);
uint64_t vm_lane_drain(VmLane *lane);
/* 1: what is in the lane goes on when it is advanced to `time`; to be asked after each call that runs it. 0: nothing is under way. */
int vm_lane_next(const VmLane *lane, uint64_t *time);
/* Takes the next sent frame. 1: taken, 0: none, -1: `room` is too small and nothing was taken. */
int vm_lane_take(VmLane *lane, VmSent *sent, uint8_t *bytes, uint32_t room);
/* Takes the next evicted frame, in the order of evictions; an arrival costs one at most. 1: taken, 0: none. To be asked after
 * each arrival where victim = nearest: the frame had verdict enqueue or mark, and is gone. */
int vm_lane_evicted(VmLane *lane, VmEvicted *evicted);
int vm_lane_counters(const VmLane *lane, uint32_t queue, uint32_t colour, VmCounters *counters);

/* A configuration from hardware JSON, config_json.h. NULL: refused, and `error` says why. */
typedef struct VmConfigFile VmConfigFile;
VmConfigFile *vm_config_read(const char *json, char *error, size_t room);
const VmConfig *vm_config_get(const VmConfigFile *file);
void vm_config_destroy(VmConfigFile *file);

/* A token bucket marker by itself; see token_marker.h. `level` is bucket A's before the packet, U48.16 ns. */
typedef struct VmTokenMarker VmTokenMarker;
typedef struct {
  uint32_t colour, policed;
  uint64_t level;
} VmMarked;
VmTokenMarker *vm_marker_create(void);
void vm_marker_destroy(VmTokenMarker *marker);
uint32_t vm_marker_bytes(const VmMarker *config, const VmHeaders *headers, uint32_t len_bytes); /* countedBytes */
void vm_marker_mark(VmTokenMarker *marker, const VmMarker *config, uint64_t time, uint32_t colour, uint32_t len_bytes,
                    uint32_t draw, VmMarked *marked); /* len_bytes: where config has no packet_bytes */

/* The blocks by themselves. */
uint64_t vm_average_step(uint64_t avg, uint32_t q, VmScaled weight);
/* One ageing, average.h: `idle_ns`, `steps` packets and what `residue` holds, all by the queue's lambda and idle_step. `residue`
 * becomes what this one leaves over, low 48 bits; NULL stands for 0. */
uint64_t vm_average_age(uint64_t avg, uint64_t idle_ns, const VmQueue *queue, uint32_t steps, uint64_t *residue);
uint32_t vm_age_rom(uint32_t index); /* 0..1023 */
uint64_t vm_curve_probability(const VmCurve *curve, uint64_t avg, uint32_t ratio, uint32_t *over);
uint32_t vm_size_ratio(uint32_t len_bytes, VmScaled size);
/* State in and out: S, R, R valid. 1: early. */
uint32_t vm_spacing_step(uint64_t *sum, uint32_t *r, uint32_t *r_valid, uint32_t mode, uint64_t p, uint32_t draw);
void vm_parse(const uint8_t *frame, uint32_t len_bytes, VmOptionTypes types, VmHeaders *headers);
uint32_t vm_rewrite(uint8_t *frame, const VmHeaders *headers, uint32_t set_ce, uint32_t set_dscp, uint32_t dscp,
                    uint32_t remove_option);
uint32_t vm_distance(const VmHeaders *headers, const VmDistance *from); /* distance.h */
uint32_t vm_checksum(uint32_t checksum, uint32_t before, uint32_t after);
/* The four words of a seed; a draw steps them. -1: all words are 0. */
void vm_random_seed(uint64_t seed, uint32_t words[4]);
int vm_random_draw(uint32_t words[4], uint32_t *draw);

/* The per-flow markers, flow_marker.h, one packet a step. NULL: `flows` is not a power of two from 256 to 65536, or the
 * seed (the state of the random source, not the host's seed) is all 0. -1: a queue of 2^15 or more, a kind above 3. */
typedef struct VmFlowMarker VmFlowMarker;
VmFlowMarker *vm_flow_create(uint32_t flows, const uint32_t seed[4]);
void vm_flow_destroy(VmFlowMarker *marker);
int vm_flow_step(VmFlowMarker *marker, uint64_t time, uint32_t queue, const VmHeaders *headers,
                 const VmFlowConfig *config, VmFlowAnswer *answer);

#ifdef __cplusplus
}
#endif
#endif
