import Testing

@testable import IntertwineImages
@testable import IntertwineService

@Suite("Trusted networks")
struct TrustedNetworksTests {
    private func networks(_ texts: String...) -> TrustedNetworks { TrustedNetworks(texts.compactMap(Network.init)) }

    @Test(
        "A network contains its addresses, also in IPv4-mapped form",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255"), ("192.0.2.1", "192.0.2.1"), ("0.0.0.0/0", "8.8.8.8"), ("10.0.0.0/8", "::ffff:10.1.2.3"),
            ("::1", "::1"), ("fd00::/8", "fdff::1"), ("2001:db8::/33", "2001:db8:7fff::1"), ("::/0", "2001:db8::1"),
            ("192.0.2.128/25", "192.0.2.255"), ("192.0.2.6/31", "192.0.2.7"),
        ])
    func contains(_ network: String, _ address: String) {
        #expect(networks(network).contains(peer: address))
    }

    @Test(
        "A network contains no other addresses",
        arguments: [
            ("10.0.0.0/8", "11.0.0.0"), ("192.0.2.1", "192.0.2.2"), ("::/0", "8.8.8.8"), ("::/0", "::ffff:8.8.8.8"), ("0.0.0.0/0", "::1"),
            ("::1", "::2"), ("fd00::/8", "fe00::"), ("2001:db8::/33", "2001:db8:8000::"), ("192.0.2.128/25", "192.0.2.127"),
            ("127.0.0.0/8", "128.0.0.1"), ("::/64", "::ffff:1.2.3.4"),
        ])
    func excludes(_ network: String, _ address: String) {
        #expect(!networks(network).contains(peer: address))
    }

    @Test("Loopback alone is trusted by default")
    func loopback() {
        #expect(TrustedNetworks.loopback.networks.map(\.description) == ["127.0.0.0/8", "0:0:0:0:0:0:0:1/128"])
        for peer in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] { #expect(TrustedNetworks.loopback.contains(peer: peer)) }
        for peer in ["10.0.0.1", "::2", "", "unix", "127.0.0.1\0", "::ffff:10.0.0.1"] {
            #expect(!TrustedNetworks.loopback.contains(peer: peer))
        }
    }

    @Test("An untrusted peer is the client, whatever it forwards")
    func untrusted() {
        let networks = networks("10.0.0.0/8")
        for forwarded in [nil, "", "192.0.2.9", "10.0.0.1", "192.0.2.9, 10.0.0.1"] {
            #expect(networks.client(peer: "203.0.113.5", forwardedFor: forwarded) == "203.0.113.5")
        }
        #expect(TrustedNetworks([]).client(peer: "127.0.0.1", forwardedFor: "192.0.2.9") == "127.0.0.1")
    }

    @Test(
        "The client is the last hop that is not trusted",
        arguments: [
            (nil, "10.0.0.1"), ("", "10.0.0.1"), (" , ,", "10.0.0.1"),
            // One proxy.
            ("192.0.2.9", "192.0.2.9"), (" 192.0.2.9\t", "192.0.2.9"), ("192.0.2.9,", "192.0.2.9"),
            // The client invented entries.
            ("1.1.1.1, 192.0.2.9", "192.0.2.9"), ("10.0.0.7, 192.0.2.9", "192.0.2.9"), ("unknown, 192.0.2.9", "192.0.2.9"),
            // A chain of proxies.
            ("192.0.2.9, 10.0.0.2", "192.0.2.9"), ("1.1.1.1,192.0.2.9,10.0.0.3,fd00::2", "192.0.2.9"),
            ("192.0.2.9,,10.0.0.3,", "192.0.2.9"), ("2001:db8::9, 10.0.0.2", "2001:db8::9"), ("192.0.2.9, ::ffff:10.0.0.2", "192.0.2.9"),
            // All are trusted.
            ("10.0.0.5, 10.0.0.2", "10.0.0.5"),
            // Ports and brackets.
            ("192.0.2.9:4711", "192.0.2.9"), ("[2001:db8::9]:4711, 10.0.0.2:80", "2001:db8::9"), ("[2001:db8::9]", "2001:db8::9"),
            // No address.
            ("unknown", "10.0.0.1"), ("192.0.2.9, unknown", "10.0.0.1"), ("192.0.2.9, unknown, 10.0.0.2", "10.0.0.2"),
            ("192.0.2.9\u{0}x", "10.0.0.1"), ("_hidden, 10.0.0.2", "10.0.0.2"),
        ] as [(String?, String)])
    func hops(_ forwarded: String?, _ client: String) {
        #expect(networks("10.0.0.0/8", "fd00::/8").client(peer: "10.0.0.1", forwardedFor: forwarded) == client)
    }

    @Test("The number of evaluated hops is limited")
    func limit() {
        let chain = "192.0.2.9" + String(repeating: ", 10.0.0.2", count: 10_000)
        #expect(networks("10.0.0.0/8").client(peer: "10.0.0.1", forwardedFor: chain) == "10.0.0.2")
    }
}
