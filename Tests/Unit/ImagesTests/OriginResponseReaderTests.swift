import FoundationEssentials
import HTTPTypes
import Testing

@testable import IntertwineImages

@Suite("Results of origin responses")
struct OriginResponseReaderTests {
    private static let url = "http://pictures.test/a"
    /// A PNG in which each part stands where it should.
    private static let image: [UInt8] = {
        var bytes = Frames.png(640, 480) + [0, 0, 0, 0]
        bytes += [0, 0, 0, 100] + Array("IDAT".utf8)
        bytes += [UInt8](repeating: 7, count: 104)
        bytes += [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]
        return bytes
    }()

    private func head(_ status: Int = 200, _ fields: KeyValuePairs<String, String> = ["Content-Type": "image/png"]) throws -> FetchHead {
        FetchHead(status: status, headers: HTTPFields(fields), url: try FetchURL(Self.url))
    }

    private func stale(etag: String = "\"1\"") -> CachedImage {
        CachedImage(
            source: Self.url, kind: .png, body: Self.image, freshness: Freshness(now: 0),
            validators: CachedImage.Validators(etag: etag, location: Self.url))
    }

    /// All of an answer, its body in two parts. Nil where more was wanted.
    private func outcome(_ head: FetchHead, _ body: [UInt8], cut: Int = 0, stale: CachedImage? = nil) -> OriginResponseReader.Outcome {
        var intake = OriginResponseReader()
        intake.begin(at: 1_000)
        guard intake.receiveHead(head, stale: stale, now: 1_000) else { return intake.end(.rejected) }
        for part in [body.prefix(cut), body.dropFirst(cut)] where !part.isEmpty {
            guard part.withUnsafeBytes({ intake.receive($0) }) else { return intake.end(.rejected) }
        }
        return intake.end(nil)
    }

    private func failure(_ outcome: OriginResponseReader.Outcome) -> ImageError.Reason? {
        if case .failed(let failure) = outcome { failure.reason } else { nil }
    }

    @Test("An image is recognized by its first bytes in any segmentation")
    func cuts() throws {
        let head = try head(200, ["Content-Type": "application/octet-stream", "Content-Length": "\(Self.image.count)"])
        for cut in 0..<64 {
            guard case .complete(let found) = outcome(head, Self.image, cut: cut) else {
                Issue.record("cut at \(cut)")
                continue
            }
            #expect(found.kind == .png && found.length == Self.image.count && found.isDelimited)
        }
        var intake = OriginResponseReader()
        #expect(intake.receiveHead(head, stale: nil, now: 0) == true)
        for (place, byte) in Self.image.enumerated() {
            #expect(withUnsafeBytes(of: byte) { intake.receive($0) } == true)
            #expect(intake.isKnown == (place >= 7) && (!intake.isMeasured || place >= 23))
            if place == 40 { break }
        }
        let isMeasured = intake.isMeasured
        #expect(isMeasured)
    }

    @Test("A complete image is cached with the hash of its bytes, an incomplete one is not")
    func kept() throws {
        let head = try head(200, ["Content-Type": "image/png", "ETag": "\"x\""])
        var intake = OriginResponseReader()
        var cutShort = OriginResponseReader()
        let hasBegun = [intake.receiveHead(head, stale: nil, now: 0), cutShort.receiveHead(head, stale: nil, now: 0)]
        let hasGoneOn = Self.image.withUnsafeBytes { [intake.receive($0), cutShort.receive($0)] }
        #expect(hasBegun + hasGoneOn == [true, true, true, true])
        let image = intake.image(Self.url, acceptedFormats: AcceptedFormats.anything.accepted, Self.image)
        #expect(image?.etag == stale().etag && image?.validators.etag == "\"x\"")
        #expect(cutShort.image(Self.url, acceptedFormats: AcceptedFormats.anything.accepted, Array(Self.image.dropLast())) == nil)
        let freshness = cutShort.head?.freshness
        #expect(freshness == nil)
    }

    @Test("A body that is no image is refused")
    func refused() throws {
        let page = Array("<!doctype html><html></html>".utf8)
        #expect(try failure(outcome(head(200, ["Content-Type": "text/html"]), page)) == .typeMismatch)
        #expect(try failure(outcome(head(200, ["Content-Type": "image/png", "Content-Encoding": "gzip"]), page)) == .typeMismatch)
        #expect(try failure(outcome(head(206), Self.image)) == .upstream(status: 206))
        #expect(try failure(outcome(head(200, [:]), page)) == .typeMismatch)
        #expect(try failure(outcome(head(), Array(Self.image.prefix(4)))) == .typeMismatch)
        #expect(try failure(outcome(head(503), [])) == .upstream(status: 503))
        var intake = OriginResponseReader()
        #expect(try intake.receiveHead(head(), stale: nil, now: 0))
        #expect(failure(intake.end(.connectionLost)) == .fetch(.connectionLost))
        let hasNothing = intake.hasNothing
        #expect(!hasNothing)
    }

    @Test(
        "Retry-After is seconds or a date, within ten minutes",
        arguments: [("7", 7), ("0", 1), ("86400", 600), ("soon", nil)] as [(String, Int?)])
    func retryAfter(field: String, seconds: Int?) throws {
        guard case .failed(let failure) = outcome(try head(503, ["Retry-After": field]), []) else {
            Issue.record("no failure")
            return
        }
        #expect(failure.retryAfter == seconds)
    }

    @Test("A 304 confirms the cached image; with another validator the request is repeated unconditionally")
    func confirmed() throws {
        guard
            case .confirmed(let image, isCached: true) = outcome(
                try head(304, ["ETag": "\"1\"", "Cache-Control": "max-age=900"]), [], stale: stale())
        else {
            Issue.record("not confirmed")
            return
        }
        #expect(image.body.bytes == Self.image && image.freshness.isFresh(at: 1_899) && !image.freshness.isFresh(at: 1_900))
        var intake = OriginResponseReader()
        #expect(try !intake.receiveHead(head(304, ["ETag": "\"2\""]), stale: stale(), now: 0))
        guard case .refuted = intake.end(.rejected) else {
            Issue.record("not refuted")
            return
        }
        let isUnconditional = intake.isUnconditional
        #expect(isUnconditional)
        intake.begin(at: 1)
        #expect(try !intake.receiveHead(head(304, ["ETag": "\"2\""]), stale: stale(), now: 1))
        #expect(failure(intake.end(.rejected)) == .upstream(status: 304))
    }

    @Test("A repeated request has no state of the refused response")
    func again() throws {
        var intake = OriginResponseReader()
        intake.begin(at: 0)
        #expect(try !intake.receiveHead(head(503), stale: nil, now: 0))
        #expect(failure(intake.end(.rejected)) == .upstream(status: 503) && intake.hasNothing)
        intake.begin(at: 1)
        #expect(try intake.receiveHead(head(), stale: nil, now: 1))
        #expect(Self.image.withUnsafeBytes { intake.receive($0) } == true)
        guard case .complete = intake.end(nil) else {
            Issue.record("not whole")
            return
        }
    }
}

@Suite("Waiters of downloads")
struct WaiterTableTests {
    @Test("Waiters are found by number and id until they are removed")
    func names() {
        let (one, other) = (UUID(), UUID())
        var table = WaiterTable<String>()
        table.add(1, to: "a", named: one)
        table.add(2, to: "b", named: one)
        table.add(3, to: "a", named: nil)
        #expect(table.count == 3 && table.work(of: 2) == "b")
        #expect(table.waiters(named: one) == [1, 2] && table.waiters(named: other).isEmpty)
        #expect(table.remove(1) == "a" && table.remove(1) == nil)
        #expect(table.waiters(named: one) == [2] && table.count == 2)
        #expect(table.remove(2) == "b" && table.waiters(named: one).isEmpty && table.work(of: 3) == "a")
    }
}
