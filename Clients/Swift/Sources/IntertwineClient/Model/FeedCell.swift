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

    /// The bindings of the configuration action, by name of the part.
    public var bindings: [String: CellBinding] {
        if case .bind(let bindings)? = actions[.configuration]?.kind { bindings } else { [:] }
    }

    /// Returns a state of the viewer for this cell, such as `saved`; false if the server sends none.
    public func state(_ name: String) -> Bool { members["state"]?[name]?.boolean ?? false }

    /// A Boolean value indicating whether the cell is an ad.
    public var isAdvertisement: Bool { id.hasPrefix("ad:") }

    /// The disclosure of an ad, which is shown with it: the label, and the advertiser. The parts that the server does not send are nil.
    public var disclosure: (label: String?, advertiser: String?)? {
        bindings["disclosure"].map { ($0.members["label"]?.text, $0.members["advertiser"]?.text) }
    }

    /// A Boolean value indicating whether the cell is the header of a section that begins here.
    public var isSectionHeader: Bool { id.hasPrefix("section:") }
}

/// A size in points.
public struct CellSize: Hashable, Sendable {
    /// The width in points.
    public var width: Double
    /// The height in points.
    public var height: Double

    /// Creates a size in points.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    init(_ value: JSONValue?) {
        func points(_ name: String, or usual: Double) -> Double {
            guard let number = value?[name]?.number, number.isFinite, number > 0 else { return usual }
            return min(number, 4096)
        }
        self.init(width: points("width", or: 300), height: points("height", or: 200))
    }
}
