internal import IntertwineFeed

struct Declarations: Sendable {
    let kindsText: String?
    let feeds: DeclaredFeeds
    let languages: FeedLanguages
    let advertisementPrefixes: [String]
    let registry: CommandRegistry
    let kinds: ItemKinds
    let sources: [RemoteSource]
}
