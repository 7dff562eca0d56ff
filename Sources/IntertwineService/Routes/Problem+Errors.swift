internal import HTTPTypes
package import IntertwineFeed
internal import IntertwineHTTPServer
package import IntertwineRouting

// The conversions from errors of lower modules to problem responses. No other file converts them.

extension FeedError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .limitOutOfRange:
            Problem(
                .badRequest, .invalidParameter,
                "limit must be a whole number from \(FeedRequest.limits.lowerBound) to \(FeedRequest.limits.upperBound).")
        case .cursor(.invalid): Problem(.badRequest, .invalidCursor, "cursor is not one that this feed gave out.")
        case .capabilities(let reason):
            Problem(.badRequest, .invalidParameter, "Accept-Cells is no list of identifiers (RFC 9651): \(reason).")
        case .cursor(.otherFeed): Problem(.badRequest, .invalidCursor, "cursor belongs to another feed.")
        }
    }
}

extension ActionError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .unknownCell, .brokenCell: Problem(.notFound, .unknownCell, "There is no such cell.")
        case .nothingToDo(let slot, _): Problem(.notFound, .emptySlot, "This cell has nothing to do for \(slot.rawValue).")
        case .viewerRequired(let command):
            Problem(.badRequest, .viewerRequired, "The command \(command) acts for a viewer; none was named.")
        case .invalidInput(let fault): Problem(.badRequest, .invalidBody, "\(fault).")
        case .unknownSelection: Problem(.notFound, .unknownSelection, "There is no such selection.")
        case .notUndoable(let command): Problem(.conflict, .notUndoable, "The command \(command) cannot be undone.")
        case .alreadyUndone: Problem(.conflict, .alreadyUndone, "This selection has been undone.")
        case .undoExpired: Problem(.gone, .undoExpired, "The time for undoing this selection is over.")
        case .undoFailed(let command, _):
            Problem(.badGateway, .commandFailed, "The command \(command) could not be undone; nothing was. Try again.")
        case .keyReused:
            Problem(.unprocessableContent, .idempotencyKeyReused, "This Idempotency-Key was used for another request.")
        case .forgedToken: Problem(.notFound, .invalidToken, "There is nothing behind this link.")
        case .gone: Problem(.gone, .goneAdvertisement, "This advertisement is gone.")
        }
    }
}

extension StoreError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .unavailable, .unusable:
            Problem(.serviceUnavailable, .storeUnavailable, "The store does not respond. Try again.", fields: [.retryAfter: "1"])
        case .overloaded:
            Problem(.serviceUnavailable, .storeUnavailable, "Too much is waiting for the disk. Try again.", fields: [.retryAfter: "1"])
        }
    }
}

/// The problem types of the service.
extension Problem.ProblemType {
    static let invalidCursor = Problem.ProblemType("invalid-cursor")
    static let unknownClient = Problem.ProblemType("unknown-client")
    static let viewerRequired = Problem.ProblemType("viewer-required")
    static let unknownFeed = Problem.ProblemType("unknown-feed")
    static let unknownSection = Problem.ProblemType("unknown-section")
    static let unknownCell = Problem.ProblemType("unknown-cell")
    static let unshownCell = Problem.ProblemType("unshown-cell")
    static let emptySlot = Problem.ProblemType("empty-slot")
    static let unknownSelection = Problem.ProblemType("unknown-selection")
    static let notUndoable = Problem.ProblemType("not-undoable")
    static let alreadyUndone = Problem.ProblemType("already-undone")
    static let undoExpired = Problem.ProblemType("undo-expired")
    static let commandFailed = Problem.ProblemType("command-failed")
    static let invalidToken = Problem.ProblemType("invalid-token")
    static let goneAdvertisement = Problem.ProblemType("gone-advertisement")
    static let idempotencyKeyReused = Problem.ProblemType("idempotency-key-reused")
    static let unknownRequest = Problem.ProblemType("unknown-request")
    static let invalidImageURL = Problem.ProblemType("invalid-image-url")
    static let expiredImageURL = Problem.ProblemType("expired-image-url")
    static let takenDown = Problem.ProblemType("taken-down")
    static let rateLimited = Problem.ProblemType("rate-limited")
}
