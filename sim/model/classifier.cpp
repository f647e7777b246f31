#include "classifier.h"

namespace vermilion {

static bool isIp(const Headers& h) {
  return h.is_ip4 || h.is_ip6;
}

Classifier::Classifier(const VmConfig& config)
    : config_(config),
      groups_(config.seed),
      rules_({config.rules, config.rules + config.rule_count}, config.port_range) {}

PacketClass Classifier::of(u32 egress, const RuleChoice& rule, const Headers& h) const {
  const VmEgress& tables = config_.egress[egress];
  const VmClass& entry = isIp(h) ? tables.dscp[h.dscp] : tables.fallback;
  const u32 first = egress * (config_.queue_count / config_.egress_count);
  const u32 ofClass = rule.queue ? first + *rule.queue : entry.queue;
  const u32 queue = queueOf(ofClass, h);
  return {queue, rule.colour.value_or(entry.colour), rule.marker ? first + *rule.marker : queue};
}

// The queue of a packet's flow within a group, or within a pair under DualPI2: a C of even number and the L that follows
// it (RFC 9332).
u32 Classifier::queueOf(u32 ofClass, const Headers& h) const {
  if (const u32 bits = config_.queues[ofClass].fq; bits != 0) return groups_.queue(ofClass, bits, h);
  const auto& pair = config_.queues[ofClass].dualpi2;
  if (ofClass % 2 != 0 || ofClass + 1 >= config_.queue_count || pair.on == 0) return ofClass;
  const bool toL = config_.queues[ofClass + 1].dualpi2.on != 0 && isIp(h) && (h.ecn & pair.l4s_mask) != 0;
  return ofClass + toL;
}

}  // namespace vermilion
