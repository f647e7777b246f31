// A whole lane cycle by cycle, from frames on its inputs to frames on the wire. It uses the decisions of decide.h and
// the pipeline latencies of the RTL (timing.h), and holds no bytes. It gives the RTL's decisions, departures and their
// times.
//
//   frames -> beats -> cells -> descriptors -> one decision per slot -> queues -> scheduler -> reader -> rewrite ->
//   beats
//
// A descriptor takes a slot and is marked. Its queue state lookup comes `timing::Lookup` cycles after the slot. Its
// verdict comes `timing::Verdict` cycles after the lookup, where the RTL's pipeline ends. pipeline_view.h defines what
// each packet sees of the packets before it.
//
// In builds with the victim search, the victim is known 3 cycles after the verdict (clocked_victims.h), and the
// decision is shown then. The scheduler can choose the packet 6 cycles later than without the search.
//
// Frames that arrive while another one is being received wait at their input. The output is always ready.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "classifier.h"
#include "clocked_dualpi2.h"
#include "clocked_free.h"
#include "clocked_ingress.h"
#include "clocked_pie.h"
#include "clocked_schedule.h"
#include "clocked_verdicts.h"
#include "clocked_victims.h"
#include "curve_marks.h"
#include "decide.h"
#include "mark_stage.h"
#include "pipeline_view.h"
#include "push_out.h"
#include "timing.h"

namespace vermilion {

class ClockedLane {
 public:
  // A decision, or a refresh of averages at a departure (no packet: `decision` and `mark` are empty).
  struct Decided {
    u64 id;
    u32 input;
    bool refresh;
    Arrival seen;
    Decision decision;
    u64 averages[Colours];
    VmMark mark;
    PushOut pushOut;
    u64 victim;  // the packet that was evicted or marked in place of this one
    RuleChoice rule;
    u32 dscp;  // after the rule
  };
  struct Departed {
    u64 id, time;
    HeadVerdict verdict;
    std::optional<CurveMark> byCurve;  // what a curve decided about it
    u64 chosen = 0;                    // ns
    u32 behind = 0;                    // bytes that were queued after it then
  };
  struct Lost {
    u64 id;
    u32 input, lenBytes;
  };

  // Copies `config`. It takes effect at lane time `configuredNs`.
  ClockedLane(const VmConfig& config, LaneShape shape, u64 configuredNs = 0);

  // Frame `id` arrives at an input, after those that wait there. Its first beat can come in the next cycle.
  void arrive(u32 input, u64 id, const u8* frame, u32 lenBytes, bool bad = false) {
    ingress_.arrive(input, id, frame, lenBytes, bad);
  }
  void clock(u64 now);

  // Results of the cycle, valid until the next call of `clock`.
  const std::optional<Decided>& decided() const { return decided_; }
  const std::optional<Departed>& departed() const { return departed_; }
  const std::vector<Lost>& lost() const { return lost_; }   // frames that inputs dropped
  const std::optional<u64>& sent() const { return sent_; }  // the frame whose last beat was sent

  bool waiting() const { return ingress_.waiting(); }  // frames or beats are not yet received
  std::size_t waiting(u32 input) const { return ingress_.waiting(input); }
  bool busy() const { return busy_; }  // in that cycle: the RTL's port `busy`
  bool wake(u64& ns) const;

 private:
  using Packet = ClockedPacket;
  // A packet in the pipeline. `clock` is the cycle of its queue state lookup, `Lookup` cycles after its slot.
  struct Deciding {
    u64 clock;
    Packet packet;
    VmMark mark;
    Arrival seen;
    Pending pending;
    u64 averages[Colours];
    bool refresh;
    ClockedPie::Seen pie;
  };
  // A packet with its provisional verdict. `clock` is the cycle of that verdict.
  struct Settling {
    u64 clock;
    Deciding deciding;
    Decision decision;
    bool pushOut = false;
    u32 name = 0;  // of the packet in victims_
  };
  struct Leaving {
    Packet packet;
    u32 name = 0;
    u64 decided = 0;     // ns
    u32 behind = 0;      // bytes that were queued behind it when it was taken
    u32 behindBoth = 0;  // and in the other queue of its pair
    u64 chosen = 0;      // ns
    u32 packetsBehind = 0;
  };
  struct Judging {
    Leaving leaving;
    Judged judged;
    std::optional<CurveMark> byCurve;
  };
  // A cell on the egress path. `bytes` 0: none.
  struct OutCell {
    u32 bytes = 0;
    bool last = false;
    u64 id = 0;
  };

  void takeSlot();
  void observe();
  void requestPie();
  void rule();
  void settle();
  VictimOutcome outcomeOf(const Settling& s);
  void count(const Settling& s, const VictimOutcome& outcome);
  void list(const Settling& s, const VictimOutcome& outcome);
  void makeHead();
  void depart(const Leaving& leaving, HeadVerdict verdict, const std::optional<CurveMark>& byCurve);
  Judging judge(const Leaving& leaving);
  void leave();
  u64 removeVictim(u32 queue, const VictimOutcome& outcome);
  void pushOut(int taken);
  void transmit();

  VmConfig config_;
  std::vector<VmQueue> profiles_;
  LaneShape shape_;
  Classifier classifier_;
  DecisionModel decisions_;
  ClockedScheduler scheduler_;
  ClockedFreeCells cells_;
  ClockedIngress ingress_;
  MarkStage marks_;
  PipelineView view_;
  bool departureUpdates_ = false, refreshRoom_ = false;
  u64 clock_ = 0, now_ = 0, before_ = 0;

  std::deque<Packet> descriptorQueue_;
  // In builds with fq: in the register behind it. Here each cycle takes it. In the RTL a commit or a host's read can take
  // that slot, and an empty register then fills: such a packet is decided a cycle earlier. This lane has neither.
  std::optional<Packet> held_;
  u64 frames_ = 0;  // last beat received, descriptor not yet taken
  std::deque<Packet> refreshes_;
  std::deque<Deciding> marking_, deciding_;
  std::deque<Settling> settling_;

  std::optional<ClockedVictims> victims_;
  std::optional<VictimArrival> provisional_;  // in this cycle
  std::deque<u32> names_;                     // free names, the longest free first
  u32 nameCount_ = 0;

  std::vector<std::deque<Leaving>> queues_, bodies_;  // with the victim search: the heads; the bodies
  std::optional<Leaving> listing_, taken_;
  std::deque<Leaving> chosen_;
  ClockedPie pie_;
  ClockedDualPi2 pairs_;
  QueueVerdicts verdicts_;
  CurveMarks curves_;
  ClockedDiscards discards_;
  std::optional<Judging> judging_[timing::Judging];  // by the cycles since the request
  std::vector<u32> queuedBytes_, queuedPackets_;     // by queue, what is not taken
  u32 aheadCells_ = 0;                               // chosen, and the reader has not taken them yet

  bool reading_ = false, cellRead_ = false;  // cellRead_: in this cycle
  u32 readLeft_ = 0;                         // cells of the packet being read, this one included
  Packet read_;
  OutCell edit1_, edit2_, sending_;
  u32 sendLeft_ = 0;  // bytes of that cell

  std::optional<Decided> decided_;
  std::optional<Departed> departed_;
  std::optional<u64> sent_;
  std::vector<Lost> lost_;
  bool busy_ = false;
};

}  // namespace vermilion
