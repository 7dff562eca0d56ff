internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

/// `PATCH /admin/items`: members of many items, such as scores, in one transaction.
struct PatchRoutes: Sendable {
    let store: any ItemStore
    let kinds: ItemKinds
    let settings: AdminSettings

    private struct Patched: DescribedAnswer {
        static let notes: [String: PropertyNote] = [
            "updated": "The number of items that have other content now.", "unchanged": "The number of items that had the members already.",
            "unknown": "The number of patches of items that do not exist. They change nothing.",
        ]

        var updated: Int
        var unchanged: Int
        var unknown: Int
    }

    fileprivate struct Patch {
        let key: ItemKey
        let object: JSONObject
    }

    private static let limit = 100_000
    private static let shape = #"The body must be a JSON array or lines of objects such as {"kind": "event", "id": "1", "score": 0.5}."#

    var routes: [Route] {
        let operation = APIOperation(
            "patchItems", tag: "Items", "Change members of many items",
            """
            The body is a JSON array, or NDJSON. Each patch names an item with `kind` and `id`, and has the members that change; null removes an optional \
            member. The result is validated as by an import. All items are changed in one transaction, for example the scores that order a section \
            (`order: field score descending`). A patch of an item that does not exist is counted and changes nothing. A request has at most 100,000 patches. Campaigns cannot be patched.
            """,
            body: RequestBodyDescription(.list(of: .object([.required("kind", .string), .required("id", .string)])), example: Self.example)
                .or("application/x-ndjson", .string, example: #""{\"kind\": \"user\", \"id\": \"tt\", \"username\": \"Tongue\"}\n""#),
            responses: [
                .json(.ok, "The items are changed.", Patched.schema, [.noStore], example: #"{"updated": 1, "unchanged": 0, "unknown": 0}"#),
                .badRequest(
                    "The body is neither an array nor lines of patches, or the request is malformed.",
                    [.init(.invalidBody(at: "/0", .invalid, Self.shape))]),
                .forbidden, .contentTooLarge,
                .problem(
                    .unprocessableContent, "A patched item would be invalid. No item was changed.",
                    [.init(Self.problem(1, ItemError(field: "score", reason: "must be a number")))]),
                .storeUnavailable,
            ])
        return [
            Route(.patch, "/admin/items", operation, bodyLimit: settings.maxImport.bytes, timeLimit: settings.importTimeout) {
                try await patch($0)
            }
        ]
    }

    private static let example = #"[{"kind": "user", "id": "tt", "username": "Tongue"}]"#

    private static func problem(_ index: Int, _ error: ItemError) -> Problem {
        Problem.invalid(
            .invalidItem, [String(index)] + error.path, error.code, "Nothing was changed. Patch \(index), counted from 0: \(error).")
    }

    private func patch(_ request: RouteRequest) async throws -> ServerResponse {
        let patches = try Self.patches(in: JSONPreamble.text(request.request.body.bytes ?? []))
        if let index = patches.firstIndex(where: { $0.key.kind == Campaign.kind }) {
            throw Self.problem(index, ItemError(field: "kind", reason: "campaigns cannot be patched", code: .conflict))
        }
        try await AuditContext.begin()
        let counts = try await store.patch(patches.map(\.key)) { [kinds] index, item in
            do {
                let patched = try kinds.validate(patches[index].applied(to: item))
                guard patched.kind == item.kind, ByteString(patched.id) == ByteString(item.id) else {
                    throw ItemError(field: "id", reason: "cannot be changed", code: .conflict)
                }
                return patched
            } catch let error as ItemError {
                throw Self.problem(index, error)
            }
        }
        if counts.updated > 0 { AuditContext.current?.record(["updated": counts.updated]) }
        return try .noStore(json: Patched(updated: counts.updated, unchanged: counts.unchanged, unknown: counts.unknown))
    }

    private static func patches(in body: [UInt8]) throws(Problem) -> [Patch] {
        var (patches, scanner): ([Patch], JSONScanner) = ([], JSONScanner())
        do {
            scanner.skipWhitespace(body.span)
            let isArray = scanner.position < body.count && body[scanner.position] == UInt8(ascii: "[")
            if isArray { scanner.position += 1 }
            scanner.skipWhitespace(body.span)
            while scanner.position < body.count, !(isArray && body[scanner.position] == UInt8(ascii: "]")) {
                if isArray, !patches.isEmpty {
                    guard body[scanner.position] == UInt8(ascii: ",") else { throw JSONError(.expectedCommaOrEnd, at: scanner.position) }
                    scanner.position += 1
                    scanner.skipWhitespace(body.span)
                    if scanner.position < body.count, body[scanner.position] == UInt8(ascii: "]") { break }
                }
                guard patches.count < limit else {
                    throw Problem.invalidBody(at: "/\(limit)", .tooMany, "A request has at most \(limit) patches.")
                }
                let object = try JSONObject(body, at: scanner.position, isLenient: true)
                let fields = ItemFields(object)
                patches.append(
                    Patch(
                        key: ItemKey(
                            kind: String(decoding: try fields.text("kind", limit: 64), as: UTF8.self),
                            id: String(decoding: try fields.text("id", limit: 1_000), as: UTF8.self)), object: object))
                scanner.position = object.range.upperBound
                scanner.skipWhitespace(body.span)
            }
            if isArray {
                guard scanner.position < body.count else { throw JSONError(.endOfText, at: scanner.position) }
                scanner.position += 1
                scanner.skipWhitespace(body.span)
                guard JSONPreamble.isEnd(body[scanner.position...]) else { throw JSONError(.expectedCommaOrEnd, at: scanner.position) }
            }
            return patches
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .invalidBody(at: "/\(patches.count)", .invalid, "\(shape) \(error)")
        }
    }
}

extension PatchRoutes.Patch {
    /// The item in the format of the import, with the members of the patch in place of its own.
    fileprivate func applied(to item: FeedItem) throws -> [UInt8] {
        let stored = try JSONObject(StoredItem(item).json)
        func name(_ object: JSONObject, _ token: JSONToken) -> [UInt8] { Array(object.characters(of: token)) }
        let names = Set(object.members.map { name(object, $0.name) })
        var bytes = Array("{".utf8)
        func append(_ object: JSONObject, where isPart: ([UInt8]) -> Bool) {
            for (token, value) in object.members where isPart(name(object, token)) {
                if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
                for (token, end) in [(token, ":"), (value, "")] {
                    // The range of a string is between its quotes.
                    let quote = token.kind == .string ? 1 : 0
                    bytes += object.bytes[token.range.lowerBound - quote..<token.range.upperBound + quote] + Array(end.utf8)
                }
            }
        }
        append(stored) { !names.contains($0) }
        append(object) { _ in true }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
