// The second socket, for whoever runs the device rather than drives it: one JSON object a line, one line back for each, in order.
//
//   {"do": "feed", "capture": FILE, "rate": BITS_PER_SECOND | "speed": X, "at_ns": T}   {"starts_ns"}: of the first frame; all but FILE optional
//   {"do": "idle"}                     lets the clock run until nothing is left, also where it is paused, and replies then
//   {"do": "run", "ns": N}             lets a paused clock run for so much lane time, and replies then
//   {"do": "pause"}, {"do": "resume"}
//   {"do": "counters"}                 what the harness saw: lane_book.h; with "clocks", "now_ns", "refused" messages, "odd_frames" of the socket
//   {"do": "interrupt", "vector": N}   raises it
//   {"do": "dma"}                      {"regions": [{"address", "bytes", "flags", "mapped"}]}
//   {"do": "dma", "address": A, "bytes": N}   {"data": HEX}: the client's memory
//   {"do": "stop"}                     ends the program
//
// Every reply has "ok"; where it is false, "error" is a sentence. All have "clocks" and "now_ns".
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
    std::string text;    // of a line that is not whole
    bool waits = false;  // for the clock to reach its goal
    bool gone = false;
  };
  std::list<Client>& clients() { return clients_; }
  void join(Descriptor socket);
  void readable(Client& client);
  // Replies to those whose goal is reached, and lets go of those who are gone.
  void tend();
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::size_t MaxClients = 8, MaxLine = 65536;
  void lines(Client& client);
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
