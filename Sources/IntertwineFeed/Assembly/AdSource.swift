/// A source of ads, which fills ad slots of pages. Campaigns, house ads and pinned ads are the built-in ones.
///
/// The sources of a feed are asked in turn: campaigns, those of `ServiceExtensions.adSources`, house ads, pinned ads. Each one fills slots
/// that are empty still. A source of your own usually asks another server, in ``decide(_:of:for:after:)``:
///
/// ```swift
/// struct Auction: AdSource {
///     let name = "auction"
///
///     func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?] {
///         // Ask your ad server here. The article on sources of ads has one that does.
///         context.viewer == nil ? [] : Array(repeating: "ad:7", count: slots)
///     }
/// }
/// ```
public protocol AdSource: Sendable {
    /// The name of the source: of its state in cursors, and in place of a campaign in events and reports. Two to 64 characters of `a-z0-9-`.
    var name: String { get }

    /// Fills empty slots of a page. By default, they get the ads that ``decide(_:of:for:after:)`` returns.
    ///
    /// It runs on a thread of the store, so it must not wait for anything else. If it throws, the slots that are empty then stay empty for
    /// the sources after it, and the log has a line.
    func fill(_ slots: inout AdSlots) throws

    /// Returns the cells for the empty slots of a page, such as `ad:7` or nil, in the order of the slots.
    ///
    /// `state` is the bytes that the source left in the cursor of the page.
    /// The ads are items of the store, usually with `"house": false`. It is called without a lock and may wait, at most two seconds: then its
    /// task is cancelled. If it throws, the slots stay empty for the sources after it, and the log has a line.
    /// It is asked once for a page: for changes of the page and its live updates, what it returned is remembered for half an hour.
    func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?]
}

extension AdSource {
    /// The default: the slots get the ads that ``decide(_:of:for:after:)`` returns.
    public func fill(_ slots: inout AdSlots) throws {
        let empty = slots.empty
        guard let decision = try slots.decision(of: self) else { return }
        for (slot, cell) in zip(empty, decision.cells) {
            if let cell { try slots.fill(slot, with: cell, at: decision.time) }
        }
    }

    /// The default: none.
    public func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?] { [] }
}
