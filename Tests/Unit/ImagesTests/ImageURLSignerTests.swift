import Dispatch
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Signed paths")
struct ImageURLSignerTests {
    private let key = [UInt8](repeating: 7, count: 32)
    private let other = [UInt8](repeating: 8, count: 32)
    private let hour: Int64 = 3_600
    private let now: Int64 = 1_800_000_000 / 3_600 * 3_600

    private func signer(_ keys: [UInt8]...) throws -> ImageURLSigner { try #require(ImageURLSigner(keys: keys, horizonHours: 168)) }

    private func fault(_ path: String, _ signer: ImageURLSigner, at time: Int64) -> ImageURLError? {
        do throws(ImageURLError) {
            _ = try signer.verify(path, now: time)
            return nil
        } catch {
            return error
        }
    }

    @Test("A signed path contains its source", arguments: ["http://example.com/", "https://example.com/a%20b.png?x=1&y=ü"])
    func roundTrip(_ text: String) throws {
        let url = try FetchURL(text)
        let signer = try signer(key)
        let path = signer.path(for: url, now: now)
        #expect(try signer.verify(path, now: now).source == url.text)
        #expect(path.hasPrefix("/images/"))
        #expect(path.split(separator: "/").count == 3)
    }

    @Test("The path of an image is constant during a rotation, then a second one is valid too", arguments: [24, 720] as [UInt32])
    func rotated(_ rotation: UInt32) throws {
        let url = try FetchURL("http://example.com/a.png")
        let signer = try #require(ImageURLSigner(keys: [key], horizonHours: 168, rotationHours: rotation))
        let start = signer.sign(url, now: now).changes
        let first = signer.sign(url, now: start)
        #expect(first.changes == start + Int64(rotation) * hour)
        #expect(signer.sign(url, now: first.changes - 1) == first)
        #expect(signer.path(for: url, now: first.changes) != first.path)
        // Handed out in the last second, it is valid for as long as if handed out in the first of its hour.
        #expect(fault(first.path, signer, at: first.changes + 168 * hour - 1) == nil)
        #expect(fault(first.path, signer, at: first.changes + 168 * hour) == .expired)
    }

    @Test("Paths of images change at different times")
    func spread() throws {
        let signer = try signer(key)
        let changes = try (0..<500).map { signer.sign(try FetchURL("http://example.com/\($0).png"), now: now).changes }
        #expect(Set(changes).count > 200)
        #expect(changes.allSatisfy { $0 > now && $0 <= now + 30 * 24 * hour })
    }

    @Test("Two keys are valid; the first one signs")
    func rotation() throws {
        let url = try FetchURL("http://example.com/a.png")
        let old = try signer(key)
        let both = try signer(other, key)
        let new = try signer(other)
        #expect(fault(old.path(for: url, now: now), both, at: now) == nil)
        #expect(both.path(for: url, now: now) == new.path(for: url, now: now))
        #expect(fault(old.path(for: url, now: now), new, at: now) == .forged)
    }

    @Test("During key changes each path has a signature of a valid key")
    func exchange() throws {
        let (signer, valid) = (try signer(key), try signer(key, other))
        let url = try FetchURL("http://example.com/a.png")
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for round in 0..<1_000 {
                if worker == 0 { #expect(signer.use(keys: round % 2 == 0 ? [other, key] : [key, other])) }
                let path = signer.path(for: url, now: now)
                if fault(path, valid, at: now) != nil || fault(path, signer, at: now) != nil { Issue.record("\(path)") }
            }
        }
        #expect(signer.use(keys: [other]) && !signer.use(keys: []))
        #expect(fault(try self.signer(key).path(for: url, now: now), signer, at: now) == .forged)
    }

    @Test("An altered path is forged, also if it has expired")
    func altered() throws {
        let signer = try signer(key)
        let path = Array(signer.path(for: try FetchURL("http://example.com/a.png"), now: now).utf8)
        for place in "/images/".utf8.count..<path.count where path[place] != UInt8(ascii: "/") {
            var changed = path
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let text = String(decoding: changed, as: UTF8.self)
            #expect(fault(text, signer, at: now) == .forged)
            #expect(fault(text, signer, at: now + 10_000 * hour) == .forged)
        }
    }

    @Test(
        "A malformed path is not found",
        arguments: ["", "/", "/images", "/images/", "/images/x", "/images//x", "/images/x/", "/images/a/b/c", "/image/a/b"])
    func malformed(_ path: String) throws {
        #expect(fault(path, try signer(key), at: now) == .malformed)
    }

    @Test(
        "A path without a valid signature is forged", arguments: ["/images/unsigned/aHR0cDovL2V4YW1wbGUuY29tLw", "/images/AAAA/aHR0cA"])
    func unsigned(_ path: String) throws {
        #expect(fault(path, try signer(key), at: now) == .forged)
    }

    @Test(
        "The signature of a variant is valid for its scales and no other size",
        arguments: ["150x150", "300x144-attention", "220x220-fit", "64x64-250-1000", "2000x100", "10x10-fit~avatar", "9x9~b"])
    func variants(_ text: String) throws {
        let signer = try signer(key)
        let url = try FetchURL("http://example.com/a.png")
        let variant = try #require(ProcessingOptions(text: text))
        #expect(variant.text == text)
        let path = signer.path(for: url, variant, now: now)
        #expect(path.hasSuffix("/" + text))
        for scale in variant.scales {
            let verified = try signer.verify(path + ResizeMode.suffix(scale), now: now)
            #expect(verified.source == url.text && verified.sizing == ResizeMode(variant, scale: scale))
        }
        for suffix in ["@1x", "@4x", "@", "@2x@2x", "-fit", "0"] where ProcessingOptions(text: text + suffix) == nil {
            #expect(fault(path + suffix, signer, at: now) == .malformed)
        }
        if variant.width == 2_000 { #expect(variant.scales == [1, 2] && fault(path + "@3x", signer, at: now) == .malformed) }
        #expect(fault(path.replacing(text, with: "151x150"), signer, at: now) == .forged)
        #expect(fault(String(path.dropLast(text.utf8.count + 1)), signer, at: now) == .forged)
        let original = signer.path(for: url, now: now)
        #expect(fault(original + "/" + text, signer, at: now) == .forged)
    }

    private static func escaped(_ text: Substring, lowerCase: Bool) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: !lowerCase)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    @Test(
        "A path with escapes is the path that was signed",
        arguments: ["120x120-attention@2x", "64x64-250-1000@3x", "10x10-fit~avatar_1@2x", "9x9", nil], [true, false])
    func escapes(_ text: String?, _ lowerCase: Bool) throws {
        let signer = try signer(key)
        let url = try FetchURL("http://example.com/a%20b@2x~.png?x=%2F&y=ü")
        let variant = try text.map { try #require(ProcessingOptions(text: $0.prefix { $0 != "@" })) }
        let path = signer.path(for: url, variant, now: now) + (text.map { $0.drop { $0 != "@" } } ?? "")
        let expected = try signer.verify(path, now: now)
        #expect(expected.path == path && expected.source == url.text)
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var spellings = [segments.map { Self.escaped($0, lowerCase: lowerCase) }.joined(separator: "/")]
        for place in path.indices where path[place] != "/" {
            let after = path.index(after: place)
            spellings.append(path[..<place] + Self.escaped(path[place..<after], lowerCase: lowerCase) + path[after...])
        }
        for spelling in spellings {
            if (try? signer.verify(spelling, now: now)) != expected { Issue.record("\(spelling)") }
        }
        // An escaped separator is data, and nothing is decoded twice.
        for place in path.indices.dropFirst() where path[place] == "/" {
            let after = path.index(after: place)
            #expect(fault(path[..<place] + Self.escaped("/", lowerCase: lowerCase) + path[after...], signer, at: now) == .malformed)
        }
        for spelling in [path.replacing("a", with: "%2561")] + ["%", "%2", "%ZZ", "%FF", "%00", "%3F"].map({ path + $0 }) {
            #expect(fault(spelling, signer, at: now) != nil, "\(spelling)")
        }
    }

    @Test(
        "A variant has one canonical form",
        arguments: [
            "0x1", "1x", "01x1", "+1x1", "4097x1", "1x1-500-500-1", "1x1-centre", "1x1-01-2", "1x1-1001-0", "1x1~", "1x1~a.", "1x1~a.tt",
            "1x1~a.ABC", "1x1~ä",
        ])
    func wrongVariants(_ text: String) {
        #expect(ProcessingOptions(text: text) == nil)
    }

    @Test("Ten thousand random mutations are rejected without a trap")
    func mutations() throws {
        var generator = SeededRandom(seed: 11)
        let signer = try signer(key)
        let path = Array(signer.path(for: try FetchURL("http://example.com/a.png"), now: now).utf8)
        for _ in 0..<10_000 {
            var changed = path
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: 0..<changed.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: changed.remove(at: place)
                default: changed.insert(UInt8.random(in: 32...126, using: &generator), at: place)
                }
            }
            if changed == path { continue }
            #expect(fault(String(decoding: changed, as: UTF8.self), signer, at: now) != nil)
        }
    }

    @Test("Invalid and too short keys are rejected")
    func keys() {
        #expect(ImageURLSigner(keys: []) == nil)
        #expect(ImageURLSigner(keys: [[1, 2, 3]]) == nil)
    }
}
