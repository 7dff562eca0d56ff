internal import Foundation
package import HTTPTypes

extension ServerResponse {
    /// Returns a response with JSON that must not be stored.
    package static func noStore(
        json value: some Encodable, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]
    ) throws -> ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return noStore(encoded: Array(try encoder.encode(value)), status: status, fields: fields)
    }

    /// Returns a response with encoded JSON that must not be stored.
    package static func noStore(
        encoded json: [UInt8], status: HTTPResponse.Status = .ok, fields: HTTPFields = [:]
    ) -> ServerResponse {
        ServerResponse(status: status, fields: [.contentType: "application/json", .cacheControl: "no-store"] + fields, body: json)
    }
}
