/// Why an action was refused before anything ran.
public enum ActionError: Error, Sendable, Hashable {
    /// No such cell: 404 over HTTP.
    case unknownCell(String)
    /// The item cannot be shown, so nothing can be done with it either: 404 over HTTP.
    case brokenCell(String)
    /// The slot is empty, which is legal.
    case nothingToDo(CommandKey, cell: String)
    /// The command acts for a viewer, and the request has none: 400 over HTTP.
    case viewerRequired(command: String)
    /// What came with the request is not what the slot takes; names the value: 400 over HTTP.
    case invalidInput(ItemFault)
    /// No such selection, or another viewer's: 404 over HTTP.
    case unknownSelection(String)
    /// The command cannot be undone: 409 over HTTP.
    case notUndoable(command: String)
    /// It was undone before: 409 over HTTP.
    case alreadyUndone
    /// The time for undoing is over: 410 over HTTP.
    case undoExpired
    /// A command failed while being undone; nothing of the undo is kept, and it can be tried again.
    case undoFailed(command: String, reason: String)
    /// The idempotency key was used before, for another request: 422 over HTTP.
    case keyReused
    /// A clickthrough token that is damaged or not ours: 404 over HTTP, and no redirect.
    case forgedToken
    /// The advertisement that a clickthrough token names is deleted, or leads nowhere any more: 410 over HTTP.
    case gone(String)
}
