/// Which stream of the feed an item belongs to: content that is paged, or the advertisements that are intertwined with it.
///
/// The store keeps each section's items in a lane of its own, numbered as the store likes; ``content`` is the section of everything that
/// no other section takes.
public struct Lane: RawRepresentable, Sendable, Hashable {
    public static let content = Lane(rawValue: 0)
    public static let advertisements = Lane(rawValue: 1)

    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}
