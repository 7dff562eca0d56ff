internal import HTTPServer
internal import HTTPTypes

/// Why a request is not answered as asked; becomes problem details (RFC 9457).
struct Problem: Error, Hashable {
    /// The problems that clients can tell apart by `type`. A status that says it all has none.
    enum Kind: String, CaseIterable {
        case invalidParameter = "invalid-parameter"
        case invalidCursor = "invalid-cursor"
        case invalidBody = "invalid-body"
        case viewerRequired = "viewer-required"
        case unknownFeed = "unknown-feed"
        case unknownSection = "unknown-section"
        case unknownCell = "unknown-cell"
        case emptySlot = "empty-slot"
        case unknownSelection = "unknown-selection"
        case notUndoable = "not-undoable"
        case alreadyUndone = "already-undone"
        case undoExpired = "undo-expired"
        case commandFailed = "command-failed"
        case invalidToken = "invalid-token"
        case goneAdvertisement = "gone-advertisement"
        case idempotencyKeyReused = "idempotency-key-reused"
        case unknownRequest = "unknown-request"
        case invalidImageURL = "invalid-image-url"
        case expiredImageURL = "expired-image-url"
        case storeUnavailable = "store-unavailable"
        case unknownItem = "unknown-item"
        case invalidItem = "invalid-item"
        case invalidOperation = "invalid-operation"
        case preconditionFailed = "precondition-failed"
        case preconditionRequired = "precondition-required"

        var uri: String { "urn:intertwine:problem:\(rawValue)" }

        var title: String {
            let words = rawValue.replacing("-", with: " ")
            return words.prefix(1).uppercased() + words.dropFirst()
        }
    }

    let status: HTTPResponse.Status
    let kind: Kind?
    /// For the client's author; holds nothing of how the service is built.
    let detail: String
    var fields: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ kind: Kind? = nil, _ detail: String, fields: HTTPFields = [:]) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.fields = fields
    }

    var details: ProblemDetails {
        guard let kind else { return ProblemDetails(status: status.code, detail: detail) }
        return ProblemDetails(type: kind.uri, title: kind.title, status: status.code, detail: detail)
    }

    var response: ServerResponse {
        var fields = fields
        fields[.cacheControl] = "no-store"
        return details.response(fields: fields)
    }
}
