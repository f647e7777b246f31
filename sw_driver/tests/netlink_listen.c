// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Prints the messages of the netlink family to the group `monitor`, until SIGTERM. For tests in a
 * guest; linked statically.
 *
 *   netlink_listen
 *
 * It prints "joined" first. Then it prints one line per message, with the number of the command and
 * the attributes in hexadecimal: told 11 0800020002000000...
 *
 * Before it ends it prints all messages that have arrived before the signal. The message of a
 * change is in the socket when the change is complete.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include "netlink_socket.h"

static volatile sig_atomic_t over;

static void end(int number)
{
	over = number;
}

static void print(const struct nlmsghdr *header)
{
	const struct genlmsghdr *generic = NLMSG_DATA(header);
	const unsigned char *at = (const unsigned char *)generic + GENL_HDRLEN;
	const unsigned char *behind = (const unsigned char *)header + header->nlmsg_len;

	printf("told %u ", generic->cmd);
	while (at < behind)
		printf("%02x", *at++);
	printf("\n");
}

int main(void)
{
	static char in[65536] __attribute__((aligned(4)));
	const struct sigaction action = { .sa_handler = end };
	struct netlink_socket nl;

	if (sigaction(SIGTERM, &action, NULL) || netlink_open(&nl) || netlink_join(&nl))
		return 1;
	printf("joined\n");
	fflush(stdout);
	for (;;) {
		const struct nlmsghdr *header = (const void *)in;
		ssize_t got = recv(nl.fd, in, sizeof(in), over ? MSG_DONTWAIT : 0);

		if (got < 0 && over && errno == EAGAIN)
			return 0;
		if (got < 0 && errno != EINTR && errno != EAGAIN) {
			perror("recv"); /* for example, messages were lost */
			return 1;
		}
		for (; got > 0 && NLMSG_OK(header, got); header = NLMSG_NEXT(header, got))
			if (header->nlmsg_type == nl.family)
				print(header);
		fflush(stdout);
	}
}
