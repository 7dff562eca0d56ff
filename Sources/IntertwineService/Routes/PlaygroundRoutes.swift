internal import Glibc
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// The route `POST /web-client/playground`: the cells of a sample item, by a declaration of kinds that a person edits in the web client.
/// An image of the web client replaces those of the item, because signed URLs for images of other hosts would be valid.
struct PlaygroundRoutes: Sendable {
    static let requestsPerMinute = 120
    static let path = "/web-client/playground"
    private static let itemLimit = 4 << 10
    private static let responseLimit = 256 << 10
    private static let stackBytes = 2 << 20
    private static let image = "/web-client/icon.svg"

    let registry: CommandRegistry
    let policy: FailurePolicy
    let hasViewers: Bool
    private let work = DetachedThreads()

    private struct Sample: Decodable {
        var declaration: String
        var item: String
    }

    var routes: [Route] {
        [
            Route(.post, Self.path, bodyLimit: 32 << 10) { request in
                let shape = #"The body must be {"declaration": "…", "item": "…"}: YAML as in kinds.file, and JSON as in imports."#
                let sample = try request.body(as: Sample.self, shape)
                let now = request.now
                let body = try await work.perform(stackBytes: Self.stackBytes) { try pages(of: sample, now: now) }
                return ServerResponse(
                    status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
            }
        ]
    }

    private func pages(of sample: Sample, now: Int64) throws -> [UInt8] {
        let (file, factories) = try declared(by: sample.declaration)
        let item = try item(of: sample.item, among: ItemKinds(file.kinds))
        let links = Links(image: { _, _, _ in Links.ImageLink(Self.image) })
        return try Self.pages(of: item, by: factories, links: links, languages: file.languages, hasViewers: hasViewers, now: now)
    }

    /// Returns the cells of an item in every language and layout. The keys of their tokens are random, so nothing can be done with them.
    static func pages(
        of item: FeedItem, by factories: CellFactories, links: Links, languages: FeedLanguages, hasViewers: Bool, now: Int64
    ) throws(Problem) -> [UInt8] {
        let tokens = CellTokens(keys: SigningKeys(current: .random()))
        let languages: [FeedLanguage?] = languages.isEmpty ? [nil] : languages.all
        var json = JSONWriter(capacity: 4_096)
        json.raw(#"{"pages":["#)
        var isFirst = true
        for language in languages {
            for layout in CellLayout.allCases {
                let context = CellContext(
                    links: links, tokens: tokens, now: now, hasViewer: hasViewers, layout: layout, language: language)
                if !isFirst { json.raw(",") }
                isFirst = false
                json.raw(#"{"layout":"#)
                json.write(layout.rawValue)
                if let language {
                    json.raw(#","language":"#)
                    json.write(language.tag)
                }
                json.raw(#","cells":["#)
                for (index, cell) in try cells(of: item, by: factories, in: context).enumerated() {
                    if index > 0 { json.raw(",") }
                    json.append(cell.json())
                    guard json.bytes.count <= responseLimit else {
                        throw Problem.invalidBody(at: "/item", .tooLong, "The cells have more than \(responseLimit) bytes.")
                    }
                }
                json.raw("]}")
            }
        }
        json.raw("]}")
        return json.bytes
    }

    private func declared(by text: String) throws(Problem) -> (KindsFile, CellFactories) {
        var faults = ErrorCollector()
        var factories = CellFactories()
        let root = faults.collect { try ClientYAML.root(of: text, from: "line") }
        let file = root.map { KindsFile($0, policy: policy, besides: .standard, errors: &faults) } ?? .none
        faults.collect {
            try file.register(in: &factories, commands: registry, hasViewers: hasViewers)
        }
        if faults.reasons.isEmpty, file.kinds.isEmpty {
            faults.reasons.append("line:1:1: kinds is missing")
        }
        guard let error = ConfigurationError(faults.reasons) else { return (file, factories) }
        // `line:27:5: unknown field` is `line 27, column 5: unknown field` for people.
        let details = error.reasons.map { reason in
            reason.replacing(/^line:(\d+)(?::(\d+))?/) { "line \($0.1)\($0.2.map { ", column \($0)" } ?? "")" }
        }
        throw .invalidBody(
            "The declaration is not valid: \(details[0])", details.map { InvalidValue(.pointer("/declaration"), .invalid, $0) })
    }

    private func item(of text: String, among kinds: ItemKinds) throws(Problem) -> FeedItem {
        guard text.utf8.count <= Self.itemLimit else {
            throw .invalidBody(at: "/item", .tooLong, "The item is longer than \(Self.itemLimit) bytes.")
        }
        do {
            let valid = try kinds.validate(ItemFields(JSONObject(Array(text.utf8))))
            return FeedItem(kind: valid.kind, id: valid.id, variant: valid.variant, position: 0, body: valid.body)
        } catch let error as ItemError {
            throw .invalidBody(at: "/item", InvalidValue.Code(rawValue: error.code.rawValue) ?? .invalid, "\(error)")
        } catch {
            throw .invalidBody(at: "/item", .invalid, "The item is no JSON object: \(error).")
        }
    }

    private static func cells(of item: FeedItem, by factories: CellFactories, in context: CellContext) throws(Problem) -> [CellViewModel] {
        do {
            return try [factories.makeViewModel(for: item, in: context)] + factories.makeCompanions(for: item, in: context)
        } catch CellFactoryError.noFactory {
            return []
        } catch {
            throw .invalidBody(at: "/item", .invalid, "\(error)")
        }
    }
}

extension PlaygroundRoutes {
    /// Performs functions on threads of their own, at most two at a time. Why: parsing and compiling must not block the threads of tasks.
    private final class DetachedThreads: Sendable {
        private static let limit = 2
        private let running = Mutex(0)

        func perform<Value: Sendable>(stackBytes: Int, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            let isFree = running.withLock { count in
                guard count < Self.limit else { return false }
                count += 1
                return true
            }
            let busy = Problem(.serviceUnavailable, nil, "The playground is busy. Try again.", fields: [.retryAfter: "1"])
            guard isFree else { throw busy }
            defer { running.withLock { $0 -= 1 } }
            return try await withCheckedThrowingContinuation { continuation in
                let isStarted = DetachedThread.start(stackBytes: stackBytes) {
                    // On Linux, the priority is that of the thread. Pages come first.
                    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
                    continuation.resume(with: Result { try body() })
                }
                if !isStarted { continuation.resume(throwing: busy) }
            }
        }
    }
}
