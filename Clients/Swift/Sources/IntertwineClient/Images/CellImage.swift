public import Foundation

/// The image of a part of a cell, or the placeholder that precedes it.
///
/// ```swift
/// switch image {
/// case .placeholder(_, let color, _): show(color)
/// case .image(_, let data, _): show(data)
/// case .failed(_, let error): print(error)
/// }
/// ```
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
///
/// ```swift
/// var settings = ImageLoader.Settings()
/// settings.processors = [{ image in LoadedImage(data: try downsampled(image.data), type: image.type) }]
/// let loader = ImageLoader(client: client, settings: settings)
/// ```
public typealias ImageProcessor = @Sendable (LoadedImage) async throws -> LoadedImage

/// The priority of an image; visible images are loaded first.
public enum ImagePriority: Int, Sendable, Comparable {
    /// The priority of an image whose cell is outside the screen.
    case prefetched
    /// The priority of an image whose cell is next to the visible cells.
    case near
    /// The priority of an image whose cell is visible. It is the default of `ImageLoader.images(for:part:scale:priority:)`.
    case visible

    /// Returns true if the second priority is more urgent than the first one.
    public static func < (one: ImagePriority, other: ImagePriority) -> Bool { one.rawValue < other.rawValue }
}
