"""The speed of the machine, as it is now: limits of time follow it, so that a load beside the tests decides nothing."""
import time

# Wall seconds of the loop below on a core of the machine on which the durations of the parts were measured, with nothing beside it.
REFERENCE = 0.23


def slowness():
    """How many times longer a fixed computation takes than on the reference machine; at least 1."""
    begun, value = time.monotonic(), 1
    for _ in range(4_000_000):
        value = value * 1_103_515_245 + 12_345 & 0x7FFFFFFF
    return max(1, (time.monotonic() - begun) / REFERENCE)
