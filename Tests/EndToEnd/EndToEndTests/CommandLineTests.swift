import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line from outside")
struct CommandLineTests {
    private let folder: String
    private var options: [String] { ["--config", "/dev/null", "--database", "\(folder)/x.sqlite"] }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Runs the program through the shell as `"$0" "$@"`.
    private static func shell(_ script: String, _ arguments: [String] = []) throws -> (code: Int32, lines: [String]) {
        let process = try SpawnedProcess(["/bin/sh", "-c", script, BuiltProduct.path("intertwine")] + arguments)
        while try process.nextLine(timeout: 60_000) != nil {}
        return (process.wait(), process.lines)
    }

    @Test("A configuration that prevents the start fails check-config with the same message")
    func checkConfig() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let sample = URL(fileURLWithPath: #filePath).appendingPathComponent(
                "../../../../Sources/IntertwineSample/files/images/avatar-0.png"
            ).standardized
            let image = try Data(contentsOf: sample)
            let half = folder + "/half.png"
            try image.prefix(image.count / 2).write(to: URL(fileURLWithPath: half))
            for (setting, words) in [
                ("images.fallbacks=avatar=" + half, "images.fallbacks: \(half) cannot be read, or is no complete image"),
                ("actions.user.selection=fly", "actions.user.selection: unknown command 'fly'"),
                ("kinds.file=/nonexistent.yaml", "kinds.file: /nonexistent.yaml"),
                ("sources.file=/nonexistent.yaml", "sources.file: /nonexistent.yaml"),
                ("images.fallbacks=avatar=/nonexistent.png", "images.fallbacks: /nonexistent.png cannot be read"),
            ] {
                let result = try Command.run(["check-config"] + options + ["--set", setting])
                #expect(result.code == 1 && result.lines.count == 1 && result.lines[0].contains(words), "\(result.lines)")
                let served = try Command.run(["serve", "--port", "0", "--admin-port", "0"] + options + ["--set", setting])
                #expect(served.code == 1 && served.lines == result.lines, "\(served.lines)")
            }
            let wrong = ["viewers.header=", "server.prot=1", "ads.per-page=99"].flatMap { ["--set", $0] }
            let result = try Command.run(["check-config"] + options + wrong)
            #expect(result.code == 1 && result.lines.count == 4 && result.lines.allSatisfy { $0.hasPrefix("Error: ") }, "\(result.lines)")
            #expect(result.lines.count { $0.contains("needs a viewer, which is missing: viewers.header is empty") } == 2)
            #expect(result.lines.contains("Error: server.prot: unknown key (flag); did you mean server.port?"))
            let served = try Command.run(["serve", "--port", "0", "--admin-port", "0"] + options + wrong)
            #expect(served.code == 1 && served.lines == result.lines, "\(served.lines)")
            #expect(try Command.run(["check-config"] + options).code == 0)
        }
    }

    @Test("A configuration from a pipe is read once and cannot be reloaded")
    func pipes() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let checked = try Self.shell("printf 'ads: {per-page: 4}' | \"$0\" check-config --config /dev/stdin")
            #expect(checked.code == 0 && checked.lines.contains("ads.per-page=4  # /dev/stdin"), "\(checked.lines)")
            let arguments = ["serve", "--config", "/dev/fd/3", "--port", "0", "--admin-port", "0", "--database", "\(folder)/x.sqlite"]
            let service = try SpawnedProcess(
                ["/bin/sh", "-c", "exec \"$0\" \"$@\" 3<<END\nads:\n  per-page: 3\nEND\n", BuiltProduct.path("intertwine")] + arguments)
            _ = try service.line(containing: "service: listening on")
            service.signal(SIGHUP)
            #expect(try service.line(containing: "not applied").contains("/dev/fd/3: the configuration came from a pipe"))
            service.signal(SIGTERM)
            while try service.nextLine() != nil {}
            #expect(service.wait() == 0)
        }
    }

    @Test("Without a configuration file, SIGHUP reloads named files, and SIGUSR1 has no effect")
    func noFile() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let campaigns = "\(folder)/campaigns.yaml"
            func declare(_ name: String) throws {
                try "campaigns:\n  \(name): {advertiser: ACME, creatives: [1], priority: house}\n".write(
                    toFile: campaigns, atomically: true, encoding: .utf8)
            }
            try Items.advertisement(1, house: false).write(toFile: "\(folder)/items.json", atomically: true, encoding: .utf8)
            #expect(try Command.run(["import", "\(folder)/items.json"] + options).code == 0)
            try declare("spring")
            let service = try SpawnedProcess(
                ["/bin/sh", "-c", "cd \(folder) && exec \"$0\" \"$@\"", BuiltProduct.path("intertwine")]
                    + [
                        "serve", "--port", "0", "--admin-port", "0", "--database", "\(folder)/x.sqlite", "--set",
                        "campaigns.file=\(campaigns)",
                    ])
            _ = try service.line(containing: "service: listening on")
            try declare("autumn")
            // Other servers reopen logs or restart on these signals.
            for habit in [SIGUSR1, SIGUSR2] { service.signal(habit) }
            service.signal(SIGHUP)
            #expect(try service.line(containing: "configuration reloaded").contains("campaigns.file"))
            service.signal(SIGTERM)
            while try service.nextLine() != nil {}
            #expect(service.wait() == 0)
        }
    }

    @Test("An empty INTERTWINE_CONFIG means no configuration file")
    func emptyVariable() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let result = try Command.run(
                ["check-config", "--database", "\(folder)/x.sqlite"], environment: ["INTERTWINE_CONFIG": ""])
            #expect(result.code == 0, "\(result.lines)")
        }
    }

    @Test("An import reports each invalid item, identifies other formats, reads gzip and supports dry runs")
    func importing() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = { (name: String) in "\(folder)/\(name)" }
            // A slow machine shows the progress.
            func results(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("[") } }
            let good = (0..<5_000).map { Items.user("u\($0)").dropLast() }
            var items = good
            for number in [40, 4_900] { items[number] = Substring(items[number].replacing("https://pictures", with: "ftp://pictures")) }
            try "[\(items.joined(separator: ","))]".write(toFile: file("bad.json"), atomically: true, encoding: .utf8)
            let skipped = try Command.run(["import", "--foreground", "--on-error", "skip"] + options + [file("bad.json")])
            #expect(skipped.code == 0 && skipped.lines.last == "\(folder)/x.sqlite: added 4998, replaced 0, skipped 2", "\(skipped.lines)")
            for id in [40, 4_900] {
                let byte = 1 + items.prefix(id).reduce(0) { $0 + $1.utf8.count + 1 }
                #expect(skipped.lines.contains { $0.contains("line 1, index \(id) (from 0), id \"u\(id)\", byte \(byte): avatarUrl") })
            }
            let rehearsed = try Command.run(["import", "--foreground", "--dry-run"] + options + [file("bad.json")])
            #expect(rehearsed.code == 1 && results(rehearsed.lines).count == 3, "\(rehearsed.lines)")
            #expect(rehearsed.lines.last?.contains("2 invalid items: nothing would be imported without --on-error skip") == true)
            try Data(gzipped(Array(good.joined(separator: "\n").utf8))).write(to: URL(fileURLWithPath: file("good.ndjson.gz")))
            let would = try Command.run(["import", "--foreground", "--dry-run"] + options + [file("good.ndjson.gz")])
            #expect(
                results(would.lines) == ["\(folder)/x.sqlite: would add 2, replace 4998, skip 0; nothing was written"], "\(would.lines)")
            let did = try Command.run(["import", "--foreground", "--gzip"] + options + [file("good.ndjson.gz")])
            #expect(results(did.lines) == ["\(folder)/x.sqlite: added 2, replaced 4998, skipped 0"], "\(did.lines)")
            // The place that a person has to look at.
            for (text, words) in [
                ("<html>", "line 1, column 1"), ("kind,id\n", "line 1, column 1"), ("%PDF-1.7\n", "line 1, column 1"),
                ("\u{7F}ELF\u{2}\u{1}\u{1}", "line 1, column 1"), ("[\(good[0]),,]", "line 1, index 1"),
                ("{\"users\": [{}]}", "line 1: kind"), ("{\n\"kind\": \"user\"}\n{\n}\n", "line 1"),
                (Items.user("x").replacing("https://", with: "http://me:s3cret@"), "line 1: avatarUrl"),
            ] {
                try text.write(toFile: file("other"), atomically: true, encoding: .utf8)
                let refused = try Command.run(["import", "--foreground", "--on-error", "stop"] + options + [file("other")])
                #expect(refused.code == 1 && refused.lines.count == 1, "\(refused.lines)")
                #expect(
                    refused.lines[0].contains("other: ") && refused.lines[0].contains(words)
                        && refused.lines[0].hasSuffix("nothing was imported"), "\(refused.lines)")
                #expect(!refused.lines[0].contains("s3cret"))
            }
        }
    }

    @Test(
        "A background import runs at low priority except its writer thread; --foreground uses normal priority", .onlyInFull,
        arguments: [true, false])
    func priority(givesWay: Bool) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let pipe = "\(folder)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let flags = givesWay ? [] : ["--foreground"]
            let process = try SpawnedProcess([BuiltProduct.path("intertwine"), "import"] + flags + options + [pipe])
            // The import opens the file after it has lowered its priority.
            let writer = try #require(FileHandle(forWritingAtPath: pipe))
            for number in 0..<6_000 { try writer.write(contentsOf: Data(Items.user("u\(number)").utf8)) }
            let threads = "/proc/\(process.identifier)/task"
            var priorities: [(time: Int, nice: Int)] = []
            for thread in try FileManager.default.contentsOfDirectory(atPath: threads) {
                // A thread may have ended by now.
                guard let facts = try? String(contentsOfFile: "\(threads)/\(thread)/stat", encoding: .utf8) else { continue }
                // The first field after the name is field 3 of proc(5). Field 19 is the nice value, and 14 and 15 are the processor time.
                let fields = try #require(facts.components(separatedBy: ") ").last).split(separator: " ").map { Int($0) ?? 0 }
                priorities.append((fields[14 - 3] + fields[15 - 3], fields[19 - 3]))
            }
            // The thread that reads has computed most. Idle threads of a pool can have any priority.
            let reading = try #require(priorities.max { $0.time < $1.time })
            #expect(reading.nice == (givesWay ? 10 : 0) && priorities.contains { $0.nice == 0 }, "\(priorities)")
            try writer.close()
            while try process.nextLine(timeout: 60_000) != nil {}
            #expect(
                process.wait() == 0 && process.lines.last == "\(folder)/x.sqlite: added 6000, replaced 0, skipped 0", "\(process.lines)")
        }
    }

    @Test("A background import on a busy processor uses a small share of the remaining time", .onlyInFull)
    func rests() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let pipe = "\(folder)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            // A program computes for half of the time, on the same processor, and ends after a minute. On several processors the kernel
            // may give the import one of its own.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let processor = String(try #require(status.firstMatch(of: /Cpus_allowed_list:\s*([0-9]+)/)).1)
            let pinned = ["/usr/bin/taskset", "--cpu-list", processor]
            let burner = try SpawnedProcess(
                pinned + [
                    "/usr/bin/python3", "-c",
                    """
                    from time import *
                    last = perf_counter() + 60
                    while perf_counter() < last:
                        end = perf_counter() + 0.001
                        while perf_counter() < end: pass
                        sleep(0.001)
                    """,
                ])
            defer {
                burner.signal(SIGKILL)
                _ = burner.wait()
            }
            let process = try SpawnedProcess(pinned + [BuiltProduct.path("intertwine"), "import"] + options + [pipe])
            let writer = try #require(FileHandle(forWritingAtPath: pipe))
            let (start, before) = (ContinuousClock.now, try Self.ticks(of: process.identifier))
            for number in 0..<10_000 { try writer.write(contentsOf: Data(Items.user("u\(number)").utf8)) }
            let computed = Duration.milliseconds(10 * (try Self.ticks(of: process.identifier) - before))
            #expect(computed / start.duration(to: .now) < 0.35)
            try writer.close()
            while try process.nextLine(timeout: 60_000) != nil {}
            #expect(
                process.wait() == 0 && process.lines.last == "\(folder)/x.sqlite: added 10000, replaced 0, skipped 0", "\(process.lines)")
        }
    }

    /// The processor time of a process in hundredths of a second: fields 14 and 15 of proc(5).
    private static func ticks(of process: Int32) throws -> Int {
        let facts = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = try #require(facts.components(separatedBy: ") ").last).split(separator: " ")
        return fields[11...12].compactMap { Int($0) }.reduce(0, +)
    }

    @Test("An interrupted import clears its progress bar; output and audit log report the outcome")
    func interrupted() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let (pipe, screen) = ("\(folder)/pipe", "\(folder)/screen")
            #expect(mkfifo(pipe, 0o600) == 0)
            // A separate terminal with its output in a file.
            let command =
                "echo $$ > \(folder)/pid; exec \(BuiltProduct.path("intertwine")) import \(options.joined(separator: " ")) \(pipe)"
            let process = try SpawnedProcess(["/usr/bin/script", "-qefc", command, screen])
            let writer = try #require(FileHandle(forWritingAtPath: pipe))
            let shown = { (try? String(contentsOfFile: screen, encoding: .utf8)) ?? "" }
            var number = 0
            while !shown().contains("items,") {
                try writer.write(contentsOf: Data(Items.user("u\(number)").utf8))
                number += 1
            }
            let pid = try #require(
                Int32(try String(contentsOfFile: "\(folder)/pid", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
            kill(pid, SIGINT)
            while try process.nextLine(timeout: 60_000) != nil {}
            #expect(process.wait() != 0)
            let last = shown().components(separatedBy: "\r\u{1B}[K").last ?? ""
            #expect(last.hasPrefix("interrupted; nothing was imported\r\n") && !last.contains("items,"), "\(shown())")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/x.sqlite"))
            let audit = try String(contentsOfFile: "\(folder)/audit.log", encoding: .utf8)
            let outcomes = try audit.split(separator: "\n").map { try JSON(String($0))["outcome"]?.text }
            #expect(outcomes == ["begun", "not done: interrupted"], "\(audit)")
        }
    }

    @Test("An output that cannot be written is one error line with exit code 1")
    func fullOutput() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let items = "\(folder)/items.ndjson"
            try Items.user("a").write(toFile: items, atomically: true, encoding: .utf8)
            for command in [
                ["import", items], ["report"], ["check-config"], ["schema", "user"], ["image-url", "https://example.com/a.png"],
            ] {
                let result = try Self.shell("\"$0\" \"$@\" > /dev/full", command + options)
                #expect(result.code == 1, "\(command)")
                #expect(result.lines.count == 1 && result.lines[0].contains("standard output cannot be written"), "\(result.lines)")
            }
        }
    }

    @Test("A file that is not a store is reported without any new file", arguments: [100, 40_000])
    func noStore(size: Int) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mint = ["image-url", "https://example.com/a.png"]
            let none = try Command.run(mint + options)
            #expect(none.code == 1 && none.lines.count == 1 && none.lines[0].contains("x.sqlite: no store exists"), "\(none.lines)")
            try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 | 1) }).write(to: URL(fileURLWithPath: "\(folder)/x.sqlite"))
            for command in [["report"], ["export", "events"], ["tracker-calls"], mint] {
                let result = try Command.run(command + options)
                #expect(result.code == 1 && result.lines.count == 1, "\(command): \(result.lines)")
                #expect(result.lines.first?.contains("x.sqlite: is not a database") == true, "\(command): \(result.lines)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["x.sqlite"])
            let configured = try Command.run(mint + options + ["--set", "signing.key=" + String(repeating: "ab", count: 32)])
            #expect(configured.code == 0 && configured.lines.first?.hasPrefix("/images/") == true, "\(configured.lines)")
        }
    }

    @Test("A pipe is no store, and keeps its mode", .timeLimit(.untilStuck), arguments: ["import", "serve", "report"])
    func pipe(command: String) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            #expect(mkfifo("\(folder)/x.sqlite", 0o600) == 0 && chmod("\(folder)/x.sqlite", 0o666) == 0)
            let items = "\(folder)/items.ndjson"
            try Items.user("a").write(toFile: items, atomically: true, encoding: .utf8)
            let arguments = ["import": [items], "serve": ["--port", "0", "--admin-port", "0"]]
            let result = try Command.run([command] + (arguments[command] ?? []) + options)
            #expect(result.code == 1 && result.lines.last?.contains("x.sqlite: is not a regular file") == true, "\(result.lines)")
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/x.sqlite")[.posixPermissions] as? Int
            #expect(mode == 0o666)
        }
    }

    @Test("A setting with a NUL character is refused")
    func nul() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = "\(folder)/settings.yaml"
            for (text, key) in [
                (#"server: {host: "127.0.0.1\0.example"}"#, "server.host"), (#"store: {database: "\0"}"#, "store.database"),
                (#"images: {allowed-networks: ["10.0.0.0/8\0"]}"#, "images.allowed-networks"),
            ] {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let result = try Command.run(["check-config", "--config", file])
                #expect(result.code == 1 && result.lines.first?.hasPrefix("Error: \(key): ") == true, "\(result.lines)")
            }
        }
    }

    @Test("A forecast for an unknown feed or section fails with the available names")
    func forecasts() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let (campaigns, kinds) = ("\(folder)/campaigns.yaml", "\(folder)/kinds.yaml")
            try "campaigns:\n  spring: {advertiser: ACME, creatives: [1], priority: house}\n".write(
                toFile: campaigns, atomically: true, encoding: .utf8)
            try "sections:\n  people: {kinds: [user]}\nfeeds:\n  home: [people]\n".write(
                toFile: kinds, atomically: true, encoding: .utf8)
            func simulate(_ arguments: String...) throws -> (code: Int32, lines: [String]) {
                try Command.run(
                    ["forecast", "--campaigns", campaigns, "--viewers", "10", "--days", "1"] + arguments + options
                        + ["--set", "kinds.file=\(kinds)"])
            }
            let feed = try simulate("--feed", "nowhere")
            #expect(feed.code == 1 && feed.lines == ["Error: --feed: no feed 'nowhere'; there are home, main"], "\(feed.lines)")
            let section = try simulate("--feed", "home", "--section", "cats")
            #expect(
                section.code == 1 && section.lines == ["Error: --section: 'home' has no section 'cats'; there are people"],
                "\(section.lines)")
            #expect(try simulate("--feed", "home", "--section", "people").code == 0)
            #expect(try simulate().code == 0)
        }
    }

    @Test("Results are on standard output, errors on standard error; exit codes are 0, 1, 64")
    func streams() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Items.user("a").write(toFile: "\(folder)/items.ndjson", atomically: true, encoding: .utf8)
            let importing = "cd \(folder) && exec \"$0\" import --foreground --config /dev/null --database ./x.sqlite"
            let done = try Self.shell("\(importing) items.ndjson 2>/dev/null")
            #expect(done.code == 0 && done.lines == ["\(folder)/x.sqlite: added 1, replaced 0, skipped 0"], "\(done.lines)")
            let refused = try Self.shell("\(importing) none.ndjson 2>/dev/null")
            #expect(refused.code == 1 && refused.lines.isEmpty, "\(refused.lines)")
            for arguments in ["--none", "--on-error none items.ndjson", "--set none items.ndjson", ""] {
                let result = try Self.shell("\(importing) \(arguments) 2>/dev/null")
                #expect(result.code == 64 && result.lines.isEmpty, "\(arguments): \(result.lines)")
            }
        }
    }

    @Test("A database name that is not a file path is refused without any new file", arguments: [":memory:", "file:x.sqlite"])
    func noFile(name: String) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let items = "\(folder)/items.ndjson"
            try Items.user("a").write(toFile: items, atomically: true, encoding: .utf8)
            let result = try Self.shell("cd '\(folder)' && \"$0\" \"$@\"", ["import", "--config", "/dev/null", "--database", name, items])
            #expect(result.code == 1 && result.lines.count == 1, "\(result.lines)")
            #expect(result.lines.first?.contains("store.database: '\(name)'") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["items.ndjson"])
        }
    }
}
