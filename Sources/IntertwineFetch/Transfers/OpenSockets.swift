internal import CIntertwineCurl
internal import Glibc

/// The sockets of curl's connections: of the one that it is about to use curl tells no more than its two ends.
/// On one loop only.
final class OpenSockets {
    enum Condition {
        /// Nobody has said anything that was not asked for.
        case quiet
        /// Something lies there unread, or the other side has closed, or nobody can tell.
        case hasUnreadData
    }

    /// By the port at this end. The number may be another socket's by now, or nobody's.
    private var descriptors: [UInt16: Int32] = [:]

    /// - Parameter opened: those of which one has become a connection.
    func store(_ opened: [Int32], localPort: UInt16) {
        descriptors[localPort] = opened.last { Self.port($0, getsockname) == localPort }
    }

    /// Whether a connection that lay idle may carry a request: what lies there unread would be taken for the answer to it, and then each
    /// answer on that connection for the next request's (RFC 9112 section 6.3).
    func condition(of easy: UnsafeMutableRawPointer, localPort: UInt16, remotePort: UInt16) -> Condition {
        guard let descriptor = descriptors[localPort], Self.port(descriptor, getsockname) == localPort,
            Self.port(descriptor, getpeername) == remotePort, Self.isSilent(descriptor), Self.hasNothingDecrypted(easy)
        else { return .hasUnreadData }
        return .quiet
    }

    private typealias Name = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private static func port(_ descriptor: Int32, _ name: Name) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        let family = Int32(address.ss_family)
        return withUnsafeBytes(of: address) { bytes in
            switch family {
            // Both have the port behind the family.
            case AF_INET, AF_INET6: UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            default: nil
            }
        }
    }

    private static func isSilent(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let got = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
    }

    private typealias Pending = @convention(c) (UnsafeMutableRawPointer) -> Int32

    /// OpenSSL's own function. It has no header here, since nothing else of it is used: curl brings the library along.
    private static let pending: Pending? = dlsym(nil, "SSL_pending").map { unsafeBitCast($0, to: Pending.self) }

    /// A record is decrypted as a whole: what of it was not asked for lies in the TLS library, and the socket is empty.
    private static func hasNothingDecrypted(_ easy: UnsafeMutableRawPointer) -> Bool {
        var pointer: UnsafeMutableRawPointer?
        guard intertwine_info_pointer(easy, CURLINFO_TLS_SSL_PTR, &pointer) == CURLE_OK, let pointer else { return false }
        let session = pointer.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee
        guard let internals = session.internals else { return true }
        guard session.backend == CURLSSLBACKEND_OPENSSL, let pending else { return false }
        return pending(internals) == 0
    }
}
