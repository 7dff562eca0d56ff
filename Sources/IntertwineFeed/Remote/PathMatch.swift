/// Follows a pointer while a document is read: tells which value is the one that it points to.
struct PathMatch: Sendable {
    let pointer: JSONPointer
    /// How many tokens of the pointer the way to the value that is read agrees with, from the beginning.
    private var agreed = 0

    init(_ pointer: JSONPointer) {
        self.pointer = pointer
    }

    /// The value that is read next lies under this key, in a container of that depth; the document itself has depth 0.
    mutating func step(to key: String, depth: Int) {
        guard agreed >= depth else { return }
        agreed = depth < pointer.tokens.count && pointer.tokens[depth] == key ? depth + 1 : depth
    }

    /// Whether the value at this depth is the one.
    func isHit(depth: Int) -> Bool {
        pointer.tokens.count == depth && agreed == depth
    }
}
