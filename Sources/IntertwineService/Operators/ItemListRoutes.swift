internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Synchronization

struct ItemListRoutes: Sendable {
    let store: any ItemStore
    let kinds: ItemKinds
    let links: ImageLinks?
    private let indexer: ItemIndexer

    init(store: any ItemStore, kinds: ItemKinds, links: ImageLinks?) {
        (self.store, self.kinds, self.links, indexer) = (store, kinds, links, ItemIndexer(store.updateIndex))
    }

    private enum Sort: String, CaseIterable, Sendable {
        case added, title, changed
        case addedDown = "-added"
        case titleDown = "-title"
        case changedDown = "-changed"

        var order: ItemListQuery.Order {
            switch self {
            case .added, .addedDown: .added
            case .title, .titleDown: .title
            case .changed, .changedDown: .changed
            }
        }
    }

    private enum State: String, CaseIterable, Sendable {
        case any, `public`, scheduled, expired, draft
        case takenDown = "taken-down"
        case bySource = "by-source"
    }

    private struct Items: DescribedAnswer {
        struct ItemRow: DescribedAnswer {
            static let unpublished = ["scheduled", "expired", "draft"]

            static let notes: [String: PropertyNote] = [
                "item": "The item as `kind:id`.",
                "state": .init(
                    .words(ItemState.allCases.map(\.rawValue) + unpublished), "A filter by `public` finds the unpublished items too."),
                "title": "The first text of the item; empty if it has none.",
                "picture": .init(.string(format: "uri-reference"), "The href of a picture of 96 by 96 points on this listener."),
                "source": "The remote source that lists the item.", "publishAt": .init(.time), "expireAt": .init(.time),
                "changed": .init(.time, "The time of the last change that the index has seen."),
                "takenDown": .init(.time), "reason": "The reason of the takedown.", "takenDownBy": "The operator who took the item down.",
                "isKept": "True if the item is stored, or taken down with a document that can be restored.",
                "entityTag": "The entity tag of a stored item.",
            ]

            var item: String
            var kind: String
            var id: String
            var title: String
            var picture: String?
            var state: String
            var source: String?
            var publishAt: String?
            var expireAt: String?
            var changed: String?
            var takenDown: String?
            var reason: String?
            var takenDownBy: String?
            var isKept: Bool
            var entityTag: String?
        }

        static let notes: [String: PropertyNote] = [
            "total": .init(.count, "The number of items that are found, with the first page, if it is below 10,000."),
            "sections": "The names of the sections, by which items can be listed in their order.",
            "isComplete": "False while the index is being built, or follows a large import: items may be missing.",
        ]

        var items: [ItemRow]
        var total: Int?
        var sections: [String]
        var isComplete: Bool
        var page: ListPage
    }

    private struct Picture: DescribedAnswer {
        static let notes: [String: PropertyNote] = ["href": .init(.string(format: "uri-reference"))]

        var href: String
    }

    private static let wrongURL = Problem.invalidParameter("url", .invalid, "url must be an absolute http or https URL.")
    private static let url = Parameter.text(
        "url", .string(minLength: 1, maxLength: ItemURL.limit), "The URL of the picture.", isRequired: true,
        example: #""https://pictures.example.com/1.png""#
    ) { (query) throws(Problem) in
        guard let url = try query.text("url"), url.utf8.count <= ItemURL.limit, (try? FetchURL(url)) != nil else { throw wrongURL }
        return url
    }

    private struct Revisions: DescribedAnswer {
        struct Revision: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "number": .init(.integer(minimum: 1)), "at": .init(.time, "The time at which the document was replaced or removed."),
                "who": "The operator who did.", "action": .init(.words(ItemRevision.Action.self)),
            ]

            var number: Int
            var at: String
            var who: String
            var action: String
        }

        var revisions: [Revision]
    }

    private static let search = Parameter.text(
        "q", .string(maxLength: 200),
        "Beginnings of words of the texts, the kind and the id; an item has all of them. At most eight words count, the longest ones.",
        example: "\"lantern\""
    ) { (query) throws(Problem) in
        let text = try query.text("q")
        guard text?.unicodeScalars.count ?? 0 <= 200 else {
            throw .invalidParameter("q", .tooLong, "q must be at most 200 characters long.")
        }
        return text
    }
    private static let state = Parameter.word(
        "state", default: State.any,
        "Items of a state alone; `scheduled` finds what becomes public or expires later, and `by-source` what a remote source lists.",
        example: .takenDown)
    private static let sort = Parameter.word(
        "sort", default: Sort.added, "The order; a minus sign reverses it. A search sorts its first 10,000 items.",
        example: .changedDown)
    private static let picture = Parameter.text(
        "picture", .string(maxLength: ItemURL.limit), "The URL of a picture that the items show.",
        example: #""https://pictures.example.com/1.png""#
    ) { (query) throws(Problem) in
        let url = try query.text("picture")
        guard url?.unicodeScalars.count ?? 0 <= ItemURL.limit else {
            throw .invalidParameter("picture", .tooLong, "picture must be at most \(ItemURL.limit) characters long.")
        }
        return url
    }
    private static let section = Parameter.text(
        "section", .string,
        "The items of a section in its order, such as `main` or `advertisements`, without other parameters.",
        example: nil
    ) { (query) throws(Problem) in try query.text("section") }

    private var kind: Parameter<String?> {
        Parameter.text("kind", .words(kinds.names), "Items of a kind alone.", example: #""user""#) { (query) throws(Problem) in
            guard let name = try query.text("kind") else { return nil }
            guard kinds[name] != nil else {
                throw .invalidParameter("kind", .unknown, "kind must be one of \(kinds.names.joined(separator: ", ")).")
            }
            return name
        }
    }

    var routes: [Route] {
        let kind = kind
        let listing = APIOperation(
            "getItems", tag: "Items", "List and search items",
            """
            Stored items, and items that are taken down. The first request creates an index of the items, which writes keep up to date; until it is complete, \
            `isComplete` is false.
            """,
            parameters: [Self.search, kind, Self.state, Self.picture, Self.sort, Self.section, ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The items.", Items.schema, [.noStore, .nextLink],
                    example: """
                        {"items": [{"item": "user:tt", "kind": "user", "id": "tt", "title": "Tongue Twister", "state": "public", \
                        "changed": "2026-11-22T09:00:00Z", "isKept": true, "entityTag": "\\"a7f926ae9b1ba20481b0fe74\\""}], \
                        "total": 1, "sections": ["advertisements", "main"], "isComplete": true, "page": {"limit": 100, "next": null}}
                        """),
                .notModified, .invalidListRequest, .storeUnavailable,
            ])
        let picturing = APIOperation(
            "getPicture", tag: "Items", "The href of a picture",
            "The href at which this listener shows the picture of a URL, in 320 by 320 points.",
            parameters: [Self.url],
            responses: [
                .json(
                    .ok, "The href.", Picture.schema, [.noStore],
                    example: #"{"href": "/images/AbE/aHR0cHM6Ly9waWN0dXJlcy5leGFtcGxlLmNvbS8xLnBuZw/320x320"}"#),
                .notModified,
                .badRequest("url is missing or no URL, or the request is malformed.", [.init(Self.wrongURL)]),
            ])
        return [
            Route(.get, "/admin/items", listing, timeLimit: .seconds(60)) { try await list($0, kind: try $0[kind]) },
            Route(.get, "/admin/pictures", picturing) { request in
                guard let url = try request[Self.url],
                    let link = links?.link(url, ImageGeometry(.init(width: 320, height: 320)), now: request.now)
                else { throw Self.wrongURL }
                return try .noStore(json: Picture(href: link.href))
            },
        ] + revisionRoutes
    }

    private func list(_ request: RouteRequest, kind: String?) async throws -> ServerResponse {
        let sort = try request[Self.sort]
        let text = try request[Self.search] ?? ""
        // A short word is in most items, and each is another read of the index.
        let words = Array(Set(ItemSummary.words(text)).sorted { $0.utf8.count > $1.utf8.count }.prefix(8))
        let limit = try request[ListPage.limit]
        var query = ItemListQuery(limit: limit + 1)
        query.kind = kind
        query.state = ItemState(rawValue: try request[Self.state].rawValue)
        query.isBySource = try request[Self.state] == .bySource
        query.picture = try request[Self.picture]
        query.schedule = ItemListQuery.Schedule(rawValue: try request[Self.state].rawValue)
        query.words = words
        (query.order, query.isDescending) = (sort.order, sort.rawValue.hasPrefix("-"))
        query.section = try request[Self.section]
        query.anchor = try request[ListPage.cursor].map(Self.anchor)
        let path = request.pathWithoutPage
        try await indexer.catchUp()
        // A search for punctuation finds nothing.
        if words.isEmpty, !text.isEmpty { query.limit = 0 }
        let (found, total, sections, isComplete) = try await store.items(query)
        let shown = found.prefix(limit)
        let last = found.count > limit ? shown.last.map { Self.text(of: $0.anchor) } : nil
        let page = ListPage(limit: limit, last: last, path: path)
        return try page.response(
            Items(
                items: shown.map { row($0, now: request.now) }, total: total, sections: sections, isComplete: isComplete, page: page))
    }

    private func row(_ item: ListedItem, now: Int64) -> Items.ItemRow {
        let summary = ItemSummary(item.body ?? [])
        let schedule = item.state == .public ? item.body.flatMap { ItemSchedule(body: $0) } : nil
        let box = ImageGeometry(.init(width: 96, height: 96), .fill(.attention))
        return Items.ItemRow(
            item: "\(item.key.kind):\(item.key.id)", kind: item.key.kind, id: item.key.id, title: summary.title,
            picture: summary.picture.flatMap { links?.link($0, box, now: now).href },
            state: schedule?.state(at: now) ?? item.state.rawValue,
            source: item.source, publishAt: schedule?.publishAt.map { Timestamp.text(milliseconds: $0) },
            expireAt: schedule?.expireAt.map { Timestamp.text(milliseconds: $0) },
            changed: item.changed > 0 ? Timestamp.text(milliseconds: item.changed) : nil,
            takenDown: item.takedown.map { Timestamp.text(milliseconds: $0.at) }, reason: item.takedown?.reason,
            takenDownBy: item.who.flatMap { $0.isEmpty ? nil : $0 }, isKept: item.body != nil,
            entityTag: item.state == .public ? item.body.map { StoredItem(item.key, item.variant, $0).entityTag } : nil)
    }

    // MARK: Revisions

    private static let number = Parameter.segment(
        "number", .string(pattern: "^[1-9][0-9]*$"), "The number of a revision.", example: #""3""#)

    private var revisionRoutes: [Route] {
        let path = "/admin/items/{kind}/{id}/revisions"
        let listing = APIOperation(
            "getRevisions", tag: "Items", "The revisions of an item",
            """
            The last \(ItemRevision.limit) documents that operators have replaced or removed, the newest first. To restore one, store it with `PUT`. Imports and \
            remote sources keep no revisions.
            """, parameters: [ItemRoutes.kind, ItemRoutes.id],
            responses: [
                .json(
                    .ok, "The revisions.", Revisions.schema, [.noStore],
                    example: """
                        {"revisions": [{"number": 3, "at": "2026-11-22T09:00:00Z", "who": "jwt:ann", "action": "edit"}]}
                        """), .notModified, ItemRoutes.missingItem, .storeUnavailable,
            ])
        let reading = APIOperation(
            "getRevision", tag: "Items", "A revision of an item", "The item as it was, in the format of the import.",
            parameters: [ItemRoutes.kind, ItemRoutes.id, Self.number],
            responses: [
                .json(.ok, "The item.", .item, [.noStore], example: ItemRoutes.itemExample), .notModified, ItemRoutes.missingItem,
                .storeUnavailable,
            ])
        return [
            Route(.get, path, listing) { request in
                let revisions = try await revisions(request).map {
                    Revisions.Revision(
                        number: $0.number, at: Timestamp.text(milliseconds: $0.at), who: $0.who, action: $0.action.rawValue)
                }
                return try .noStore(json: Revisions(revisions: revisions))
            },
            Route(.get, "\(path)/{number}", reading) { request in
                let number = Int(try request[Self.number])
                guard let revision = try await revisions(request).first(where: { $0.number == number }) else {
                    throw Problem(.notFound, .unknownItem, "There is no such revision.")
                }
                return .noStore(encoded: StoredItem(try key(request), revision.variant, revision.body).json)
            },
        ]
    }

    private func revisions(_ request: RouteRequest) async throws -> [ItemRevision] { try await store.revisions(of: key(request)) }

    private func key(_ request: RouteRequest) throws(Problem) -> ItemKey {
        let kind = try request[ItemRoutes.kind]
        guard kinds[kind] != nil else { throw Problem(.notFound, .unknownItem, "There is no such kind of item.") }
        return ItemKey(kind: kind, id: try request[ItemRoutes.id])
    }

    // MARK: Cursors

    private static func text(of anchor: ItemListQuery.Anchor) -> String { "\(anchor.number):\(anchor.integer):\(anchor.text)" }

    private static func anchor(_ text: String) throws(Problem) -> ItemListQuery.Anchor {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int64(parts[0]), let integer = Int64(parts[1]) else { throw ListPage.invalidCursor }
        return ItemListQuery.Anchor(text: String(parts[2]), integer: integer, number: number)
    }
}

/// Brings the index of items up to date, in steps between which others can write.
final class ItemIndexer: Sendable {
    private static let (step, patience) = (2_000, Duration.seconds(2))

    private let update: @Sendable (_ limit: Int) async throws -> Int
    private let isRunning = Mutex(false)

    /// `update` brings entries up to date, and returns their number.
    init(_ update: @escaping @Sendable (_ limit: Int) async throws -> Int) { self.update = update }

    /// Returns when the index is complete, or after some seconds; the rest is done in the background.
    func catchUp() async throws {
        guard !isRunning.withLock({ $0 }), try await !isComplete(until: ContinuousClock.now + Self.patience),
            isRunning.withLock({ isRunning in
                defer { isRunning = true }
                return !isRunning
            })
        else { return }
        Task { [self] in
            defer { isRunning.withLock { $0 = false } }
            _ = try await isComplete(until: nil)
        }
    }

    private func isComplete(until end: ContinuousClock.Instant?) async throws -> Bool {
        var step = Self.step
        while true {
            do {
                if try await update(step) < step { return true }
                step = min(Self.step, step + max(1, step / 8))
            } catch {
                // A step may exceed the statement timeout of a busy database.
                guard step > 1 else { throw error }
                step /= 2
            }
            if let end, ContinuousClock.now > end { return false }
        }
    }
}
