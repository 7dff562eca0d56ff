internal import Glibc
internal import Synchronization

/// The kernel queues its connections until a server accepts them.
package final class ListeningSocket: Sendable {
    /// If the configured port is 0, it has the port that the kernel chose.
    package let address: PeerAddress
    let descriptor: Int32
    private let isOpen = Atomic(true)

    package init(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) {
        (descriptor, address) = try Self.open(configuration)
    }

    deinit {
        close()
    }

    package func close() {
        if isOpen.exchange(false, ordering: .acquiringAndReleasing) { Glibc.close(descriptor) }
    }

    private static func open(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) -> (descriptor: Int32, bound: PeerAddress) {
        guard let address = SocketAddress(host: configuration.host, port: configuration.port) else {
            throw .unknownAddress(configuration.host)
        }
        let name =
            configuration.host.contains(":")
            ? "[\(configuration.host)]:\(configuration.port)" : "\(configuration.host):\(configuration.port)"
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, 0)
        if descriptor < 0 { throw failure(name, configuration.host) }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // The kernel holds a connection back until its client has sent bytes. Most connections are then read and answered when they are accepted,
        // and are never watched. A silent client is accepted after a second, with the usual limits and deadlines.
        set(descriptor, Int32(IPPROTO_TCP), TCP_DEFER_ACCEPT, 1)
        if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, configuration.backlog) == 0 else {
            let error = failure(name, configuration.host)
            Glibc.close(descriptor)
            throw error
        }
        let bound = SocketAddress.filled { getsockname(descriptor, $0, &$1) }
        return (descriptor, PeerAddress(bound.address.storage))
    }

    private static func failure(_ name: String, _ host: String) -> HTTPServerError {
        switch errno {
        case EADDRINUSE: .addressInUse(name)
        case EADDRNOTAVAIL, EAFNOSUPPORT: .unknownAddress(host)
        default: .cannotListen("\(name): \(String(cString: strerror(errno)))")
        }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

struct SocketAddress {
    let storage: sockaddr_storage
    private let length: socklen_t
    var family: Int32 { Int32(storage.ss_family) }

    init(storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

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

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    static func filled(_ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) -> (result: Int32, address: SocketAddress) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
        return (result, SocketAddress(storage: storage, length: length))
    }
}
