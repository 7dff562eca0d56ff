"""A client that scrolls: it starts image requests and cancels most of them."""
import asyncio
import random
import time


async def fetch(port, path, leave_after=None, fields=""):
    """Returns the milliseconds until the image is complete; None if the request was cancelled."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{fields}\r\n".encode())
        if leave_after is not None:
            try:
                await asyncio.wait_for(reader.read(), leave_after)
            except asyncio.TimeoutError:
                pass
            return None
        answer = await reader.read()
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{path}: {answer[:200]}")
        return (time.perf_counter() - began) * 1e3
    finally:
        writer.close()


async def scroll(port, paths, starts, seconds, left, fields=""):
    """Starts requests at a rate, cancels the share `left` after 50 ms, and returns the times of the others."""
    chance = random.Random(7)
    tasks = []
    begin = time.perf_counter()
    for number in range(int(starts * seconds)):
        await asyncio.sleep(max(0, begin + number / starts - time.perf_counter()))
        leaves = chance.random() < left
        tasks.append(asyncio.create_task(fetch(port, next(paths), 0.05 if leaves else None, fields)))
    times = await asyncio.gather(*tasks)
    return [one for one in times if one is not None]
