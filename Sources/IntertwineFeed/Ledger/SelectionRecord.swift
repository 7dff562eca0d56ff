/// One performed action, as far as undoing it needs to know.
public struct SelectionRecord: Sendable, Hashable {
    public struct Step: Sendable, Hashable {
        /// The command's registered name.
        public var command: String
        /// What the command needs to take itself back; its own format. Nil where it cannot be undone.
        public var undo: [UInt8]?

        public init(command: String, undo: [UInt8]?) {
            self.command = command
            self.undo = undo
        }
    }

    public var id: String
    public var cell: String
    public var viewer: String?
    /// The performed steps, in order. Undone in reverse.
    public var steps: [Step]
    /// Milliseconds since 1970-01-01 UTC; undo is refused after it.
    public var expires: Int64
    /// When it was undone, in milliseconds since 1970-01-01 UTC.
    public var undoneAt: Int64?

    public init(id: String, cell: String, viewer: String?, steps: [Step], expires: Int64, undoneAt: Int64? = nil) {
        self.id = id
        self.cell = cell
        self.viewer = viewer
        self.steps = steps
        self.expires = expires
        self.undoneAt = undoneAt
    }
}
