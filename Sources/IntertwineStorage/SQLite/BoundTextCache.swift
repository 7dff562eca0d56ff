internal import IntertwineFeed

/// A cache of text parameters for a statement that runs repeatedly with similar values.
/// A parameter is bound only if it differs from the previous run, and SQLite copies no text. The parameters refer to memory of this object,
/// which must live as long as the statement runs.
final class BoundTextCache {
    private struct Parameter {
        var isBound = false
        var value: ByteString?
        /// The memory of the value, which SQLite reads.
        var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    private let statement: SQLStatement
    private var parameters: [Parameter]

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
        // A parameter whose binding failed is bound again in the next run.
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
