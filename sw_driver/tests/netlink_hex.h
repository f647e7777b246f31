/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes as netlink_send's input writes them. */
#ifndef NETLINK_HEX_H
#define NETLINK_HEX_H

#include <string.h>

static inline int netlink_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Bytes from hexadecimal text in which "@" is `ifindex`, four bytes; their number, or -1 for what is none. */
static inline int netlink_bytes_of(const char *text, unsigned char *out, size_t room, unsigned int ifindex)
{
	size_t length = 0;

	while (*text && *text != '\n') {
		if (length + 4 > room)
			return -1;
		if (*text == '@') {
			memcpy(out + length, &ifindex, 4);
			length += 4;
			text++;
			continue;
		}
		if (netlink_digit(text[0]) < 0 || netlink_digit(text[1]) < 0)
			return -1;
		out[length++] = netlink_digit(text[0]) << 4 | netlink_digit(text[1]);
		text += 2;
	}
	return length;
}

#endif
