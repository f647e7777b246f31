"""xoshiro128++ 1.0 and splitmix64, from their papers: Blackman and Vigna, ACM TOMS 47, 2021; Steele, Lea and Flood, OOPSLA 2014."""

WORD, LONG = 2**32 - 1, 2**64 - 1


def words(seed: int, which: int = 0) -> list[int]:
    """The state that a seed of 64 bits gives to source `which` of a lane: outputs 2 which and 2 which + 1 of splitmix64, the low half first."""
    found = []
    for _ in range(2 * which + 2):
        seed = (seed + 0x9E3779B97F4A7C15) & LONG
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & LONG
        z = (z ^ z >> 27) * 0x94D049BB133111EB & LONG
        z ^= z >> 31
        found += [z & WORD, z >> 32]
    return found[-4:]


class Source:
    def __init__(self, state: list[int]):
        self.s = list(state)

    def draw(self) -> int:
        """The next number of 32 bits."""
        left = lambda x, k: (x << k | x >> (32 - k)) & WORD
        s = self.s
        out = (left((s[0] + s[3]) & WORD, 7) + s[0]) & WORD
        t = s[1] << 9 & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = left(s[3], 11)
        return out
