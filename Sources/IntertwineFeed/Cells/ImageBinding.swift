/// A picture that fills a part of a cell: where it is loaded from, and what is known of it before it is.
public struct ImageBinding: Sendable, Hashable {
    public var href: String
    /// In points: the box that the part shows it in. Nil where the part says none, and the href is the original's.
    public var box: Box?
    /// The scales at which the href can be had: other ones than the first by `@2x` or `@3x` at its end.
    public var scales: [Int]
    /// What its origin's is like; nil until it was fetched once.
    public var placeholder: ImagePlaceholder?
    /// What is said in its place to those who do not see it.
    public var alternative: String?
    /// Its source, where something is known of pictures, or may be later: a cell is made anew when that is no longer what it tells.
    package var source: String?

    public struct Box: Sendable, Hashable {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            (self.width, self.height) = (width, height)
        }
    }

    public init(_ href: String, box: Box? = nil, scales: [Int] = [], placeholder: ImagePlaceholder? = nil, alternative: String? = nil) {
        self.href = href
        self.box = box
        self.scales = scales
        self.placeholder = placeholder
        self.alternative = alternative
    }
}

/// What is known of a picture once it was fetched.
public struct ImagePlaceholder: Sendable, Hashable {
    /// Of the original, in pixels.
    public var width: Int
    public var height: Int
    /// The colour that most of it has, as `#rrggbb`.
    public var color: String
    /// A blurred likeness: a ThumbHash in base64.
    public var placeholder: String

    public init(width: Int, height: Int, color: String, placeholder: String) {
        self.width = width
        self.height = height
        self.color = color
        self.placeholder = placeholder
    }
}

/// Knows what pictures look like, once they were fetched.
public protocol ImageMetadataStore: Sendable {
    /// Nil for a picture of which nothing is known yet.
    func placeholder(of source: String) -> ImagePlaceholder?
    /// Another number whenever something new is known.
    var version: UInt64 { get }
    /// Another number whenever what was known of a picture is known differently, or not any more.
    var revision: UInt64 { get }
}

/// The box that a part of a cell shows a picture in, in points, and how the picture gets into it.
public struct ImageGeometry: Sendable, Hashable {
    public enum Fit: Sendable, Hashable {
        /// All of the box is covered, and what hangs over is cut off.
        case fill(Focus)
        /// All of the picture is shown.
        case fit
    }

    /// What stays of a picture of which something is cut off.
    public enum Focus: Sendable, Hashable {
        case centre
        /// Where there is most to be seen, such as a face.
        case attention
        /// As much as possible on all sides of a point; 0 is left and top, 1 right and bottom.
        case point(x: Double, y: Double)
    }

    public var box: ImageBinding.Box
    public var fit: Fit
    /// The part's name: what is shown in the picture's place, where it cannot be had, is configured by it.
    public var part: String?
    /// Whom or what the picture shows: its initials may stand there.
    public var name: String?

    public init(_ box: ImageBinding.Box, _ fit: Fit = .fill(.centre), part: String? = nil, name: String? = nil) {
        self.box = box
        self.fit = fit
        self.part = part
        self.name = name
    }

    /// Of the first and the last word of the name, as far as they begin with a digit or a Latin letter, which goes without its accents.
    public var initials: String {
        let words = (name ?? "").split(whereSeparator: \.isWhitespace)
        let ends = words.count > 1 ? [words.first, words.last] : [words.first]
        return String(ends.compactMap { $0?.first }.compactMap(Self.plain)).uppercased()
    }

    /// The letter or digit of ASCII that a character is, but for what is above, below or across it; nil where it is none.
    private static func plain(_ character: Character) -> Character? {
        if character.isASCII { return character.isLetter || character.isNumber ? character : nil }
        // Such as LATIN CAPITAL LETTER E WITH ACUTE, and LATIN SMALL LETTER AE.
        guard let name = character.unicodeScalars.first?.properties.name?.split(separator: " "), name.first == "LATIN",
            let letter = name.drop(while: { $0 != "LETTER" }).dropFirst().first, letter.count <= 2
        else { return nil }
        return letter.first
    }
}

/// How large a part of a cell shows its picture, whatever size the cell has.
package struct ImageSizing: Sendable, Hashable {
    package enum Length: Sendable, Hashable {
        case points(Double)
        /// Shares of the cell's own width or height.
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

    /// As large as the cell.
    package static let cell = ImageSizing(width: .ofWidth(1), height: .ofHeight(1))

    /// A square, as high as this share of the cell.
    static func square(_ share: Double) -> ImageSizing { ImageSizing(width: .ofHeight(share), height: .ofHeight(share)) }

    func shape(in cell: CellSize, _ fit: ImageGeometry.Fit) -> ImageGeometry {
        ImageGeometry(ImageBinding.Box(width: width.points(in: cell), height: height.points(in: cell)), fit)
    }
}
