import Foundation

/// What a part of a cell shows in place of its picture, and then the picture.
public enum CellPicture: Sendable, Hashable {
    /// What is known of the picture before it is there: either may be missing. `likeness` is a ThumbHash.
    case placeholder(part: String, color: String?, likeness: Data?)
    /// The bytes, as the server sent them.
    case picture(part: String, data: Data, type: String)
    /// There is none; asking again does not help before `again`, where the server says so.
    case missing(part: String, FeedClientError)
}

/// How much a picture is wanted: what is in sight goes first.
public enum ImagePriority: Int, Sendable, Comparable {
    case prefetched
    case near
    case visible

    public static func < (one: ImagePriority, other: ImagePriority) -> Bool { one.rawValue < other.rawValue }
}
