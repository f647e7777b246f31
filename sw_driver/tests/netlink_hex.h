/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes in the text format of netlink_send's input. */
#ifndef NETLINK_HEX_H
#define NETLINK_HEX_H

#include <string.h>

static inline int netlink_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Converts hexadecimal text to bytes; "@" becomes `ifindex`, four bytes. Returns the number of
 * bytes, or -1 if the text is not hexadecimal or too long.
 */
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
