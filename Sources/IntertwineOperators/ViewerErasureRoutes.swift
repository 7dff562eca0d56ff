internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// The route `DELETE /admin/viewers/{id}`: erases the stored data of a viewer.
struct ViewerErasureRoutes: Sendable {
    let archive: any LedgerArchive
    /// Returns the owners under which the idempotency keys of a viewer are stored.
    let owners: @Sendable (_ viewer: String) -> [String]
    /// Called with each erased viewer, because lists with data of the viewer have changed.
    let erased: @Sendable (_ viewer: String) -> Void

    private static let viewer = Parameter.segment(
        "id", .string(minLength: 1, maxLength: 256), "The viewer's name, percent-encoded, as requests bear it.", example: #""viewer-1""#)

    private static let tooLong = Problem.invalidParameter("id", .tooLong, "id must be at most 256 characters long.")

    /// Returns a path without the viewer, so that logs do not contain the erased viewer.
    static func nameless(_ path: String) -> String {
        path.hasPrefix("/admin/viewers/") ? "/admin/viewers/{id}" : path
    }

    var routes: [Route] {
        let operation = APIOperation(
            "eraseViewer", tag: "Reports", "Erase a viewer",
            """
            Removes the viewer's lists, selections, exposures and idempotency keys, and name, address and user agent from the viewer's events, whose \
            counts stay. By the time of the response no byte of the name is in the ledger's file or its write-ahead log; PostgreSQL removes \
            old versions of rows with its next `VACUUM`. What the viewer does meanwhile, or afterwards, is kept anew.
            """,
            parameters: [Self.viewer],
            responses: [
                .json(
                    .ok, "Erased.",
                    .object([
                        .required("listed", .count, "Cells on lists."), .required("selections", .count), .required("exposures", .count),
                        .required("idempotencyKeys", .count), .required("events", .count, "Events that have no name any more."),
                    ]), [.noStore], example: #"{"listed": 4, "selections": 2, "exposures": 0, "idempotencyKeys": 1, "events": 17}"#),
                .badRequest(
                    "The path is not UTF-8, or the request cannot be understood at all.",
                    [.init(Self.tooLong)]),
                .forbidden, .storeUnavailable,
            ])
        return [
            Route(.delete, "/admin/viewers/{id}", operation, timeLimit: .seconds(3_600)) { request in
                let viewer = try request[Self.viewer]
                guard viewer.unicodeScalars.count <= 256 else { throw Self.tooLong }
                let gone = try await archive.erase(viewer: viewer, owners: owners(viewer))
                erased(viewer)
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                return ServerResponse(
                    status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"],
                    body: Array(try encoder.encode(gone)))
            }
        ]
    }
}
