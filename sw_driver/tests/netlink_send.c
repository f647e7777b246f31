// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Sends messages of the netlink family unchanged, valid or not, and prints the answers. For tests
 * in a guest; linked statically.
 *
 *   netlink_send [-u UID] NETDEV < MESSAGES
 *
 * Each line of the input is a message: a word of the caller, the number of the command, "do" or
 * "dump", and the attributes in hexadecimal. "@" in the attributes is the ifindex of NETDEV, four
 * bytes. With -u it changes to the rights of UID. It prints one line each:
 *   WORD reply HEX               attributes of a reply
 *   WORD error NUMBER SENTENCE   end of a message: errno, 0 for success; extack's sentence or "-"
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "netlink_hex.h"
#include "netlink_socket.h"

#define LINE 65536

static void print_reply(void *context, const unsigned char *data, size_t length)
{
	printf("%s reply ", (const char *)context);
	while (length--)
		printf("%02x", *data++);
	printf("\n");
}

int main(int argc, char **argv)
{
	static char line[2 * LINE], word[64], how[8], hex[2 * LINE];
	static unsigned char attributes[LINE];
	struct netlink_socket nl;
	unsigned int command, ifindex;
	int uid = -1, length;

	if (argc > 2 && !strcmp(argv[1], "-u")) {
		uid = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: netlink_send [-u UID] NETDEV < MESSAGES\n");
		return 2;
	}
	ifindex = netlink_ifindex(argv[1]);
	if (!ifindex) {
		fprintf(stderr, "%s: no such netdev\n", argv[1]);
		return 1;
	}
	if (netlink_open(&nl))
		return 1;
	if (uid >= 0 && (setgroups(0, NULL) || setgid(uid) || setuid(uid))) {
		perror("setuid");
		return 1;
	}
	if (uid >= 0) { /* the kernel also checks the rights of the opener of the socket */
		netlink_close(&nl);
		if (netlink_open(&nl))
			return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		struct netlink_answer answer;

		hex[0] = 0;
		if (sscanf(line, "%63s %u %7s %131071s", word, &command, how, hex) < 3)
			continue;
		length = netlink_bytes_of(hex, attributes, sizeof(attributes), ifindex);
		if (length < 0) {
			fprintf(stderr, "%s: attributes that are not hexadecimal\n", word);
			return 2;
		}
		if (netlink_ask(&nl, command, !strcmp(how, "dump"), attributes, length, print_reply, word, &answer))
			return 1;
		printf("%s error %d %s\n", word, answer.error, answer.sentence[0] ? answer.sentence : "-");
		fflush(stdout);
	}
	netlink_close(&nl);
	return 0;
}
