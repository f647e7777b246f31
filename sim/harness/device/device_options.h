// The device's command line.
#pragma once

#include <optional>
#include <string>

#include "formats.h"
#include "frame.h"

namespace vermilion {

struct DeviceOptions {
  std::string socket, control, config, capture, out, framesFrom, framesTo, waves, listWrites;
  std::optional<double> rate;  // bits/s: of --capture and of frames from the socket
  double speed = 1;            // of --capture
  u64 waitSeconds = 60;        // for a client; 0: no limit
  bool keep = false;           // wait for the next client after one disconnects
  bool paused = false;
  bool realTime = false;
  bool nic = false;  // a NIC's function, pci_config.h
};

DeviceOptions parseDeviceOptions(int count, char** words);  // throws InputError
const char* deviceUsage();

}  // namespace vermilion
