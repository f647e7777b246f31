#include "traffic.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "build_shape.h"

namespace vermilion {

namespace {

constexpr std::size_t Longest = 65535;  // bytes of a datagram
constexpr int AtOnce = 256;             // frames taken from the socket before the lane runs

struct Place {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  bool local = false;
};

Place placeOf(const std::string& text) {
  Place place;
  if (text.starts_with("udp:")) {
    const std::size_t colon = text.rfind(':');
    auto* at = reinterpret_cast<sockaddr_in*>(&place.bytes);
    u16 port = 0;
    const char *first = text.data() + colon + 1, *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(first, end, port);
    if (colon == 3 || error != std::errc{} || stop != end ||
        ::inet_pton(AF_INET, text.substr(4, colon - 4).c_str(), &at->sin_addr) != 1)
      throw InputError(text + ": is no place for frames; legal are a path and udp:HOST:PORT with an IPv4 address");
    at->sin_family = AF_INET;
    at->sin_port = htons(port);
    place.size = sizeof *at;
    return place;
  }
  auto* at = reinterpret_cast<sockaddr_un*>(&place.bytes);
  if (text.size() >= sizeof at->sun_path) throw InputError(text + ": is too long for a socket; legal are 107 bytes");
  at->sun_family = AF_UNIX;
  std::memcpy(at->sun_path, text.c_str(), text.size());
  place.size = sizeof *at;
  place.local = true;
  return place;
}

Descriptor datagram(const Place& place) {
  Descriptor out(::socket(place.bytes.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) throw std::runtime_error(std::string("no socket can be had: ") + std::strerror(errno));
  return out;
}

}  // namespace

Traffic::Traffic(const FrameAddress& from, const FrameAddress& to, std::optional<double> rate, const std::string& out,
                 bool realTime, Log& log)
    : log_(log), toText_(to.text), realTime_(realTime), rate_(rate) {
  if (!out.empty()) out_.emplace(out);
  if (!to.text.empty()) {
    to_ = datagram(placeOf(to.text));
    if (!reach() && !realTime_) throw InputError(to.text + ": nobody takes frames there: " + std::strerror(errno));
  }
  if (from.text.empty()) return;
  const Place place = placeOf(from.text);
  from_ = datagram(place);
  if (::bind(from_.get(), reinterpret_cast<const sockaddr*>(&place.bytes), place.size) != 0)
    throw InputError(from.text + ": cannot be had as a socket: " + std::strerror(errno));
  if (place.local) bound_ = from.text;
}

Traffic::~Traffic() {
  if (!bound_.empty()) ::unlink(bound_.c_str());
}

void Traffic::feed(const std::string& capture, std::optional<double> rate, double speed, u64 start) {
  if (feed_) throw InputError("a capture is being fed already; wait for `idle`");
  struct stat about {};
  if (::stat(capture.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    throw InputError(capture + ": is no regular file; give a capture");
  auto fed = std::make_unique<Feed>();
  fed->options.in = capture;
  fed->options.rate = rate;
  fed->options.speed = speed;
  fed->start = start;
  fed->source = captureSource(fed->options);
  feed_ = std::move(fed);
}

bool Traffic::take(u64 now) {
  static thread_local std::vector<u8> buffer(Longest + 1);
  bool some = false;
  for (int i = 0; i < AtOnce && !full(); i++) {
    const ssize_t size = ::recv(from_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0) break;
    if (size == 0) {
      oddities_++;  // a stream of beats cannot carry this frame
      continue;
    }
    auto frame = std::make_shared<Frame>();
    frame->id = ids_++;
    frame->bytes.assign(buffer.begin(), buffer.begin() + size);
    frame->wireLen = static_cast<u32>(size);
    frame->time = std::max(now, free_);
    if (rate_) free_ = frame->time + static_cast<u64>(static_cast<double>(size) * 8e9 / *rate_);
    waiting_.push_back(std::move(frame));
    some = true;
  }
  return some;
}

std::shared_ptr<const Frame> Traffic::next() {
  if (feed_) {
    try {
      if (std::shared_ptr<const Frame> frame = feed_->source->next()) {
        if (!dated_) epochNs_ = feed_->source->startNs() - static_cast<i64>(feed_->start);
        dated_ = true;
        if (feed_->start == StartNs) return frame;
        auto moved = std::make_shared<Frame>(*frame);
        moved->time = frame->time - StartNs + feed_->start;
        return moved;
      }
    } catch (const InputError& e) {
      log_.say(std::string("the feed ends: ") + e.what());
    }
    for (const auto& [name, count] : feed_->source->warnings())
      log_.say(feed_->options.in + ": " + name + ": " + std::to_string(count));
    feed_ = nullptr;
  }
  if (waiting_.empty()) return nullptr;
  std::shared_ptr<const Frame> frame = std::move(waiting_.front());
  waiting_.pop_front();
  return frame;
}

bool Traffic::reach() {
  const Place place = placeOf(toText_);
  reached_ = ::connect(to_.get(), reinterpret_cast<const sockaddr*>(&place.bytes), place.size) == 0;
  return reached_;
}

void Traffic::flush() {
  while (!kept_.empty()) {
    const bool sent =
        (reached_ || reach()) && ::send(to_.get(), kept_.front().data(), kept_.front().size(), MSG_NOSIGNAL) >= 0;
    if (!sent) {
      if (reached_ && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)) return;
      reached_ = false;
      oddities_++;
    }
    kept_.pop_front();
  }
}

void Traffic::sent(u64 left, const std::vector<u8>& bytes, u32 wireLen) {
  if (out_) out_->write(epochNs_ + static_cast<i64>(left), bytes, wireLen);
  if (to_ && realTime_) {
    if (kept_.size() < MostKept)
      kept_.push_back(bytes);
    else
      oddities_++;
    return flush();
  }
  // A receiver that does not accept a frame loses it, as on a wire.
  if (to_ && ::send(to_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) oddities_++;
}

void Traffic::keep() {
  if (out_) out_->keep();
}

}  // namespace vermilion
