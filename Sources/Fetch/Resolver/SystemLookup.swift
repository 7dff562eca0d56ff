internal import Glibc

/// The system's resolver: hosts file, DNS, whatever nsswitch.conf says.
public enum SystemLookup {
    /// Blocks. Fails with nothing but `hostNotFound` and `resolveFailed`.
    @Sendable
    public static func addresses(of host: String) -> Result<[IPAddress], FetchFailure> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &head)
        guard result == 0 else {
            return .failure(result == EAI_NONAME ? .hostNotFound : .resolveFailed)
        }
        defer { freeaddrinfo(head) }
        var found: [IPAddress] = []
        var next = head
        while let entry = next {
            if let address = entry.pointee.ai_addr, let parsed = IPAddress(address, length: Int(entry.pointee.ai_addrlen)),
                !found.contains(parsed)
            {
                found.append(parsed)
            }
            next = entry.pointee.ai_next
        }
        return found.isEmpty ? .failure(.hostNotFound) : .success(found)
    }
}
