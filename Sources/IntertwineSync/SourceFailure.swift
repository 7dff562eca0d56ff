public import IntertwineFeed
public import IntertwineFetch
public import IntertwineStorage

/// Why a synchronisation changed nothing. The description is one line for whoever runs the source.
public enum SourceFailure: Error, Sendable, CustomStringConvertible {
    /// - Parameter refusal: where it leads, where that is why.
    case fetch(FetchFailure, page: Int, refusal: FetchRefusal?)
    /// - Parameter retryAfter: how long the origin asks to be left alone.
    case status(Int, page: Int, retryAfter: Duration?)
    /// The page is no JSON, or its list is not where it should be.
    case document(RemotePageFault, page: Int)
    /// An item is not valid, under `BadItemPolicy.stop`.
    case item(BadSourceItem)
    /// A limit of the source's.
    case tooMuch(String)
    /// The page that should come next is one that was there before.
    case circle(page: Int)
    /// The pages changed each time they were read.
    case changing(attempts: Int)
    case refused(SnapshotRefusal)
    case store(StoreError)

    public var description: String {
        switch self {
        case .fetch(let failure, let page, let refusal): "page \(page): \(failure.explained(by: refusal))"
        case .status(let status, let page, _): "page \(page): the origin answered \(status)\(Self.hint(for: status))"
        case .document(let fault, let page):
            "page \(page), \(fault)" + (fault.isOfPlace ? "; `items` in the source's declaration says where the list stands" : "")
        case .item(let item): "\(item)"
        case .tooMuch(let reason): reason
        case .circle(let page): "page \(page) names a next page that was read before"
        case .changing(let attempts): "the pages changed while they were read, \(attempts) times in a row"
        case .refused(let refusal): "\(refusal)"
        case .store(let error): "\(error)"
        }
    }

    private static func hint(for status: Int) -> String {
        switch status {
        case 401, 403: "; where it wants a key, give it one by headers in the source's declaration"
        case 404, 410: "; the address may be wrong"
        case 429: ", too many requests; a longer `every` asks more rarely"
        default: ""
        }
    }

    /// For metrics: what was at fault.
    public var cause: Cause {
        switch self {
        case .fetch: .fetch
        case .status: .status
        case .document, .circle: .document
        case .item: .item
        case .tooMuch: .limit
        case .changing: .changing
        case .refused(.busy): .busy
        case .refused: .refused
        case .store: .store
        }
    }

    public enum Cause: String, Sendable, CaseIterable {
        case fetch, status, document, item, limit, changing, refused, store
        /// Nothing is wrong: somebody else synchronises the same source just now.
        case busy
    }

    /// How long the origin asks to be left alone; nil where it says nothing.
    public var retryAfter: Duration? {
        if case .status(_, _, let pause) = self { pause } else { nil }
    }
}
