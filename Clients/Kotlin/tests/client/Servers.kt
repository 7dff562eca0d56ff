package intertwine.client

import java.io.Closeable
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.nio.file.Files
import java.util.Collections
import kotlin.concurrent.thread

/** A server on a socket with configurable failures: a thread and one request for each connection. */
class FaultyServer(wantedPort: Int = 0, private val respond: Connection.(Request, Int) -> Unit) : Closeable {
    class Request(val method: String, val target: String, val headers: Map<String, String>, val body: String)

    class Connection(private val socket: Socket, private val output: OutputStream) {
        fun send(text: String) {
            output.write(text.encodeToByteArray())
            output.flush()
        }

        fun respond(status: Int, body: String = "", type: String = "application/json", vararg headers: String) {
            val fields = listOf("Content-Type: $type", "Content-Length: ${body.encodeToByteArray().size}", "Connection: close") + headers
            send((listOf("HTTP/1.1 $status X") + fields).joinToString("\r\n", postfix = "\r\n\r\n") + body)
        }

        /** Waits until the client closes the connection. */
        fun awaitClose() {
            try {
                while (socket.getInputStream().read() >= 0) continue
            } catch (_: IOException) {
                // A reset is a close, too.
            }
        }

        /** Closes the connection with a reset. */
        fun reset() = socket.setSoLinger(true, 0)
    }

    private val listener = ServerSocket(wantedPort, 200, InetAddress.getLoopbackAddress())
    private val sockets = Collections.synchronizedSet(HashSet<Socket>())
    private val received = Collections.synchronizedList(ArrayList<Request>())
    val port = listener.localPort
    val base = "http://127.0.0.1:$port"
    val requests: List<Request> get() = synchronized(received) { received.toList() }
    val openConnections: Int get() = sockets.size

    private val acceptor = thread(isDaemon = true) {
        while (true) {
            val socket = try { listener.accept() } catch (_: IOException) { break }
            sockets.add(socket)
            thread(isDaemon = true) {
                try {
                    socket.use { serve(it) }
                } catch (_: IOException) {
                    // The client closed the connection, which is what some tests want.
                } finally {
                    sockets.remove(socket)
                }
            }
        }
    }

    private fun serve(socket: Socket) {
        val request = read(socket.getInputStream()) ?: return
        val number = synchronized(received) { received.add(request); received.size - 1 }
        Connection(socket, socket.getOutputStream()).respond(request, number)
    }

    private fun read(input: InputStream): Request? {
        val lines = generateSequence { line(input) }.takeWhile { it.isNotEmpty() }.toList()
        val (method, target) = lines.firstOrNull()?.split(' ') ?: return null
        val headers = lines.drop(1).associate { it.substringBefore(':').lowercase() to it.substringAfter(':').trim() }
        val body = input.readNBytes(headers["content-length"]?.toInt() ?: 0)
        return Request(method, target, headers, body.decodeToString())
    }

    private fun line(input: InputStream): String? {
        val line = StringBuilder()
        while (true) {
            val byte = input.read()
            if (byte < 0) return null
            if (byte == 10) return line.toString().trimEnd('\r')
            line.append(byte.toChar())
        }
    }

    /** Accepts no more connections, and closes the open ones. A thread that accepts may still get one while the listener is closed. */
    override fun close() {
        listener.close()
        acceptor.join()
        synchronized(sockets) { sockets.toList() }.forEach { it.close() }
    }
}

/** The real binary at `INTERTWINE_BINARY`, on free ports with a store of its own. */
class RealServer(items: String) : Closeable {
    private val folder = Files.createTempDirectory("intertwine-kotlin").toFile()
    private val store: List<String>
    private var process: Process
    var base = ""
        private set

    private var admin = ""

    init {
        File(folder, "empty.yaml").createNewFile()
        File(folder, "items.ndjson").writeText(items)
        store = listOf("--config", "$folder/empty.yaml", "--database", "$folder/feed.sqlite")
        val importing = start(listOf("import") + store + "$folder/items.ndjson")
        importing.inputStream.readAllBytes()
        expectEqual(importing.waitFor(), 0, "import")
        process = serve(0, 0)
    }

    private fun serve(port: Int, adminPort: Int): Process {
        val settings = listOf("ads.rotation=listed", "limits.writes-per-viewer=100000", "limits.writes-per-address=100000").flatMap { listOf("--set", it) }
        val serving = start(listOf("serve", "--host", "127.0.0.1", "--port", "$port", "--admin-port", "$adminPort") + settings + store)
        val log = serving.inputStream.bufferedReader()
        val ports = HashMap<String, String>()
        while (ports.size < 2) {
            val line = checkNotNull(log.readLine()) { "the server has not started" }
            Regex("""(service|admin): listening on .*:(\d+)$""").find(line)?.let { ports[it.groupValues[1]] = it.groupValues[2] }
        }
        base = "http://127.0.0.1:${ports["service"]}"
        admin = "http://127.0.0.1:${ports["admin"]}"
        // A process that writes to a full pipe blocks.
        thread(isDaemon = true) { try { while (log.readLine() != null) continue } catch (_: IOException) { } }
        return serving
    }

    private fun start(arguments: List<String>): Process {
        val builder = ProcessBuilder(listOf(System.getenv("INTERTWINE_BINARY")) + arguments)
        builder.environment().keys.removeIf { it.startsWith("INTERTWINE_") }
        return builder.redirectError(ProcessBuilder.Redirect.DISCARD).start()
    }

    /** Kills the process, and starts it again on the same ports after the work. */
    suspend fun restart(meanwhile: suspend () -> Unit) {
        process.destroyForcibly().waitFor()
        meanwhile()
        process = serve(base.substringAfterLast(':').toInt(), admin.substringAfterLast(':').toInt())
    }

    /** Sends an admin request, and returns the status. */
    suspend fun operate(method: String, path: String, body: String? = null, vararg headers: Pair<String, String>): Int {
        val fields = headers.toMap() + if (body == null) emptyMap() else mapOf("Content-Type" to "application/json")
        return transport.send(HttpRequest(method, admin + path, fields, body?.encodeToByteArray()), 1 shl 20).status
    }

    suspend fun operate(operation: String): Int = operate("POST", "/admin/operations", """{"operations": [$operation]}""")

    override fun close() {
        process.destroy()
        process.waitFor()
        folder.deleteRecursively()
    }

    companion object {
        private val transport = UrlConnectionTransport()

        fun user(id: String, name: String = id) =
            """{"kind":"user","id":"$id","username":"$name","avatarUrl":"https://images.example.com/$id.png","type":"regular"}"""

        fun items(users: Int): String {
            val ads = (0 until 5).map {
                """{"kind":"ad","id":$it,"contentUrl":"https://ads.example.com/$it.png","clickthroughUrl":"https://shop.example.com","type":"image"}"""
            }
            return ((0 until users).map { user("u$it") } + ads).joinToString("\n", postfix = "\n")
        }
    }
}
