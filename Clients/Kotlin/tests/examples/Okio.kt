package okio

/** A stub of the members that the example of a transport uses. */
interface BufferedSource {
    fun request(byteCount: Long): Boolean

    fun read(sink: ByteArray): Int

    fun readByteArray(): ByteArray
}
