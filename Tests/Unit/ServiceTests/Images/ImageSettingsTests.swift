import Foundation
import Testing

@testable import IntertwineImages
@testable import IntertwineService

@Suite("Image settings")
struct ImageSettingsTests {
    private func read(_ flags: [String: String]) async throws -> ImageSettings {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try ServiceConfiguration(try SettingSources(flags: flags, environment: [:], file: path)).images
    }

    @Test("Timeouts, redirects, stale periods and host rules are passed to the proxy")
    func inForce() async throws {
        let standard = try await read([:]).configuration(folder: "")
        #expect(standard.limits.head == .seconds(5) && standard.limits.connect == .seconds(3) && standard.limits.redirects == 10)
        #expect(standard.freshness.staleIfError == 0 && standard.freshness.staleWhileRevalidate == 0 && standard.hostFreshness.isEmpty)
        let settings = try await read([
            "images.header-timeout": "9s", "images.connect-timeout": "250ms", "images.max-redirects": "0", "images.stale-if-error": "1h",
            "images.stale-while-revalidate": "2min", "images.fetch-timeout": "1min", "images.min-ttl": "0s",
            "images.freshness": "a.example min-ttl=1min,*.b.example default-ttl=1h max-ttl=7d stale-if-error=0s",
        ])
        let configuration = settings.configuration(folder: "")
        #expect(configuration.limits.head == .seconds(9) && configuration.limits.connect == .milliseconds(250))
        #expect(configuration.limits.redirects == 0 && settings.timeLimit > .seconds(60))
        #expect(configuration.freshness.staleIfError == 3_600 && configuration.freshness.staleWhileRevalidate == 120)
        let hosts = configuration.hostFreshness
        #expect(hosts.map(\.policy.minTTL) == [60, 0] && hosts.map(\.policy.staleIfError) == [3_600, 0])
        #expect(hosts[1].host.matches("x.b.example") && hosts[1].policy.defaultTTL == 3_600 && hosts[1].policy.maxTTL == 7 * 86_400)
    }

    @Test(
        "An invalid image setting is refused",
        arguments: [
            ("images.freshness", "a.example"), ("images.freshness", "a.example min-ttl"), ("images.freshness", "a..b min-ttl=1s"),
            ("images.freshness", "a.example fresh=1s"), ("images.url-rotation", "1h"), ("images.max-redirects", "21"),
            ("images.header-timeout", "0s"),
            ("images.sources", "https://a.example/x folder:/srv"), ("images.sources", "https://a.example/ folder:srv"),
            ("images.sources", "https://a.example/ s3:https://b.example/bucket"), ("images.sources", "https://a.example/ ftp:b"),
            ("images.sources", "https://a.example/ s3:https://b.example/bucket/ zone=1"),
        ])
    func refused(_ key: String, _ value: String) async {
        await #expect(throws: ConfigurationError.self) { try await read([key: value]) }
    }

    @Test("Image sources may be folders and buckets")
    func sources() async throws {
        let sources = "https://a.example/ folder:/srv/images,https://b.example/x/ s3:https://s3.example:9000/bucket/ region=eu-central-1"
        #expect(try await read(["images.sources": sources]).configuration(folder: "").sources.count == 2)
    }
}
