// Generated from hw/regs/vermilion.rdl by sim/vermilion/generate/registers.py. Do not edit.
// Byte addresses of the registers as functions of their indices, and their fields. Meaning: docs/registers.md.
#pragma once

#include <cstdint>

namespace vermilion::registers {

struct Field {
  unsigned high, low;
  constexpr uint32_t mask() const { return uint32_t(((uint64_t{2} << (high - low)) - 1) << low); }
  constexpr uint32_t put(uint32_t value) const { return (value << low) & mask(); }
  constexpr uint32_t get(uint32_t word) const { return (word & mask()) >> low; }
};

constexpr uint32_t block_type() { return 0x0000; }
constexpr Field kBlockTypeBlock{15, 0};
constexpr Field kBlockTypeVendor{31, 16};
constexpr uint32_t version() { return 0x0004; }
constexpr Field kVersionMinor{15, 0};
constexpr Field kVersionMajor{31, 16};
constexpr uint32_t next_block() { return 0x0008; }
constexpr Field kNextBlockOffset{31, 0};
constexpr uint32_t dualpi2() { return 0x000c; }
constexpr uint32_t queues() { return 0x0010; }
constexpr uint32_t cells() { return 0x0014; }
constexpr uint32_t data_bits() { return 0x0018; }
constexpr uint32_t inputs() { return 0x001c; }
constexpr uint32_t ewma_stages() { return 0x0020; }
constexpr uint32_t max_frame_bytes() { return 0x0024; }
constexpr uint32_t flows() { return 0x0028; }
constexpr uint32_t victims() { return 0x002c; }
constexpr uint32_t protect() { return 0x0030; }
constexpr uint32_t egresses() { return 0x0034; }
constexpr uint32_t codel() { return 0x0038; }
constexpr uint32_t pie() { return 0x003c; }
constexpr uint32_t control() { return 0x0040; }
constexpr Field kControlDepartureUpdates{0, 0};
constexpr Field kControlClearStatistics{1, 1};
constexpr uint32_t status() { return 0x0044; }
constexpr Field kStatusBusy{0, 0};
constexpr Field kStatusCommitPending{1, 1};
constexpr Field kStatusSnapshotPending{2, 2};
constexpr Field kStatusClearPending{3, 3};
constexpr Field kStatusRulesPending{4, 4};
constexpr Field kStatusBadQueue{8, 8};
constexpr Field kStatusMemoryFailed{9, 9};
constexpr Field kStatusBadRule{10, 10};
constexpr uint32_t refreshes_skipped() { return 0x0048; }
constexpr Field kRefreshesSkippedCount{31, 0};
constexpr uint32_t ttl_option() { return 0x004c; }
constexpr Field kTtlOptionIp4{7, 0};
constexpr Field kTtlOptionIp6{15, 8};
constexpr uint32_t seed(uint32_t i) { return 0x0050 + 0x4 * i; }
constexpr uint32_t port_cost() { return 0x0060; }
constexpr Field kPortCostMant{17, 0};
constexpr Field kPortCostShift{29, 24};
constexpr uint32_t port_burst_low() { return 0x0064; }
constexpr uint32_t port_burst_high() { return 0x0068; }
constexpr uint32_t port_egress() { return 0x006c; }
constexpr uint32_t class_address() { return 0x0070; }
constexpr Field kClassAddressAddress{6, 0};
constexpr uint32_t class_entry() { return 0x0074; }
constexpr Field kClassEntryQueue{11, 0};
constexpr Field kClassEntryColour{17, 16};
constexpr uint32_t pause() { return 0x0078; }
constexpr uint32_t flush() { return 0x007c; }
constexpr Field kFlushEgresses{7, 0};
constexpr Field kFlushQueue{27, 16};
constexpr Field kFlushQueueOn{31, 31};
constexpr uint32_t queue_select() { return 0x0080; }
constexpr Field kQueueSelectQueue{11, 0};
constexpr uint32_t commit() { return 0x0084; }
constexpr Field kCommitGo{0, 0};
constexpr uint32_t snapshot() { return 0x0088; }
constexpr Field kSnapshotGo{0, 0};
constexpr uint32_t mark_seed(uint32_t i) { return 0x0090 + 0x4 * i; }
constexpr uint32_t flow_seed(uint32_t i) { return 0x00a0 + 0x4 * i; }
constexpr uint32_t flow_events(uint32_t i) { return 0x00c0 + 0x4 * i; }
constexpr Field kFlowEventsCount{31, 0};
constexpr uint32_t upsets(uint32_t i) { return 0x00e0 + 0x4 * i; }
constexpr Field kUpsetsCount{31, 0};
constexpr uint32_t routes(uint32_t i) { return 0x00f0 + 0x4 * i; }
constexpr uint32_t shadow_flags() { return 0x0100; }
constexpr Field kShadowFlagsUnit{0, 0};
constexpr Field kShadowFlagsUpdate{1, 1};
constexpr Field kShadowFlagsEcn{2, 2};
constexpr Field kShadowFlagsSizeWeight{3, 3};
constexpr Field kShadowFlagsSpacing{5, 4};
constexpr Field kShadowFlagsStrict{6, 6};
constexpr Field kShadowFlagsMarkLate{7, 7};
constexpr Field kShadowFlagsPriority{11, 8};
constexpr Field kShadowFlagsAlpha{15, 12};
constexpr Field kShadowFlagsMaskGreen{18, 16};
constexpr Field kShadowFlagsMaskYellow{22, 20};
constexpr Field kShadowFlagsMaskRed{26, 24};
constexpr uint32_t shadow_limit() { return 0x0104; }
constexpr uint32_t shadow_limit_packets() { return 0x0108; }
constexpr uint32_t shadow_lambda() { return 0x010c; }
constexpr Field kShadowLambdaMant{15, 0};
constexpr Field kShadowLambdaShift{29, 24};
constexpr uint32_t shadow_inv_mean_len() { return 0x0110; }
constexpr Field kShadowInvMeanLenMant{15, 0};
constexpr Field kShadowInvMeanLenShift{29, 24};
constexpr uint32_t shadow_weight(uint32_t i) { return 0x0114 + 0x4 * i; }
constexpr Field kShadowWeightMant{8, 0};
constexpr Field kShadowWeightShift{28, 24};
constexpr uint32_t shadow_quantum() { return 0x012c; }
constexpr uint32_t shadow_cost() { return 0x0130; }
constexpr Field kShadowCostMant{17, 0};
constexpr Field kShadowCostShift{29, 24};
constexpr uint32_t shadow_burst_low() { return 0x0134; }
constexpr uint32_t shadow_burst_high() { return 0x0138; }
constexpr uint32_t shadow_distance() { return 0x013c; }
constexpr Field kShadowDistanceOption{0, 0};
constexpr Field kShadowDistanceInfer{1, 1};
constexpr Field kShadowDistanceShare{2, 2};
constexpr Field kShadowDistanceTtlOption{8, 8};
constexpr Field kShadowDistanceVictim{16, 16};
constexpr Field kShadowDistanceVictimByColour{17, 17};
constexpr Field kShadowDistanceVictimWindow{28, 24};
constexpr uint32_t shadow_marker_flags() { return 0x0140; }
constexpr Field kShadowMarkerFlagsKind{2, 0};
constexpr Field kShadowMarkerFlagsColourAware{4, 4};
constexpr Field kShadowMarkerFlagsLength{5, 5};
constexpr Field kShadowMarkerFlagsOut{9, 8};
constexpr Field kShadowMarkerFlagsDrop{14, 12};
constexpr Field kShadowMarkerFlagsPacket{31, 16};
constexpr uint32_t shadow_marker_cost(uint32_t i) { return 0x0144 + 0x4 * i; }
constexpr Field kShadowMarkerCostMant{17, 0};
constexpr Field kShadowMarkerCostShift{29, 24};
constexpr uint32_t shadow_marker_burst_low(uint32_t i) { return 0x014c + 0x8 * i; }
constexpr uint32_t shadow_marker_burst_high(uint32_t i) { return 0x0150 + 0x8 * i; }
constexpr uint32_t shadow_marker_low_threshold_low() { return 0x015c; }
constexpr uint32_t shadow_marker_low_threshold_high() { return 0x0160; }
constexpr uint32_t shadow_marker_high_threshold_low() { return 0x0164; }
constexpr uint32_t shadow_marker_high_threshold_high() { return 0x0168; }
constexpr uint32_t shadow_marker_demote() { return 0x016c; }
constexpr Field kShadowMarkerDemoteMant{17, 0};
constexpr Field kShadowMarkerDemoteShift{29, 24};
constexpr uint32_t shadow_marker_promote() { return 0x0170; }
constexpr Field kShadowMarkerPromoteMant{17, 0};
constexpr Field kShadowMarkerPromoteShift{29, 24};
constexpr uint32_t shadow_marker_p_drop() { return 0x0174; }
constexpr uint32_t shadow_marker_meter_low() { return 0x0178; }
constexpr uint32_t shadow_marker_meter_high() { return 0x017c; }
constexpr uint32_t shadow_marker_remark(uint32_t i) { return 0x0180 + 0x4 * i; }
constexpr Field kShadowMarkerRemarkDscp{5, 0};
constexpr Field kShadowMarkerRemarkOn{8, 8};
constexpr uint32_t shadow_marker_flow() { return 0x018c; }
constexpr Field kShadowMarkerFlowKind{1, 0};
constexpr Field kShadowMarkerFlowIncrease{2, 2};
constexpr Field kShadowMarkerFlowAck{3, 3};
constexpr Field kShadowMarkerFlowAlpha{7, 4};
constexpr Field kShadowMarkerFlowNs{15, 8};
constexpr Field kShadowMarkerFlowNa{23, 16};
constexpr uint32_t shadow_marker_flow_a0() { return 0x0190; }
constexpr uint32_t shadow_marker_flow_ages() { return 0x0194; }
constexpr Field kShadowMarkerFlowAgesIdle{15, 0};
constexpr Field kShadowMarkerFlowAgesHalfOpen{31, 16};
constexpr uint32_t shadow_idle_step_low() { return 0x0198; }
constexpr uint32_t shadow_idle_step_high() { return 0x019c; }
constexpr uint32_t shadow_codel() { return 0x01a0; }
constexpr Field kShadowCodelOn{0, 0};
constexpr Field kShadowCodelCeMask{15, 8};
constexpr Field kShadowCodelCeSelector{23, 16};
constexpr uint32_t shadow_codel_target() { return 0x01a4; }
constexpr uint32_t shadow_codel_interval() { return 0x01a8; }
constexpr uint32_t shadow_ce_threshold() { return 0x01ac; }
constexpr uint32_t shadow_codel_mtu() { return 0x01b0; }
constexpr uint32_t shadow_fq() { return 0x01bc; }
constexpr uint32_t shadow_pie() { return 0x01c0; }
constexpr Field kShadowPieOn{0, 0};
constexpr Field kShadowPieByteMode{1, 1};
constexpr Field kShadowPieInterval{29, 16};
constexpr uint32_t shadow_pie_target() { return 0x01c4; }
constexpr uint32_t shadow_pie_burst() { return 0x01c8; }
constexpr uint32_t shadow_pie_alpha_low() { return 0x01cc; }
constexpr uint32_t shadow_pie_alpha_high() { return 0x01d0; }
constexpr uint32_t shadow_pie_beta_low() { return 0x01d4; }
constexpr uint32_t shadow_pie_beta_high() { return 0x01d8; }
constexpr uint32_t shadow_pie_mtu() { return 0x01dc; }
constexpr uint32_t shadow_dualpi2() { return 0x01e0; }
constexpr Field kShadowDualpi2On{0, 0};
constexpr Field kShadowDualpi2DropOverload{1, 1};
constexpr Field kShadowDualpi2L4sMask{3, 2};
constexpr Field kShadowDualpi2Coupling{15, 8};
constexpr Field kShadowDualpi2Interval{29, 16};
constexpr uint32_t shadow_dualpi2_target() { return 0x01e4; }
constexpr uint32_t shadow_dualpi2_step() { return 0x01e8; }
constexpr uint32_t shadow_dualpi2_alpha() { return 0x01ec; }
constexpr uint32_t shadow_dualpi2_beta() { return 0x01f0; }
constexpr uint32_t shadow_dualpi2_most() { return 0x01f4; }
constexpr uint32_t shadow_dualpi2_mtu() { return 0x01f8; }
constexpr uint32_t shadow_colour_curve_flags(uint32_t i, uint32_t j) { return 0x0200 + 0x100 * i + 0x40 * j; }
constexpr Field kShadowColourCurveFlagsOn{0, 0};
constexpr Field kShadowColourCurveFlagsSlope1One{8, 8};
constexpr Field kShadowColourCurveFlagsBase2One{9, 9};
constexpr Field kShadowColourCurveFlagsSlope2One{10, 10};
constexpr uint32_t shadow_colour_curve_min(uint32_t i, uint32_t j) { return 0x0204 + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_max(uint32_t i, uint32_t j) { return 0x0208 + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_end(uint32_t i, uint32_t j) { return 0x020c + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_inv1(uint32_t i, uint32_t j) { return 0x0210 + 0x100 * i + 0x40 * j; }
constexpr Field kShadowColourCurveInv1Mant{17, 0};
constexpr Field kShadowColourCurveInv1Shift{29, 24};
constexpr uint32_t shadow_colour_curve_slope1(uint32_t i, uint32_t j) { return 0x0214 + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_inv2(uint32_t i, uint32_t j) { return 0x0218 + 0x100 * i + 0x40 * j; }
constexpr Field kShadowColourCurveInv2Mant{17, 0};
constexpr Field kShadowColourCurveInv2Shift{29, 24};
constexpr uint32_t shadow_colour_curve_base2(uint32_t i, uint32_t j) { return 0x021c + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_slope2(uint32_t i, uint32_t j) { return 0x0220 + 0x100 * i + 0x40 * j; }
constexpr uint32_t shadow_colour_curve_square2(uint32_t i, uint32_t j) { return 0x0224 + 0x100 * i + 0x40 * j; }
constexpr Field kShadowColourCurveSquare2Mant{17, 0};
constexpr Field kShadowColourCurveSquare2Shift{29, 24};
constexpr uint32_t shadow_colour_ecn_own(uint32_t i) { return 0x0280 + 0x100 * i; }
constexpr Field kShadowColourEcnOwnOwn{0, 0};
constexpr uint32_t pool_size() { return 0x0500; }
constexpr uint32_t pool_reserve(uint32_t i) { return 0x0520 + 0x4 * i; }
constexpr uint32_t pool_cap(uint32_t i) { return 0x0540 + 0x4 * i; }
constexpr uint32_t pool_used(uint32_t i) { return 0x0560 + 0x4 * i; }
constexpr uint32_t pool_most(uint32_t i) { return 0x0580 + 0x4 * i; }
constexpr uint32_t pool_used_total() { return 0x05a0; }
constexpr uint32_t pool_most_total() { return 0x05a4; }
constexpr uint32_t reports() { return 0x0600; }
constexpr uint32_t report_every() { return 0x0604; }
constexpr uint32_t report_interval() { return 0x0608; }
constexpr uint32_t report_burst() { return 0x060c; }
constexpr uint32_t report_ethernet(uint32_t i) { return 0x0610 + 0x4 * i; }
constexpr uint32_t report_events(uint32_t i) { return 0x0620 + 0x4 * i; }
constexpr Field kReportEventsCount{31, 0};
constexpr uint32_t report_select() { return 0x0630; }
constexpr Field kReportSelectReasons{15, 0};
constexpr Field kReportSelectQueue{27, 16};
constexpr uint32_t fq() { return 0x0700; }
constexpr uint32_t rules() { return 0x0704; }
constexpr uint32_t flow_collisions_low() { return 0x0710; }
constexpr uint32_t flow_collisions_high() { return 0x0714; }
constexpr uint32_t rule_select() { return 0x0718; }
constexpr Field kRuleSelectRule{11, 0};
constexpr uint32_t rule_commit() { return 0x071c; }
constexpr Field kRuleCommitGo{0, 0};
constexpr uint32_t rule_counts_packets_low() { return 0x0720; }
constexpr uint32_t rule_counts_packets_high() { return 0x0724; }
constexpr uint32_t rule_counts_bytes_low() { return 0x0728; }
constexpr uint32_t rule_counts_bytes_high() { return 0x072c; }
constexpr uint32_t port_range(uint32_t i) { return 0x0740 + 0x4 * i; }
constexpr Field kPortRangeLow{15, 0};
constexpr Field kPortRangeHigh{31, 16};
constexpr uint32_t rule_value(uint32_t i) { return 0x0780 + 0x4 * i; }
constexpr uint32_t rule_action() { return 0x07ac; }
constexpr Field kRuleActionQueue{11, 0};
constexpr Field kRuleActionColour{13, 12};
constexpr Field kRuleActionDscp{21, 16};
constexpr Field kRuleActionSetsQueue{24, 24};
constexpr Field kRuleActionSetsColour{25, 25};
constexpr Field kRuleActionSetsDscp{26, 26};
constexpr Field kRuleActionDrop{27, 27};
constexpr Field kRuleActionOn{31, 31};
constexpr uint32_t rule_mask(uint32_t i) { return 0x07c0 + 0x4 * i; }
constexpr uint32_t rule_marker() { return 0x07ec; }
constexpr Field kRuleMarkerQueue{11, 0};
constexpr Field kRuleMarkerSetsMarker{31, 31};
constexpr uint32_t lost_frames_low(uint32_t i) { return 0x0800 + 0x10 * i; }
constexpr uint32_t lost_frames_high(uint32_t i) { return 0x0804 + 0x10 * i; }
constexpr uint32_t lost_bytes_low(uint32_t i) { return 0x0808 + 0x10 * i; }
constexpr uint32_t lost_bytes_high(uint32_t i) { return 0x080c + 0x10 * i; }
constexpr uint32_t window_colour_arrived_packets_low(uint32_t i) { return 0x1000 + 0x100 * i; }
constexpr uint32_t window_colour_arrived_packets_high(uint32_t i) { return 0x1004 + 0x100 * i; }
constexpr uint32_t window_colour_arrived_bytes_low(uint32_t i) { return 0x1008 + 0x100 * i; }
constexpr uint32_t window_colour_arrived_bytes_high(uint32_t i) { return 0x100c + 0x100 * i; }
constexpr uint32_t window_colour_enqueued_packets_low(uint32_t i) { return 0x1010 + 0x100 * i; }
constexpr uint32_t window_colour_enqueued_packets_high(uint32_t i) { return 0x1014 + 0x100 * i; }
constexpr uint32_t window_colour_enqueued_bytes_low(uint32_t i) { return 0x1018 + 0x100 * i; }
constexpr uint32_t window_colour_enqueued_bytes_high(uint32_t i) { return 0x101c + 0x100 * i; }
constexpr uint32_t window_colour_early_packets_low(uint32_t i) { return 0x1020 + 0x100 * i; }
constexpr uint32_t window_colour_early_packets_high(uint32_t i) { return 0x1024 + 0x100 * i; }
constexpr uint32_t window_colour_early_bytes_low(uint32_t i) { return 0x1028 + 0x100 * i; }
constexpr uint32_t window_colour_early_bytes_high(uint32_t i) { return 0x102c + 0x100 * i; }
constexpr uint32_t window_colour_forced_packets_low(uint32_t i) { return 0x1030 + 0x100 * i; }
constexpr uint32_t window_colour_forced_packets_high(uint32_t i) { return 0x1034 + 0x100 * i; }
constexpr uint32_t window_colour_forced_bytes_low(uint32_t i) { return 0x1038 + 0x100 * i; }
constexpr uint32_t window_colour_forced_bytes_high(uint32_t i) { return 0x103c + 0x100 * i; }
constexpr uint32_t window_colour_tail_packets_low(uint32_t i) { return 0x1040 + 0x100 * i; }
constexpr uint32_t window_colour_tail_packets_high(uint32_t i) { return 0x1044 + 0x100 * i; }
constexpr uint32_t window_colour_tail_bytes_low(uint32_t i) { return 0x1048 + 0x100 * i; }
constexpr uint32_t window_colour_tail_bytes_high(uint32_t i) { return 0x104c + 0x100 * i; }
constexpr uint32_t window_colour_nobuf_packets_low(uint32_t i) { return 0x1050 + 0x100 * i; }
constexpr uint32_t window_colour_nobuf_packets_high(uint32_t i) { return 0x1054 + 0x100 * i; }
constexpr uint32_t window_colour_nobuf_bytes_low(uint32_t i) { return 0x1058 + 0x100 * i; }
constexpr uint32_t window_colour_nobuf_bytes_high(uint32_t i) { return 0x105c + 0x100 * i; }
constexpr uint32_t window_colour_bad_packets_low(uint32_t i) { return 0x1060 + 0x100 * i; }
constexpr uint32_t window_colour_bad_packets_high(uint32_t i) { return 0x1064 + 0x100 * i; }
constexpr uint32_t window_colour_bad_bytes_low(uint32_t i) { return 0x1068 + 0x100 * i; }
constexpr uint32_t window_colour_bad_bytes_high(uint32_t i) { return 0x106c + 0x100 * i; }
constexpr uint32_t window_colour_ce_chosen_packets_low(uint32_t i) { return 0x1070 + 0x100 * i; }
constexpr uint32_t window_colour_ce_chosen_packets_high(uint32_t i) { return 0x1074 + 0x100 * i; }
constexpr uint32_t window_colour_ce_chosen_bytes_low(uint32_t i) { return 0x1078 + 0x100 * i; }
constexpr uint32_t window_colour_ce_chosen_bytes_high(uint32_t i) { return 0x107c + 0x100 * i; }
constexpr uint32_t window_colour_ce_written_packets_low(uint32_t i) { return 0x1080 + 0x100 * i; }
constexpr uint32_t window_colour_ce_written_packets_high(uint32_t i) { return 0x1084 + 0x100 * i; }
constexpr uint32_t window_colour_ce_written_bytes_low(uint32_t i) { return 0x1088 + 0x100 * i; }
constexpr uint32_t window_colour_ce_written_bytes_high(uint32_t i) { return 0x108c + 0x100 * i; }
constexpr uint32_t window_colour_sent_packets_low(uint32_t i) { return 0x1090 + 0x100 * i; }
constexpr uint32_t window_colour_sent_packets_high(uint32_t i) { return 0x1094 + 0x100 * i; }
constexpr uint32_t window_colour_sent_bytes_low(uint32_t i) { return 0x1098 + 0x100 * i; }
constexpr uint32_t window_colour_sent_bytes_high(uint32_t i) { return 0x109c + 0x100 * i; }
constexpr uint32_t window_colour_policed_packets_low(uint32_t i) { return 0x10a0 + 0x100 * i; }
constexpr uint32_t window_colour_policed_packets_high(uint32_t i) { return 0x10a4 + 0x100 * i; }
constexpr uint32_t window_colour_policed_bytes_low(uint32_t i) { return 0x10a8 + 0x100 * i; }
constexpr uint32_t window_colour_policed_bytes_high(uint32_t i) { return 0x10ac + 0x100 * i; }
constexpr uint32_t window_colour_evicted_packets_low(uint32_t i) { return 0x10b0 + 0x100 * i; }
constexpr uint32_t window_colour_evicted_packets_high(uint32_t i) { return 0x10b4 + 0x100 * i; }
constexpr uint32_t window_colour_evicted_bytes_low(uint32_t i) { return 0x10b8 + 0x100 * i; }
constexpr uint32_t window_colour_evicted_bytes_high(uint32_t i) { return 0x10bc + 0x100 * i; }
constexpr uint32_t window_colour_flushed_packets_low(uint32_t i) { return 0x10c0 + 0x100 * i; }
constexpr uint32_t window_colour_flushed_packets_high(uint32_t i) { return 0x10c4 + 0x100 * i; }
constexpr uint32_t window_colour_flushed_bytes_low(uint32_t i) { return 0x10c8 + 0x100 * i; }
constexpr uint32_t window_colour_flushed_bytes_high(uint32_t i) { return 0x10cc + 0x100 * i; }
constexpr uint32_t window_colour_departure_dropped_packets_low(uint32_t i) { return 0x10d0 + 0x100 * i; }
constexpr uint32_t window_colour_departure_dropped_packets_high(uint32_t i) { return 0x10d4 + 0x100 * i; }
constexpr uint32_t window_colour_departure_dropped_bytes_low(uint32_t i) { return 0x10d8 + 0x100 * i; }
constexpr uint32_t window_colour_departure_dropped_bytes_high(uint32_t i) { return 0x10dc + 0x100 * i; }
constexpr uint32_t window_colour_departure_marked_packets_low(uint32_t i) { return 0x10e0 + 0x100 * i; }
constexpr uint32_t window_colour_departure_marked_packets_high(uint32_t i) { return 0x10e4 + 0x100 * i; }
constexpr uint32_t window_colour_departure_marked_bytes_low(uint32_t i) { return 0x10e8 + 0x100 * i; }
constexpr uint32_t window_colour_departure_marked_bytes_high(uint32_t i) { return 0x10ec + 0x100 * i; }
constexpr uint32_t window_latency_low(uint32_t i) { return 0x1400 + 0x8 * i; }
constexpr uint32_t window_latency_high(uint32_t i) { return 0x1404 + 0x8 * i; }
constexpr uint32_t window_backlog_bytes() { return 0x1500; }
constexpr uint32_t window_backlog_packets() { return 0x1504; }
constexpr uint32_t window_max_bytes() { return 0x1508; }
constexpr uint32_t window_max_packets() { return 0x150c; }
constexpr uint32_t window_average_low(uint32_t i) { return 0x1510 + 0x8 * i; }
constexpr uint32_t window_average_high(uint32_t i) { return 0x1514 + 0x8 * i; }
constexpr uint32_t window_time_low() { return 0x1528; }
constexpr uint32_t window_time_high() { return 0x152c; }
constexpr uint32_t window_queue() { return 0x1530; }
constexpr uint32_t window_marked_low(uint32_t i) { return 0x1540 + 0x8 * i; }
constexpr uint32_t window_marked_high(uint32_t i) { return 0x1544 + 0x8 * i; }
constexpr uint32_t window_push_outs_low() { return 0x15a0; }
constexpr uint32_t window_push_outs_high() { return 0x15a4; }
constexpr uint32_t window_stale_low() { return 0x15a8; }
constexpr uint32_t window_stale_high() { return 0x15ac; }
constexpr uint32_t window_lost_distance_low(uint32_t i) { return 0x1600 + 0x8 * i; }
constexpr uint32_t window_lost_distance_high(uint32_t i) { return 0x1604 + 0x8 * i; }
constexpr uint32_t window_victim_distance_low(uint32_t i) { return 0x1800 + 0x8 * i; }
constexpr uint32_t window_victim_distance_high(uint32_t i) { return 0x1804 + 0x8 * i; }

}  // namespace vermilion::registers
