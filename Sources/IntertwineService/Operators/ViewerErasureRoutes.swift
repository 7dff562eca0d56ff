internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct ViewerErasureRoutes: Sendable {
    let archive: any LedgerArchive
    let owners: @Sendable (_ viewer: String) -> [String]
    /// Called with each erased viewer, because lists and memory have data of the viewer.
    let erased: @Sendable (_ viewer: String) -> Void

    private static let viewer = Parameter.segment(
        "id", .string(minLength: 1, maxLength: 256), "The name of the viewer as in requests, percent-encoded.", example: #""viewer-1""#)

    private static let tooLong = Problem.invalidParameter("id", .tooLong, "id must be at most 256 characters long.")

    /// Returns a path without the viewer, so that logs do not contain the erased viewer.
    static func withoutViewer(_ path: String) -> String {
        PercentCoding.normalised(path[...]).hasPrefix("/admin/viewers/") ? "/admin/viewers/{id}" : path
    }

    var routes: [Route] {
        let operation = APIOperation(
            "eraseViewer", tag: "Reports", "Erase a viewer",
            """
            The operation removes the viewer's lists, selections, exposures and idempotency keys, and the last rankings that this process remembers. It removes name, address and user agent from the viewer's \
            events; their counts stay. At the time of the response, no byte of the name is in the ledger's file or its write-ahead log. PostgreSQL removes old \
            row versions with its next `VACUUM`. Later requests of the viewer are recorded again.
            """,
            parameters: [Self.viewer],
            responses: [
                .json(
                    .ok, "The viewer is erased.",
                    .object([
                        .required("listed", .count, "The number of erased list entries."), .required("selections", .count),
                        .required("exposures", .count),
                        .required("idempotencyKeys", .count), .required("events", .count, "The number of events that lost the name."),
                    ]), [.noStore], example: #"{"listed": 4, "selections": 2, "exposures": 0, "idempotencyKeys": 1, "events": 17}"#),
                .badRequest(
                    "The id is not valid UTF-8 or is too long, or the request is malformed.",
                    [.init(Self.tooLong)]),
                .forbidden, .storeUnavailable,
            ])
        return [
            Route(.delete, "/admin/viewers/{id}", operation, timeLimit: .seconds(3_600)) { request in
                let viewer = try request[Self.viewer]
                guard viewer.unicodeScalars.count <= 256 else { throw Self.tooLong }
                try await AuditContext.begin()
                let gone = try await archive.erase(viewer: viewer, owners: owners(viewer))
                erased(viewer)
                return try .noStore(json: gone)
            }
        ]
    }
}
