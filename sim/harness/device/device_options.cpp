#include "device_options.h"

#include <map>

#include "option_number.h"

namespace vermilion {

const char* deviceUsage() {
  return "vermilion-device --socket PATH [--control PATH] [--config-words FILE] [--wait SECONDS] [--keep] [--paused] "
         "[--real-time] [--nic]\n"
         "                 [--capture FILE [--rate BITS_PER_SECOND | --speed FACTOR]] [--out OUT.pcapng]\n"
         "                 [--frames-from PATH|udp:HOST:PORT] [--frames-to PATH|udp:HOST:PORT] [--vcd FILE | --fst "
         "FILE]\n"
         "vermilion-device --list-writes FILE   the register writes that give the lane the configuration of a record\n";
}

DeviceOptions parseDeviceOptions(int count, char** words) {
  DeviceOptions o;
  const std::map<std::string, std::string*> texts = {{"--socket", &o.socket},
                                                     {"--control", &o.control},
                                                     {"--config-words", &o.config},
                                                     {"--capture", &o.capture},
                                                     {"--out", &o.out},
                                                     {"--vcd", &o.waves},
                                                     {"--frames-from", &o.framesFrom},
                                                     {"--frames-to", &o.framesTo},
                                                     {"--fst", &o.waves},
                                                     {"--list-writes", &o.listWrites}};
  const std::map<std::string, bool*> flags = {
      {"--keep", &o.keep}, {"--paused", &o.paused}, {"--real-time", &o.realTime}, {"--nic", &o.nic}};
  bool paced = false;
  for (int i = 1; i < count; i++) {
    const std::string option = words[i];
    if (const auto flag = flags.find(option); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    if (i + 1 >= count) throw InputError(option + ": no such option, or its value is missing");
    const std::string value = words[++i];
    if (const auto text = texts.find(option); text != texts.end()) {
      *text->second = value;
    } else if (option == "--wait") {
      o.waitSeconds = number<u64>(option, value, 0, 1'000'000, "0 to 1000000 seconds");
    } else if (option == "--rate") {
      o.rate = number(option, value, 64e3, 200e9, "64000 to 200000000000 bits a second");
    } else if (option == "--speed") {
      o.speed = number(option, value, 1e-6, 1e6, "0.000001 to 1000000");
      paced = true;
    } else {
      throw InputError(option + ": no such option");
    }
  }
  if (o.rate && paced) throw InputError("--rate and --speed are both given; one sets the pace");
  if (o.paused && o.realTime) throw InputError("--paused and --real-time are both given; one sets lane time");
  if (paced && o.capture.empty()) throw InputError("--speed is of --capture, which is not given");
  if (o.socket.empty() && o.listWrites.empty()) throw InputError("--socket is missing");
  return o;
}

}  // namespace vermilion
