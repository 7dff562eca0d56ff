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

/// A downloaded image, before and after the processors of an `ImageLoader`.
public struct LoadedImage: Sendable, Hashable {
    /// The bytes.
    public let data: Data
    /// The media type, such as `image/webp`.
    public let type: String

    /// Creates an image.
    public init(data: Data, type: String) {
        self.data = data
        self.type = type
    }
}

/// A transformation of a downloaded image, such as downsampling or a watermark. Its result is cached, so that it runs once for each image.
public typealias ImageProcessor = @Sendable (LoadedImage) async throws -> LoadedImage

/// The priority of an image; visible images are loaded first.
public enum ImagePriority: Int, Sendable, Comparable {
    case prefetched
    case near
    case visible

    public static func < (one: ImagePriority, other: ImagePriority) -> Bool { one.rawValue < other.rawValue }
}
