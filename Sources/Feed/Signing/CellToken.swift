/// What a click or impression token says: which cell, in which advertisement slot, minted in which hour.
///
/// Bound to an hour and not to a moment, so that a page made twice within the hour has the same bytes and can be cached.
public struct CellToken: Sendable, Hashable {
    private static let format: UInt8 = 1

    public var cell: String
    /// The index within the page's advertisements; 0 for content.
    public var slot: Int
    /// Hours since 1970-01-01 UTC.
    public var hour: UInt32

    public init(cell: String, slot: Int, hour: UInt32) {
        self.cell = cell
        self.slot = slot
        self.hour = hour
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(hour)
        writer.write(UInt16(clamping: slot))
        return writer.bytes + Array(cell.utf8)
    }

    init?(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.readByte() == Self.format, let hour = reader.readUInt32(), let slot = reader.readUInt16(),
            let cell = String(validating: reader.remaining, as: UTF8.self), !cell.isEmpty
        else { return nil }
        self.init(cell: cell, slot: Int(slot), hour: hour)
    }
}
