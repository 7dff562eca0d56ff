internal import IntertwineFeed

/// The contents of the declaration files in the configuration, read once and checked against each other and the settings.
struct Declarations: Sendable {
    let kindsText: String?
    let feeds: DeclaredFeeds
    let languages: FeedLanguages
    let advertisementPrefixes: [String]
    let registry: CommandRegistry
    let kinds: ItemKinds
    let sources: [RemoteSource]
}
