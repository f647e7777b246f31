// Checks a frame's IP header, for the warnings of capture_reader.h. sim/model/parser.h describes how the lane uses
// these lengths.
//
//   cut_header   the captured bytes end within a VLAN tag, or before the IP header does
//   ip_length    the header's lengths and the frame's contradict each other:
//                IPv4: IHL below 5, or the header longer than the frame on the wire
//                IPv4 total length: below the header's, or reaching beyond the frame on the wire
//                IPv6 payload length: reaching beyond the frame on the wire
//                both: 5 bytes or more after the packet, in a frame of more than 68.
//
// Bytes after a packet are legal if they are a frame check sequence (4), or fill a frame up to Ethernet's minimum. That
// is 64 with a tag, and 68 with the frame check sequence, too. An IPv6 payload length of 0 is a jumbogram's (RFC 2675)
// and fits any frame. Tags are those of sim/model/parser.h. Each frame gives at most one warning, a cut header first. A
// frame below 14 bytes is a runt and gives none.
#pragma once

#include "frame.h"

namespace vermilion {

// The warning's name, or null.
const char* headerWarning(const Frame& frame);

}  // namespace vermilion
