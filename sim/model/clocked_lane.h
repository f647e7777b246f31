// A whole lane clock by clock, from frames on its inputs to frames on the wire: the decisions of decide.h, the numbers
// of the RTL's pipelines (timing.h), and no bytes. It gives the RTL's decisions, departures and their times.
//
//   frames -> beats -> cells -> descriptors -> one decision a slot -> queues -> scheduler -> reader -> rewrite -> beats out
//
// A descriptor takes a slot and is marked; `timing::Lookup` clocks later averages see its queue, and its verdict falls
// `timing::Verdict` clocks behind that, where the RTL's pipeline ends. What each sees of the packets before
// it is pipeline_view.h. Where the victim search is built, it takes 3 cycles more until the victim is known (clocked_victims.h): a decision
// is shown then, and a packet can be sent 2 clocks later than without, 1 if it joins behind another.
//
// Frames that come while others are on an input wait there. The output is always ready.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_free.h"
#include "clocked_ingress.h"
#include "clocked_schedule.h"
#include "clocked_victims.h"
#include "decide.h"
#include "mark_stage.h"
#include "pipeline_view.h"
#include "push_out.h"
#include "timing.h"

namespace vermilion {

class ClockedLane {
 public:
  // A decision, or averages refreshed at a departure (no packet; then `decision` and `mark` are empty).
  struct Decided {
    u64 id;
    u32 input;
    bool refresh;
    Arrival seen;
    Decision decision;
    u64 averages[Colours];
    VmMark mark;
    PushOut pushOut;
    u64 victim;  // who was evicted or marked in this one's stead
  };
  struct Departed {
    u64 id, time;
  };
  struct Lost {
    u64 id;
    u32 input, lenBytes;
  };

  // Copies `config`, which is in force from lane time `configuredNs` on.
  ClockedLane(const VmConfig& config, LaneShape shape, u64 configuredNs = 0);

  // Frame `id` comes on an input, behind those that wait there; its first beat can be in the next clock.
  void arrive(u32 input, u64 id, const u8* frame, u32 lenBytes, bool bad = false) {
    ingress_.arrive(input, id, frame, lenBytes, bad);
  }
  void clock(u64 now);

  // What the clock brought; each goes away with the next.
  const std::optional<Decided>& decided() const { return decided_; }
  const std::optional<Departed>& departed() const { return departed_; }
  const std::vector<Lost>& lost() const { return lost_; }   // frames that inputs left out
  const std::optional<u64>& sent() const { return sent_; }  // this frame's last beat is out

  bool waiting() const { return ingress_.waiting(); }  // frames or beats have not come in yet
  std::size_t waiting(u32 input) const { return ingress_.waiting(input); }
  bool busy() const { return busy_; }  // in that clock: as the RTL's port
  bool wake(u64& ns) const { return scheduler_.wake(now_, ns); }

 private:
  using Packet = ClockedPacket;
  // In the pipeline; `clock` is that in which its queue is looked up, `Lookup` clocks behind its slot.
  struct Deciding {
    u64 clock;
    Packet packet;
    VmMark mark;
    Arrival seen;
    Pending pending;
    u64 averages[Colours];
    bool refresh;
  };
  // It has its provisional verdict; `clock` is that of the verdict.
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
  };
  // A cell on its way out; `bytes` 0: none.
  struct OutCell {
    u32 bytes = 0;
    bool last = false;
    u64 id = 0;
  };

  void takeSlot();
  void observe();
  void rule();
  void settle();
  VictimOutcome outcomeOf(const Settling& s);
  void count(const Settling& s, const VictimOutcome& outcome);
  void list(const Settling& s, const VictimOutcome& outcome);
  void makeHead();
  u64 removeVictim(u32 queue, const VictimOutcome& outcome);
  void pushOut(int taken);
  void transmit();

  VmConfig config_;
  std::vector<VmQueue> profiles_;
  LaneShape shape_;
  DecisionModel decisions_;
  ClockedScheduler scheduler_;
  ClockedFreeCells cells_;
  ClockedIngress ingress_;
  MarkStage marks_;
  PipelineView view_;
  bool departureUpdates_ = false;
  u64 clock_ = 0, now_ = 0, before_ = 0;

  std::deque<Packet> descriptorQueue_;
  u64 frames_ = 0;  // last beat in, descriptor not yet taken
  std::deque<Packet> refreshes_;
  std::deque<Deciding> marking_, deciding_;
  std::deque<Settling> settling_;

  std::optional<ClockedVictims> victims_;
  std::optional<VictimArrival> provisional_;  // in this clock
  std::deque<u32> names_;                     // free ones, the longest free first
  u32 nameCount_ = 0;

  std::vector<std::deque<Leaving>> queues_, bodies_;  // with the victim search: the heads; the bodies
  std::optional<Leaving> listing_, taken_;
  std::deque<Leaving> chosen_;
  u32 aheadCells_ = 0;  // chosen and not yet with the reader

  bool reading_ = false;
  u32 readLeft_ = 0;  // cells of the packet being read, this one included
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
