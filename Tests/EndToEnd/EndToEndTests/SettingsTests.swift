import Foundation
import TestSupport
import Testing

@Suite("Settings from outside")
struct SettingsTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private static func variable(_ key: String) -> String {
        "INTERTWINE_" + key.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }

    /// Returns the values of `check-config` by key, without their origins.
    private func values(_ arguments: [String], environment: [String: String] = [:]) throws -> [String: String] {
        let result = try Command.run(["check-config", "--database", "\(folder)/x.sqlite"] + arguments, environment: environment)
        #expect(result.code == 0, "\(result.lines)")
        let pairs = result.lines.compactMap { $0.wholeMatch(of: /([a-z.-]+)=(.*)  # .*/) }.map { (String($0.1), String($0.2)) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    @Test("The option --changed of check-config prints an equivalent file of nondefault settings")
    func changed() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let settings = [
                "server.public-url=https://feed.example.com/it's", "server.shutdown-timeout=1500ms", "feed.cell-cache=3MiB",
                "feed.page-cache=0", "ads.placement=at 2, 7", "ads.viewability.video=25% 3s", "cells.ad.video.width=321",
                "cells.ad.audio.identifier=a: \"b\" #c\\", "cells.ad.video.identifier=null", "actions.user.selection=", "log.format=json",
                "log.requests=false", "viewers.language-header=", "viewers.attributes-header=no", "images.allowed-ports=80,8443",
                "images.freshness=a.example min-ttl=0s,*.b.example default-ttl=1h max-ttl=7d", "images.formats=webp",
                "cors.origins=https://app.example.com,http://127.0.0.1:3000", "limits.max-header=016KiB",
            ]
            let flags = settings.flatMap { ["--set", $0] }
            let secrets = ["INTERTWINE_ADMIN_TOKEN": "0123456789abcdef-secret"]
            let command = ["check-config", "--config", "/dev/null", "--changed"]
            let printed = try Command.run(command + flags, environment: secrets)
            #expect(printed.code == 0 && !printed.lines.contains { $0.contains("abcdef") }, "\(printed.lines)")
            #expect(printed.lines.first == "# admin.token is a secret: set it as INTERTWINE_ADMIN_TOKEN.")
            // The last setting is its default in another spelling.
            #expect(printed.lines.count { !$0.hasSuffix(":") } == settings.count, "\(printed.lines)")
            let file = "\(folder)/changed.yaml"
            try (printed.lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let before = try values(["--config", "/dev/null"] + flags, environment: secrets)
            let after = try values(["--config", file], environment: secrets)
            #expect(before.count > 100 && before == after)
            #expect(try Command.run(["check-config", "--config", file, "--changed"], environment: secrets).lines == printed.lines)
            let none = try Command.run(command)
            #expect(none.lines == ["# All settings have their defaults."])
            try none.lines[0].write(toFile: file, atomically: true, encoding: .utf8)
            _ = try values(["--config", file])
        }
    }

    @Test("Kubernetes service variables are ignored, and other unknown variables are errors")
    func serviceLinks() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let links = [
                "INTERTWINE_SERVICE_HOST": "10.0.0.1", "INTERTWINE_SERVICE_PORT": "80", "INTERTWINE_SERVICE_PORT_HTTP": "80",
                "INTERTWINE_PORT": "tcp://10.0.0.1:80", "INTERTWINE_PORT_80_TCP": "tcp://10.0.0.1:80",
                "INTERTWINE_PORT_80_TCP_PROTO": "tcp", "INTERTWINE_PORT_80_TCP_PORT": "80", "INTERTWINE_PORT_80_TCP_ADDR": "10.0.0.1",
                "INTERTWINE_ADMIN_SERVICE_HOST": "10.0.0.2", "INTERTWINE_ADMIN_PORT": "tcp://10.0.0.2:8081",
                "INTERTWINE_DNS_PORT_53_UDP_ADDR": "10.0.0.3",
            ]
            let found = try values(["--config", "/dev/null"], environment: links)
            #expect(found["admin.port"] == "8081" && found["server.port"] == "8080")
            #expect(try values(["--config", "/dev/null"], environment: ["INTERTWINE_ADMIN_PORT": "9"])["admin.port"] == "9")
            for variable in ["INTERTWINE_PORT", "INTERTWINE_ADMN_PORT", "INTERTWINE_SERVICE", "INTERTWINE_SERVICE_HOSTS"] {
                let result = try Command.run(["check-config", "--config", "/dev/null"], environment: [variable: "1"])
                #expect(result.code == 1 && result.lines.first?.hasPrefix("Error: \(variable): unknown key") == true, "\(result.lines)")
            }
        }
    }
}
