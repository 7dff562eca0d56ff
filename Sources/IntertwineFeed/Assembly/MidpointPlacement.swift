/// Puts the advertisements as one block into the middle of the content, as the sample app does: at index `count / 2`.
public struct MidpointPlacement: AdPlacement {
    /// The middle of what.
    public enum Scope: Sendable, Hashable {
        /// Of every page, with so many advertisements each.
        case page(advertisements: Int)
        /// Of the whole feed, with all of them.
        case feed
    }

    public let scope: Scope

    public init(scope: Scope = .page(advertisements: 1)) {
        self.scope = scope
    }

    public var supply: AdSupply {
        switch scope {
        case .page(let advertisements): .rotating(perPage: advertisements)
        case .feed: .onceAtMidpoint
        }
    }

    public func indices(for advertisements: Int, in stretch: ContentStretch) -> [Int] {
        let index =
            switch scope {
            case .page: stretch.count / 2
            case .feed: stretch.midpoint
            }
        return index.map { Array(repeating: $0, count: advertisements) } ?? []
    }
}
