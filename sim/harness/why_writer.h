// Writes each packet that the lane drops or marks CE, with the reason: pcapng with a comment per packet.
//
// A packet has the bytes with which it arrived, and the time of the verdict; a lost frame has that of its arrival.
// The comment has words `name=value`, separated by spaces. Absent are those without a meaning.
//
//   reason        dropped: lost (by its input), early, forced, tail, nobuf, bad, policed, evicted, departure_dropped;
//                 sent with CE: marked, departure_marked. The counters of results.h have the same names
//   frame         the packet's place in the input, 0 for the first
//   input         number of the input
//   queue, colour after the queue's marker; not of a lost frame
//   average       of the packet's colour, in the queue's unit, and the curve's probability there: of early, forced and
//                 marked packets, where the verdict is not a push-out's
//   backlog_bytes, backlog_packets
//                 what was queued before the packet, as the limit saw it: of verdicts on arrival
//   pool          1: the limit was the pool's, not the queue's
//   distance      hops, of a packet that was evicted, or marked as a victim
//   for           the frame for which it was evicted or marked
//   provisional   that frame's verdict before the push-out: early, forced, tail, mark
//   sojourn_ns    time from the verdict on arrival: of verdicts at departure
//   by            curve: of marks at departure by a curve. Then also
//   level         what was queued behind the packet, or the average of its colour, in the queue's unit
//   threshold     the level from which on this packet is marked: the curve at the packet's random number
#pragma once

#include <string>

#include "accounting.h"
#include "capture_writer.h"
#include "codel.h"
#include "replay.h"

namespace vermilion {

class WhyWriter {
 public:
  explicit WhyWriter(const std::string& name) : file_(name) {}
  // Times in ns since 1970. `victim`: the queued packet that a push-out evicted or marked; null if there is none.
  void decided(i64 time, const Packet& packet, const RtlDecision& decision, const Packet* victim);
  void departed(i64 time, const Packet& packet, HeadVerdict verdict, const std::optional<CurveMark>& byCurve);
  void lost(i64 time, u32 input, const Frame& frame);
  void keep() { file_.keep(); }

 private:
  void write(i64 time, const Frame& frame, const std::string& comment);
  CaptureWriter file_;
};

}  // namespace vermilion
