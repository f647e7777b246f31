// Markers with token buckets: leaf, srTCM (RFC 2697), trTCM (RFC 2698), REDP with its combined dropper (P0).
//
// A bucket is stored as the time z at which it would have been empty, in U48.16 ns modulo 2^48 ns. So filling it needs
// no arithmetic, and taking tokens is one addition:
//
//   level   T = now - z, as a time: the tokens are T times the rate
//   full    T is at most the burst b. If z is not in [now - b, now], in serial-number order of 78 h, T is b. An idle
//           time longer than b fills the bucket. One that ends up to b after a multiple of 78 h 11 min counts only as
//           its excess over that multiple. A clock that is set back costs the tokens of that time; with fewer tokens
//           the bucket is full
//   cost    c of a packet: (L m 2^16) >> s with m 2^-s ns per byte; L is its length (countedBytes), or the same for
//           every packet
//   take    if T >= c: z <- max(z, now - b) + c
//
// The kind of the marker that filled the buckets is stored with them. If a packet finds the buckets of another kind, or
// none, they start anew: full, and the meter as if a yellow packet had just come. If only rates or bursts change, z
// stays.
//
//   leaf    A: rate, burst.            T_A >= c: green, takes A.   else: the out-of-profile colour
//   srTCM   A: CIR, CBS. B: CIR, CBS + EBS, which holds committed and excess tokens together. Both fill at CIR, first
//           the committed tokens, then the excess tokens, so E = T_B - T_A (RFC 2697 section 3)
//           green if T_A >= c: takes A, B.   yellow if T_B - T_A >= c: takes B.   else red
//   trTCM   A: PIR, PBS. B: CIR, CBS (RFC 2698 section 3)
//           red if T_A < c.   yellow if T_B < c: takes A.   else green: takes A, B
//   colour-aware (sr, tr): a yellow packet does not become green; a red packet stays red and takes nothing
//   REDP    A: R, b (P0 section II, eq. 1). T as above, r uniform on [0, 1):
//           green   in the demotion region (T < T_L), no yellow seen for longer than the meter's time, u < P_drop: dropped
//                   T < c, or T < T_L - r T_L / MAX_demo: yellow.   else green: takes A
//           yellow  T >= c and T > T_H + r (b - T_H) / MAX_promo: green, takes A.   else yellow
//           red     red
//           r T_L / MAX is the span ((r16 m) 2^26) >> s, U48.16, computed upstream of the bucket's loop
//
// The draw's upper 16 bits are r, its lower 16 bits u. A frame that is bad or has no buffer takes no tokens and keeps its
// colour. Finally, if the action of the outgoing colour is drop, the packet is policed.
#pragma once

#include <vector>

#include "config.h"
#include "formats.h"
#include "parser.h"

namespace vermilion {

struct Marked {
  u32 colour;
  bool policed;
  u64 level;  // T_A before the packet, U48.16 ns; 0 if the marker has no bucket
};

// The length that counts for a packet: of its frame; with ip_length, of its IP packet; or one constant for every
// packet.
u32 countedBytes(const VmMarker& m, const Headers& headers, u32 lenBytes);

class TokenMarker {
 public:
  // Marks a packet of `colour` at `timeNs` that counts as `bytes` bytes.
  Marked mark(const VmMarker& m, u64 timeNs, u32 colour, u32 bytes, u32 draw);
  bool operator==(const TokenMarker&) const = default;

 private:
  struct Buckets {
    bool same;  // the marker's kind is the one that filled them
    u64 z[2], cost[2], level[2];
    bool covered[2];
  };
  struct Result {
    u32 colour;
    bool takes[2], dropped;
  };
  Buckets bucketsAt(const VmMarker& m, u64 now, u32 bytes) const;
  static Result leaf(const VmMarker& m, const Buckets& b);
  static Result singleRate(const Buckets& b, u32 worst);
  static Result twoRates(const Buckets& b, u32 worst);
  Result redp(const VmMarker& m, const Buckets& b, u64 timeNs, u32 colour, u32 draw) const;

  u32 kind_ = VM_MARKS_NONE;  // the kind that filled the buckets
  u64 z_[2] = {};
  u64 lastYellow_ = 0;
};

}  // namespace vermilion
