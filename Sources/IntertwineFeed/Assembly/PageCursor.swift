import Crypto
internal import IntertwinePrimitives

/// Where a page starts, in which direction it is read, and where the rotation of the advertisements stands.
///
/// Opaque to clients and signed. It does not hold the limit, so a walk can change it from page to page. The payload begins with a format
/// number: 1 where positions alone say it all, 2 where sections or fields have a part in it.
struct PageCursor: Hashable {
    var direction: PageDirection
    /// The content item next to the page, which is itself not on it.
    var place: FeedPlace
    /// The advertisement next to the page's own in the rotation, where advertisements rotate and the last page had some.
    var rotation: Int64?
    /// Where advertisements stand once in the whole feed: the content in front of which they do, as it was when the walk began.
    var midpoint: FeedPlace?
    /// Going backward: whether the walk has met them already.
    var hasMetAdvertisements = false

    /// Names a feed inside its cursors, so that those of another feed are refused.
    static func digest(ofFeed name: String) -> UInt64 {
        UInt64(bigEndianBytes: SHA256.hash(data: Array(name.utf8)).prefix(8))
    }

    /// What tells a page's advertisements from the same ones on other pages: where its content begins, whichever way it was read. Never 0.
    static func identity(of place: FeedPlace?, inFeed feed: UInt64) -> UInt32 {
        var writer = ByteWriter(capacity: 32)
        writer.write(feed)
        place?.write(to: &writer, isLong: true)
        return max(1, SHA256.hash(data: writer.bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }

    init(
        direction: PageDirection, place: FeedPlace, rotation: Int64? = nil, midpoint: FeedPlace? = nil, hasMetAdvertisements: Bool = false
    ) {
        self.direction = direction
        self.place = place
        self.rotation = rotation
        self.midpoint = midpoint
        self.hasMetAdvertisements = hasMetAdvertisements
    }
}
