internal import IntertwineRouting

/// The problems of the service that clients can tell apart.
extension Problem.Kind {
    static let invalidCursor = Problem.Kind("invalid-cursor")
    static let viewerRequired = Problem.Kind("viewer-required")
    static let unknownFeed = Problem.Kind("unknown-feed")
    static let unknownSection = Problem.Kind("unknown-section")
    static let unknownCell = Problem.Kind("unknown-cell")
    static let emptySlot = Problem.Kind("empty-slot")
    static let unknownSelection = Problem.Kind("unknown-selection")
    static let notUndoable = Problem.Kind("not-undoable")
    static let alreadyUndone = Problem.Kind("already-undone")
    static let undoExpired = Problem.Kind("undo-expired")
    static let commandFailed = Problem.Kind("command-failed")
    static let invalidToken = Problem.Kind("invalid-token")
    static let goneAdvertisement = Problem.Kind("gone-advertisement")
    static let idempotencyKeyReused = Problem.Kind("idempotency-key-reused")
    static let unknownRequest = Problem.Kind("unknown-request")
    static let invalidImageURL = Problem.Kind("invalid-image-url")
    static let expiredImageURL = Problem.Kind("expired-image-url")
    static let storeUnavailable = Problem.Kind("store-unavailable")
}

/// Those of the operators' listener.
extension Problem.Kind {
    static let unknownItem = Problem.Kind("unknown-item")
    static let invalidItem = Problem.Kind("invalid-item")
    static let invalidOperation = Problem.Kind("invalid-operation")
    static let preconditionFailed = Problem.Kind("precondition-failed")
    static let preconditionRequired = Problem.Kind("precondition-required")
}
