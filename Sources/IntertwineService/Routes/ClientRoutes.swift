internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

/// The route `PUT /clients/{name}`: a client registers its capabilities and gets a digest of them.
/// The client puts the digest into URLs, so that shared caches can store the responses.
struct ClientRoutes: Sendable {
    let registry: ClientRegistry

    private static let name = Parameter.segment(
        "name", .string(pattern: "^[A-Za-z][A-Za-z0-9_.-]{0,63}$"), "The name of the client, with its version.", example: #""ios-4.2""#)

    private static func isName(_ name: String) -> Bool {
        let isPlain = { (byte: UInt8) in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 || "_.-".utf8.contains(byte)
        }
        guard let first = name.utf8.first, (first | 0x20) &- UInt8(ascii: "a") < 26 else { return false }
        return name.utf8.count <= 64 && name.utf8.allSatisfy(isPlain)
    }

    private static let invalidName = Problem.invalidParameter(
        "name", .invalid, "name must be a letter followed by at most 63 letters, digits, _, . or -.")

    private struct Registration: Decodable { var cells: String }

    private struct Registered: Encodable {
        var name: String
        var digest: String
        var cells: String
    }

    var routes: [Route] {
        let shape = #"The body must be {"cells": "…"}, as in Accept-Cells."#
        let operation = APIOperation(
            "registerClient", tag: "Feed", "Register the cells that a client supports",
            """
            Registers a list in place of the field `Accept-Cells` of each request. Requests refer to it by the digest in the response: \
            `client={digest}`. Clients with equal lists have equal digests. The service keeps the last eight digests of each name, and \
            1,000 names: those in use, then those registered last.
            """,
            parameters: [Self.name],
            body: RequestBodyDescription(
                .object([.required("cells", .string(minLength: 1), "The supported cells, in the format of `Accept-Cells`.")]),
                text: "At most 16 KiB.",
                example: #"{"cells": "UserSnapshotCollectionViewCell, CircularUserCollectionViewCell;v=2, *;q=0"}"#),
            responses: [
                .json(
                    .ok, "The client is registered.",
                    .object([
                        .required("name", .string),
                        .required("digest", .string(pattern: "^[A-Za-z0-9_-]{16}$"), "The value of the query parameter `client`."),
                        .required("cells", .string, "The registered list in its canonical form: equal for all lists of equal meaning."),
                    ]), [.noStore],
                    example: """
                        {"name": "ios-4.2", "digest": "Zt4mB1jk2f3oKp0q", "cells": "CircularUserCollectionViewCell;v=2, \
                        UserSnapshotCollectionViewCell, *;q=0"}
                        """),
                .badRequest(
                    "The body or the name is invalid.",
                    [.init(.invalidBody(at: "/cells", .required, shape)), .init(Self.invalidName)]),
            ])
        return [
            Route(.put, "/clients/{name}", operation, bodyLimit: 16 << 10) { request in
                let name = try request[Self.name]
                guard Self.isName(name) else { throw Self.invalidName }
                let body = try request.body(as: Registration.self, shape)
                guard !body.cells.isEmpty else { throw Problem.invalidBody(at: "/cells", .invalid, shape) }
                let capabilities: ClientCapabilities
                do throws(FeedError) { capabilities = try ClientCapabilities(body.cells) } catch {
                    throw Problem.invalidBody(at: "/cells", .invalid, error.problem.detail)
                }
                let digest = try await registry.register(name, capabilities, now: request.now)
                return try .noStore(json: Registered(name: name, digest: digest, cells: capabilities.text))
            }
        ]
    }
}
