internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// The one place where errors become answers.
extension Problem {
    /// Whatever has no case here is a fault of ours: the client is told 500, and nothing else.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as FeedError: self.init(error)
        case let error as ActionError: self.init(error)
        case let error as StoreError: self.init(error)
        case RequestBodyError.tooLarge: self.init(.contentTooLarge, nil, "The body is too long.")
        case RequestBodyError.tooSlow: self.init(.requestTimeout, nil, "The body of the request took too long.")
        case RequestBodyError.incomplete: self.init(.badRequest, nil, "The body broke off.")
        case is CancellationError: self.init(.serviceUnavailable, nil, "The request was given up.", fields: [.retryAfter: "1"])
        default: self.init(.internalServerError, nil, "Something went wrong here.")
        }
    }

    private init(_ error: FeedError) {
        switch error {
        case .limitOutOfRange:
            self.init(
                .badRequest, .invalidParameter,
                "limit must be a whole number from \(FeedRequest.limits.lowerBound) to \(FeedRequest.limits.upperBound).")
        case .cursor(.invalid): self.init(.badRequest, .invalidCursor, "cursor is not one that this feed gave out.")
        case .cursor(.otherFeed): self.init(.badRequest, .invalidCursor, "cursor belongs to another feed.")
        }
    }

    private init(_ error: ActionError) {
        switch error {
        case .unknownCell, .brokenCell: self.init(.notFound, .unknownCell, "There is no such cell.")
        case .nothingToDo(let slot, _): self.init(.notFound, .emptySlot, "This cell has nothing to do for \(slot.rawValue).")
        case .viewerRequired(let command):
            self.init(.badRequest, .viewerRequired, "The command \(command) acts for a viewer; none was named.")
        case .unknownSelection: self.init(.notFound, .unknownSelection, "There is no such selection.")
        case .notUndoable(let command): self.init(.conflict, .notUndoable, "The command \(command) cannot be undone.")
        case .alreadyUndone: self.init(.conflict, .alreadyUndone, "This selection has been undone.")
        case .undoExpired: self.init(.gone, .undoExpired, "The time for undoing this selection is over.")
        case .undoFailed(let command, _):
            self.init(.badGateway, .commandFailed, "The command \(command) could not be undone; nothing was. Try again.")
        case .keyReused:
            self.init(.unprocessableContent, .idempotencyKeyReused, "This Idempotency-Key was used for another request.")
        case .forgedToken: self.init(.notFound, .invalidToken, "There is nothing behind this link.")
        case .gone: self.init(.gone, .goneAdvertisement, "This advertisement is gone.")
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .unavailable, .unusable:
            self.init(.serviceUnavailable, .storeUnavailable, "The store does not answer. Try again.", fields: [.retryAfter: "1"])
        case .overloaded:
            self.init(.serviceUnavailable, .storeUnavailable, "Too much is waiting for the disk. Try again.", fields: [.retryAfter: "1"])
        }
    }
}
