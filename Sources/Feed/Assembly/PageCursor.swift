import Crypto

/// Where a page starts, in which direction it is read, and where the rotation of the advertisements stands.
///
/// Opaque to clients and signed. It does not hold the limit, so a walk can change it from page to page. The payload begins with a format
/// number: what a later kind of feed has to say, such as the section, is a new format beside this one.
struct PageCursor: Hashable {
    private static let format: UInt8 = 1

    var direction: PageDirection
    /// The content item next to the page, which is itself not on it.
    var position: Int64
    /// The advertisement next to the page's own in the rotation, where advertisements rotate and the last page had some.
    var rotation: Int64?
    /// Where advertisements stand once in the whole feed: the content position in front of which they do, as it was when the walk began.
    var midpoint: Int64?
    /// Going backward: whether the walk has met them already.
    var hasMetAdvertisements = false

    /// Names a feed inside its cursors, so that those of another feed are refused.
    static func digest(ofFeed name: String) -> UInt64 {
        SHA256.hash(data: Array(name.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(feed: UInt64, signer: Signer) -> String {
        var flags: UInt8 = 0
        if direction == .backward { flags |= 1 }
        if rotation != nil { flags |= 2 }
        if midpoint != nil { flags |= 4 }
        if hasMetAdvertisements { flags |= 8 }
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(feed)
        writer.write(flags)
        writer.write(position)
        if let rotation { writer.write(rotation) }
        if let midpoint { writer.write(midpoint) }
        return signer.sign(writer.bytes)
    }

    /// - Throws: ``CursorError``, for any text that ``text(feed:signer:)`` did not make.
    init(text: some StringProtocol, feed: UInt64, signer: Signer) throws(CursorError) {
        guard let payload = signer.payload(of: text) else { throw .invalid }
        var reader = ByteReader(payload)
        guard reader.readByte() == Self.format, let digest = reader.readUInt64() else { throw .invalid }
        guard digest == feed else { throw .otherFeed }
        guard let flags = reader.readByte(), flags < 16, let position = reader.readInt64() else { throw .invalid }
        direction = flags & 1 == 0 ? .forward : .backward
        self.position = position
        if flags & 2 != 0 {
            guard let rotation = reader.readInt64() else { throw .invalid }
            self.rotation = rotation
        }
        if flags & 4 != 0 {
            guard let midpoint = reader.readInt64() else { throw .invalid }
            self.midpoint = midpoint
        }
        hasMetAdvertisements = flags & 8 != 0
        guard reader.remaining.isEmpty else { throw .invalid }
    }

    init(
        direction: PageDirection, position: Int64, rotation: Int64? = nil, midpoint: Int64? = nil, hasMetAdvertisements: Bool = false
    ) {
        self.direction = direction
        self.position = position
        self.rotation = rotation
        self.midpoint = midpoint
        self.hasMetAdvertisements = hasMetAdvertisements
    }
}
