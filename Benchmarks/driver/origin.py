"""An origin whose pictures take a while, in a process of its own: PORT BYTES MILLISECONDS."""
import asyncio
import sys

PORT, BYTES, DELAY = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1e3
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(BYTES - 8)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: max-age=3600\r\nContent-Length: %d\r\n\r\n" % BYTES + PICTURE


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
