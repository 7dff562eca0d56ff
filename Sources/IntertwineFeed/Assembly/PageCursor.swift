import Crypto
internal import IntertwinePrimitives

/// Where a page starts, in which direction it is read, and where the rotation of the advertisements stands.
///
/// Opaque to clients and signed. It does not hold the limit, so a walk can change it from page to page. The payload begins with a format
/// number: 1 where positions alone say it all, 2 where sections or fields have a part in it.
struct PageCursor: Hashable {
    var direction: PageDirection
    /// The content item next to the page, which is itself not on it.
    var position: FeedPosition
    /// The advertisement next to the page's own in the rotation, where advertisements rotate and the last page had some.
    var rotation: Int64?
    /// Where advertisements stand once in the whole feed: the content in front of which they do, as it was when the walk began.
    var midpoint: FeedPosition?
    /// Going backward: whether the walk has met them already.
    var isPastMidpoint = false
    /// Where placements count content: how much the walk has met.
    var offsets: ContentOffset?
    /// Where advertisements stand as listed: up to where the last page has shown them; nil for ``place``.
    var pinned: FeedPosition?
    /// Advertisements that the session showed near the edge; nil for none that count.
    var shown: ShownAds?

    /// Names a feed inside its cursors, so that those of another feed are refused.
    static func digest(ofFeed name: String) -> UInt64 {
        UInt64(bigEndianBytes: SHA256.hash(data: Array(name.utf8)).prefix(8))
    }

    /// What tells a page's advertisements from the same ones on other pages: where its content begins, whichever way it was read. Never 0.
    ///
    /// A mixed number and no digest: who made two pages alike would gain no more than an impression that counts once.
    static func identity(of place: FeedPosition?, inFeed feed: UInt64) -> UInt32 {
        var state = feed
        func mix(_ word: UInt64) {
            state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
        }
        if let place {
            mix(UInt64(truncatingIfNeeded: place.section) + 1)
            switch place.item.key {
            case nil: break
            case .number(let number): mix(number.bitPattern)
            case .text(let text): for byte in text { mix(UInt64(byte) + 1) }
            }
            mix(UInt64(bitPattern: place.item.position))
        }
        mix(0)
        return max(1, UInt32(truncatingIfNeeded: state >> 32))
    }

    init(
        direction: PageDirection, position: FeedPosition, rotation: Int64? = nil, midpoint: FeedPosition? = nil,
        isPastMidpoint: Bool = false,
        offsets: ContentOffset? = nil, pinned: FeedPosition? = nil, shown: ShownAds? = nil
    ) {
        self.direction = direction
        self.position = position
        self.rotation = rotation
        self.midpoint = midpoint
        self.isPastMidpoint = isPastMidpoint
        self.offsets = offsets
        self.pinned = pinned
        self.shown = shown
    }
}

extension PageCursor {
    private static let short: UInt8 = 1
    private static let long: UInt8 = 2

    func text(feed: UInt64, signer: Signer) -> String {
        var flags: UInt8 = 0
        if direction == .backward { flags |= 1 }
        if rotation != nil { flags |= 2 }
        if midpoint != nil { flags |= 4 }
        if isPastMidpoint { flags |= 8 }
        if offsets != nil { flags |= 16 }
        if pinned != nil { flags |= 32 }
        if shown != nil { flags |= 64 }
        let format =
            position.isUnkeyedFirstSection && midpoint?.isUnkeyedFirstSection ?? true && pinned?.isUnkeyedFirstSection ?? true
            ? Self.short : Self.long
        var writer = ByteWriter(capacity: 64)
        writer.write(format)
        writer.write(feed)
        writer.write(flags)
        position.write(to: &writer, isLong: format == Self.long)
        if let rotation { writer.write(rotation) }
        midpoint?.write(to: &writer, isLong: format == Self.long)
        offsets?.write(to: &writer)
        pinned?.write(to: &writer, isLong: format == Self.long)
        shown?.write(to: &writer)
        return signer.sign(writer.bytes)
    }

    /// - Throws: ``CursorError``, for any text that ``text(feed:signer:)`` did not make.
    init(text: some StringProtocol, feed: UInt64, signer: Signer) throws(CursorError) {
        guard let payload = signer.payload(of: text) else { throw .invalid }
        var reader = ByteReader(payload)
        guard let format = reader.readByte(), format == Self.short || format == Self.long, let digest = reader.readUInt64() else {
            throw .invalid
        }
        guard digest == feed else { throw .otherFeed }
        let isLong = format == Self.long
        guard let flags = reader.readByte(), flags < 128, let place = FeedPosition(&reader, isLong: isLong) else { throw .invalid }
        self.init(direction: flags & 1 == 0 ? .forward : .backward, position: place, isPastMidpoint: flags & 8 != 0)
        if flags & 2 != 0 {
            guard let rotation = reader.readInt64() else { throw .invalid }
            self.rotation = rotation
        }
        if flags & 4 != 0 {
            guard let midpoint = FeedPosition(&reader, isLong: isLong) else { throw .invalid }
            self.midpoint = midpoint
        }
        if flags & 16 != 0 {
            guard let counts = ContentOffset(&reader) else { throw .invalid }
            self.offsets = counts
        }
        if flags & 32 != 0 {
            guard let listed = FeedPosition(&reader, isLong: isLong) else { throw .invalid }
            self.pinned = listed
        }
        if flags & 64 != 0 {
            guard let shown = ShownAds(&reader) else { throw .invalid }
            self.shown = shown
        }
        guard reader.remaining.isEmpty else { throw .invalid }
    }
}

extension FeedPosition {
    /// Whether its position says it all.
    fileprivate var isUnkeyedFirstSection: Bool { section == 0 && item.key == nil }

    func write(to writer: inout ByteWriter, isLong: Bool) {
        if isLong {
            writer.write(UInt16(clamping: section))
            switch item.key {
            case nil: writer.write(UInt8(0))
            case .number(let number):
                writer.write(UInt8(1))
                writer.write(number.bitPattern)
            case .text(let text):
                writer.write(UInt8(2))
                let text = text.prefix(Int(UInt16.max))
                writer.write(UInt16(clamping: text.count))
                writer.write(text)
            }
        }
        writer.write(item.position)
    }

    fileprivate init?(_ reader: inout ByteReader, isLong: Bool) {
        var section = 0
        var key: SortKey?
        if isLong {
            guard let index = reader.readUInt16(), let type = reader.readByte() else { return nil }
            section = Int(index)
            switch type {
            case 0: break
            case 1:
                guard let bits = reader.readUInt64() else { return nil }
                key = .number(Double(bitPattern: bits))
            case 2:
                guard let count = reader.readUInt16(), let text = reader.readBytes(Int(count)) else { return nil }
                key = .text(Array(text))
            default: return nil
            }
        }
        guard let position = reader.readInt64() else { return nil }
        self.init(section: section, item: SortPosition(key: key, position: position))
    }
}

/// Why a cursor is refused: 400 over HTTP.
package enum CursorError: Error, Sendable, Hashable {
    /// Damaged, forged, or signed by a key that is valid no more.
    case invalid
    /// Ours, but from another feed.
    case otherFeed
}
