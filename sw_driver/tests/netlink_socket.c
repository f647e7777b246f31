// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "netlink_socket.h"
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "vermilion_netlink.h"

#define ROOM 65536

static int message(struct netlink_socket *nl, unsigned int type, unsigned int flags, const void *payload, size_t length)
{
	static char out[ROOM];
	struct nlmsghdr *header = (struct nlmsghdr *)out;

	if (NLMSG_SPACE(length) > sizeof(out))
		return -1;
	memset(out, 0, NLMSG_SPACE(length));
	header->nlmsg_len = NLMSG_LENGTH(length);
	header->nlmsg_type = type;
	header->nlmsg_flags = flags;
	header->nlmsg_seq = ++nl->sequence;
	memcpy(NLMSG_DATA(header), payload, length);
	return send(nl->fd, out, NLMSG_SPACE(length), 0) < 0 ? -1 : 0;
}

/* Reads the end of an answer: its errno, and the sentence that may follow the echoed request. */
static void read_end(const struct nlmsghdr *header, struct netlink_answer *answer)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	size_t at = NLMSG_HDRLEN + sizeof(*error);

	answer->error = -error->error;
	if (header->nlmsg_type == NLMSG_DONE)
		at = NLMSG_HDRLEN + sizeof(int);
	else if (!(header->nlmsg_flags & NLM_F_CAPPED))
		at += error->msg.nlmsg_len - NLMSG_HDRLEN;
	at = NLMSG_ALIGN(at);
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	while (at + NLA_HDRLEN <= header->nlmsg_len) {
		const struct nlattr *attribute = (const void *)((const char *)header + at);

		if (attribute->nla_len < NLA_HDRLEN)
			return;
		if ((attribute->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			snprintf(answer->sentence, sizeof(answer->sentence), "%.*s",
				 (int)(attribute->nla_len - NLA_HDRLEN), (const char *)attribute + NLA_HDRLEN);
		at += NLA_ALIGN(attribute->nla_len);
	}
}

int netlink_ask(struct netlink_socket *nl, unsigned int command, int dump, const void *attributes, size_t length,
		netlink_reply *reply, void *context, struct netlink_answer *answer)
{
	static char request[ROOM], in[ROOM];
	struct genlmsghdr generic = { .cmd = command, .version = VERMILION_FAMILY_VERSION };
	ssize_t got;

	memset(answer, 0, sizeof(*answer));
	if (length + sizeof(generic) > sizeof(request))
		return -1;
	memcpy(request, &generic, sizeof(generic));
	memcpy(request + sizeof(generic), attributes, length);
	if (message(nl, nl->family, NLM_F_REQUEST | (dump ? NLM_F_DUMP : NLM_F_ACK), request,
		    sizeof(generic) + length)) {
		perror("send");
		return -1;
	}
	for (;;) {
		const struct nlmsghdr *header = (const void *)in;

		got = recv(nl->fd, in, sizeof(in), 0);
		if (got < 0) {
			perror("no answer");
			return -1;
		}
		for (; NLMSG_OK(header, got); header = NLMSG_NEXT(header, got)) {
			if (header->nlmsg_seq != nl->sequence)
				continue;
			if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
				read_end(header, answer);
				return 0;
			}
			if (reply && header->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN))
				reply(context, (const unsigned char *)NLMSG_DATA(header) + GENL_HDRLEN,
				      header->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
		}
	}
}

int netlink_throw(struct netlink_socket *nl, unsigned int type, unsigned int flags, const void *payload, size_t length)
{
	static char in[ROOM];
	ssize_t got;
	int error = 0;

	if (message(nl, type, flags, payload, length))
		return errno;
	while ((got = recv(nl->fd, in, sizeof(in), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *header = (const void *)in;

		if (NLMSG_OK(header, got) && header->nlmsg_type == NLMSG_ERROR)
			error = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
	}
	return error;
}

/* The attribute of this type, or NULL. */
static const struct nlattr *find(const unsigned char *data, size_t length, unsigned int type)
{
	size_t at = 0;

	while (at + NLA_HDRLEN <= length) {
		const struct nlattr *attribute = (const void *)(data + at);

		if (attribute->nla_len < NLA_HDRLEN)
			return NULL;
		if ((attribute->nla_type & NLA_TYPE_MASK) == type)
			return attribute;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return NULL;
}

static const unsigned char *inside(const struct nlattr *attribute)
{
	return (const unsigned char *)attribute + NLA_HDRLEN;
}

/* Reads the number of the family, and that of its first and only group. */
static void take_family(void *context, const unsigned char *data, size_t length)
{
	struct netlink_socket *nl = context;
	const struct nlattr *family = find(data, length, CTRL_ATTR_FAMILY_ID);
	const struct nlattr *groups = find(data, length, CTRL_ATTR_MCAST_GROUPS), *group = NULL;

	if (family)
		nl->family = *(const __u16 *)inside(family);
	if (groups)
		group = find(inside(groups), groups->nla_len - NLA_HDRLEN, 1);
	if (group)
		group = find(inside(group), group->nla_len - NLA_HDRLEN, CTRL_ATTR_MCAST_GRP_ID);
	if (group)
		nl->group = *(const __u32 *)inside(group);
}

int netlink_join(struct netlink_socket *nl)
{
	if (!setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group, sizeof(nl->group)))
		return 0;
	perror("joining monitor");
	return -1;
}

unsigned int netlink_ifindex(const char *name)
{
	return if_nametoindex(name);
}

void netlink_close(struct netlink_socket *nl)
{
	close(nl->fd);
}

int netlink_open(struct netlink_socket *nl)
{
	const struct timeval wait = { 10, 0 };
	const int on = 1, room = 1 << 20;
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	struct netlink_answer answer;
	struct netlink_socket found = {};
	struct {
		struct nlattr head;
		char name[GENL_NAMSIZ];
	} wanted = { { NLA_HDRLEN + sizeof(VERMILION_FAMILY_NAME), CTRL_ATTR_FAMILY_NAME }, VERMILION_FAMILY_NAME };

	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0 || bind(nl->fd, (struct sockaddr *)&address, sizeof(address))) {
		perror("netlink socket");
		return -1;
	}
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl->sequence = 0;
	nl->family = GENL_ID_CTRL;
	if (netlink_ask(nl, CTRL_CMD_GETFAMILY, 0, &wanted, NLA_ALIGN(wanted.head.nla_len), take_family, &found,
			&answer))
		return -1;
	if (!found.family) {
		fprintf(stderr, "no netlink family %s: %s\n", VERMILION_FAMILY_NAME, strerror(answer.error));
		return -1;
	}
	nl->family = found.family;
	nl->group = found.group;
	return 0;
}
