// The shapers of the RTL, one call per cycle: DueTime.scala, PortShaper.scala and QueueShaper.scala.
//
// Times are U48.16 ns in serial-number order, so they may wrap. Outputs belong to the state before `clock`.
#pragma once

#include <vector>

#include "config.h"
#include "formats.h"
#include "timing.h"

namespace vermilion {

// When a queue or port may send again, and the number of bits of the last cost. A debt of more bits counts as settled.
struct DueTime {
  u64 next = 0;
  u32 debtBits = 0;

  bool paid(u64 now) const;
  u64 wholeNs() const;
  // The state after a packet of that cost. It counts from next, limited to now - burst at the least and now at the
  // most.
  DueTime charged(u64 now, u64 burstNs, u64 cost) const;
  static DueTime fresh(u64 now, u64 burstNs) { return {(now - burstNs) << ShaperFrac, 0}; }
};

class ClockedPortShaper {
 public:
  // Full at `configuredNs`. `judges`: in a build with codel.
  ClockedPortShaper(VmScaled cost, u64 burstNs, u64 configuredNs, bool judges = false);
  bool open() const;
  bool settled() const { return !pending() && !restoring_; }
  bool shaped() const { return cost_.mant != 0; }
  u64 due() const { return due_.wholeNs(); }
  // `dropped`: the packet that was charged 4 cycles before is not sent.
  void clock(u64 now, bool charge, u32 lenBytes, bool dropped = false);

 private:
  bool pending() const { return p_[0].valid || p_[1].valid || p_[2].valid || p_[3].valid; }
  struct Stage {
    bool valid = false;
    u32 lenBytes = 0;
  };
  VmScaled cost_;
  u64 burstNs_, shortCost_;
  bool judges_;
  DueTime due_, saved_;  // saved_: before the charge of the packet in p_[3]
  Stage p_[4];
  u64 reserve_ = 0, longs_ = 0;
  u64 credit_;
  bool behind_ = true, paid_ = true, restoring_ = false;
};

class ClockedQueueShaper {
 public:
  explicit ClockedQueueShaper(u32 queues) : queues_(queues < 2 ? 2 : queues) {}  // a scan takes at least two cycles
  void configure(u32 queue, VmScaled cost, u64 burstNs);
  bool shaped(u32 queue) const { return queues_[queue].cost.mant != 0; }

  bool charging() const { return stage_ != 0; }
  // `dropped`: a packet is dropped in this cycle that was taken 4 cycles before.
  bool cancels(bool dropped) const { return dropped && (charges_ >> timing::Judging & 1) != 0; }
  bool blocks(bool dropped) const { return stage_ == timing::ChargeBlocks && !cancels(dropped); }
  bool anyParked() const { return parked_ != 0; }
  int released(u64 now) const;  // the queue released in this cycle, or -1
  bool earliest(u64& ns) const;
  struct Charged {
    bool holdsFirst, parks;  // the queue that is charged
    bool dropped = false;    // see cancels()
  };
  // `charge` and `park` are queues, or -1.
  void clock(u64 now, int charge, u32 lenBytes, Charged charged, int park, bool mayRelease);

 private:
  struct Queue {
    VmScaled cost{};
    u64 burstNs = 0;
    bool stamped = false;  // charged since configured
    DueTime due;
    bool parked = false;
  };
  struct Scanned {
    bool valid = false, waits = false;
    u32 queue = 0;
    bool stamped = false;
    DueTime due;
  };
  void findEarliest(bool disturbed);
  void turn(int free, int park, bool mayRelease);
  void writeCharge(u64 now, bool cancels);
  void stepCharge(int charge, u32 lenBytes, Charged charged);
  bool waits() const {
    const int queue = static_cast<int>(q2_.queue);
    return q2_.waits && !(charging() && charged_ == q2_.queue) && s4_ != queue && s5_ != queue;
  }

  std::vector<Queue> queues_;
  u32 stage_ = 0, charged_ = 0, chargedBytes_ = 0;
  u32 charges_ = 0;  // bit i: a charge i + 1 cycles before
  DueTime chargedDue_;
  bool chargedPaid_ = false;  // when it was charged
  int s4_ = -1, s5_ = -1;     // queues whose record is being written, and was written one cycle before
  u32 parked_ = 0, q0_ = 0;
  Scanned q1_, q2_;
  DueTime least_, result_;
  bool leastValid_ = false, resultValid_ = false, whole_ = false, disturbed1_ = false, disturbed2_ = false;
};

}  // namespace vermilion
