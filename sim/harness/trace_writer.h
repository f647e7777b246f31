// Every decision, a line of CSV each, with all that it saw: enough to replay it in the model. A first line names the columns.
//
//   refresh                 1: averages brought up to date at a departure, no packet
//   time                    ns, 64 bits; last_departure as the lane has it, modulo 2^48
//   queued                  what the limit saw before the packet
//   came, policed           colour before the queue's marker; 1: the marker drops it
//   level                   of the marker's bucket A before the packet, U48.16 ns of its rate
//   backlog, ahead          what the averages saw before the packet (after the departure); n of the look-ahead; per colour 0, 1, 2
//   average_0.. (U27.16)    all three, those of this decision updated
//   probability (U1.32)     verdict: code of docs/architecture.md
#pragma once

#include <string>

#include "atomic_file.h"
#include "replay.h"

namespace vermilion {

class TraceWriter {
 public:
  explicit TraceWriter(const std::string& name) : file_(name) {
    std::string head =
        "time,refresh,input,queue,colour,len_bytes,ecn,bad,no_buffer,draw,queued_bytes,queued_packets,probability,"
        "verdict,came,mark_draw,policed,level";
    for (int c = 0; c < Colours; c++)
      for (const char* field : {"backlog_bytes", "backlog_packets", "last_departure", "ahead", "average"})
        head += std::string(",") + field + "_" + std::to_string(c);
    file_.write(head + "\n");
  }
  void write(const RtlDecision& d, u64 time) {
    const Arrival& a = d.seen;
    std::string line = std::to_string(time);
    for (u64 v : {u64{d.refresh}, u64{d.input}, u64{a.queue}, u64{a.colour}, u64{a.len_bytes}, u64{a.ecn}, u64{a.bad},
                  u64{a.no_buffer}, u64{a.draw}, u64{a.queued_bytes}, u64{a.queued_packets}, d.probability,
                  u64{d.verdict}, u64{d.mark.colour}, u64{d.mark.draw}, u64{d.mark.policed}, d.mark.level})
      line += "," + std::to_string(v);
    for (int c = 0; c < Colours; c++)
      for (u64 v : {u64{a.backlog_bytes[c]}, u64{a.backlog_packets[c]}, a.last_departure[c], u64{a.n[c]}, d.average[c]})
        line += "," + std::to_string(v);
    file_.write(line + "\n");
  }
  void keep() { file_.keep(); }

 private:
  AtomicFile file_;
};

}  // namespace vermilion
