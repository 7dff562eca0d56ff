import IntertwineFeed

/// The texts of a statement that is run again and again, each time with much of the same: a parameter is bound where it differs from the run
/// before, and SQLite copies none.
///
/// Confined to whoever has the statement; nobody else binds these parameters. They are bound to memory of this object, so it lives for as long as
/// the statement is run.
final class BoundTextCache {
    private struct Parameter {
        /// Whether there was a run before.
        var isBound = false
        var value: ByteString?
        /// Where SQLite finds the value.
        var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    private let statement: SQLStatement
    private var parameters: [Parameter]

    /// - Parameter count: the parameters up to it may be bound here.
    init(_ statement: SQLStatement, parameters count: Int) {
        self.statement = statement
        parameters = Array(repeating: Parameter(), count: count + 1)
    }

    deinit {
        for parameter in parameters { parameter.bytes.deallocate() }
    }

    func bind(_ index: Int, _ text: String?) throws {
        let value = text.map { ByteString($0) }
        if parameters[index].isBound, parameters[index].value == value { return }
        // What fails is bound anew by the next run.
        parameters[index].isBound = false
        if var text {
            let bytes = text.withUTF8 { store(UnsafeRawBufferPointer($0), at: index) }
            try statement.bind(Int32(index), lasting: bytes)
        } else {
            try statement.bind(Int32(index), nil as String?)
        }
        parameters[index].value = value
        parameters[index].isBound = true
    }

    private func store(_ text: UnsafeRawBufferPointer, at index: Int) -> UnsafeRawBufferPointer {
        if parameters[index].bytes.count < text.count {
            parameters[index].bytes.deallocate()
            parameters[index].bytes = .allocate(byteCount: max(64, 2 * text.count), alignment: 1)
        }
        parameters[index].bytes.copyMemory(from: text)
        return UnsafeRawBufferPointer(rebasing: parameters[index].bytes[..<text.count])
    }
}
