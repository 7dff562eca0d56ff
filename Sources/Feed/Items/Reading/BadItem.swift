/// An item of a file that was not taken, for whoever has to mend the file.
public struct BadItem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Counted from 1: where the item begins or, where it is not JSON at all, where reading it failed.
    public var line: Int
    public var fault: ItemFault

    public init(line: Int, fault: ItemFault) {
        self.line = line
        self.fault = fault
    }

    public var description: String { "line \(line): \(fault)" }
}
