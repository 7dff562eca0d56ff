internal import IntertwinePrimitives

/// The position of a page in a feed, with reading direction and the states of the sources of ads.
/// It does not contain the limit, so a client can change the limit from page to page.
struct PageCursor: Hashable {
    var direction: PageDirection
    var position: FeedPosition
    var offsets: ContentOffset?
    var shown: ShownAds?
    var ranked: RankedPosition?
    var ads: [AdState] = []

    /// The state that a source of ads left for the page. Only the source knows its meaning.
    struct AdState: Hashable {
        static let limit = 512

        var source: String
        var bytes: [UInt8]
    }

    /// Returns the digest of a feed's name in its cursors, so that cursors of other feeds are rejected.
    static func digest(ofFeed name: String) -> UInt64 {
        UInt64(bigEndianBytes: SHA256.hash(data: Array(name.utf8)).prefix(8))
    }

    /// It is a mixed number, not a cryptographic digest. Why: forging two equal pages would only make two impressions count as one.
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
}

extension PageCursor {
    /// Cursors of the formats 1 and 2 had the states of the built-in sources as fields of their own. They are refused as invalid.
    private static let short: UInt8 = 3
    private static let long: UInt8 = 4

    func text(feed: UInt64, signer: Signer) -> String {
        var flags: UInt8 = 0
        if direction == .backward { flags |= 1 }
        if !ads.isEmpty { flags |= 2 }
        if offsets != nil { flags |= 16 }
        if shown != nil { flags |= 64 }
        if ranked != nil { flags |= 4 }
        let format = position.isUnkeyedFirstSection ? Self.short : Self.long
        var writer = ByteWriter(capacity: 64)
        writer.write(format)
        writer.write(feed)
        writer.write(flags)
        position.write(to: &writer, isLong: format == Self.long)
        offsets?.write(to: &writer)
        shown?.write(to: &writer)
        ranked?.write(to: &writer)
        if !ads.isEmpty { writer.write(UInt8(clamping: ads.count)) }
        for state in ads {
            writer.write(UInt8(clamping: state.source.utf8.count))
            writer.write(Array(state.source.utf8))
            writer.write(UInt16(clamping: state.bytes.count))
            writer.write(state.bytes)
        }
        return signer.sign(writer.bytes)
    }

    init(text: some StringProtocol, feed: UInt64, signer: Signer) throws(CursorError) {
        guard let payload = signer.payload(of: String(text)) else { throw .invalid }
        var reader = ByteReader(payload)
        guard let format = reader.readByte(), format == Self.short || format == Self.long, let digest = reader.readUInt64() else {
            throw .invalid
        }
        guard digest == feed else { throw .otherFeed }
        let isLong = format == Self.long
        guard let flags = reader.readByte(), flags & 0b1010_1000 == 0, let place = FeedPosition(&reader, isLong: isLong) else {
            throw .invalid
        }
        self.init(direction: flags & 1 == 0 ? .forward : .backward, position: place)
        if flags & 16 != 0 {
            guard let counts = ContentOffset(&reader) else { throw .invalid }
            self.offsets = counts
        }
        if flags & 64 != 0 {
            guard let shown = ShownAds(&reader) else { throw .invalid }
            self.shown = shown
        }
        if flags & 4 != 0 {
            guard let ranked = RankedPosition(&reader) else { throw .invalid }
            self.ranked = ranked
        }
        for _ in 0..<(flags & 2 == 0 ? 0 : Int(reader.readByte() ?? 0)) {
            guard let length = reader.readByte(), let source = reader.readBytes(Int(length)), let count = reader.readUInt16(),
                let bytes = reader.readBytes(Int(count))
            else { throw .invalid }
            ads.append(AdState(source: String(decoding: source, as: UTF8.self), bytes: Array(bytes)))
        }
        guard reader.remaining.isEmpty else { throw .invalid }
    }
}

extension FeedPosition {
    /// True if the position alone identifies the item, so that the short format suffices.
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

    init?(_ reader: inout ByteReader, isLong: Bool) {
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

package enum CursorError: Error, Sendable, Hashable {
    case invalid
    case otherFeed
}
