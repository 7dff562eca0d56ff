import Feed
import Fetch
import Foundation
import HTTPTypes
import Images
import Logging
import Testing

@testable import Service

@Suite("The API's description")
struct APIDescriptionTests {
    private static func document(viewerHeader: String = "X-Viewer-ID") throws -> [String: Any] {
        let description = try APIDescription(viewerHeader: viewerHeader, publicURL: "")
        return try #require(try JSONSerialization.jsonObject(with: Data(description.document)) as? [String: Any])
    }

    private static func schema(_ name: String) throws -> [String: Any] {
        let components = try #require(try document()["components"] as? [String: Any])
        return try #require((components["schemas"] as? [String: Any])?[name] as? [String: Any])
    }

    private static func words(_ name: String) throws -> Set<String> {
        let schema = try schema(name)
        let alternatives = [schema] + (schema["anyOf"] as? [[String: Any]] ?? [])
        return Set(alternatives.flatMap { $0["enum"] as? [String] ?? [] })
    }

    @Test("every route has a description, and every description a route")
    func routes() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        let sources = try await SettingSources(
            flags: ["store.database": "\(folder)/feed.sqlite"], environment: [:], file: "\(folder)/empty.yaml")
        let service = try FeedService.build(configuration: try ServiceConfiguration(sources), logger: Logger(label: "tests"))
        // The viewer's files are a client of the API, and no part of it.
        let routes = service.publicRoutes.filter { $0.pattern != "/" && !$0.pattern.hasPrefix("/viewer/") }
            .map { "\($0.method.rawValue) \($0.pattern)" }
        let paths = try #require(try Self.document()["paths"] as? [String: [String: Any]])
        let described = paths.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) \(path)" } }
        #expect(routes.sorted() == described.sorted())
        let ofOperators = try #require(try Self.operatorDocument()["paths"] as? [String: [String: Any]])
        #expect(
            service.operatorRoutes.map { "\($0.method.rawValue) \($0.pattern)" }.sorted()
                == ofOperators.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) \(path)" } }.sorted())
    }

    private static func operatorDocument() throws -> [String: Any] {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/Service/Description/operators.json")
        return try #require(try JSONSerialization.jsonObject(with: try Data(contentsOf: file.standardized)) as? [String: Any])
    }

    @Test("every parameter but the cursor has an example, and so has all that is answered but pictures")
    func examples() throws {
        for document in [try Self.document(), try Self.operatorDocument()] {
            let components = try #require(document["components"] as? [String: [String: [String: Any]]])
            func resolved(_ value: Any?) -> [String: Any] {
                let object = value as? [String: Any] ?? [:]
                guard let parts = (object["$ref"] as? String)?.split(separator: "/"), parts.count == 4 else { return object }
                return components[String(parts[2])]?[String(parts[3])] ?? [:]
            }
            func hasExample(_ value: [String: Any]) -> Bool { value["example"] != nil || value["examples"] != nil }
            // A cursor is made by the service alone: any that were written down would be refused.
            for (name, parameter) in components["parameters"] ?? [:] where name != "Cursor" { #expect(hasExample(parameter), "\(name)") }
            let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
            for (path, operations) in paths {
                for (status, response) in operations.values.flatMap({ $0["responses"] as? [String: Any] ?? [:] }) {
                    for (type, content) in resolved(response)["content"] as? [String: [String: Any]] ?? [:] where type != "image/*" {
                        #expect(hasExample(content) || hasExample(resolved(content["schema"])), "\(path) \(status)")
                    }
                }
            }
        }
    }

    /// What only the operators' listener answers; it has a description of its own.
    private static let ofOperators: [Problem.Kind] = [
        .unknownItem, .invalidItem, .invalidOperation, .preconditionFailed, .preconditionRequired,
    ]

    @Test("slots, outcomes, verdicts, identifiers and kinds of problem are those of the types")
    func enumerations() throws {
        let slots = try #require(try Self.schema("Actions")["properties"] as? [String: Any])
        #expect(Set(slots.keys) == Set(CommandKey.allCases.map(\.rawValue)))
        #expect(try Self.words("Verdict") == Set(Verdict.allCases.map(\.rawValue)))
        #expect(try Self.words("Outcome") == Set(StepResult.Outcome.allCases.map(\.rawValue)))
        #expect(
            try Self.words("ProblemType")
                == Set(Problem.Kind.allCases.filter { !Self.ofOperators.contains($0) }.map(\.uri) + ["about:blank"]))
        let cells = Set(
            FeedSettings.UserCell.allCases.map(\.rawValue) + ["AdvertisementCollectionViewCell", SectionHeaderCellFactory().identifier])
        #expect(try Self.words("Identifier") == cells)
    }

    @Test("reasons why there is no picture are those of the proxy")
    func imageProblems() throws {
        let pattern = try #require(try Self.schema("ImageProblemType")["pattern"] as? String)
        let expression = try Regex(pattern)
        let failures: [ImageFailure.Reason] =
            FetchFailure.allCases.map { .fetch($0) } + [
                .upstream(status: 404), .typeDenied, .typeMismatch, .tooManyPixels, .encoded, .overloaded, .queueTimeout, .hostResting,
                .buffersFull, .cancelled, .notStored, .loop,
            ]
        for reason in failures {
            let type = "urn:intertwine:problem:image-\(ImageFailure(reason).code)"
            #expect(type.wholeMatch(of: expression) != nil, "\(type)")
        }
        let reasons = pattern.split(separator: "(")[1].split(separator: "|").count
        // The origin's statuses are a group of their own, and the proxy's own cancellation has the word of the fetch's.
        #expect(reasons == FetchFailure.allCases.count + 1 + 10)
    }

    @Test("the limits that it tells are those in force")
    func limits() throws {
        let components = try #require(try Self.document()["components"] as? [String: [String: Any]])
        let limit = try #require((components["parameters"]?["Limit"] as? [String: Any])?["schema"] as? [String: Any])
        #expect(limit["minimum"] as? Int == FeedRequest.limits.lowerBound && limit["maximum"] as? Int == FeedRequest.limits.upperBound)
        #expect(limit["default"] as? Int == FeedRequest.defaultLimit)
        let paths = try #require(try Self.document()["paths"] as? [String: [String: [String: Any]]])
        let body = try #require(paths["/events"]?["post"]?["requestBody"] as? [String: Any])
        let content = try #require(body["content"] as? [String: [String: Any]])
        #expect((content["application/json"]?["schema"] as? [String: Any])?["maxItems"] as? Int == EventRoutes.limit)
    }

    @Test("the field that names the viewer has its configured name")
    func viewerHeader() throws {
        let description = try APIDescription(viewerHeader: "X-Person", publicURL: "")
        let text = String(decoding: description.document, as: UTF8.self)
        #expect(text.contains("X-Person") && !text.contains("X-Viewer-ID"))
    }

    @Test("the cell's schema stands alone: all that it refers to is in it")
    func cellSchema() throws {
        let description = try APIDescription(viewerHeader: "X-Viewer-ID", publicURL: "https://feed.example.com")
        let bytes = description.cellSchema.document
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(schema["$id"] as? String == "https://feed.example.com/schemas/cell.json")
        let definitions = try #require(schema["$defs"] as? [String: Any])
        let references = String(decoding: bytes, as: UTF8.self).matches(of: /"\$ref" : "#\/\$defs\/([A-Za-z]+)"/).map { String($0.1) }
        #expect(Set(references) == Set(definitions.keys))
        #expect(definitions.keys.contains("BindAction") && !definitions.keys.contains("Problem"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("#/components/"))
    }
}
