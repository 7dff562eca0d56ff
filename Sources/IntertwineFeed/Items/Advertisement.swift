/// An advertisement. Image advertisements are intertwined with the content; video and audio are stored until a factory for them exists.
public struct Advertisement: Sendable, Hashable {
    public enum Variant: String, Sendable, Hashable, CaseIterable {
        case image, video, audio
    }

    /// Unique; numbers are kept in their decimal form.
    public var id: String
    public var contentURL: String
    public var clickthroughURL: String
    public var variant: Variant

    public init(id: String, contentURL: String, clickthroughURL: String, variant: Variant) {
        self.id = id
        self.contentURL = contentURL
        self.clickthroughURL = clickthroughURL
        self.variant = variant
    }
}
