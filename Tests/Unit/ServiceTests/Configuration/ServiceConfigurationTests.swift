import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Configuration")
struct ServiceConfigurationTests {
    private func read(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) async throws -> ServiceConfiguration {
        guard let file else {
            return try ServiceConfiguration(try SettingSources(flags: flags, environment: environment, file: try temporary("")))
        }
        return try ServiceConfiguration(try SettingSources(flags: flags, environment: environment, file: try temporary(file)))
    }

    private func temporary(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("Bucket credentials come from the settings' environment; a program's configuration has no credentials")
    func bucketCredentials() async throws {
        let environment = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"]
        let credentials = try await read(environment: environment).images.bucketCredentials
        #expect(credentials == BucketCredentials(accessKey: "key", secret: "secret", token: "token"))
        #expect(try await read(environment: ["AWS_ACCESS_KEY_ID": "key"]).images.bucketCredentials == nil)
        #expect(ServiceConfiguration().images.bucketCredentials == nil)
    }

    private func refusal(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) async -> String? {
        do {
            _ = try await read(flags: flags, environment: environment, file: file)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Flags override the environment, which overrides the file, which overrides the default")
    func precedence() async throws {
        let file = "server:\n  port: 1001\n"
        #expect(try await read().server.port == 8080)
        #expect(try await read(file: file).server.port == 1001)
        #expect(try await read(environment: ["INTERTWINE_SERVER_PORT": "1002"], file: file).server.port == 1002)
        let all = try await read(flags: ["server.port": "1003"], environment: ["INTERTWINE_SERVER_PORT": "1002"], file: file)
        #expect(all.server.port == 1003)
        #expect(all.settings.first { $0.key == "server.port" }?.origin == .flag)
    }

    @Test(
        "A Boolean is a word or a digit, in any case",
        arguments: [
            ("True", true), ("TRUE", true), ("yes", true), ("On", true), ("1", true), ("False", false), ("NO", false), ("off", false),
            ("0", false), ("y", nil), ("2", nil), ("truth", nil), ("1.0", nil), ("", nil),
        ] as [(String, Bool?)])
    func booleans(word: String, expected: Bool?) async throws {
        #expect((try? await read(environment: ["INTERTWINE_ADMIN_ENABLED": word]))?.admin.isEnabled == expected)
        #expect((try? await read(flags: ["admin.enabled": word]))?.admin.isEnabled == expected)
        if !word.isEmpty { #expect((try? await read(file: "admin:\n  enabled: \(word)\n"))?.admin.isEnabled == expected) }
    }

    @Test("A key may be written in kebab-case and in camelCase", arguments: ["per-page", "perPage"])
    func spellings(key: String) async throws {
        #expect(try await read(file: "ads:\n  \(key): 3\n").feed.adsPerPage == 3)
        #expect(try await read(environment: ["INTERTWINE_ADS_PER_PAGE": "4"]).feed.adsPerPage == 4)
        #expect(try await read(flags: ["ads.\(key)": "5"]).feed.adsPerPage == 5)
    }

    @Test(
        "A file error reports its line without the text of the line",
        arguments: [
            ("admin:\n  token: hunter2: x\n", ":2:"), ("signing:\n  key: \"hunter2\n", ":"), ("admin: {token: hunter2\n", ":"),
            ("admin:\n  token: \"\\hunter2\"\n", ":2:"), ("admin:\n  port: 1\n  token: hunter2\n  token: hunter2\n", ":4:"),
            ("admin:\n  token: [hunter2, {a: hunter2}]\n", ""), ("hunter2\n", ""), ("admin:\n  token: !!int hunter2\n  @hunter2\n", ":3:"),
        ])
    func secretsInMistakes(text: String, line: String) async throws {
        let refusal = try #require(await refusal(file: text))
        #expect(!refusal.contains("hunter2") && refusal.contains(".yaml\(line)"), "\(refusal)")
        #expect(!refusal.contains("\n"))
    }

    @Test(
        "A key in another spelling is refused as unknown in a file",
        arguments: [
            ("Ads:\n  per-page: 5\n", "Ads.per-page"), ("ads:\n  PerPage: 5\n", "ads.PerPage"), ("ads: {Per-Page: 5}\n", "ads.Per-Page"),
            ("images:\n  downloads-perHost: 3\n", "images.downloads-perHost"), ("Server:\n", "Server"),
            ("signing:\n  Key: abc\n", "signing.Key"), ("Server: {Port: 99999}\n", "Server.Port"),
        ])
    func otherSpellings(file: String, key: String) async {
        let refusal = await refusal(file: file)
        #expect(refusal?.hasPrefix("\(key): unknown key") == true, "\(refusal ?? "accepted")")
    }

    @Test("A key without a value has its default; an empty string is a value", arguments: ["", " ~", " null", " NULL"])
    func keysWithoutValue(null: String) async throws {
        let file = """
            store:
              database:\(null)
            viewers:
              languageHeader:\(null)
            actions:
              user:
                selection:\(null)
            server:
              port:\(null)
            """
        let configuration = try await read(file: file)
        #expect(configuration.store.database == "data/intertwine.sqlite")
        #expect(configuration.viewers.languageHeader == "X-Viewer-Language")
        #expect(configuration.actions.userSelection == ["analytics", "present"])
        #expect(configuration.settings.first { $0.key == "server.port" }?.origin == .default)
        #expect(try await read(file: "viewers: {header: \"\"}\n").viewers.header == "")
        #expect(try await read(file: "store: {database: \"null\"}\n").store.database == "null")
        #expect(try await read(environment: ["INTERTWINE_SERVER_PORT": "1"], file: file).server.port == 1)
    }

    @Test("A file may begin with a byte order mark")
    func byteOrderMark() async throws {
        #expect(try await read(file: "\u{FEFF}server: {port: 4711}\n").server.port == 4711)
    }

    @Test("A database name that is not a file path is refused", arguments: [":memory:", "file:x.sqlite", "FILE:///tmp/x.sqlite", ""])
    func noFile(path: String) async {
        #expect(await refusal(flags: ["store.database": path])?.hasPrefix("store.database: '\(path)' (flag) is not allowed") == true)
    }

    @Test("A folder path is refused as a database", arguments: [".", "..", "/", "data/..", "missing/folder/", "/tmp"])
    func folder(path: String) async {
        #expect(await refusal(flags: ["store.database": path]) == "store.database: \(path) is a folder, not a database")
    }

    @Test(
        "Another database type is refused without the password of its URL",
        arguments: [
            "mysql://me:open@sesame@db/x", "POSTGRES//db://x?password=open@sesame", "host=db user=me password=open@sesame",
            "password = sesame dbname=x", "dbname=x passfile=/sesame",
        ])
    func noOtherDatabase(url: String) async throws {
        let refusal = try #require(await refusal(flags: ["store.database": url]))
        #expect(refusal.hasPrefix("store.database: ") && refusal.contains("a file's path, neither :memory: nor a URL"))
        #expect(!refusal.contains("sesame"))
        let missing = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        for (source, destination) in [(url, missing), (missing, url)] {
            let refusal = await #expect(throws: ConfigurationError.self) {
                try await DatabaseCopy.run(from: source, to: destination) { _, _ in }
            }
            #expect(refusal.map { !"\($0)".contains("sesame") } == true)
        }
    }

    @Test("A PostgreSQL URL is accepted as a secret; a malformed URL is refused without it")
    func postgres() async throws {
        for url in ["postgresql://me:open-sesame@db1:1,db2/x?target_session_attrs=read-write", "postgres://db/x?password=open@sesame"] {
            let configuration = try ServiceConfiguration(try SettingSources(flags: ["store.database": url], environment: [:]))
            let setting = try #require(configuration.settings.first { $0.key == "store.database" })
            #expect(configuration.store.database == url && setting.shown == "(secret)")
        }
        for url in [
            "postgresql://me:open@sesame@db/x", "postgresql://me:open/sesame@db/x", "postgresql://me:open-sesame/x",
            "postgresql://me:open%zzsesame@db/x",
        ] {
            let refusal = try #require(await refusal(flags: ["store.database": url]))
            #expect(refusal.hasPrefix("store.database: the address of the PostgreSQL database cannot be read"))
            #expect(!refusal.contains("sesame") && !refusal.contains("open"))
        }
    }

    @Test(
        "A public URL with extra parts or a reserved viewer field is refused",
        arguments: [
            ("server.public-url", "https://x/y?z#q"), ("server.public-url", "https://a/\r\nX-Evil: y"), ("server.public-url", "https://"),
            ("server.public-url", "https://x/"), ("viewers.header", "Host"), ("viewers.header", "content-length"),
            ("viewers.header", "X-Forwarded-For"), ("viewers.header", "Forwarded"), ("viewers.header", "via"),
            ("viewers.attributes-header", "X-Real-IP"), ("viewers.attributes-header", "Accept-Cells"),
            ("viewers.attributes-header", "traceparent"), ("viewers.attributes-header", "Tracestate"),
            ("viewers.language-header", "DNT"), ("viewers.language-header", "Sec-GPC"), ("viewers.language-header", "X-Request-ID"),
        ])
    func misused(key: String, value: String) async throws {
        #expect(try #require(await refusal(flags: [key: value])).hasPrefix("\(key): "))
        for (key, value) in [("server.public-url", "https://feed.example:8443/api"), ("viewers.header", "X-Member")] {
            #expect(await refusal(flags: [key: value]) == nil)
        }
    }

    @Test(
        "A URL of a setting has a host, a port that exists and no user",
        arguments: ["server.public-url", "server.documents-url", "admin.jwt.jwks-url", "viewers.jwt.jwks-url"])
    func urls(key: String) async throws {
        for value in [
            "https://user:pw@host.example", "https://user@host.example/a", "https://:pw@host.example", "https://host.example:99999",
            "https://host.example:0", "https://host.example:a", "https://[::1", "https://[1::2::3]", "https://a b.example",
            "ftp://host.example", "host.example", "https://", "https://#a", "https://%zz", "https://%zz.example", "https://a..b",
            "https://.a.example", "https://256.1.1.1", "https://1.2.3.4.5", "https://host.1",
            "https://\(String(repeating: "a", count: 64)).example",
        ] {
            let shown = value.contains("@") ? "(secret)" : value
            #expect(try #require(await refusal(flags: [key: value])).hasPrefix("\(key): '\(shown)' (flag) is not allowed; allowed: "))
        }
        if key.hasPrefix("server.") {
            for value in [
                "//host.example", "https:///x", "https:/x.example", "https:\\\\x.example", "https://host.example:/",
                "https://host.example:", "https://host.example:/a",
            ] {
                #expect(await refusal(flags: [key: value]) != nil, "\(value)")
            }
        }
        for value in [
            "https://host.example", "https://host.example:8443/a", "https://8.8.8.8/a", "https://[2606:4700::1]:8443",
            "HTTPS://Host.Example",
            "https://bücher.example", "https://host.example./a",
        ] {
            #expect(await refusal(flags: [key: value]) == nil, "\(value)")
        }
    }

    @Test(
        "A base of URLs is read as browsers read it",
        arguments: [
            ("HTTPS://Feed.Example", "https://feed.example"), ("https://Bücher.Example/Ä", "https://xn--bcher-kva.example/%C3%84"),
            ("https://feed.example:443/a", "https://feed.example/a"), ("http://feed.example:8080", "http://feed.example:8080"),
            ("https://feed.example./a/../b", "https://feed.example/b"), ("https://[2606:4700:0::1]", "https://[2606:4700::1]"), ("", ""),
            ("https://feed.example/it's", "https://feed.example/it's"), ("http://127.1:80", "http://127.0.0.1"),
        ])
    func bases(_ text: String, _ expected: String) async throws {
        let settings = try await read(flags: ["server.public-url": text, "server.documents-url": text]).server
        #expect(settings.publicURL == expected && settings.documentsURL == expected)
    }

    @Test("One request field for two settings of the viewer is refused")
    func sharedField() async throws {
        let reason = "viewers: header, language-header and attributes-header must be different fields"
        for flags in [
            ["viewers.header": "X-Viewer-Language"], ["viewers.attributes-header": "x-viewer-id"],
            ["viewers.language-header": "X-A", "viewers.attributes-header": "X-A"],
        ] {
            #expect(await refusal(flags: flags) == reason)
        }
        #expect(await refusal(flags: ["viewers.header": "", "viewers.language-header": "", "viewers.attributes-header": ""]) == nil)
    }

    @Test("Settings of tokens without keys are refused, also those of a program", arguments: ["admin.jwt", "viewers.jwt"])
    func keylessTokens(section: String) async throws {
        let start = "\(section): keys-file or jwks-url must be set; without keys these settings have no effect: "
        let flags = ["\(section).issuer": "https://a.example", "\(section).audience": "feed"]
        #expect(await refusal(flags: flags) == start + "issuer, audience")
        let names = section == "admin.jwt" ? ["operator-claim", "roles-claim", "read-roles"] : ["viewer-claim", "attribute-claims"]
        for name in names + ["allowed-networks"] {
            #expect(await refusal(flags: ["\(section).\(name)": name == "allowed-networks" ? "10.0.0.0/8" : "x"]) == start + name)
        }
        let url = ["\(section).jwks-url": "https://a.example/keys"]
        #expect(await refusal(flags: flags.merging(url) { $1 }) == nil)
        // A file may state the defaults.
        #expect(await refusal(flags: ["\(section).leeway": "30s", "\(section).algorithms": "RS256,ES256,EdDSA"]) == nil)
        var configuration = ServiceConfiguration()
        configuration.viewers.attributeClaims = ["plan"]
        #expect(throws: ConfigurationError.self) { try configuration.validate() }
    }

    @Test("A role in two lists is refused")
    func sharedRole() async throws {
        let url = ["admin.jwt.jwks-url": "https://a.example/keys"]
        let start = "admin.jwt: read-roles, edit-roles and publish-roles must have different roles; shared: "
        let flags = ["admin.jwt.edit-roles": "x,y", "admin.jwt.publish-roles": "z,x"]
        #expect(await refusal(flags: flags.merging(url) { $1 }) == start + "x")
        #expect(await refusal(flags: ["admin.jwt.edit-roles": "publish"].merging(url) { $1 }) == start + "publish")
        #expect(await refusal(flags: ["admin.jwt.edit-roles": "x,x"].merging(url) { $1 }) == nil)
    }

    @Test(
        "A private or local host of the keys' URL requires its network",
        arguments: [
            ("10.0.0.1", "10.0.0.0/8"), ("127.0.0.1:8443", "127.0.0.0/8"), ("[fd00::1]", "fd00::/8"), ("localhost", "127.0.0.0/8"),
            ("keys.localhost", "::1"), ("169.254.169.254", "169.254.0.0/16"),
        ])
    func privateKeys(host: String, network: String) async throws {
        for section in ["viewers.jwt", "admin.jwt"] {
            let url = ["\(section).jwks-url": "https://\(host)/keys"]
            let start = "\(section).jwks-url: a private or local host requires its network in allowed-networks; the host is "
            #expect(await refusal(flags: url)?.hasPrefix(start) == true)
            #expect(await refusal(flags: url.merging(["\(section).allowed-networks": "192.0.2.0/24"]) { $1 })?.hasPrefix(start) == true)
            #expect(await refusal(flags: url.merging(["\(section).allowed-networks": network]) { $1 }) == nil)
            for open in ["https://login.example.com/keys", "https://9.9.9.9/keys"] {
                #expect(await refusal(flags: ["\(section).jwks-url": open]) == nil)
            }
        }
    }

    @Test("A device is accepted as a configuration file; a folder or /dev/zero is refused")
    func devices() async throws {
        #expect(try ServiceConfiguration(try SettingSources(environment: [:], file: "/dev/null")).server.port == 8080)
        #expect(try ServiceConfiguration(try SettingSources(environment: ["INTERTWINE_CONFIG": "/dev/null"])).server.port == 8080)
        for path in ["/dev/zero", "/tmp"] {
            #expect(throws: ConfigurationError.self) { try SettingSources(environment: [:], file: path) }
        }
    }

    @Test("An empty INTERTWINE_CONFIG means no configuration file")
    func emptyVariable() async throws {
        let configuration = try ServiceConfiguration(try SettingSources(environment: ["INTERTWINE_CONFIG": ""]))
        #expect(configuration.server.host == "127.0.0.1")
    }

    @Test(
        "An invalid command, file or viewer field is refused with the key of its setting",
        arguments: [
            ("actions.user.selection", "fly", "actions.user.selection: unknown command 'fly'"),
            ("actions.user.selection", "clickthrough", "actions.user.selection: command 'clickthrough'"),
            ("actions.ad.dismissal", "hide", "actions.ad.dismissal: unknown command 'hide'"),
            ("viewers.header", "", "actions."), ("kinds.file", "/nonexistent.yaml", "kinds.file: /nonexistent.yaml: "),
        ])
    func cells(key: String, value: String, message: String) async throws {
        let configuration = try await read(flags: [key: value])
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "accepted")")
        if value.isEmpty { #expect(error?.description.hasSuffix("viewers.header is empty") == true) }
        try await read().check()
    }

    @Test(
        "An origin is accepted in the form that browsers send, without a default port",
        arguments: [
            ("https://a.com", true), ("https://a.com:8443", true), ("http://a.com:443", true), ("http://127.0.0.1:3000", true),
            ("https://[::1]", true), ("https://[::1]:8443", true), ("https://a.com:443", false), ("http://a.com:80", false),
            ("https://[::1]:443", false), ("https://a.com:99999", false), ("https://a.com:0", false), ("https://a.com:08443", false),
            ("https://a.com:", false), ("https://a.com:b", false), ("https://a.com:1:2", false), ("https://:8443", false),
            ("https://::1", false), ("https://[::1", false), ("https://a]", false), ("https://A.com", false), ("https://a.com/", false),
            // Apps and extensions.
            ("capacitor://localhost", true), ("ionic://localhost", true), ("tauri://localhost", true), ("http://tauri.localhost", true),
            ("app://-", true), ("app://.", true), ("chrome-extension://abcdefghijklmnopabcdefghijklmnop", true),
            ("moz-extension://1b4f0e1c-3c1a-4c5e-9f55-2a0d2f0d5f11", true), ("safari-web-extension://8A7E1B2C-1F2D", true),
            ("file://", true),
            ("vscode-webview://1abc~2", true), ("app+x.y-z://Main:8080", true), ("null", true),
            ("NULL", false), ("Capacitor://localhost", false), ("capacitor://localhost/", false), ("capacitor://localhost?x", false),
            ("capacitor://u@localhost", false), ("capacitor:localhost", false), ("://localhost", false), ("1app://a", false),
            ("localhost", false),
            ("capacitor://local host", false), ("https://", false), ("http://", false), ("a_b://c", false), ("app://a:0", false),
        ])
    func origins(origin: String, isTaken: Bool) async throws {
        #expect((await refusal(flags: ["cors.origins": origin]) == nil) == isTaken)
    }

    @Test("A setting written in both spellings is refused")
    func bothSpellings() async throws {
        let file = await refusal(file: "ads:\n  per-page: 3\n  perPage: 3\n")
        #expect(file?.hasPrefix("ads.per-page and ads.perPage: the same setting twice") == true)
        #expect(await refusal(flags: ["ads.per-page": "3", "ads.perPage": "3"])?.hasSuffix("the same setting twice (flag)") == true)
        #expect(try await read(flags: ["ads.perPage": "3"], file: "ads:\n  per-page: 4\n").feed.adsPerPage == 3)
    }

    @Test("An empty section leaves the defaults; a value in place of a section is refused")
    func emptySection() async throws {
        #expect(try await read(file: "server:\n#  port: 1\nads:\n  per-page: 3\n").feed.adsPerPage == 3)
        #expect(try await read(file: "server:\n").server.port == 8080)
        #expect(await refusal(file: "server: 5\n")?.hasPrefix("server: is a section of keys") == true)
        #expect(await refusal(file: "sever:\n")?.hasPrefix("sever: unknown key") == true)
    }

    @Test("Lists come from YAML sequences and from comma-separated text")
    func lists() async throws {
        #expect(try await read(file: "actions:\n  user:\n    selection: [save, present]\n").actions.userSelection == ["save", "present"])
        #expect(
            try await read(environment: ["INTERTWINE_ACTIONS_USER_SELECTION": "save, present"]).actions.userSelection == [
                "save", "present",
            ])
        #expect(await refusal(file: "actions:\n  user:\n    selection: save\n")?.contains("a list is expected") == true)
    }

    @Test("An unknown key prevents the start, and the message suggests the closest known key")
    func unknownKeys() async {
        for (file, words) in [
            ("server:\n  prot: 1\n", "server.port?"), ("sever:\n  port: 1\n", "server.port?"), ("sever:\n", "server?"),
            ("ads:\n  perpag: 1\n", "ads.per-page?"), ("language-header: X\n", "viewers.language-header?"),
            ("cats:\n  dogs: 1\n", "Config/intertwine.yaml lists all keys"),
            ("limits: {header-timeot: 1s}", "limits.header-timeout?"),
        ] {
            let refusal = await refusal(file: file) ?? "accepted"
            #expect(refusal.contains("unknown key") && refusal.hasSuffix(words) && refusal.count < 250, "\(refusal)")
        }
        #expect(
            await refusal(environment: ["INTERTWINE_PORT": "1"])
                == "INTERTWINE_PORT: unknown key (environment); did you mean INTERTWINE_ADMIN_PORT or INTERTWINE_SERVER_PORT?")
        #expect(await refusal(flags: ["server.prot": "1"]) == "server.prot: unknown key (flag); did you mean server.port?")
    }

    @Test("All configuration errors are reported together, one per line")
    func allFaults() async throws {
        let kinds = try temporary(
            "kinds:\n  talk:\n    fields: {title: txt, room: text, speaker: {type: text, requird: true}}\n    cells: {collection: {size: 1}}\n"
                + "sections:\n  talks: {kinds: [talk]}\n  more: {kinds: [lecture]}\n")
        let list = try temporary(
            "sources:\n  one: {kind: user, url: 'ftp://a', evry: 5s}\n  two: {kind: talk}\n  three: {url: 'http://a/'}\n")
        let text = """
            server: {port: 99999, prot: 1}
            ads: {per-page: many}
            log: {requests-per-second: 1, requestsPerSecond: 2}
            images: {allowed-ports: [80, 99999]}
            kinds: {file: \(kinds)}
            sources: {file: \(list)}
            actions: {user: {selection: [fly]}, ad: {dismissal: [swim]}}
            """
        let sources = try SettingSources(environment: ["INTERTWINE_CAT": "1"], file: try temporary(text))
        let error = #expect(throws: ConfigurationError.self) { _ = try ServiceConfiguration.checked(sources) }
        let reasons = error?.reasons ?? []
        for words in [
            "server.port: '99999'", "server.prot: unknown key", "ads.per-page: 'many'", "the same setting twice",
            "images.allowed-ports: '99999'",
            "INTERTWINE_CAT", "'txt' is not allowed", "unknown key 'requird'", "identifier is missing", "unknown kind 'lecture'",
            "unknown key 'evry'", "kind is missing", "unknown command 'fly'", "unknown command 'swim'",
        ] {
            #expect(reasons.count { $0.contains(words) } >= 1, "\(words) in \(reasons)")
        }
        // A faulty kind is reported once, at its declaration.
        #expect(!reasons.contains { $0.contains("unknown kind 'talk'") || $0.contains("two") }, "\(reasons)")
        #expect(Set(reasons).count == reasons.count && reasons.allSatisfy { !$0.contains("\n") })
    }

    @Test("Values set by a program are validated like values from a file")
    func typed() throws {
        var configuration = ServiceConfiguration()
        configuration.server.port = 4711
        configuration.log.format = .json
        try configuration.validate()
        #expect(configuration.settings.first { $0.key == "server.port" }?.value == "4711")
        configuration.server.port = 99_999
        configuration.events.tokenLifetime = .seconds(1)
        configuration.images.allowedNetworks = ["10.0.0.0/99"]
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(
            error?.reasons.map { $0.prefix { $0 != ":" } } == ["server.port", "events.token-lifetime", "images.allowed-networks"])
        #expect(
            error?.description.contains("server.port: '99999' (program) is not allowed; allowed: a whole number from 0 to 65535") == true)
    }

    @Test(
        "A wrong value prevents the start with its key and the allowed values",
        arguments: [
            ("server:\n  port: 70000\n", "server.port: '70000'"), ("server:\n  port: x\n", "a whole number from 0 to 65535"),
            ("ads:\n  scope: row\n", "allowed: page, feed"), ("server:\n  shutdown-timeout: 10\n", "a number with its unit"),
            ("limits:\n  max-body: 1TB\n", "KiB, MiB or GiB"), ("cells:\n  user:\n    regular: Cell\n", "UserSnapshotCollectionViewCell"),
            ("signing:\n  key: abc\n", "64 hexadecimal digits"),
            // 64 bytes, with a non-ASCII digit in the first three.
            ("signing:\n  key: \"\u{FF10}\(String(repeating: "0", count: 61))\"\n", "64 hexadecimal digits"),
            ("server:\n  port: [1]\n", "a single value is expected"),
            ("- 1\n", "must hold a mapping"), ("server: [\n", ".yaml"),
        ])
    func wrongValues(file: String, words: String) async {
        let refusal = await refusal(file: file)
        #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
        #expect(refusal?.contains("\n") == false)
    }

    @Test("A duration above the limit is refused for each setting", arguments: ["3651d", "153722867280912min", "9223372036854775807ms"])
    func longDurations(text: String) async throws {
        let defaults = try await read().settings
        let durations = defaults.filter { Duration(setting: $0.value) != nil }.map(\.key)
        #expect(durations.count > 15 && durations.contains("events.token-lifetime"))
        for key in durations {
            #expect(await refusal(flags: [key: text])?.contains("\(key): '\(text)'") == true, "\(key)")
        }
        #expect(try await read(flags: ["events.token-lifetime": "3650d"]).events.tokenLifetime == .seconds(3_650 * 86_400))
    }

    @Test("An empty list element prevents the start", arguments: ["analytics,,present", ",", "analytics,", " ,analytics"])
    func emptyElement(text: String) async throws {
        #expect(await refusal(flags: ["actions.user.selection": text])?.hasPrefix("actions.user.selection: ''") == true)
        #expect(await refusal(file: "actions:\n  user:\n    selection: [analytics, '']\n")?.hasPrefix("actions.user.selection: ''") == true)
        #expect(try await read(flags: ["actions.user.dismissal": ""]).actions.userDismissal.isEmpty)
    }

    @Test("An empty viewer field disables viewers and the commands that require one")
    func withoutViewers() async throws {
        let cells = try await read(flags: ["viewers.header": ""]).cells
        #expect(!cells.hasViewers)
        let error = #expect(throws: CellCommandsError.self) { try CellFactories.standard(cells) }
        #expect(error?.description.contains("command 'dismiss' in") == true)
        #expect(await refusal(flags: ["viewers.header": "a b"])?.hasPrefix("viewers.header: 'a b'") == true)
    }

    @Test("A missing named file is an error")
    func missingFile() async {
        #expect(throws: ConfigurationError.self) { try SettingSources(environment: [:], file: "/nonexistent/intertwine.yaml") }
    }

    @Test("A secret setting is not shown")
    func secrets() async throws {
        let key = String(repeating: "ab", count: 32)
        let setting = try await read(environment: ["INTERTWINE_SIGNING_KEY": key]).settings.first { $0.key == "signing.key" }
        #expect(setting?.shown == "(secret)")
    }

    @Test("The shipped file contains every key with its default")
    func shippedFile() async throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../../Config/intertwine.yaml")
            .path
        let shipped = try ServiceConfiguration(try SettingSources(environment: [:], file: path))
        let defaults = try await read()
        #expect(shipped.settings.map(\.key) == defaults.settings.map(\.key))
        for (here, there) in zip(shipped.settings, defaults.settings) {
            #expect(here.value == there.value, "\(here.key)")
            #expect(here.origin == .file(path), "\(here.key) is not in the file")
        }
    }

    @Test("Each setting has a key of its own, a text and allowed values, and its default is allowed")
    func rows() {
        let rows = ServiceConfiguration().settings
        #expect(Set(rows.map(\.key)).count == rows.count && rows.count > 150)
        for row in rows {
            #expect(!row.text.isEmpty && !row.allowed.isEmpty && row.fault == nil && row.origin == .default, "\(row.key)")
        }
    }

    @Test("A reload takes the settings whose rows say so, with their origins, and keeps all others")
    func applied() async throws {
        var old = try await read(flags: ["ads.per-page": "2", "events.address": "hashed"])
        old.images.bucketCredentials = BucketCredentials(accessKey: "key", secret: "secret")
        let variables = ["INTERTWINE_ADS_PER_PAGE": "3", "INTERTWINE_SERVER_PORT": "1"]
        let new = try await read(environment: variables, file: "events: {address: none}\nlimits: {connections: 7}\n")
        let next = old.applying(new)
        #expect(next.feed.adsPerPage == 3 && next.events.address == .hashed)
        #expect(next.server.port == 8080 && next.server.limits.connections == 10_000)
        #expect(next.images.bucketCredentials == old.images.bucketCredentials)
        let origins = Dictionary(uniqueKeysWithValues: next.settings.map { ($0.key, $0.origin) })
        #expect(origins["ads.per-page"] == .environment && origins["events.address"] == .flag && origins["server.port"] == .default)
    }

    @Test("Durations and sizes are written and parsed without change")
    func units() {
        for text in ["0ms", "1ms", "1500ms", "2s", "10min", "36h", "400d"] { #expect(Duration(setting: text)?.setting == text) }
        for text in ["", "1", "-1s", "1.5s", "s", "99999999999999999999s", "9223372036854775807d"] {
            #expect(Duration(setting: text) == nil)
        }
        for text in ["0", "1000", "64KiB", "3MiB", "2GiB"] { #expect(ByteCount(setting: text)?.setting == text) }
        for text in ["", "-1", "1KB", "KiB", "9223372036854775807GiB"] { #expect(ByteCount(setting: text) == nil) }
    }
}
