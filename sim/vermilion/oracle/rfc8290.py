"""The order of FQ-CoDel's flows: RFC 8290, section 4, with lists that hold empty queues, written from its text.

Four points are the lane's (docs/decisions/0037-fq-codel.md):
- A queue sends while its deficit covers its packet, as in Shreedhar and Varghese's paper. The RFC lets it send while its credits are more than 0.
- A queue that becomes empty is moved or removed with its last packet, and an empty queue that comes first in the old list is removed at once. The RFC does
  both when a packet is to be sent.
- A packet that finds its queue empty in the old list keeps its place, with one quantum. In the RFC the queue keeps its credits, too.
- With the victim search (`waits`), an empty queue of the old list goes to its end. In the RFC it does so if its credits are used up, and is removed otherwise.
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
        if queue not in self.old:
            self.new.append(queue)

    def trim(self):
        """Removes empty queues that have come first in the old list, if it is served."""
        while not self.new and self.old and not self.packets[self.old[0]]:
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
            keeps_its_place = was_new or self.waits or self.credits[queue] == 0
            if keeps_its_place and self.old:
                self.old.append(queue)
            self.trim()
        return packet
