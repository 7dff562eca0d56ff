import Foundation
import HTTPTypes
import Logging
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineImages
@testable import IntertwineService

@Suite("API description")
struct APIDescriptionTests {
    private static func service() async throws -> FeedService {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        let sources = try SettingSources(
            flags: ["store.database": "\(folder)/feed.sqlite"], environment: [:], file: "\(folder)/empty.yaml")
        return try FeedService.build(configuration: try ServiceConfiguration(sources), logger: Logger(label: "tests"))
    }

    private static func document() async throws -> [String: Any] {
        let text = APIDescription.service.json(of: try await service().live.current.routes)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func schema(_ name: String) async throws -> [String: Any] {
        let components = try #require(try await document()["components"] as? [String: Any])
        return try #require((components["schemas"] as? [String: Any])?[name] as? [String: Any])
    }

    @Test("Every route has a description, except web pages, client files and sample files")
    func routes() async throws {
        let service = try await Self.service()
        let routes = service.live.current.routes + service.listeners.operatorRoutes
        let pages = Set(routes.filter { $0.operation == nil }.map(\.pattern)).filter { !$0.hasSuffix(".mjs") && !$0.hasSuffix(".css") }
        #expect(
            pages == [
                "/", "/web-client/{file}", "/web-client/client/{file}", "/web-client/client/element/{file}", "/web-client/playground",
                "/sample/{file}", "/reports", "/ads", "/corrections", "/preview", "/imports", "/sources", "/takedowns", "/audit",
                "/viewers", "/system", "/items", "/explain", "/icon.svg",
            ])
        for listener in [service.live.current.routes, service.listeners.operatorRoutes] {
            let ids = listener.compactMap { $0.operation?.id }
            #expect(Set(ids).count == ids.count)
            for route in listener {
                let inPattern = Set(route.pattern.matches(of: /{([a-z]+)}/).map { String($0.1) })
                let described = route.operation?.parameters.map(\.description).filter { $0.location == .path }.map(\.name)
                #expect(described.map(Set.init) ?? inPattern == inPattern, "\(route.pattern)")
            }
        }
    }

    @Test("The slots and identifiers in the description equal those of the types")
    func enumerations() async throws {
        let slots = try #require(try await Self.schema("Actions")["properties"] as? [String: Any])
        #expect(Set(slots.keys) == Set((CommandKey.standard + CommandKey.playback).map(\.rawValue)))
        let identifiers = try #require(try await Self.schema("Identifier")["examples"] as? [String])
        let cells =
            UserCell.allCases.map(\.rawValue) + ["AdvertisementCollectionViewCell", SectionHeaderCellFactory().identifier]
        #expect(Set(identifiers).isSuperset(of: cells))
    }

    @Test("The image problem types in the description equal the error codes of the proxy")
    func imageProblems() async throws {
        let pattern = try #require(try await Self.schema("ImageProblemType")["pattern"] as? String)
        let expression = try Regex(pattern)
        let failures: [ImageError.Reason] =
            FetchError.allCases.map { .fetch($0) } + [
                .upstream(status: 404), .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .workerFailed,
                .overloaded,
                .queueTimeout, .circuitOpen, .buffersFull, .cancelled, .notStored, .notAcceptable, .loop,
            ]
        for reason in failures {
            let type = "/problems/image-\(ImageError(reason).code)"
            #expect(type.wholeMatch(of: expression) != nil, "\(type)")
        }
        let reasons = pattern.split(separator: "(")[1].split(separator: "|").count
        #expect(reasons == failures.count)
    }
}
