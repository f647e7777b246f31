// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Relays netlink messages between a serial line and this kernel, for a program outside the guest.
 * For tests; linked statically.
 *
 *   netlink_relay TTY
 *
 * It makes the line raw and continues in the background. When it returns, the other end may send.
 * In both directions a message is its length, 32 bits, low byte first, then its bytes: one datagram
 * of a generic netlink socket. A message of length 0 requests a new socket. The relay answers with
 * length 0 before any message of the new socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define ROOM (1 << 17)

static int whole(int fd, void *data, size_t length, int writes)
{
	unsigned char *at = data;

	while (length) {
		const ssize_t done = writes ? write(fd, at, length) : read(fd, at, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		length -= done;
	}
	return 0;
}

static int say(int line, void *data, unsigned int length)
{
	unsigned char head[4] = { length, length >> 8, length >> 16, length >> 24 };

	return whole(line, head, sizeof(head), 1) || whole(line, data, length, 1) ? -1 : 0;
}

static int fresh(void)
{
	const int on = 1, room = 1 << 20;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0 || bind(fd, (struct sockaddr *)&kernel, sizeof(kernel)))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	return fd;
}

static int relay(int line)
{
	static unsigned char data[ROOM];
	int nl = fresh();

	while (nl >= 0) {
		struct pollfd ends[2] = { { .fd = line, .events = POLLIN }, { .fd = nl, .events = POLLIN } };
		unsigned char head[4];
		unsigned int length;
		ssize_t got;

		if (poll(ends, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (ends[1].revents) {
			got = recv(nl, data, sizeof(data), 0);
			if (got > 0 && say(line, data, got))
				return -1;
		}
		if (!ends[0].revents)
			continue;
		if (whole(line, head, sizeof(head), 0))
			return -1;
		length = head[0] | head[1] << 8 | head[2] << 16 | (unsigned int)head[3] << 24;
		if (length > sizeof(data) || whole(line, data, length, 0))
			return -1;
		if (length) {
			if (send(nl, data, length, 0) < 0)
				perror("netlink_relay: send");
			continue;
		}
		close(nl);
		nl = fresh();
		if (say(line, data, 0))
			return -1;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct termios form;
	int line;

	if (argc != 2) {
		fprintf(stderr, "usage: netlink_relay TTY\n");
		return 2;
	}
	line = open(argv[1], O_RDWR | O_NOCTTY);
	if (line < 0 || tcgetattr(line, &form)) {
		perror(argv[1]);
		return 1;
	}
	cfmakeraw(&form);
	cfsetspeed(&form, B115200);
	form.c_cflag |= CLOCAL;
	if (tcsetattr(line, TCSANOW, &form)) {
		perror(argv[1]);
		return 1;
	}
	switch (fork()) {
	case -1:
		perror("fork");
		return 1;
	case 0:
		return relay(line) ? 1 : 0;
	}
	return 0;
}
