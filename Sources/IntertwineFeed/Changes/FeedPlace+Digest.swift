internal import Crypto
internal import IntertwinePrimitives

extension FeedPlace {
    /// ``HeldCell/digestLength`` bytes of a SHA-256: enough to tell whether a page was read from this place.
    var digest: UInt64 {
        var writer = ByteWriter()
        write(to: &writer, isLong: true)
        return UInt64(bigEndianBytes: SHA256.hash(data: writer.bytes).prefix(HeldCell.digestLength))
    }
}
