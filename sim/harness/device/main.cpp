// vermilion-device: the Verilated lane as a PCI Express endpoint for a vfio-user client, such as QEMU (docs/device.md).
//
// Standard output: `listening PATH` when a client may connect. Standard error: one sentence per line. Exit status:
// 0: the client has disconnected, or the program was told to end. 1: a defect of the lane. 2: the input is at fault.
// 3: the program itself failed. 4: no client came.
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "config_json.h"
#include "server.h"

using namespace vermilion;

namespace {

LoadedConfig load(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw InputError(name + ": cannot be read; give the hardware's record (docs/hardware-configuration.md)");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    LoadedConfig loaded = readConfig(text);
    if (loaded.config.queue_count > BuildQueues)
      throw InputError(name + ": has " + std::to_string(loaded.config.queue_count) + " queues, this build " +
                       std::to_string(BuildQueues));
    return loaded;
  } catch (const ConfigError& e) {
    throw InputError(name + ": " + e.what());
  }
}

// Makes SIGTERM and SIGINT readable, so that they end the program between two messages.
Descriptor signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int serve(const DeviceOptions& o) {
  Descriptor ends = signals();    // before any thread exists that could receive them
  std::signal(SIGPIPE, SIG_IGN);  // a client may give a pipe for an eventfd and close its read end
  Log log;
  Traffic traffic({o.framesFrom}, {o.framesTo}, o.rate, o.out, o.realTime, log);
  LaneDevice lane(traffic, o.waves, o.paused, o.realTime);
  if (!o.config.empty()) lane.configure(load(o.config).config);
  if (!o.capture.empty()) lane.feed(o.capture, o.rate, o.speed, std::nullopt);
  VfioDevice device(lane, log, o.nic);
  Server server(o, std::move(ends), lane, device, traffic, log);
  const Server::End end = server.run();
  traffic.keep();
  if (const LaneBook& book = lane.book(); book.errors() != 0) {
    log.say("a defect of the lane: " + book.firstError());
    return 1;
  }
  if (end == Server::End::Done) return 0;
  log.say("nobody connected to " + o.socket + " within " + std::to_string(o.waitSeconds) + " s");
  return 4;
}

int listWrites(const std::string& name) {
  for (const RegisterWrite& w : registerWrites(load(name).config)) std::printf("0x%04x 0x%08x\n", w.address, w.value);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && (words[1] == std::string("--help") || words[1] == std::string("-h"))) {
    std::fputs(deviceUsage(), stdout);
    return 0;
  }
  try {
    const DeviceOptions options = parseDeviceOptions(count, words);
    return options.listWrites.empty() ? serve(options) : listWrites(options.listWrites);
  } catch (const InputError& e) {
    Log().say(e.what());
    return 2;
  } catch (const std::exception& e) {
    Log().say(e.what());
    return 3;
  }
}
