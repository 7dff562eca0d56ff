/// Which stream of the feed an item belongs to: the content that is paged, or the advertisements that are intertwined with it.
public enum Lane: Int, Sendable, Hashable, CaseIterable {
    case content = 0
    case advertisements = 1
}
