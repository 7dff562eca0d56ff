/// What a command has to be given: by the request, or by the kind of cell that it stands in.
public struct CommandNeeds: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A viewer, for whom it acts.
    public static let viewer = CommandNeeds(rawValue: 1 << 0)
    /// A screen that the cell opens.
    public static let presentation = CommandNeeds(rawValue: 1 << 1)
    /// A stored URL that the cell leads to.
    public static let destination = CommandNeeds(rawValue: 1 << 2)

    var names: [String] {
        var names: [String] = []
        if contains(.viewer) { names.append("viewer") }
        if contains(.presentation) { names.append("presentation") }
        if contains(.destination) { names.append("destination") }
        return names
    }
}
