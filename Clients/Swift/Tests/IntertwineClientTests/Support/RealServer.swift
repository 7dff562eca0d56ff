import Foundation

@testable import IntertwineClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The real binary at `INTERTWINE_BINARY`, on free ports with a store of its own.
final class RealServer {
    static var binary: String {
        ProcessInfo.processInfo.environment["INTERTWINE_BINARY"] ?? repository.appending(path: ".build/debug/intertwine").path
    }
    static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: binary) }

    let base: URL
    let admin: URL
    private let folder: URL
    private let process = Process()

    init(items: String, kinds: String? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "intertwine-client-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: "empty.yaml"))
        try Data(items.utf8).write(to: folder.appending(path: "items.ndjson"))
        var store = ["--config", folder.appending(path: "empty.yaml").path, "--database", folder.appending(path: "feed.sqlite").path]
        if let kinds {
            try Data(kinds.utf8).write(to: folder.appending(path: "kinds.yaml"))
            store += ["--set", "kinds.file=\(folder.appending(path: "kinds.yaml").path)"]
        }
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("INTERTWINE_") }

        let importing = Process()
        importing.executableURL = URL(filePath: Self.binary)
        importing.arguments = ["import"] + store + [folder.appending(path: "items.ndjson").path]
        importing.environment = environment
        importing.standardOutput = FileHandle.nullDevice
        try importing.run()
        importing.waitUntilExit()

        process.executableURL = URL(filePath: Self.binary)
        process.arguments =
            ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--set", "ads.rotation=listed"] + store
        process.environment = environment
        process.standardError = FileHandle.nullDevice
        let log = Pipe()
        process.standardOutput = log
        try process.run()
        var ports: [String: Int] = [:]
        var text = ""
        while ports.count < 2 {
            let data = log.fileHandleForReading.availableData
            guard !data.isEmpty else { throw URLError(.cannotConnectToHost) }
            text += String(decoding: data, as: UTF8.self)
            for match in text.matches(of: /(service|admin): listening on [^\n]*:(\d+)\n/) { ports[String(match.1)] = Int(match.2) }
        }
        // The pipe must be read, because a process that writes to a full pipe blocks.
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
        func address(_ name: String) throws -> URL {
            guard let url = URL(string: "http://127.0.0.1:\(ports[name] ?? 0)") else { throw URLError(.badURL) }
            return url
        }
        (base, admin) = (try address("service"), try address("admin"))
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Sends an admin request and returns the status.
    @discardableResult
    func operate(_ method: String, _ path: String, _ body: String? = nil, fields: [String: String] = [:]) async throws -> Int {
        guard let url = URL(string: path, relativeTo: admin) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return try await Self.transport.send(request, limit: 1 << 20).status
    }

    private static let transport = URLSessionTransport()

    static func user(_ id: String, name: String? = nil) -> String {
        """
        {"kind":"user","id":"\(id)","username":"\(name ?? id)","avatarUrl":"https://images.example.com/\(id).png","type":"regular"}
        """
    }

    static func advertisement(_ id: Int) -> String {
        """
        {"kind":"ad","id":\(id),"contentUrl":"https://ads.example.com/\(id).png","clickthroughUrl":"https://shop.example.com","type":"image"}
        """
    }
}
