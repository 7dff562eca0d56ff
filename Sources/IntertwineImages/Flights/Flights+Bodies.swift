internal import Crypto
internal import IntertwineEventLoop
internal import IntertwineFetch

/// A body as it comes: what it is, how large it is once drawn, and when those who wait hear of it.
extension Flights {
    /// Bodies up to this many declared bytes are answered whole where they come quickly: with a tag, ranges and conditions.
    private static let smallBody = 64 * 1_024
    /// How long an answer is held back for that, or for the size of the picture, once the first bytes are there.
    private static let longestHold = Duration.milliseconds(100)

    func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        guard let download = byNumber[number] else { return false }
        if download.confirmed != nil { return true }
        download.flight.receive(bytes.count)
        metrics.bytesReceived += bytes.count
        guard keep(bytes, in: download.spool) else { return stop(download, ImageFailure(.buffersFull, retryAfter: 1)) }
        download.digest.update(bufferPointer: bytes)
        if download.frame != nil {
            download.frame?.take(bytes)
        } else {
            download.prefix.append(contentsOf: bytes)
            switch MediaKind.sniff(download.prefix) {
            case .unclear: return true
            case .kind(let kind) where download.head?.kind ?? kind == kind:
                download.head?.kind = kind
                download.frame = FrameReader(kind)
                download.frame?.take(download.prefix)
                download.prefix = []
            default: return stop(download, ImageFailure(.typeMismatch))
            }
        }
        if let fault = download.frame?.fault { return stop(download, ImageFailure(fault)) }
        if !download.isAnnounced { announceOrHold(download) }
        return true
    }

    /// Where the memory set aside is in use, those that are over give theirs back, the oldest first: who still reads one of them has had
    /// more time than anybody.
    private func keep(_ bytes: UnsafeRawBufferPointer, in spool: Spool) -> Bool {
        while !spool.append(bytes) {
            guard !lingering.isEmpty else { return false }
            lingering.removeFirst().spool?.cutOff(ImageFailure(.buffersFull, retryAfter: 1))
        }
        return true
    }

    /// Its download is over, and somebody has not read all of it.
    func linger(_ download: Download) {
        lingering.removeAll { $0.spool == nil }
        if download.isAnnounced, !download.waiters.isEmpty { lingering.append(LingeringSpool(spool: download.spool)) }
    }

    func announce(_ download: Download) {
        guard !download.isAnnounced, download.frame != nil else { return }
        download.hold?.disarm()
        download.isAnnounced = true
        for waiter in Array(download.waiters.keys) {
            announce(download, to: waiter)
        }
    }

    private func announceOrHold(_ download: Download) {
        let isSmall = download.head?.length.map { $0 <= Self.smallBody } ?? false
        guard isSmall || download.frame?.finding == .unclear else { return announce(download) }
        guard download.hold == nil else { return }
        let number = download.number
        let timer = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { flights in
                if let download = flights.byNumber[number] { flights.announce(download) }
            }
        }
        timer.arm(after: Self.longestHold)
        download.hold = timer
    }
}
