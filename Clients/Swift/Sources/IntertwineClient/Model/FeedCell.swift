public import Foundation

/// A cell as described by the server: its view, its size and the actions of its slots.
///
/// ```swift
/// label.text = cell.bindings["username"]?.text
/// button.isHidden = cell.state("saved")
/// ```
public struct FeedCell: Hashable, Sendable, Identifiable {
    /// The id, such as `user:ann`.
    public let id: String
    /// The reuse identifier, under which the app registers a view; nil if the server sends none.
    public let identifier: String?
    /// The size in points.
    public let size: CellSize
    /// The actions by slot.
    public let actions: [CellSlot: CellAction]
    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]

    /// Decodes a cell, an object with an `id`; nil for any other value. The default of an invalid width is 300, of an invalid height 200.
    ///
    /// - Parameter base: The URL to which links are relative.
    public init?(_ value: JSONValue, base: URL? = nil) {
        guard let members = value.object, let id = members["id"]?.text else { return nil }
        self.id = id
        identifier = members["identifier"]?.text
        size = CellSize(members["size"])
        let slots = (members["actions"]?.object ?? [:]).map { (CellSlot(rawValue: $0), CellAction($1, base: base)) }
        actions = Dictionary(slots) { first, _ in first }.compactMapValues { $0 }
        self.members = members
    }

    /// The id of the first cell of the item, if this is another cell of it: a companion, or a repetition of an ad.
    public var primary: String? { members["primary"]?.text }

    /// Why the ranker of the feed chose the item, such as "Because you follow Ada"; nil without a reason.
    public var reason: String? { members["reason"]?.text }

    /// The bindings of the configuration action, by name of the part.
    public var bindings: [String: CellBinding] {
        if case .bind(let bindings)? = actions[.configuration]?.kind { bindings } else { [:] }
    }

    /// Returns a state of the viewer for this cell, such as `saved`; false if the server sends none.
    ///
    /// ```swift
    /// button.isSelected = cell.state("saved")
    /// ```
    public func state(_ name: String) -> Bool { members["state"]?[name]?.boolean ?? false }

    /// Returns up to two initials of a text of the cell, which take the place of an image that is missing.
    ///
    /// ```swift
    /// label.text = cell.initials(of: "username")  // "AL" for Ada Lovelace
    /// ```
    ///
    /// - Parameter part: The name of the text's binding.
    public func initials(of part: String) -> String {
        let words = bindings[part]?.text?.split(whereSeparator: \.isWhitespace) ?? []
        let ends = words.count > 1 ? [words.first, words.last] : [words.first]
        return ends.compactMap { $0?.first?.uppercased() }.joined()
    }

    /// A Boolean value indicating whether the cell is of an ad. The member `advertisement` decides; without it, a disclosure does.
    public var isAdvertisement: Bool { members["advertisement"]?.boolean ?? (disclosure != nil) }

    /// The disclosure of an ad, which is shown with it: the label, and the advertiser if the server names one.
    ///
    /// ```swift
    /// if let disclosure = cell.disclosure {
    ///     label.text = [disclosure.label, disclosure.advertiser].compactMap(\.self).joined(separator: " · ")
    /// }
    /// ```
    public var disclosure: (label: String, advertiser: String?)? {
        for binding in bindings.values where binding.members["type"] == .text("disclosure") {
            guard let label = binding.members["label"]?.text else { continue }
            return (label, binding.members["advertiser"]?.text.flatMap { $0.isEmpty ? nil : $0 })
        }
        return nil
    }

    /// A Boolean value indicating whether the cell is the header of a section that begins here.
    public var isSectionHeader: Bool { id.hasPrefix("section:") }
}

/// A size in points.
///
/// ```swift
/// let height = cell.size.height(textScale: UIFontMetrics.default.scaledValue(for: 100) / 100)
/// ```
public struct CellSize: Hashable, Sendable {
    /// The text scales that clients support. Others are limited to these.
    public static let textScales = 0.5...4

    /// The width in points.
    public var width: Double
    /// The height in points at text scale 1.
    public var height: Double
    /// The part of the height that lines of text take, in points; 0 if the height is constant.
    public var textHeight: Double

    /// Creates a size in points.
    public init(width: Double, height: Double, textHeight: Double = 0) {
        self.width = width
        self.height = height
        self.textHeight = textHeight
    }

    init(_ value: JSONValue?) {
        func points(_ name: String, or usual: Double) -> Double {
            guard let number = value?[name]?.number, number.isFinite, number > 0 else { return usual }
            return min(number, 4096)
        }
        let height = points("height", or: 200)
        self.init(width: points("width", or: 300), height: height, textHeight: min(points("textHeight", or: 0), height))
    }

    /// Returns the height in points at a text scale. The growth is a whole number of points.
    ///
    /// ```swift
    /// let size = CellSize(width: 300, height: 100, textHeight: 40)
    /// size.height(textScale: 1.5)  // 120
    /// ```
    ///
    /// - Parameter textScale: The size of text, divided by its default size. It is limited to `textScales`.
    public func height(textScale: Double) -> Double {
        let scale = textScale.isFinite ? min(max(textScale, Self.textScales.lowerBound), Self.textScales.upperBound) : 1
        return height + (textHeight * (scale - 1)).rounded(.up)
    }
}
