import Foundation
import TestSupport

/// The parser of the text format in the Python client of Prometheus. `make test` installs it into `.build/python`.
enum PrometheusParser {
    struct Sample: Decodable {
        var family: String
        var type: String
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private static let program = """
        import json, sys
        from prometheus_client.parser import text_string_to_metric_families
        text = open(sys.argv[1]).read()
        rows = [dict(family=f.name, type=f.type, name=s.name, labels=s.labels, value=s.value)
                for f in text_string_to_metric_families(text) for s in f.samples]
        print(json.dumps(rows))
        """

    static func samples(in text: String) throws -> [Sample] {
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(5).joined(separator: "/").dropFirst()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).metrics").path
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let process = try SpawnedProcess(["\(root)/.build/python/bin/python3", "-c", program, file])
        while try process.nextLine() != nil {}
        guard process.wait() == 0 else { throw RawClientError.system(process.lines.joined(separator: "\n"), 1) }
        return try JSONDecoder().decode([Sample].self, from: Data(process.lines.joined().utf8))
    }
}
