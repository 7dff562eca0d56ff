import Glibc

/// A port that nobody listens on at this moment. Prefer port 0 where the program under test can say which one it got.
///
/// It is below the ports that the kernel gives to clients and for port 0, so that until its use only another caller can take it.
public func freePort() throws -> UInt16 {
    for _ in 0..<1_000 {
        let port = UInt16.random(in: 10_000..<32_000)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        if result == 0 { return port }
        guard errno == EADDRINUSE else { throw RawClientError.system("bind", errno) }
    }
    throw RawClientError.system("bind", EADDRINUSE)
}
