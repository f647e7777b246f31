/* The C interface of the model, for ctypes, ns-3 and test benches.
 *
 * Build: g++ -std=c++20 -O2 -fPIC -shared sim/model/(all).cpp -o libvermilion_model.so    (config_json.cpp:
 * nlohmann-json3-dev) Functions that return int give 0 on success. -1 means that an argument was refused and nothing
 * has changed. A handle must not be shared between threads. No C++ exception leaves these functions. */
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

/* Decisions: the replay feeds the RTL's trace into these. They use only config->queues and queue_count.
 * NULL: refused. */
typedef struct VmModel VmModel;
VmModel *vm_create(const VmConfig *config);
void vm_destroy(VmModel *model);
/* A commit: a new configuration of one queue, from its next decision on. -1: no such queue. */
int vm_configure(VmModel *model, uint32_t queue, const VmQueue *record);
int vm_decide(VmModel *model, const VmArrival *arrival, VmDecision *decision);
int vm_depart(VmModel *model, const VmDeparture *departure);
int vm_average(const VmModel *model, uint32_t queue, uint32_t colour, uint64_t *avg);
/* What a host read returns for the average of an empty queue. n: 1 to 6, as in VmArrival. `idle_ns`: since the last
 * departure or the n-th last update, the later of them. */
int vm_average_aged(const VmModel *model, uint32_t queue, uint32_t colour, uint32_t n, uint64_t idle_ns, uint64_t *avg);

/* A lane with one input, lane_session.h. Frames have at least one byte. */
typedef struct VmLane VmLane;
VmLane *vm_lane_create(const VmConfig *config);
void vm_lane_destroy(VmLane *lane);
/* 1: a queue has CoDel, PIE, DualPI2 or a ce_threshold, or marks at departure, so that the lane is a build with all of
 * them. */
int vm_lane_judges(const VmConfig *config);
int vm_lane_arrive(VmLane *lane, uint64_t time, const uint8_t *frame, uint32_t len_bytes, uint32_t bad, VmArrival *seen,
                   VmDecision *decision); /* seen may be NULL */
void vm_lane_advance(VmLane *lane, uint64_t time);
uint64_t vm_lane_drain(VmLane *lane);
/* 1: advance the lane to `time` for the frames in it. 0: the lane is quiescent. Call this after each call that runs the
 * lane. */
int vm_lane_next(const VmLane *lane, uint64_t *time);
/* Takes the next sent frame. 1: taken, 0: none, -1: `room` is too small and nothing was taken. */
int vm_lane_take(VmLane *lane, VmSent *sent, uint8_t *bytes, uint32_t room);
/* Takes the next evicted frame, in the order of evictions. An arrival evicts at most one. 1: taken, 0: none. If a queue
 * has victim = nearest, call this after each arrival: the evicted frame had verdict enqueue or mark, and has left its queue. */
int vm_lane_evicted(VmLane *lane, VmEvicted *evicted);
/* The same for frames that their queue's AQM dropped as they left it. */
int vm_lane_dropped(VmLane *lane, VmDepartureDrop *dropped);
int vm_lane_counters(const VmLane *lane, uint32_t queue, uint32_t colour, VmCounters *counters);

/* A configuration from hardware JSON, config_json.h. NULL: refused; `error` gives the reason. */
typedef struct VmConfigFile VmConfigFile;
VmConfigFile *vm_config_read(const char *json, char *error, size_t room);
const VmConfig *vm_config_get(const VmConfigFile *file);
void vm_config_destroy(VmConfigFile *file);

/* A single token bucket marker; see token_marker.h. `level` is that of bucket A before the packet, U48.16 ns. */
typedef struct VmTokenMarker VmTokenMarker;
typedef struct {
  uint32_t colour, policed;
  uint64_t level;
} VmMarked;
VmTokenMarker *vm_marker_create(void);
void vm_marker_destroy(VmTokenMarker *marker);
uint32_t vm_marker_bytes(const VmMarker *config, const VmHeaders *headers, uint32_t len_bytes); /* countedBytes */
void vm_marker_mark(VmTokenMarker *marker, const VmMarker *config, uint64_t time, uint32_t colour, uint32_t len_bytes,
                    uint32_t draw, VmMarked *marked); /* len_bytes: used if config->packet is 0 */

/* Single blocks. */
uint64_t vm_average_step(uint64_t avg, uint32_t q, VmScaled weight);
/* One ageing, average.h: by `idle_ns`, `steps` packets and `residue`, with the queue's lambda and idle_step. It writes
 * the new residue, low 48 bits, to `residue`. NULL: a residue of 0. */
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
/* The four state words of a seed. A draw steps them. -1: all words are 0. */
void vm_random_seed(uint64_t seed, uint32_t words[4]);
int vm_random_draw(uint32_t words[4], uint32_t *draw);

/* CoDel, codel.h. `ds_field` 256: not IP. The result: 0 pass, 1 mark, 2 drop. */
typedef struct {
  uint32_t target, interval, ce_threshold, mtu, ecn, ce_mask, ce_selector;
} VmCodelSettings;
typedef struct {
  uint32_t phase, is_above, may_drop_at, drop_next, count, last_count, inv_sqrt, step;
} VmCodelState;
uint32_t vm_codel_head(VmCodelState *state, const VmCodelSettings *settings, uint32_t now, uint32_t enqueued,
                       uint32_t ds_field, uint32_t backlog, uint32_t settled);

/* PIE, pie.h. The result of an arrival: 0 pass, 1 mark, 2 drop. */
typedef struct {
  uint64_t target, burst, alpha, beta;
  uint32_t mtu, ecn, byte_mode;
} VmPieSettings;
typedef struct {
  uint64_t prob, prob_per_byte, accumulated, delay, delay_before, burst_left;
  uint32_t departed, restarts;
} VmPieState;
void vm_pie_begin(VmPieState *state);
uint32_t vm_pie_arrives(VmPieState *state, const VmPieSettings *settings, uint32_t backlog, uint32_t len_bytes,
                        uint32_t ect, uint64_t draw);
void vm_pie_lost(VmPieState *state);
void vm_pie_departs(VmPieState *state, const VmPieSettings *settings, uint64_t now, uint64_t enqueued,
                    uint32_t backlog);
/* The queue's PIE is turned on. `delay`: of its last departure. */
void vm_pie_restarts(VmPieState *state, uint64_t delay);
void vm_pie_update(VmPieState *state, const VmPieSettings *settings, uint64_t delay, uint32_t is_empty);

/* DualPI2, dualpi2.h. The verdict: 0 pass, 1 mark, 2 drop. */
typedef struct {
  uint64_t target, step;
  uint32_t alpha, beta, most, coupling, mtu, drop_overload;
} VmDualPi2Settings;
typedef struct {
  uint64_t delay_before;
  uint32_t prob;
} VmDualPi2State;
void vm_dualpi2_update(VmDualPi2State *state, const VmDualPi2Settings *settings, uint64_t delay);
uint32_t vm_dualpi2_head(const VmDualPi2State *state, const VmDualPi2Settings *settings, uint32_t is_l, uint32_t ecn,
                         uint64_t sojourn, uint32_t backlog, uint32_t draw_a, uint32_t draw_b);

/* The flow markers, flow_marker.h, one packet per step. NULL: `flows` is not a power of two from 256 to 65536, or the
 * seed (the state of the random source, not the host's seed) is all 0. -1: the queue is 2^15 or more, or the kind is
 * above 3. */
typedef struct VmFlowMarker VmFlowMarker;
VmFlowMarker *vm_flow_create(uint32_t flows, const uint32_t seed[4]);
void vm_flow_destroy(VmFlowMarker *marker);
int vm_flow_step(VmFlowMarker *marker, uint64_t time, uint32_t queue, const VmHeaders *headers,
                 const VmFlowConfig *config, VmFlowAnswer *answer);

/* A table of rules, rules.h. `ranges`: VM_PORT_RANGES of source ports, then as many of destination ports. The result of
 * a frame: the number of the first rule that matches it, or -1. */
typedef struct VmRuleTable VmRuleTable;
VmRuleTable *vm_rules_create(const VmRule *rules, uint32_t count, const VmPortRange *ranges);
void vm_rules_destroy(VmRuleTable *rules);
int vm_rules_first(const VmRuleTable *rules, const uint8_t *frame, uint32_t len_bytes, uint32_t input);

#ifdef __cplusplus
}
#endif
#endif
