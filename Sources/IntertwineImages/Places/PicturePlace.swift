public import IntertwineFetch
internal import IntertwinePrimitives

/// Where the pictures below a URL lie, if the URL itself is not asked: in a folder of this machine, or in a bucket.
public struct PicturePlace: Sendable {
    public enum Store: Sendable {
        case folder(ConfinedFolder)
        case bucket(S3Bucket)
    }

    /// One picture's place.
    enum Found: Sendable {
        case file(ConfinedFolder, name: String)
        case object(S3Bucket, FetchURL)
    }

    private let prefix: String
    private let store: Store

    /// - Parameter prefix: ends with a slash; a query in it would never match.
    public init?(prefix: FetchURL, store: Store) {
        guard prefix.text.hasSuffix("/"), !prefix.text.contains("?") else { return nil }
        self.prefix = prefix.text
        self.store = store
    }

    /// Nil for URLs that do not lie below the prefix; a failure for those that do and name nothing there. A query is of no interest.
    func found(_ url: FetchURL) throws(FetchFailure) -> Found? {
        guard url.text.hasPrefix(prefix) else { return nil }
        let rest = url.text.dropFirst(prefix.count).prefix { $0 != "?" }
        let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
        let names = segments.compactMap { PercentCoding.decode($0) }
        // Decoded once, and nothing that would be a step anywhere.
        guard names.count == segments.count,
            names.allSatisfy({ !["", ".", ".."].contains($0) && !$0.contains("/") && !$0.utf8.contains(0) })
        else { throw .malformedURL }
        let name = names.joined(separator: "/")
        return switch store {
        case .folder(let folder): .file(folder, name: name)
        case .bucket(let bucket): .object(bucket, try bucket.url(of: name))
        }
    }
}
