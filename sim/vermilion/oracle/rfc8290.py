"""The order of FQ-CoDel's flows: RFC 8290, section 4, with lists that hold empty queues, written from its text.

Four points are the lane's (docs/decisions/0037-fq-codel.md):
- A queue sends while its deficit covers its packet, as in Shreedhar and Varghese's paper. The RFC lets it send while its credits are more than 0.
- A queue that becomes empty is moved or removed with its last packet. The RFC does so when it comes first again.
- A packet for an empty queue of the old list brings the queue to the end of that list, with one quantum. In the RFC it keeps its place and credits.
- With the victim search (`waits`), an empty queue of the old list goes to its end, too. In the RFC it is removed.
"""

from collections import deque


class Flows:
    def __init__(self, quanta: dict[int, int], waits: bool = False):
        """`quanta`: of each queue, bytes."""
        self.quanta, self.waits = quanta, waits
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()
        self.credits = dict.fromkeys(quanta, 0)
        self.packets: dict[int, deque] = {queue: deque() for queue in quanta}
        self.turns = 0  # that ended

    def arrives(self, queue: int, packet: object, size: int):
        self.packets[queue].append((packet, size))
        if len(self.packets[queue]) > 1:
            return
        self.credits[queue] = self.quanta[queue]
        if queue in self.old:
            self.old.remove(queue)
            self.old.append(queue)
        else:
            self.new.append(queue)

    def trim(self):
        """Removes empty queues that have come first in the old list."""
        while self.old and not self.packets[self.old[0]]:
            self.old.popleft()

    def leaves(self) -> object:
        """The packet that is next."""
        while True:
            flows = self.new or self.old
            queue = flows[0]
            packet, size = self.packets[queue][0]
            if self.credits[queue] >= size:
                break
            flows.popleft()
            self.credits[queue] += self.quanta[queue]
            self.old.append(queue)
            self.turns += 1
            self.trim()
        self.packets[queue].popleft()
        self.credits[queue] -= size
        if not self.packets[queue]:
            was_new = flows is self.new
            flows.popleft()
            if was_new or self.waits:
                self.old.append(queue)
            self.trim()
        return packet
