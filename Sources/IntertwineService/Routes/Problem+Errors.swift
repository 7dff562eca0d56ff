internal import HTTPTypes
package import IntertwineFeed
package import IntertwineHTTPServer

// The conversions from errors of lower modules to problem responses. No other file converts them.

extension FeedError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .limitOutOfRange:
            .invalidParameter(
                "limit", .outOfRange,
                "limit must be a whole number from \(FeedRequest.limits.lowerBound) to \(FeedRequest.limits.upperBound).")
        case .cursor(.invalid): Problem.invalidCursor("cursor is not a cursor of this feed.")
        case .capabilities(let reason):
            .invalidParameter("Accept-Cells", .invalid, "Accept-Cells is not a list of identifiers (RFC 9651): \(reason).")
        case .cursor(.otherFeed): Problem.invalidCursor("cursor belongs to another feed.")
        }
    }
}

extension ActionError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .unknownCell, .brokenCell: Problem(.notFound, .unknownCell, "There is no such cell.")
        case .nothingToDo(let slot, _): Problem(.notFound, .emptySlot, "The cell has no command in the slot \(slot.rawValue).")
        case .viewerRequired(let command):
            Problem(.forbidden, .viewerRequired, "The command \(command) requires a viewer, and the request names none.")
        case .invalidInput(let errors):
            // A body that is no JSON object is malformed; the values of an object are invalid.
            .invalidBody(
                errors.prefix(3).map { "\($0)" }.joined(separator: "; ") + (errors.count > 3 ? "; and \(errors.count - 3) more." : "."),
                errors.map { InvalidValue($0) },
                status: errors.contains { $0.offset != nil } ? .badRequest : .unprocessableContent)
        case .unknownInvocation: Problem(.notFound, .unknownInvocation, "There is no such invocation.")
        case .notUndoable(let command): Problem(.conflict, .notUndoable, "The command \(command) cannot be undone.")
        case .alreadyUndone: Problem(.conflict, .alreadyUndone, "This invocation has been undone.")
        case .undoExpired: Problem(.gone, .undoExpired, "The time for undoing this invocation is over.")
        case .undoFailed(let command, _):
            Problem(.badGateway, .commandFailed, "The command \(command) could not be undone, and no other command was. Try again.")
        case .keyReused:
            Problem(.unprocessableContent, .idempotencyKeyReused, "This Idempotency-Key was used for another request.")
        case .forgedToken: Problem(.notFound, .invalidToken, "The token of the link is invalid.")
        case .gone: Problem(.gone, .goneAdvertisement, "This ad was removed.")
        }
    }
}

extension Problem {
    static func invalidMember(_ name: String, _ code: InvalidValue.Code, _ reason: String) -> Problem {
        .invalidBody(at: "/\(name)", code, "The body is not valid: \(name): \(reason).", status: .unprocessableContent)
    }
}

extension ItemFields {
    /// Why: a misspelled member would otherwise be ignored, and with it a condition or a reason.
    func refuseMembers(besides known: [String]) throws(Problem) {
        guard let unknown = object.members.first(where: { member in !known.contains { object.matches(member.name, $0) } }) else { return }
        throw .invalidMember(String(decoding: object.characters(of: unknown.name), as: UTF8.self), .unknown, "is not a member")
    }
}

extension Refusal: ProblemConvertible {
    package var problem: Problem {
        // The sum of the seconds and a part of a second, rounded up.
        let seconds = retryAfter.map { max(0, $0.components.seconds) + ($0.components.attoseconds > 0 ? 1 : 0) }
        return Problem(
            HTTPResponse.Status(code: status.rawValue), .refused, detail, fields: seconds.map { [.retryAfter: String($0)] } ?? [:])
    }
}

extension StoreError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .unavailable, .unusable:
            Problem(.serviceUnavailable, .storeUnavailable, "The store cannot do this now. Try again.", fields: [.retryAfter: "1"])
        case .uncertain:
            Problem(
                .serviceUnavailable, .storeUnavailable,
                "It is not known whether it was done: the connection to the store was lost. Look before you try again.",
                fields: [.retryAfter: "1"])
        case .overloaded:
            Problem(.serviceUnavailable, .storeUnavailable, "The write queue of the store is full. Try again.", fields: [.retryAfter: "1"])
        }
    }
}

extension Problem {
    static func invalidCursor(_ detail: String) -> Problem { Problem(.badRequest, .invalidCursor, detail).naming("cursor", .invalid) }

    static func untrustedViewer(_ field: String) -> Problem {
        Problem(.forbidden, .untrustedViewer, "\(field) is accepted from the networks in server.trusted-proxies only.")
    }

    static let unknownClient = Problem(
        .badRequest, .unknownClient, "client is not the digest of a registered client: register it again."
    ).naming("client", .unknown)
}

extension Problem.ProblemType {
    static let unknownClient = Problem.ProblemType(
        "unknown-client", "The digest is not registered. Register the client with PUT /clients/{name}, and use the new digest.")
    static let viewerRequired = Problem.ProblemType(
        "viewer-required",
        "The operation acts for a viewer, and the request names none: neither the proxy's header field nor a bearer token does.")
    static let untrustedViewer = Problem.ProblemType(
        "viewer-untrusted",
        "The request names a viewer or the viewer's attributes, and its sender is no trusted proxy. Add the network of the proxy to "
            + "server.trusted-proxies.")
    static let unknownFeed = Problem.ProblemType("unknown-feed", "No feed has this name. GET /feeds lists the feeds.")
    static let unknownSection = Problem.ProblemType(
        "unknown-section", "The feed has no section of this name. GET /feeds lists the sections.")
    static let unknownCell = Problem.ProblemType(
        "unknown-cell", "The cell does not exist, is not on the list, or was removed. Remove it from the screen.")
    static let unshownCell = Problem.ProblemType(
        "unshown-cell", "The cell exists, and the client declares that it cannot show it. A newer version of the client may.")
    static let emptySlot = Problem.ProblemType("empty-slot", "The cell has no command in this slot. The actions of a cell name its slots.")
    static let unknownInvocation = Problem.ProblemType(
        "unknown-invocation", "The invocation does not exist, or another viewer performed it.")
    static let notUndoable = Problem.ProblemType("not-undoable", "A command of the invocation cannot be undone.")
    static let alreadyUndone = Problem.ProblemType(
        "already-undone", "The invocation was undone before. The state is the requested one, and no retry is necessary.")
    static let undoExpired = Problem.ProblemType("undo-expired", "The time for the undo is over: undo.expiresAt has passed.")
    static let commandFailed = Problem.ProblemType(
        "command-failed",
        "No command of the slot could be performed, or a command could not be undone. The member commands has the outcome of each command.")
    static let refused = Problem.ProblemType(
        "refused",
        "A command or a route of the program refused the request, and nothing of it was performed. The member detail has the reason.")
    static let invalidToken = Problem.ProblemType(
        "invalid-token", "The token is damaged, forged, or belongs to another cell. Use the token of the page unchanged.")
    static let goneAdvertisement = Problem.ProblemType("gone-advertisement", "The ad was removed, or has no destination any more.")
    static let idempotencyKeyReused = Problem.ProblemType(
        "idempotency-key-reused",
        "The Idempotency-Key was used for another request. Use a new key for each request and the same key for retries.")
    static let unknownRequest = Problem.ProblemType("unknown-request", "No image request with this id is in progress.")
    static let invalidImageURL = Problem.ProblemType(
        "invalid-image-url", "The service did not sign this URL. Use the href of a cell unchanged.")
    static let expiredImageURL = Problem.ProblemType("expired-image-url", "The URL has expired. A new page of the feed has a new URL.")
    static let notPublic = Problem.ProblemType("not-public", "The item that shows the image is a draft, not yet published, or expired.")
    static let takenDown = Problem.ProblemType("taken-down", "An operator has taken down the item that shows the image.")
    static let rateLimited = Problem.ProblemType(
        "rate-limited",
        "The viewer or the address writes too often, or the address sends too many invalid tokens. Retry after the seconds in Retry-After.")
}

extension InvalidValue {
    init(_ error: ItemError) {
        self.init(.body(error.path), Code(rawValue: error.code.rawValue) ?? .invalid, "\(error).")
    }
}
