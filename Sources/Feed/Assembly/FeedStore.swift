/// Where the feed's items are kept. Implemented in Storage.
public protocol FeedStore: Sendable {
    /// Another value after every change of any item, whichever process made it.
    ///
    /// Read on every request, on the event loop: it must not block, take a lock that a writer holds, or ask the database.
    /// A value read before ``read(_:)`` is never newer than what that read sees, so pages cached under it are never stale.
    var version: StoreVersion { get }

    /// Runs `body` on one consistent snapshot of the items.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` where the store cannot answer, or what `body` throws.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any FeedSnapshot) throws -> Value) async throws -> Value
}

/// The items as they stood at one moment; valid only inside ``FeedStore/read(_:)``.
public protocol FeedSnapshot {
    /// Items of a lane in feed order (or, going `backward`, in reverse), beginning next to a position that is itself left out.
    ///
    /// - Parameter limit: at most so many items; the cost depends on it alone, never on how far into the feed the position lies.
    func items(in lane: Lane, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// The same for the items of one form only. At that cost among advertisements; among content, other forms in between cost too.
    func items(of form: ItemForm, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// One item, or nil if the store has none of that kind and id.
    func item(kind: String, id: String) throws -> FeedItem?

    /// The position of the item with index `count / 2` of a lane; nil where the lane is empty.
    ///
    /// The cost may depend on the number of items: it is asked at most once per ``FeedStore/version``, and only where advertisements stand
    /// at the middle of the whole feed.
    func midpoint(of lane: Lane) throws -> Int64?

    /// How many items there are of each form; the cost may depend on the number of items, so it is for operators, not for requests.
    func counts() throws -> [ItemForm: Int]
}

/// Which way a page is read from its position.
public enum PageDirection: Sendable, Hashable {
    /// Items that stand after the position; from the start of the lane where there is none.
    case forward
    /// Items that stand before the position; from the end of the lane where there is none.
    case backward
}
