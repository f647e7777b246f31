// Faults in frames on the wire: bytes, header fields, length, cells, order, time.
#include <algorithm>
#include <utility>

#include "faults.h"

namespace vermilion {

namespace {

using Kind = Event::Kind;
using Bytes = std::vector<u8>;

constexpr std::size_t DscpAt = 15, ChecksumAt = 24, Ip4End = 34;

bool isIp4(const Bytes& b) {
  return b.size() >= Ip4End && b[12] == 8 && b[13] == 0;
}

// Adds a fault that changes the bytes of a frame for which `fits` is true.
void add(std::vector<Fault>& to, const char* name, const char* what, bool (*fits)(const Bytes&),
         std::function<void(Bytes&, u32 number)> change) {
  to.push_back({name,
                what,
                Check::Accounting,
                {"came out with"},
                [fits](const Recording& run) {
                  return placesOf(run, Kind::Wire, [&](std::size_t i) { return fits(run.events[i].bytes); });
                },
                [change](Recording& run, std::size_t place, u32 number) { change(run.events[place].bytes, number); }});
}

std::size_t nextFrame(const Recording& run, std::size_t from) {
  return nextEvent(run, from, [](const Event& e) { return e.kind == Kind::Wire; });
}

// Frames that differ from the next frame in the 64 bytes from `at` on. Both have these bytes.
std::vector<std::size_t> beforeOther(const Recording& run, std::size_t at) {
  return placesOf(run, Kind::Wire, [&](std::size_t i) {
    const std::size_t j = nextFrame(run, i);
    if (j == run.events.size()) return false;
    const Bytes &one = run.events[i].bytes, &other = run.events[j].bytes;
    return std::min(one.size(), other.size()) >= at + CellBytes &&
           !std::equal(one.begin() + static_cast<i64>(at), one.begin() + static_cast<i64>(at + CellBytes),
                       other.begin() + static_cast<i64>(at));
  });
}

void addBytes(std::vector<Fault>& to) {
  add(
      to, "byte", "one bit of a byte of the payload", [](const Bytes& b) { return b.size() > Ip4End; },
      [](Bytes& b, u32 n) { b[Ip4End + n * 7919 % (b.size() - Ip4End)] ^= static_cast<u8>(bitOf(n, 8)); });
  add(to, "checksum", "one bit of the IPv4 header's checksum", isIp4,
      [](Bytes& b, u32 n) { b[ChecksumAt + n % 2] ^= static_cast<u8>(bitOf(n, 8)); });
  add(to, "dscp", "one bit of the DSCP", isIp4,
      [](Bytes& b, u32 n) { b[DscpAt] ^= static_cast<u8>(bitOf(n, 6) << 2); });
  add(to, "ecn-out", "one bit of the ECN field", isIp4,
      [](Bytes& b, u32 n) { b[DscpAt] ^= static_cast<u8>(bitOf(n, 2)); });
  add(
      to, "shorter", "the last byte is missing", [](const Bytes& b) { return b.size() > 1; },
      [](Bytes& b, u32) { b.pop_back(); });
  add(
      to, "longer", "a byte more at the end", [](const Bytes&) { return true; }, [](Bytes& b, u32) { b.push_back(0); });
  add(
      to, "cell-lost", "a cell of 64 bytes is missing", [](const Bytes& b) { return b.size() > 2 * CellBytes; },
      [](Bytes& b, u32) { b.erase(b.begin() + CellBytes, b.begin() + 2 * CellBytes); });
  to.push_back({"cell-of-another",
                "a cell of the next frame is in its place",
                Check::Accounting,
                {"came out with"},
                [](const Recording& run) { return beforeOther(run, CellBytes); },
                [](Recording& run, std::size_t place, u32) {
                  const Bytes& other = run.events[nextFrame(run, place)].bytes;
                  std::copy_n(other.begin() + CellBytes, CellBytes, run.events[place].bytes.begin() + CellBytes);
                }});
}

void addOrder(std::vector<Fault>& to) {
  const auto frames = [](const Recording& run) { return placesOf(run, Kind::Wire); };
  to.push_back(
      {"frame-lost",
       "a frame does not come out",
       Check::Accounting,
       {"came out with", "not on the wire at the end"},
       frames,
       [](Recording& run, std::size_t place, u32) { run.events.erase(run.events.begin() + static_cast<i64>(place)); }});
  to.push_back({"frame-doubled",
                "a frame comes out twice",
                Check::Accounting,
                {"came out with", "left its queue in", "no queue gave"},
                frames,
                [](Recording& run, std::size_t place, u32) {
                  Event copy = run.events[place];
                  copy.clock++;
                  copy.firstBeat++;
                  run.insert(std::move(copy));
                }});
  to.push_back({"frames-swapped",
                "a frame and the next come out in the other order",
                Check::Accounting,
                {"came out with"},
                [](const Recording& run) { return beforeOther(run, 0); },
                [](Recording& run, std::size_t place, u32) {
                  std::swap(run.events[place].bytes, run.events[nextFrame(run, place)].bytes);
                }});
  to.push_back({"frame-early",
                "a frame comes out before it has left its queue",
                Check::Accounting,
                {"left its queue in"},
                frames,
                [](Recording& run, std::size_t place, u32) {
                  std::size_t before = 0;
                  for (std::size_t i = 0; i < place; i++) before += run.events[i].kind == Kind::Wire;
                  const std::size_t departure = placesOf(run, Kind::Departed)[before];
                  run.events[place].firstBeat = run.events[departure].clock;
                }});
}

}  // namespace

void addWireFaults(std::vector<Fault>& to) {
  addBytes(to);
  addOrder(to);
}

}  // namespace vermilion
