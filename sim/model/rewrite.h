// Header edits at the egress: DSCP (RFC 2474) and CE (RFC 3168), with an incremental update of the IPv4 checksum.
//
//   HC' = ~(~HC + ~m + m')     RFC 1624, equation 3, ones' complement sums of 16 bits
//   m, m' the header's first 16 bits (version, ihl, DSCP, ECN) before and after
//
// CE replaces only ECT(0) and ECT(1). Not-ECT and CE stay.
// The checksum is never computed over the header: one that is wrong on arrival stays wrong by the same amount. If
// nothing changes, the frame stays as it is, checksum included. IPv6 has no checksum to update.
//
// If the TTL option (docs/ttl-option.md) is to be removed, its four bytes become padding, and the length stays. IPv4:
// four NOPs, the checksum as above. IPv6: a PadN of four bytes.
#pragma once

#include "formats.h"
#include "parser.h"
#include "rules.h"

namespace vermilion {

u16 checksumUpdate(u16 checksum, u16 before, u16 after);

// `h` must be the result of parse() for this frame. Frames that are not IP stay unchanged. True: a byte has changed.
bool rewrite(u8* frame, const Headers& h, bool setCe, bool setDscp, u32 dscp, bool removeOption);
// Applies the edits of a packet's rule, and of queue `q` to a packet of `colour`. `h` has the DSCP of the rule.
bool rewrite(u8* frame, const Headers& h, const RuleChoice& rule, const VmQueue& q, u32 colour, bool setCe);

}  // namespace vermilion
