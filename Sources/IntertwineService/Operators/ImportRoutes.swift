internal import Dispatch
internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

/// `POST /admin/items`: an import, gathered as it arrives, and written in one transaction.
struct ImportRoutes: Sendable {
    private static let reported = 100

    let location: any ItemLocation
    let kinds: ItemKinds
    let settings: AdminSettings

    private struct Imported: DescribedAnswer {
        struct BadItem: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "line": .init(.integer(minimum: 1), "The number of the line, from 1."),
                "index": "The index in the array; absent for NDJSON.", "id": "The id of the item, if it can be read.",
                "offset": "The offset of the item in the decompressed body, or of the first invalid byte if the item is not JSON.",
                "kept": "`true` if the item is imported without the value.",
            ]

            var line: Int
            var index: Int?
            var id: String?
            var offset: Int
            var field: String?
            var reason: String
            var kept: Bool?
        }

        static let notes: [String: PropertyNote] = [
            "omittedValues": "The number of invalid values of optional fields that items lack.",
            "withheld": "The number of items that the import omitted because they are taken down.",
            "withheldItems": .init(.list(of: .string, maximum: 20), "The first of these items, as `kind:id`."),
            "bad": .init(
                .list(of: BadItem.schema, maximum: ImportRoutes.reported), "The first of the skipped items and of the omitted values."),
        ]

        var added: Int
        var replaced: Int
        var skipped: Int
        var omittedValues: Int
        var withheld: Int
        var withheldItems: [String]
        var bytes: Int
        var bad: [BadItem]
    }

    private static let onError = Parameter.word(
        "onError", default: BadItemPolicy.stop,
        "`stop`: an invalid item rolls the import back. `skip`: the import omits and reports invalid items and invalid values of optional fields.",
        example: .skip)

    private static let dryRun = Parameter.flag(
        "dryRun", "If true, the response has the counts and the faults of the import, and nothing is written.")

    var routes: [Route] {
        let item =
            #"{"kind": "user", "id": "tt", "type": "featured", "username": "Tongue Twister", "avatarUrl": "https://pictures.example.com/tt.png"}"#
        let line = "\"" + item.replacing("\"", with: "\\\"") + "\\n\""
        let operation = APIOperation(
            "importItems", tag: "Items", "Import items",
            """
            The body is NDJSON or a JSON array, also as a gzip file. Its decompressed size is limited by `admin.max-import`. The import is one \
            transaction, which begins when the body is complete. An incomplete body imports nothing. An item with a known id replaces the stored item in its \
            position. A missing body is an empty list.
            """,
            parameters: [Self.onError, Self.dryRun],
            body: RequestBodyDescription(.list(of: .anyItem), isRequired: false, example: "[\(item)]")
                .or("application/x-ndjson", .string, example: line),
            responses: [
                .json(
                    .ok, "The items are imported.", Imported.schema, [.noStore],
                    example: """
                        {"added": 2, "replaced": 0, "skipped": 1, "omittedValues": 0, "withheld": 0, "withheldItems": [], "bytes": 380, \
                        "bad": [{"line": 2, "offset": 190, "field": "avatarUrl", "reason": "is missing"}]}
                        """),
                .problem(
                    .badRequest, "A parameter is unknown or invalid, or the body is incomplete.",
                    [
                        .init(.invalidParameter("onError", .unknown, "onError must be stop or skip.")),
                        .init(nil, "The body is incomplete."),
                    ],
                    [.problemCaching]),
                .forbidden, .requestTimeout, .contentTooLarge,
                .problem(
                    .unprocessableContent, "An item is invalid. Nothing was imported.",
                    [.init(.invalidItem, "Nothing was imported: line 2: avatarUrl: is missing.")]),
                .storeUnavailable,
            ])
        return [
            Route(
                .post, "/admin/items", operation, bodyLimit: settings.maxImport.bytes,
                timeLimit: settings.importTimeout + .seconds(60), streamsBody: true
            ) { try await importItems($0) }
        ]
    }

    private func importItems(_ request: RouteRequest) async throws -> ServerResponse {
        try request.query.refuseParameters(besides: ["onError", "dryRun"])
        let isRehearsal = try request[Self.dryRun]
        let importing = ImportStream(
            into: location, kinds: kinds, policy: try request[Self.onError], limit: settings.maxImport.bytes, reported: Self.reported,
            isRehearsal: isRehearsal)
        // The begin is recorded before the upload, which may be long.
        if !isRehearsal { try await AuditContext.begin() }
        do {
            for try await piece in request.request.body { try await importing.append(piece) }
            let (summary, bad) = try await importing.commit()
            if !isRehearsal { AuditContext.current?.record(summary) }
            let answer = Imported(
                added: summary.added, replaced: summary.replaced, skipped: summary.skipped, omittedValues: summary.omittedValues,
                withheld: summary.withheld.count,
                withheldItems: summary.withheld.items.map(\.description), bytes: summary.bytes,
                bad: bad.map { bad in
                    Imported.BadItem(
                        line: bad.line, index: bad.index, id: bad.id, offset: bad.offset, field: bad.error.field, reason: bad.error.reason,
                        kept: bad.isKept ? true : nil)
                })
            return try .noStore(json: answer)
        } catch {
            await importing.rollback()
            switch error {
            case let bad as InvalidItem:
                let path = (bad.index.map { [String($0)] } ?? []) + bad.error.path
                throw Problem.invalid(.invalidItem, path, bad.error.code, "Nothing was imported: \(bad).")
            case ItemFileError.tooLong(let limit):
                throw Problem(.contentTooLarge, nil, "Nothing was imported: the body has more than \(limit) bytes, decompressed.")
            case let fault as ItemFileError: throw Problem.invalid(.invalidItem, [], .invalid, "Nothing was imported: \(fault).")
            default: throw error
            }
        }
    }
}

/// Its calls block, so they run on a queue of its own.
/// `@unchecked Sendable`: the importer and the list are used on the serial queue only.
private final class ImportStream: @unchecked Sendable {
    private let queue = DispatchQueue(label: "intertwine.admin.import")
    private let make: (ImportStream) throws -> ItemImport
    private var importer: ItemImport?
    private var bad: [InvalidItem] = []

    init(into location: any ItemLocation, kinds: ItemKinds, policy: BadItemPolicy, limit: Int, reported: Int, isRehearsal: Bool) {
        make = { [kinds] owner in
            try location.importer(
                kinds: kinds, sections: [], policy: policy, isCompressed: false, limit: limit, isRehearsal: isRehearsal
            ) { [weak owner] item in
                guard let owner, owner.bad.count < reported else { return }
                owner.bad.append(item)
            }
        }
    }

    func append(_ bytes: [UInt8]) async throws {
        try await perform { try $0.opened().append(bytes) }
    }

    func commit() async throws -> (ImportSummary, [InvalidItem]) {
        try await perform { owner in
            let importer = try owner.opened()
            try importer.endOfFile()
            let summary = try importer.commit()
            owner.importer = nil
            return (summary, owner.bad)
        }
    }

    func rollback() async {
        try? await perform { owner in
            owner.importer?.rollback()
            owner.importer = nil
        }
    }

    private func opened() throws -> ItemImport {
        if let importer { return importer }
        let importer = try make(self)
        self.importer = importer
        return importer
    }

    private func perform<Value: Sendable>(_ body: @escaping @Sendable (ImportStream) throws -> Value) async throws -> Value {
        try await queue.perform { try body(self) }
    }
}
