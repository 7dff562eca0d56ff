import Foundation
import IntertwineLedger
import IntertwineService
import Synchronization

// 1. A kind with its cell.

struct CardKind: ItemKind {
    let name = "card"
    let stream = StreamID.content

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let id = String(decoding: try fields.text("id", limit: 100), as: UTF8.self)
        var body = ItemBody()
        body.append("text", try fields.text("text", limit: 100))
        return ValidatedItem(kind: name, stream: stream, id: id, variant: "", body: body.finish())
    }
}

struct CardCellFactory: CellViewModelFactory {
    let identifier = "CardCell"
    let commands: CellCommands

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let text = String(decoding: try ItemFields(item.body).text("text", limit: 100), as: UTF8.self)
        return CellViewModel(
            identifier: identifier, size: CellSize(width: 300, height: 80),
            commands: commands.filled(by: BindCommand([CellBinding("text", text)])),
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}

// 2. A command.

struct LikeCommand: UndoableCommand {
    let name = "like"
    let needs: CommandRequirements = .viewer

    func perform(in context: inout CommandContext) async throws { try context.put(on: "liked") }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revert(record, from: "liked") }
}

// 3. A data source that changes, and a slow one.

final class News: AsyncDataSource {
    private let items = Mutex<[FeedItem]>([])
    let delay: Duration

    init(delay: Duration = .zero) { self.delay = delay }

    var version: UInt64 { items.withLock { UInt64($0.count) } }

    func add(_ text: String) throws {
        try items.withLock { items in
            let number = Int64(items.count + 1)
            items.insert(try FeedItem(kind: "card", id: "news\(number)", position: -number, fields: ["text": text]), at: 0)
        }
    }

    func page(after position: Int64?, limit: Int) async throws -> [FeedItem] {
        try await Task.sleep(for: delay)
        return items.withLock { items in Array(items.filter { $0.position > position ?? .min }.prefix(limit)) }
    }

    func item(id: String) async throws -> FeedItem? { items.withLock { items in items.first { $0.id == id } } }
}

// 4. An ad placement.

struct ThirdAndLast: AdPlacement {
    let supply = FillPolicy.rotating(perPage: 2)

    func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        Array([min(3, range.count), range.count].prefix(advertisements))
    }
}

// 5. Routes with middleware.

struct Kitchen: ServiceMiddleware {
    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        next.handle(head, peer: peer).adding(EncodedFields([.server: "kitchen"]))
    }
}

// 6. A store.

struct MemoryStore: FeedStore {
    let items: [(stream: StreamID, item: FeedItem)]
    let version = StoreVersion(high: 0, low: 1)

    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value {
        try body(Snapshot(items: items))
    }

    struct Snapshot: FeedSnapshot {
        let items: [(stream: StreamID, item: FeedItem)]

        func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
            let found = items.filter { stream, item in
                let isSelected =
                    switch query.rows {
                    case .stream(let wanted): stream == wanted
                    case .type(let wanted): item.type == wanted
                    case .sorted: false
                    }
                guard isSelected, let anchor = query.anchor?.position else { return isSelected }
                return query.direction == .forward ? item.position > anchor : item.position < anchor
            }
            for (_, item) in (query.direction == .forward ? found : found.reversed()).prefix(query.limit) { try item.withRow(body) }
        }

        func item(kind: String, id: String) throws -> FeedItem? { items.first { $0.item.kind == kind && $0.item.id == id }?.item }
    }
}

// 7. A ledger.

final class CountingLedger: Ledger {
    let file: SQLiteLedger
    let commits = Atomic(0)

    init(path: String) throws { file = try SQLiteLedger(path: path) }

    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        commits.add(1, ordering: .relaxed)
        return try await file.commit(entry)
    }

    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? { try await file.replay(of: key) }
    func selection(id: String) async throws -> CommandRecord? { try await file.selection(id: id) }
    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] {
        try await file.cells(on: list, of: viewer, after: mark, limit: limit)
    }
    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] {
        try await file.cells(on: list, of: viewer, before: mark, limit: limit)
    }
    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await file.contains(cell, on: list, of: viewer)
    }
    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        try file.withCells(on: lists, of: viewer, body)
    }
}

// The program: the folder of its data, its port, and a file of items.
let (folder, port, file) = (CommandLine.arguments[1], Int(CommandLine.arguments[2]) ?? 0, CommandLine.arguments[3])
let news = News()
var configuration = ServiceConfiguration()
configuration.server.port = port
configuration.store.database = "\(folder)/unused.sqlite"
configuration.admin.isEnabled = false
var extensions = ServiceExtensions(kinds: [CardKind()], commands: [LikeCommand()]) { factories, registry in
    let commands = try CellCommands(kind: "card", slots: [.selection: ["analytics", "like"]], registry: registry, offers: .viewer)
    try factories.register(CardCellFactory(commands: commands), for: ItemType(kind: "card", variant: ""), prefix: "card")
}
let importer = try ItemImport(into: "\(folder)/items.sqlite", kinds: try configuration.itemKinds(extensions))
try importer.append(Array(try Data(contentsOf: URL(fileURLWithPath: file))))
try importer.endOfFile()
_ = try importer.commit()
extensions.store = MemoryStore(
    items: try await SQLiteStore(path: "\(folder)/items.sqlite").read { snapshot in
        try [StreamID.content, .advertisements].flatMap { stream in
            try snapshot.items(in: stream, .forward, of: nil, limit: 300).map { (stream, $0) }
        }
    })
let ledger = try CountingLedger(path: "\(folder)/ledger.sqlite")
extensions.ledger = ledger
extensions.placement = ThirdAndLast()
extensions.lists = ["liked"]
extensions.dataSources = ["news": FlatDataSource(news), "slow": FlatDataSource(News(delay: .seconds(2)))]
extensions.routes = ServiceRoute.group(
    "/kitchen", middleware: [Kitchen()],
    [
        ServiceRoute(.post, "/news/{text}") { _, context in
            try news.add(context.parameters.require("text"))
            return ServerResponse(status: .noContent)
        },
        ServiceRoute(.get, "/commits") { _, _ in try .json(["commits": ledger.commits.load(ordering: .relaxed)]) },
    ])
try await FeedService.build(configuration: configuration, extensions: extensions, logger: Logger(label: "feed")).run()
