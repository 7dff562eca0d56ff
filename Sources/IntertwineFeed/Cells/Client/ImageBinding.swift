/// An image in a cell: its href and the metadata that is known before it is loaded.
///
/// ```swift
/// var image = ImageBinding("/images/swing.png", box: ImageBinding.Box(width: 300, height: 200), scales: [1, 2, 3])
/// image.alternative = "A red swing"
/// ```
public struct ImageBinding: Sendable, Hashable {
    /// The href from which the client loads the image.
    public var href: String
    /// The box in points that shows the image; nil if the cell declares none, in which case the href leads to the original.
    public var box: Box?
    /// The available scales of the image. Scales above the first have `@2x` or `@3x` at the end of the href.
    public var scales: [Int]
    /// The metadata of the original image; nil until the image was fetched once.
    public var placeholder: ImagePlaceholder?
    /// The alternative text for people who do not see the image.
    public var alternative: String?
    package var source: String?

    /// The size of the area that shows an image, in points.
    public struct Box: Sendable, Hashable {
        /// The width in points.
        public var width: Int
        /// The height in points.
        public var height: Int

        /// Creates a box with a width and a height in points.
        public init(width: Int, height: Int) {
            (self.width, self.height) = (width, height)
        }
    }

    /// Creates an image with an href. By default, the client learns nothing else about the image.
    public init(_ href: String, box: Box? = nil, scales: [Int] = [], placeholder: ImagePlaceholder? = nil, alternative: String? = nil) {
        self.href = href
        self.box = box
        self.scales = scales
        self.placeholder = placeholder
        self.alternative = alternative
    }
}

/// The metadata of an image that was fetched.
public struct ImagePlaceholder: Sendable, Hashable {
    /// The width of the original, in pixels.
    public var width: Int
    /// The height of the original, in pixels.
    public var height: Int
    /// The dominant colour as `#rrggbb`.
    public var color: String
    /// A blurred preview: a ThumbHash in base64.
    public var placeholder: String

    /// Creates the metadata of an original of `width` × `height` pixels.
    public init(width: Int, height: Int, color: String, placeholder: String) {
        self.width = width
        self.height = height
        self.color = color
        self.placeholder = placeholder
    }
}

package protocol ImageMetadataStore: Sendable {
    func placeholder(of source: String) -> ImagePlaceholder?
    var version: UInt64 { get }
    var revision: UInt64 { get }
}

/// The box in points that shows an image, and the way the image is fitted into it.
///
/// ```swift
/// let box = ImageBinding.Box(width: 75, height: 75)
/// let geometry = ImageGeometry(box, .fill(.attention), part: "avatar")
/// ```
public struct ImageGeometry: Sendable, Hashable {
    /// The way an image is fitted into its box.
    public enum Fit: Sendable, Hashable {
        /// The image covers the box, and the overflow is cropped.
        case fill(Focus)
        /// The whole image is shown.
        case fit
    }

    /// The part of a cropped image that stays visible.
    public enum Focus: Sendable, Hashable {
        /// The centre of the image.
        case centre
        /// The most salient part, such as a face.
        case attention
        /// The surroundings of a point, as much as possible on all sides. 0 is left and top, 1 is right and bottom.
        case point(x: Double, y: Double)
    }

    /// The box that shows the image.
    public var box: ImageBinding.Box
    /// The way the image is fitted into the box.
    public var fit: Fit
    /// The name of the binding. The configuration uses it to select a fallback for unavailable images.
    public var part: String?

    /// Creates a geometry. By default, the image covers the box and is cropped around its centre.
    public init(_ box: ImageBinding.Box, _ fit: Fit = .fill(.centre), part: String? = nil) {
        self.box = box
        self.fit = fit
        self.part = part
    }
}

package struct ImageSizing: Sendable, Hashable {
    package enum Length: Sendable, Hashable {
        case points(Double)
        case ofWidth(Double)
        case ofHeight(Double)

        fileprivate func points(in cell: CellSize) -> Int {
            let points =
                switch self {
                case .points(let points): points
                case .ofWidth(let share): cell.width * share
                case .ofHeight(let share): cell.height * share
                }
            return Int(min(max(points.rounded(), 1), 10_000))
        }
    }

    package var width: Length
    package var height: Length

    package init(width: Length, height: Length) {
        self.width = width
        self.height = height
    }

    package static let cell = ImageSizing(width: .ofWidth(1), height: .ofHeight(1))

    static func square(_ share: Double) -> ImageSizing { ImageSizing(width: .ofHeight(share), height: .ofHeight(share)) }

    package func shape(in cell: CellSize, _ fit: ImageGeometry.Fit) -> ImageGeometry {
        ImageGeometry(ImageBinding.Box(width: width.points(in: cell), height: height.points(in: cell)), fit)
    }
}
