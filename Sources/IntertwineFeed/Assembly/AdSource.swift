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
///         // Ask your ad server here, with a time-out. The article on sources of ads has one that does.
///         context.viewer == nil ? [] : Array(repeating: "ad:7", count: slots)
///     }
/// }
/// ```
public protocol AdSource: Sendable {
    /// The name of the source: of its state in cursors, and in place of a campaign in events and reports. Two to 64 characters of `a-z0-9-`.
    var name: String { get }

    /// Returns what fills the slots of a page, which is called when the content of the page is read. Both run on a thread of the store, so they
    /// must not wait for anything else.
    ///
    /// By default, the slots get the ads that ``decide(_:of:for:after:)`` returns.
    func begin(_ slots: inout AdSlots) throws -> (inout AdSlots) throws -> Void

    /// Returns the cells for the empty slots of a page, such as `ad:7` or nil, in the order of the slots.
    ///
    /// `state` is the bytes that the source left in the cursor of the page.
    /// The ads are items of the store, usually with `"house": false`. It is called without a lock and may wait, so it has to have a time-out:
    /// the page waits for it. If it throws, the slots stay empty for the sources after it, and the log has a line.
    func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?]
}

extension AdSource {
    /// The default: the slots get the ads that ``decide(_:of:for:after:)`` returns.
    public func begin(_ slots: inout AdSlots) throws -> (inout AdSlots) throws -> Void {
        { slots in
            let empty = slots.empty
            for (slot, cell) in zip(empty, try slots.decision(of: self)) {
                if let cell { try slots.fill(slot, with: cell) }
            }
        }
    }

    /// The default: none.
    public func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?] { [] }
}
