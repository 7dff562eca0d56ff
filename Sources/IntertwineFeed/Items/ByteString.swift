internal import Glibc

/// A string that is compared by bytes: the id of an item or a cell, a viewer, a key of the ledger, or a token.
///
/// Swift strings are equal if they are canonically equivalent in Unicode: `é` as one scalar or two, the Kelvin sign and `K`.
/// Identifiers are bytes, as in SQLite and in signatures.
///
/// ```swift
/// let composed: ByteString = "\u{E9}"
/// let isEqual = composed == "e\u{301}"  // false, unlike for String
/// ```
package struct ByteString: Sendable {
    /// The text, whose UTF-8 bytes are compared.
    package let text: String

    /// Creates a string with the bytes of a text. The text is not normalised.
    package init(_ text: String) {
        self.text = text
    }
}

extension ByteString: Hashable {
    /// Returns true if both strings have equal UTF-8 bytes.
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

    /// Hashes the UTF-8 bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ByteString: ExpressibleByStringLiteral {
    /// Creates a string with the bytes of a string literal.
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
