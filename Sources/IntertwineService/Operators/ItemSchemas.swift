internal import IntertwineFeed
internal import IntertwineHTTPServer

/// Schemas of items, imports and operations, as the admin API sends and receives them.
extension Schema {
    static let url = Schema.string(maxLength: ItemURL.limit, pattern: ItemURL.pattern)
    static let item = Schema.object([
        .required("kind", .string),
        .required("id", .string),
    ]).described("An item in the format of the import. Further members depend on the kind: `intertwine schema KIND` prints them.")
        .named("Item")
    static let itemBody = Schema.object([
        .optional("kind", .string, "The kind in the path."),
        .optional("id", .string, "The id in the path."),
    ]).named("ItemBody")

    static func items(_ any: Schema, _ kinds: [any ItemKind]) -> Schema {
        let schemas = kinds.map { Schema.reference("Item-\($0.name)", $0.schema()) }
        return .any.with("anyOf", .list((schemas + [any]).map(\.value)))
    }

    static let anyItem = Schema.object([.required("kind", .string)]).described("An item of any kind, in the format of the import.")
    private static let itemKey = Schema.string.described("The item as `kind:id`, such as `user:tt`.")
    private static let wantedTag = Schema.string.described("The entity tag that the item must have.")
    private static let sectionToClear = Schema.string.described(
        "The name of a section. `main` has the items of no other section, and `advertisements` the ads.")
    static let operation = Schema.choice([
        .object([.required("append", .anyItem)], isClosed: true),
        placed(.required("insert", .anyItem)), placed(.required("move", .itemKey), .optional("ifMatch", .wantedTag)),
        .object([.required("update", .anyItem), .optional("ifMatch", .wantedTag)], isClosed: true),
        .object([.required("remove", .itemKey), .optional("ifMatch", .wantedTag)], isClosed: true),
        .object([.required("clear", .sectionToClear)], isClosed: true),
    ]).described("An operation has one verb.").named("Operation")

    private static func placed(_ properties: Property...) -> Schema {
        let places = ["before", "after"]
        return object(properties + places.map { .optional($0, .itemKey) }, isClosed: true)
            .with("oneOf", .list(places.map { .object([.init("required", .texts([$0]))]) }))
    }

    static let takedown = Schema.object([
        .required("item", .string, "The item as `kind:id`."), .required("at", .time, "The time of the takedown, in UTC."),
        .optional("reason", .string, "The reason, if one was given."),
    ]).named("Takedown")
    static let takedowns = Schema.object([
        .required("takedowns", .list(of: .takedown, maximum: 1_000)), .required("page", ListPage.schema),
    ]).named("Takedowns")
}
