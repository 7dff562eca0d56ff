internal import Glibc

/// A string that is compared by bytes: the id of an item or a cell, a viewer, a key of the ledger, or a token.
/// Identifiers are bytes, as in SQLite and in signatures.
package struct ByteString: Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

extension ByteString: Hashable {
    package static func == (one: ByteString, other: ByteString) -> Bool {
        // Compares in place: iterating over the UTF-8 views yields one byte at a time, and every click compares ids.
        var (one, other) = (one.text, other.text)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
                    return one.isEmpty && other.isEmpty
                }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ByteString: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
