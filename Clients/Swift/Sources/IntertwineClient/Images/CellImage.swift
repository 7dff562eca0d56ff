public import Foundation

/// The image of a part of a cell, or the placeholder that precedes it.
public enum CellImage: Sendable, Hashable {
    /// The placeholder until the image is loaded. Color and ThumbHash are optional.
    case placeholder(part: String, color: String?, thumbHash: Data?)
    /// The bytes of the image, as received from the server.
    case image(part: String, data: Data, type: String)
    /// The image cannot be loaded. The error contains the server's retry delay, if any.
    case failed(part: String, FeedClientError)
}

/// The priority of an image; visible images are loaded first.
public enum ImagePriority: Int, Sendable, Comparable {
    case prefetched
    case near
    case visible

    public static func < (one: ImagePriority, other: ImagePriority) -> Bool { one.rawValue < other.rawValue }
}
