internal import Glibc

/// An address to bind to, or the one that was bound.
struct SocketAddress {
    let storage: sockaddr_storage
    let length: socklen_t
    var family: Int32 { Int32(storage.ss_family) }

    init(storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

    /// - Parameter host: an IPv4 or IPv6 address in numbers, or `localhost`. Names are not resolved. Nil for anything else.
    init?(host: String, port: UInt16) {
        var storage = sockaddr_storage()
        var four = sockaddr_in()
        var six = sockaddr_in6()
        let numeric = host == "localhost" ? "127.0.0.1" : host
        if inet_pton(AF_INET, numeric, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: four) { target.copyMemory(from: $0) } }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        } else if inet_pton(AF_INET6, numeric, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: six) { target.copyMemory(from: $0) } }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        } else {
            return nil
        }
        self.storage = storage
    }

    /// Calls `body` with the form in which the kernel wants it.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Calls `body` with room for an address that the kernel fills in.
    static func filled(_ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) -> (result: Int32, address: SocketAddress) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
        return (result, SocketAddress(storage: storage, length: length))
    }
}
