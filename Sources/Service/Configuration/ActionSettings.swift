/// `actions.*`: which commands a cell's actions run, in order.
public struct ActionSettings: Sendable {
    public var userSelection: [String]
    public var userDismissal: [String]
    public var advertisementSelection: [String]
    public var advertisementDismissal: [String]
    /// What a macro does when one of its commands fails.
    public var onFailure: FailurePolicy
    /// How long after it a selection can be undone.
    public var undo: Duration

    public enum FailurePolicy: String, Sendable, CaseIterable {
        case stop, `continue`, compensate
    }

    init(_ reader: inout SettingsReader) throws {
        userSelection = try reader.readList("actions.user.selection", default: ["analytics", "present"])
        userDismissal = try reader.readList("actions.user.dismissal", default: ["analytics", "dismiss"])
        advertisementSelection = try reader.readList("actions.advertisement.selection", default: ["analytics", "clickthrough"])
        advertisementDismissal = try reader.readList("actions.advertisement.dismissal", default: ["analytics", "dismiss"])
        onFailure = try reader.read("actions.on-failure", default: FailurePolicy.stop)
        undo = try reader.read("actions.undo", default: .seconds(600))
    }
}
