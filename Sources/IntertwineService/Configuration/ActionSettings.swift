public import IntertwineFeed

/// `actions.*`: which commands a cell's actions run, in order.
public struct ActionSettings: Sendable {
    public var userSelection = ["analytics", "present"]
    public var userDismissal = ["analytics", "dismiss"]
    public var advertisementSelection = ["analytics", "clickthrough"]
    public var advertisementDismissal = ["analytics", "dismiss"]
    /// What a macro does when one of its commands fails.
    public var onFailure = FailurePolicy.stop
    /// How long after it a selection can be undone.
    public var undo: Duration = .seconds(600)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("actions.user.selection", &userSelection)
        reader.read("actions.user.dismissal", &userDismissal)
        reader.read("actions.advertisement.selection", &advertisementSelection)
        reader.read("actions.advertisement.dismissal", &advertisementDismissal)
        reader.read("actions.on-failure", &onFailure)
        reader.read("actions.undo", &undo)
    }
}
