"""An origin with a delay, in a process of its own. Arguments: PORT, BYTES or an image file, MILLISECONDS."""
import asyncio
import sys
from pathlib import Path

PORT, WHAT, DELAY = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1e3
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(int(WHAT) - 8) if WHAT.isdigit() else Path(WHAT).read_bytes()
TYPE = b"image/png" if WHAT.isdigit() else b"application/octet-stream"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nCache-Control: max-age=3600\r\nContent-Length: %d\r\n\r\n" % (TYPE, len(PICTURE)) + PICTURE


async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            if DELAY:
                await asyncio.sleep(DELAY)
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT, backlog=1024)
    await server.serve_forever()


asyncio.run(main())
