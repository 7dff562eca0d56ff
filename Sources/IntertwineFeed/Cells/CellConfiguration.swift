/// Which cells users get, and what the cells of users and advertisements do.
public struct CellConfiguration: Sendable {
    /// A type that is missing gets no cell, and stays out of the feed.
    public var userCells: [User.Variant: UserCell] = [.regular: .snapshot, .featured: .circular]

    /// The commands of each slot of a user's cell, by name.
    public var userCommands: [CommandKey: SlotCommands] = [
        .cancellation: ["cancel-images"],
        .selection: ["analytics", "present"],
        .deselection: ["analytics"],
    ]

    /// The commands of each slot of an advertisement's cell, by name.
    public var advertisementCommands: [CommandKey: SlotCommands] = [
        .cancellation: ["cancel-images"],
        .selection: ["analytics", "clickthrough"],
        .impression: ["analytics"],
    ]

    /// Whether requests can have a viewer at all. Without, commands that act for one are refused at the start.
    public var hasViewers: Bool

    /// The defaults: as listed above, and where there are viewers, a dismissal that they can take back.
    public init(hasViewers: Bool = true) {
        self.hasViewers = hasViewers
        if hasViewers {
            userCommands[.dismissal] = ["analytics", "dismiss"]
            advertisementCommands[.dismissal] = ["analytics", "dismiss"]
        }
    }
}
