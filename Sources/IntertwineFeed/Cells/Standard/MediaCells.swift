internal import IntertwinePrimitives

/// The properties of a cell that plays media: the identifiers under which clients register its classes, and its size.
public struct MediaCell: Sendable, Hashable {
    /// The reuse identifier in the layout `collection`.
    public var identifier: String
    /// The reuse identifier in the layout `table`.
    public var tableIdentifier: String
    /// The width in points for clients that do not send their width. Other clients get a scaled cell of equal aspect ratio.
    public var width: Int
    /// The height in points that belongs to ``width``.
    public var height: Int
    /// The height of the table row, in points.
    public var tableHeight: Int

    /// Creates the properties of a cell in both layouts. Sizes are in points.
    ///
    /// ```swift
    /// let trailer = MediaCell(
    ///     identifier: "TrailerCollectionViewCell", tableIdentifier: "TrailerTableViewCell", width: 320, height: 180, tableHeight: 120)
    /// let ratio = Double(trailer.width) / Double(trailer.height)
    /// ```
    public init(identifier: String, tableIdentifier: String, width: Int, height: Int, tableHeight: Int) {
        self.identifier = identifier
        self.tableIdentifier = tableIdentifier
        self.width = width
        self.height = height
        self.tableHeight = tableHeight
    }

    /// The built-in cell of video ads: 320 × 180 points, or a table row of 180 points.
    public static let video = MediaCell(
        identifier: "AdvertisementVideoCollectionViewCell", tableIdentifier: "AdvertisementVideoTableViewCell", width: 320, height: 180,
        tableHeight: 180)
    /// The built-in cell of audio ads: 300 × 100 points, or a table row of 100 points.
    public static let audio = MediaCell(
        identifier: "AdvertisementAudioCollectionViewCell", tableIdentifier: "AdvertisementAudioTableViewCell", width: 300, height: 100,
        tableHeight: 100)
}

/// The conditions under which an ad counts as viewed: the visible share of its area, and the uninterrupted time. Media must play during
/// that time.
public struct Viewability: Sendable, Hashable {
    /// The visible share of the area, above 0 and at most 1.
    public var share: Double
    /// The uninterrupted time in seconds.
    public var seconds: Double

    /// Creates conditions. The defaults are half of the area and one second.
    public init(share: Double = 0.5, seconds: Double = 1) {
        self.share = share
        self.seconds = seconds
    }

    /// Parses a text such as `50% 1s`; nil for other text, a share of 0 or more than an hour.
    ///
    /// ```swift
    /// let viewability = Viewability("50% 2s")
    /// let seconds = viewability?.seconds  // 2.0
    /// ```
    public init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].hasSuffix("%"), words[1].hasSuffix("s"), let percent = Double(words[0].dropLast()),
            let seconds = Double(words[1].dropLast()), percent > 0, percent <= 100, seconds >= 0, seconds <= 3_600
        else { return nil }
        self.init(share: percent / 100, seconds: seconds)
    }

    /// The conditions as a text such as `50% 1s`, which ``init(_:)`` parses.
    public var text: String { "\(Self.printed((share * 1e8).rounded() / 1e6))% \(Self.printed(seconds))s" }

    /// A description of the texts that ``init(_:)`` parses, for error messages.
    public static let allowed = "a share and a time, such as '50% 1s'"

    var value: JSONValue { .object([.init("share", .number(share)), .init("seconds", .number(seconds))]) }

    private static func printed(_ number: Double) -> String { Int64(exactly: number).map(String.init) ?? number.description }
}

struct MediaAdvertisementCellFactory: CellViewModelFactory, ReportingFactory {
    let identifier: String
    private let size: SizeRule
    let plan: CellCommands
    private let alternative: LocalizedText

    init(_ cell: MediaCell, plan: CellCommands, layout: CellLayout, alternative: LocalizedText) {
        (self.plan, self.alternative) = (plan, alternative)
        let (width, height) = (Double(max(1, cell.width)), Double(max(1, cell.height)))
        switch layout {
        case .collection:
            identifier = cell.identifier
            size = SizeRule(
                CellSize(width: width, height: height), fraction: 0.8, aspectRatio: width / height, minimum: width / 2, maximum: width * 2)
        case .table:
            identifier = cell.tableIdentifier
            size = .row(height: Double(max(1, cell.tableHeight)))
        }
    }

    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        let advertisement = try Advertisement(item: item)
        var bindings = [CellBinding("media", .media(context.links.media(advertisement.contentURL)))]
        if let poster = advertisement.posterURL {
            var shape = ImageSizing.cell.shape(in: size.size(width: context.width), .fit)
            shape.part = "poster"
            var image = context.links.image(poster, shape, scale: context.scale, now: context.now)
            image.alternative = advertisement.alternative ?? alternative[context.language]
            bindings.append(CellBinding("poster", .image(image)))
        }
        if let type = advertisement.mediaType { bindings.append(CellBinding("mediaType", .text(type))) }
        if let duration = advertisement.duration { bindings.append(CellBinding("duration", .number(duration))) }
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width), commands: plan.filled(by: BindCommand(bindings)),
            subject: CommandSubject(cell: id, item: item, destination: advertisement.clickthroughURL, context: context))
    }
}
