/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A socket for messages of the netlink family: sends them, waits for replies and the end. */
#ifndef NETLINK_SOCKET_H
#define NETLINK_SOCKET_H

#include <stddef.h>

struct netlink_socket {
	int fd;
	unsigned int family, sequence, group; /* group: of `monitor` */
};

/* How a message ended: errno, 0 for success, and the kernel's sentence or nothing. */
struct netlink_answer {
	int error;
	char sentence[256];
};

typedef void netlink_reply(void *context, const unsigned char *attributes, size_t length);

/* 0, or -1 with a sentence on standard error: no socket, or no such family. */
int netlink_open(struct netlink_socket *nl);
/* From then on messages to the group `monitor` come too. 0, or -1 with a sentence. */
int netlink_join(struct netlink_socket *nl);
void netlink_close(struct netlink_socket *nl);
/* 0 where there is no such netdev. */
unsigned int netlink_ifindex(const char *name);
/* Sends a message and waits for its end, 10 s at most for each part of an answer; calls `reply` for each reply. -1 where nothing comes. */
int netlink_ask(struct netlink_socket *nl, unsigned int command, int dump, const void *attributes, size_t length,
		netlink_reply *reply, void *context, struct netlink_answer *answer);
/* Sends bytes from the generic netlink header on, whatever they are, with that type and those flags of the netlink header, and throws
 * away whatever comes back at once. Returns errno of the last answer, 0 where there was none. */
int netlink_throw(struct netlink_socket *nl, unsigned int type, unsigned int flags, const void *payload, size_t length);

#endif
