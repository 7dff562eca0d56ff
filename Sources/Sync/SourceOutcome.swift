public import Storage

/// What a synchronisation did.
public struct SourceOutcome: Sendable, Hashable {
    /// Nil where the source said, or its pages showed, that nothing is new.
    public var changes: SourceChanges?
    public var pages = 0
    /// Good items of the snapshot.
    public var items = 0
    public var skipped = 0
    public var bytes = 0
}
