// Header edits on the way out: DSCP (RFC 2474) and CE (RFC 3168), with the IPv4 checksum updated incrementally.
//
//   HC' = ~(~HC + ~m + m')     RFC 1624, equation 3, ones' complement sums of 16 bits
//   m, m' the header's first 16 bits (version, ihl, DSCP, ECN) before and after
//
// CE is written over ECT(0) and ECT(1) alone: Not-ECT and CE stay what they are.
// The checksum is never computed over the header: one that was wrong on arrival stays wrong by the same amount. Where
// nothing changes the frame is left as it is, checksum included. IPv6 has no checksum to update.
//
// The TTL option (docs/ttl-option.md), where it is to go: its four bytes become padding, and the length stays. IPv4: four
// NOPs, the checksum as above. IPv6: a PadN of four bytes.
#pragma once

#include "formats.h"
#include "parser.h"

namespace vermilion {

u16 checksumUpdate(u16 checksum, u16 before, u16 after);

// `h` must be what parse() said of this frame. Frames that are not IP stay. True: a byte has changed.
bool rewrite(u8* frame, const Headers& h, bool setCe, bool setDscp, u32 dscp, bool removeOption);
// As a packet of `colour` leaves queue `q`.
bool rewrite(u8* frame, const Headers& h, const VmQueue& q, u32 colour, bool setCe);

}  // namespace vermilion
