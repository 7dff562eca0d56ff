internal import IntertwineFeed

/// The contents of the declaration files in the configuration, read once and checked against each other and the settings.
struct Declarations: Sendable {
    /// The unchanged text of the file `kinds.file`; nil if the setting is empty.
    let kindsText: String?
    let feeds: DeclaredFeeds
    /// The declared languages of texts.
    let languages: FeedLanguages
    /// The prefixes of the cell ids of advertisements, before the colon.
    let advertisementPrefixes: [String]
    let registry: CommandRegistry
    /// All kinds of item, standard and declared.
    let kinds: ItemKinds
    /// The sources that the file `sources.file` declares.
    let sources: [RemoteSource]
}
