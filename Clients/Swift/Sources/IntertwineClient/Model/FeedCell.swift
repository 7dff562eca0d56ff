import Foundation

/// A cell as the server describes it: which view shows it, how large it is, and what its slots do.
public struct FeedCell: Hashable, Sendable, Identifiable {
    public let id: String
    /// What the app registered a view under; nil where the server says nothing that could be that.
    public let identifier: String?
    /// In points.
    public let size: CellSize
    /// By slot: `configuration`, `selection`, `dismissal`, and whatever else a kind declares.
    public let actions: [String: Action]
    /// All members, those included that this package does not know.
    public let members: [String: JSONValue]

    /// Nil where it is no cell: an object with an `id`. What is no size is 300 by 200, each side by itself.
    public init?(_ value: JSONValue) {
        guard let members = value.object, let id = members["id"]?.text else { return nil }
        self.id = id
        identifier = members["identifier"]?.text
        size = CellSize(members["size"])
        actions = (members["actions"]?.object ?? [:]).compactMapValues(Action.init)
        self.members = members
    }

    /// What the configuration action binds: by name of the part.
    public var bindings: [String: Binding] {
        if case .bind(let bindings)? = actions["configuration"]?.kind { bindings } else { [:] }
    }

    /// The viewer's own state of this cell, such as `saved`, where the server tells it.
    public func state(_ name: String) -> Bool { members["state"]?[name]?.boolean ?? false }

    /// Whether it is the header of the section that begins here.
    public var isSectionHeader: Bool { id.hasPrefix("section:") }
}

/// A size in points.
public struct CellSize: Hashable, Sendable {
    public var width: Double
    public var height: Double

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
