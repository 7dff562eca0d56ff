/// What became of the pages that a client holds.
public enum FeedChanges: Sendable {
    /// Too much to tell, or nothing that could be told: the client takes its pages anew.
    case reload
    case changed(ChangedPages)
}

/// Pages as they are now, and what turns the cells that a client holds into theirs.
public struct ChangedPages: Sendable {
    /// The cells of all pages as the client holds them, one page after the other.
    public var held: [HeldCell]
    /// As a fresh walk over so many pages finds them, each beginning where the one before ends.
    public var pages: [FeedPage]
    /// From ``held`` to the entries of ``pages``.
    public var changes: ListChanges

    init(held: [HeldCell], pages: [FeedPage]) {
        self.held = held
        self.pages = pages
        changes = ListChanges(from: held, to: pages.flatMap { $0.entries.map(HeldCell.init) })
    }
}
