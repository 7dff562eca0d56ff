internal import CIntertwineCurl
internal import Glibc

/// A table of the sockets of libcurl's connections. It is needed because libcurl reports only the two ends of a connection that it is about
/// to use.
final class OpenSockets {
    enum Condition {
        case quiet
        case hasUnreadData
    }

    private var descriptors: [UInt16: Int32] = [:]

    func store(_ opened: [Int32], localPort: UInt16) {
        descriptors[localPort] = opened.last { Self.port($0, getsockname) == localPort }
    }

    /// Unread data would be taken as the response to it, and each later response on that connection would be assigned to the wrong request
    /// (RFC 9112 section 6.3).
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
            // In both families the port follows the family.
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

    /// A function of OpenSSL, found at run time because libcurl brings the library and no header of it is otherwise needed.
    private static let pending: Pending? = dlsym(nil, "SSL_pending").map { unsafeBitCast($0, to: Pending.self) }

    private static func hasNothingDecrypted(_ easy: UnsafeMutableRawPointer) -> Bool {
        var pointer: UnsafeMutableRawPointer?
        guard intertwine_info_pointer(easy, CURLINFO_TLS_SSL_PTR, &pointer) == CURLE_OK, let pointer else { return false }
        let session = pointer.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee
        guard let internals = session.internals else { return true }
        guard session.backend == CURLSSLBACKEND_OPENSSL, let pending else { return false }
        return pending(internals) == 0
    }
}
