#include "control_channel.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace vermilion {

using Json = nlohmann::ordered_json;

namespace {

constexpr double MinRate = 64e3, MaxRate = 200e9, MinSpeed = 1e-6, MaxSpeed = 1e6;
constexpr u64 MaxNs = u64{1} << 60;

std::optional<double> number(const Json& asked, const char* name, double low, double high) {
  if (!asked.contains(name)) return std::nullopt;
  const Json& value = asked[name];
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high))
    throw InputError(std::string(name) + " is " + value.dump() + "; legal is " + Json(low).dump() + " to " +
                     Json(high).dump());
  return value.get<double>();
}

std::optional<u64> whole(const Json& asked, const char* name, u64 high) {
  if (!asked.contains(name)) return std::nullopt;
  const Json& value = asked[name];
  if (!value.is_number_unsigned() || value.get<u64>() > high)
    throw InputError(std::string(name) + " is " + value.dump() + "; legal is 0 to " + std::to_string(high));
  return value.get<u64>();
}

u64 needed(const Json& asked, const char* name, u64 high) {
  const std::optional<u64> value = whole(asked, name, high);
  if (!value) throw InputError(std::string(name) + " is missing");
  return *value;
}

}  // namespace

void ControlChannel::join(Descriptor socket) {
  if (clients_.size() >= MaxClients) {
    log_.say("too many control connections: one more is closed");
    return;
  }
  const timeval patience{5, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  clients_.emplace_back().socket = std::move(socket);
}

void ControlChannel::readable(Client& client) {
  char bytes[4096];
  const ssize_t got = ::recv(client.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.gone = true;
    return;
  }
  client.text.append(bytes, static_cast<std::size_t>(got));
  lines(client);
  if (client.text.size() <= MaxLine) return;
  log_.say("a line of the control channel is too long, so its connection is closed");
  client.gone = true;
}

// Whole lines, up to one that has to wait.
void ControlChannel::lines(Client& client) {
  for (std::size_t end; !client.waits && !client.gone && (end = client.text.find('\n')) != std::string::npos;) {
    const Json asked = Json::parse(client.text.substr(0, end), nullptr, false);
    client.text.erase(0, end + 1);
    Json reply = {{"ok", true}};
    try {
      if (!asked.is_object() || !asked.contains("do") || !asked["do"].is_string())
        throw InputError("a line is no JSON object with a word \"do\"");
      if (!obey(client, asked, reply)) continue;
    } catch (const InputError& e) {
      reply = {{"ok", false}, {"error", e.what()}};
    } catch (const Refusal& e) {
      reply = {{"ok", false}, {"error", e.what()}};
    }
    send(client, std::move(reply));
  }
}

void ControlChannel::refuseInRealTime(const std::string& word) const {
  if (lane_.realTime() != nullptr && (word == "idle" || word == "run" || word == "pause" || word == "resume"))
    throw InputError(word + ": lane time follows the wall clock, as --real-time asks; nothing else sets it");
}

// False: the reply comes later.
bool ControlChannel::obey(Client& client, const Json& asked, Json& reply) {
  const std::string word = asked["do"];
  refuseInRealTime(word);
  if (word == "feed") {
    if (!asked.contains("capture") || !asked["capture"].is_string()) throw InputError("capture is missing");
    const auto rate = number(asked, "rate", MinRate, MaxRate), speed = number(asked, "speed", MinSpeed, MaxSpeed);
    if (rate && speed) throw InputError("rate and speed are both given; one sets the pace");
    reply["starts_ns"] = lane_.feed(asked["capture"], rate, speed.value_or(1), whole(asked, "at_ns", MaxNs));
  } else if (word == "idle" || word == "run") {
    if (!lane_.atGoal()) throw InputError("the clock is on its way for another `idle` or `run`");
    lane_.goUntil(word == "idle" ? ~u64{0} : lane_.now() + needed(asked, "ns", MaxNs));
    client.waits = true;
    return false;
  } else if (word == "pause" || word == "resume") {
    lane_.pause(word == "pause");
  } else if (word == "counters") {
    lane_.book().write(reply);
    if (lane_.realTime() != nullptr) lane_.realTime()->write(reply);
    reply["refused"] = log_.refused();
    reply["odd_frames"] = traffic_.oddities();
  } else if (word == "queues") {
    lane_.book().writeQueues(reply);
  } else if (word == "interrupt") {
    device_.interrupts().raise(static_cast<u32>(needed(asked, "vector", Vectors - 1)));
  } else if (word == "dma") {
    reply.update(dma(asked));
  } else if (word == "stop") {
    stopped_ = true;
  } else {
    throw InputError(word + ": no such command");
  }
  return true;
}

Json ControlChannel::dma(const Json& asked) const {
  if (!asked.contains("address")) {
    Json regions = Json::array();
    for (const auto& [address, region] : device_.dma().regions())
      regions.push_back(
          {{"address", address}, {"bytes", region.size}, {"flags", region.flags}, {"mapped", region.at != nullptr}});
    return {{"regions", regions}};
  }
  std::string hex;
  for (const u8 byte : device_.dma().read(needed(asked, "address", ~u64{0}), needed(asked, "bytes", MaxDataBytes)))
    for (const u8 half : {byte >> 4, byte & 15}) hex += "0123456789abcdef"[half];
  return {{"data", hex}};
}

void ControlChannel::tend() {
  for (Client& client : clients_) {
    if (client.waits && lane_.atGoal()) {
      client.waits = false;
      send(client, {{"ok", true}});
      lines(client);
    }
  }
  clients_.remove_if([](const Client& client) { return client.gone; });
}

void ControlChannel::send(Client& client, Json reply) {
  reply["clocks"] = lane_.clocks();
  reply["now_ns"] = lane_.now();
  const std::string text = reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t some = ::send(client.socket.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) {
      client.gone = true;
      return;
    }
    sent += static_cast<std::size_t>(some);
  }
}

}  // namespace vermilion
