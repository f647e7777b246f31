// The control socket of the device, for the operator, not for the driver. Each line is one JSON object and gets one
// line as the reply, in order.
//
//   {"do": "feed", "capture": FILE, "rate": BITS_PER_SECOND | "speed": X, "at_ns": T}
//                                      {"starts_ns"}: of the first frame; all but FILE optional
//   {"do": "idle"}                     runs the clock until the lane is empty, also if it is paused, and replies then
//   {"do": "run", "ns": N}             runs a paused clock for this much lane time, and replies then
//   {"do": "pause"}, {"do": "resume"}
//   {"do": "counters"}                 what the harness saw: lane_book.h; with "clocks", "now_ns", "refused" messages,
//                                      "odd_frames" of the socket; "real_time" with --real-time: real_time.h
//   {"do": "queues"}                   {"queues"}: per queue what is there now, lane_book.h
//   {"do": "interrupt", "vector": N}   raises the vector
//   {"do": "dma"}                      {"regions": [{"address", "bytes", "flags", "mapped"}]}
//   {"do": "dma", "address": A, "bytes": N}   {"data": HEX}: the client's memory
//   {"do": "stop"}                     ends the program
//
// Every reply has "ok". If it is false, "error" is a sentence. All replies have "clocks" and "now_ns".
#pragma once

#include <functional>
#include <list>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lane_device.h"
#include "log.h"
#include "vfio_device.h"

namespace vermilion {

class ControlChannel {
 public:
  ControlChannel(LaneDevice& lane, VfioDevice& device, const Log& log, const Traffic& traffic)
      : lane_(lane), device_(device), log_(log), traffic_(traffic) {}

  struct Client {
    Descriptor socket;
    std::string text;    // an incomplete line
    bool waits = false;  // waits for the clock to reach its goal
    bool gone = false;
  };
  std::list<Client>& clients() { return clients_; }
  void join(Descriptor socket);
  void readable(Client& client);
  // Replies to the clients that wait if the goal is reached, and removes clients that have disconnected.
  void tend();
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::size_t MaxClients = 8, MaxLine = 65536;
  void lines(Client& client);
  void refuseInRealTime(const std::string& word) const;
  bool obey(Client& client, const nlohmann::ordered_json& asked, nlohmann::ordered_json& reply);
  nlohmann::ordered_json dma(const nlohmann::ordered_json& asked) const;
  void send(Client& client, nlohmann::ordered_json reply);

  LaneDevice& lane_;
  VfioDevice& device_;
  const Log& log_;
  const Traffic& traffic_;
  std::list<Client> clients_;
  bool stopped_ = false;
};

}  // namespace vermilion
