import HTTPTypes
import Testing

@testable import IntertwineService

@Suite("Names of the service in the field Host")
struct HostNamesTests {
    private func request(_ authority: String?, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/", headerFields: fields)
    }

    static let own = [
        "localhost", "LOCALHOST:8080", "app.localhost:1", "127.0.0.1", "127.0.0.1:8080", "192.0.2.1", "[::1]", "[::1]:8080",
        "[2001:db8::1]", "intertwine",
        "intertwine:8080", "feed.internal", "FEED.internal.:80", "", nil,
    ]
    static let foreign = [
        "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost.example", "x.feed.internal",
        "feed.internal.evil",
        "1.2.3.4x.example",
    ]

    @Test("A peer on this machine may state a viewer under names that no other site can have")
    func local() {
        let hosts = HostNames(host: "feed.internal")
        for peer in ["127.0.0.1", "127.9.9.9", "::1"] {
            #expect(Self.own.filter { !hosts.accepts(request($0), from: peer) } == [])
            #expect(Self.foreign.filter { hosts.accepts(request($0), from: peer) } == [])
        }
    }

    @Test(
        "A proxy uses any name if there is no public URL",
        arguments: ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"])
    func forwarded(field: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(field)): "192.0.2.1"]
        #expect(HostNames().accepts(request("evil.example", fields), from: "127.0.0.1"))
        #expect(HostNames().accepts(request("evil.example"), from: "192.0.2.1"))
        let hosts = HostNames(publicURL: "https://feed.example.com")
        #expect(!hosts.accepts(request("evil.example", fields), from: "127.0.0.1"))
        #expect(!hosts.accepts(request("evil.example", fields), from: "192.0.2.1"))
    }

    @Test(
        "The host of the public URL is a name of the service, on every port",
        arguments: ["https://feed.example.com", "http://FEED.example.com:8080", "https://feed.example.com/base"])
    func publicURL(url: String) {
        let hosts = HostNames(publicURL: url, host: "0.0.0.0")
        for host in ["feed.example.com", "Feed.Example.COM:8443", "feed.example.com."] {
            #expect(hosts.accepts(request(host), from: "192.0.2.1"))
        }
        #expect(!hosts.accepts(request("feed.example.com.evil.example"), from: "192.0.2.1"))
        #expect(!hosts.accepts(request("example.com"), from: "192.0.2.1"))
    }
}
