// What a lane makes of a packet before its marker: its rule, its queue, its colour, and the queue whose marker marks it.
//
//   frame -> rule: rules.h -> class of its DSCP -> pair under DualPI2 (RFC 9332), or group that holds flows (RFC 8290)
//
// hw/src/vermilion/classify/Classifier.scala and RuleTable.scala.
#pragma once

#include "config.h"
#include "flow_groups.h"
#include "parser.h"
#include "rules.h"

namespace vermilion {

struct PacketClass {
  u32 queue, colour;
  u32 marker;  // the queue whose marker marks the packet
};

class Classifier {
 public:
  // Keeps `config`, whose queues may change later. The rules are those of now.
  explicit Classifier(const VmConfig& config);
  const RuleTable& rules() const { return rules_; }
  PacketClass of(u32 egress, const RuleChoice& rule, const Headers& headers) const;

 private:
  u32 queueOf(u32 ofClass, const Headers& headers) const;
  const VmConfig& config_;
  FlowGroups groups_;
  RuleTable rules_;
};

}  // namespace vermilion
