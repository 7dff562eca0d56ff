internal import CIntertwineLinux
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

/// A thread of one's own for calls that block: Dispatch's pool is shared, and a few stuck calls would empty it.
enum DetachedThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Room for getaddrinfo and the modules it loads, and no more: there may be many threads.
    private static let stackBytes = 256 * 1_024

    /// False where the system gives no thread.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run: run))
        let result = clinux_start_thread(
            stackBytes, { context in if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() } }, body.toOpaque())
        if result != 0 { body.release() }
        return result == 0
    }
}
