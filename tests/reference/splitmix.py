"""The random numbers of the kernels, slow and readable: a stream has a counter and a step of its own."""

WORD = 2**64


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def numbers(seed, stream):
    """Yield the whole numbers of 64 bits of a stream."""
    counter, step = mix((seed + 2 * stream) % WORD), mix((seed + 2 * stream + 1) % WORD) | 1
    while True:
        counter = (counter + step) % WORD
        yield mix(counter)
