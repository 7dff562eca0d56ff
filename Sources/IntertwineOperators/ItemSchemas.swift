internal import IntertwineFeed
internal import IntertwineRouting

/// Schemas of items, imports and operations, as the admin API sends and receives them.
extension Schema {
    /// The schema of a URL in an item.
    static let url = Schema.string(maxLength: ItemURL.limit, pattern: ItemURL.pattern)
    /// The schema of an item's id.
    private static let itemID = Schema.string(minLength: 1, maxLength: 512, pattern: #"^[^\u0000-\u001F\u007F]*$"#)
    private static let itemIDOrNumber = itemID.with("type", .texts(["string", "integer"]))
    private static let mediaType = Schema.string(
        maxLength: 127, pattern: "^(image|video|audio)/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$"
    ).examples(#""video/mp4""#)
    private static let advertiser = Schema.string(minLength: 1, maxLength: 200, pattern: #"^[^\u0000-\u001F\u007F]*$"#)
    private static let ofUser: [Property] = [
        .required("type", .words(["regular", "featured"])),
        .required("username", .string(minLength: 1, maxLength: 512, pattern: #"^[^\u0000]*$"#)),
        .required("avatarUrl", .url, "Of the image's source, http or https."),
        .optional("backgroundUrl", .url.orNull),
    ]
    static let user = Schema.object([.required("kind", .word("user")), .required("id", .itemID)] + ofUser).named("User")
    static let userBody = Schema.object(
        [.optional("kind", .word("user")), .optional("id", .itemIDOrNumber, "The path's.")] + ofUser
    ).named("UserBody")
    private static let ofAdvertisement: [Property] = [
        .required("type", .words(["image", "video", "audio"])),
        .required("contentUrl", .url, "Of the image's source, or of what is played; http or https."),
        .required("clickthroughUrl", .url, "Where a click leads."),
        .optional("posterUrl", .url.orNull, "Of the image that stands for what is played."),
        .optional("mediaType", .mediaType.orNull),
        .optional("duration", .number(minimum: 0.1, maximum: 86_400).orNull, "Of what is played, in seconds."),
        .optional("advertiser", .advertiser.orNull, "Who pays, as reports call them."),
        .optional("impressionTrackers", .trackers, "Called by the service when an impression counts."),
        .optional("clickTrackers", .trackers, "Called by the service when a click counts."),
    ]
    static let advertisement = Schema.object(
        [.required("kind", .word("ad")), .required("id", .itemID)] + ofAdvertisement
    ).described("The id is a text, whichever it was imported as; an import takes it as the same.").named("Advertisement")
    static let advertisementBody = Schema.object(
        [.optional("kind", .word("ad")), .optional("id", .itemIDOrNumber, "The path's.")] + ofAdvertisement
    ).named("AdvertisementBody")
    static let item = Schema.object([
        .required("kind", .string),
        .required("id", .string),
    ]).described("In the form of the import; which members there are beside these is its kind's: `intertwine schema KIND` prints it.")
        .named("Item")
    static let itemBody = Schema.object([
        .optional("kind", .string, "The path's."),
        .optional("id", .string, "The path's."),
    ]).named("ItemBody")
    static let imported = Schema.object([
        .required("added", .count),
        .required("replaced", .count),
        .required("skipped", .count),
        .required("withheld", .count, "Taken down, and therefore left out."),
        .required("withheldItems", .list(of: .string, maximum: 20), "The first of them, by `kind:id`."),
        .required("bytes", .count),
        .required(
            "bad",
            .list(
                of: Schema.object([
                    .required("line", .integer(minimum: 1), "From 1."),
                    .optional("index", .count, "In an array: how many elements stand before it."),
                    .optional("id", .string, "Of the item, as far as it has one."),
                    .required(
                        "offset", .count,
                        """
                        How many bytes, decompressed, stand before the item or, where it is no JSON, before the place at which reading it failed.
                        """),
                    .optional("field", .string),
                    .required("reason", .string),
                ]).titled("BadItem"), maximum: 100), "The first of the skipped ones."),
    ]).named("Imported")
    /// The schema of an item in an import.
    static let anyItem = Schema.object([.required("kind", .string)]).described("An item of the import, of any kind that is configured.")
    private static let itemKey = Schema.string.described("`kind:id`, such as `user:tt`.")
    private static let wantedTag = Schema.string.described("The tag that the item must have.")
    private static let sectionToClear = Schema.string.described(
        "The section's name; `main` is what no other section takes, `advertisements` are the ads.")
    static let operation = Schema.choice([
        .object([.required("append", .anyItem)], isClosed: true),
        placed(.required("insert", .anyItem)), placed(.required("move", .itemKey), .optional("ifMatch", .wantedTag)),
        .object([.required("update", .anyItem), .optional("ifMatch", .wantedTag)], isClosed: true),
        .object([.required("remove", .itemKey), .optional("ifMatch", .wantedTag)], isClosed: true),
        .object([.required("clear", .sectionToClear)], isClosed: true),
    ]).described("One verb, and what it is done to.").named("Operation")

    /// Returns the schema of an object with one of two positions, `before` or `after`.
    private static func placed(_ properties: Property...) -> Schema {
        let places = ["before", "after"]
        return object(properties + places.map { .optional($0, .itemKey) }, isClosed: true)
            .with("oneOf", .array(places.map { .object([.init("required", .texts([$0]))]) }))
    }

    static let operated = Schema.object([
        .required("inserted", .count),
        .required("moved", .count),
        .required("updated", .count),
        .required("removed", .count),
    ]).named("Operated")

    private static let trackers = Schema.list(
        of: .string(maxLength: ItemURL.limit, pattern: TrackerTemplate.pattern), maximum: 8
    ).orNull

    static let takedown = Schema.object([
        .required("item", .string, "The item as `kind:id`."), .required("at", .time, "The time of the takedown, in UTC."),
        .optional("reason", .string, "The reason, if one was given."),
    ]).named("Takedown")
    static let takedowns = Schema.object([
        .required("takedowns", .list(of: .takedown, maximum: 1_000)), .required("page", .listPage),
    ]).named("Takedowns")
}
