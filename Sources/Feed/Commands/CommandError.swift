/// Why a command of the product did not perform.
public enum CommandError: Error, Sendable, Hashable {
    /// The request or the cell did not bring what the command needs.
    case missing(CommandNeeds, command: String)
    /// A step of a macro failed, and its policy gave up.
    case macroFailed(step: String)
}
