/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A socket for the netlink family: sends messages, waits for replies and their end. */
#ifndef NETLINK_SOCKET_H
#define NETLINK_SOCKET_H

#include <stddef.h>

struct netlink_socket {
	int fd;
	unsigned int family, sequence, group; /* group: of `monitor` */
};

/* The result of a message: errno, 0 for success, and the kernel's sentence or nothing. */
struct netlink_answer {
	int error;
	char sentence[256];
};

typedef void netlink_reply(void *context, const unsigned char *attributes, size_t length);

/* Opens the socket and finds the family. 0, or -1 with a sentence on standard error. */
int netlink_open(struct netlink_socket *nl);
/* Joins the group `monitor`, to receive its messages, too. 0, or -1 with a sentence. */
int netlink_join(struct netlink_socket *nl);
void netlink_close(struct netlink_socket *nl);
/* 0 if there is no such netdev. */
unsigned int netlink_ifindex(const char *name);
/* Sends a message and waits for its end, at most 10 s for each part of the answer. Calls `reply`
 * for each reply. Returns 0, or -1 if the message cannot be sent or no answer comes.
 */
int netlink_ask(struct netlink_socket *nl, unsigned int command, int dump, const void *attributes, size_t length,
		netlink_reply *reply, void *context, struct netlink_answer *answer);
/* Sends any bytes as the generic netlink header and what follows it; `type` and `flags` go into the
 * netlink header. Discards the answers that are there at once. Returns errno of the last error
 * message among them, or 0 if there is none; if it cannot send, errno of that.
 */
int netlink_throw(struct netlink_socket *nl, unsigned int type, unsigned int flags, const void *payload, size_t length);

#endif
