internal import IntertwineFeed
internal import IntertwineFetch

/// The pages of the last snapshot that was applied: what asks the origin whether anything is new. Kept by whoever polls; without it everything
/// is read.
public struct SourceMemory: Sendable, Hashable {
    var pages: [Page] = []
    /// Good and skipped items of that snapshot.
    var items = 0
    var skipped = 0
    /// The store's, when what the source brought was last seen to be all there.
    var version: StoreVersion?

    public init() {}

    struct Page: Sendable, Hashable {
        var url: FetchURL
        /// `ETag` and `Last-Modified`, as they came.
        var entityTag: String?
        var lastModified: String?
        /// Of the body.
        var digest: [UInt8]

        var hasValidator: Bool { entityTag != nil || lastModified != nil }
    }
}
