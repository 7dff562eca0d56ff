import Testing

@testable import IntertwineImages

@Suite("Permitted addresses, ports and hosts")
struct AddressPolicyTests {
    private let policy = AddressPolicy(ownAddresses: [])

    @Test(
        "Addresses of private, local, reserved and multicast networks are refused",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
            "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "100::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "5f00::1", "fc00::1", "fd12::1",
            "fe80::1", "fec0::1", "ff02::1", "4000::1", "64:ff9b:1::a00:1",
        ])
    func denied(_ text: String) throws {
        #expect(!policy.permits(try #require(IPAddress(text))))
    }

    @Test(
        "A denied IPv4 address is refused in each IPv6 form",
        arguments: [
            "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "2001:0:7f00:1::ffff", "2001:0:808:808:0:0:80ff:fffe",
            "2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1",
        ])
    func wrapped(_ text: String) throws {
        #expect(!policy.permits(try #require(IPAddress(text))))
    }

    @Test(
        "Public addresses are permitted, also in IPv6 forms",
        arguments: [
            "1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "223.255.255.255",
            "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
            "2001:0:808:808:0:0:f7f7:f7f7",
        ])
    func allowed(_ text: String) throws {
        #expect(policy.permits(try #require(IPAddress(text))))
    }

    @Test("A private range can be allowed, and only that range")
    func allowedNetworks() throws {
        let policy = AddressPolicy(allowedNetworks: [try #require(Network("127.0.0.1/32")), try #require(Network("fd00::/8"))])
        #expect(policy.permits(try #require(IPAddress("127.0.0.1"))))
        #expect(policy.permits(try #require(IPAddress("::ffff:127.0.0.1"))))
        #expect(policy.permits(try #require(IPAddress("fd12::1"))))
        #expect(!policy.permits(try #require(IPAddress("127.0.0.2"))))
        #expect(!policy.permits(try #require(IPAddress("64:ff9b::127.0.0.1"))))
        #expect(!policy.permits(try #require(IPAddress("fc00::1"))))
    }

    @Test("This machine's own addresses are refused even where they are public")
    func ownAddresses() throws {
        let own = try #require(IPAddress("8.8.4.4"))
        let policy = AddressPolicy(ownAddresses: [own])
        #expect(!policy.permits(own))
        #expect(!policy.permits(try #require(IPAddress("64:ff9b::8.8.4.4"))))
        #expect(IPAddress.ofThisMachine().contains(try #require(IPAddress("127.0.0.1"))))
    }

    @Test(
        "Other ports than the allowed ones are refused",
        arguments: [
            ("http://93.184.216.34/", true), ("https://93.184.216.34/", true), ("http://93.184.216.34:443/", true),
            ("http://93.184.216.34:22/", false), ("http://93.184.216.34:6379/", false), ("http://93.184.216.34:8080/", false),
        ])
    func ports(_ url: String, _ isAllowed: Bool) throws {
        let url = try FetchURL(url)
        if isAllowed { try policy.check(url) } else { #expect(throws: FetchError.portDenied) { try policy.check(url) } }
    }

    @Test(
        "Host lists compare labels (CVE-2025-54387, CVE-2026-54300, CVE-2026-27829)",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", false), ("example.com", "evilexample.com", false),
            ("example.com", "example.com.evil.net", false), ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true), ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("*.example.com", "a.example.com.evil.net", false), ("EXAMPLE.com.", "example.com", true),
            ("*.MÜNCHEN.example", "a.xn--mnchen-3ya.example", true), ("münchen.example", "münchen.example", true),
        ])
    func hosts(_ pattern: String, _ host: String, _ matches: Bool) throws {
        let pattern = try #require(HostPattern(pattern))
        let url = try FetchURL("http://\(host)/")
        #expect(pattern.matches(url.host) == matches)
        let allowing = AddressPolicy(allowedHosts: [pattern])
        if matches { try allowing.check(url) } else { #expect(throws: FetchError.hostDenied) { try allowing.check(url) } }
        let denying = AddressPolicy(deniedHosts: [pattern])
        if matches { #expect(throws: FetchError.hostDenied) { try denying.check(url) } } else { try denying.check(url) }
    }

    @Test("Invalid host patterns are rejected", arguments: ["", "*", "*.", "a..b", "a b", ".com", "*.*.com", "a/b", "ex*mple.com"])
    func badPatterns(_ text: String) {
        #expect(HostPattern(text) == nil)
    }

    @Test(
        "Invalid address ranges are rejected",
        arguments: ["", "10.0.0.0/33", "10.0.0.1/8", "10/8", "::/129", "x/8", "10.0.0.0/-1", "10.0.0.0/"])
    func badNetworks(_ text: String) {
        #expect(Network(text) == nil)
    }
}
