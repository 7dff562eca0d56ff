import Foundation
import IntertwineTesting
import Testing

@Suite("Files in the program")
struct EmbeddedFilesTests {
    private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized

    private static func names(in folder: String) throws -> Set<String> {
        let path = root.appendingPathComponent("Sources/\(folder)/files").path
        // The enumerator follows no link.
        let folders = ["", "client/"].filter { FileManager.default.fileExists(atPath: "\(path)/\($0)") }
        return try Set(
            folders.flatMap { folder in
                try FileManager.default.subpathsOfDirectory(
                    atPath: URL(fileURLWithPath: "\(path)/\(folder)").resolvingSymlinksInPath().path
                )
                .map { folder + $0 }
            }
            .filter { name in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
            }
            // These are for TypeScript only.
            .filter { !$0.hasSuffix(".d.mts") })
    }

    @Test(
        "A list names the files of its folder, and no others",
        arguments: [("web-client.c", "IntertwineService/WebClient"), ("sample.c", "IntertwineSample")])
    func lists(file: String, folder: String) throws {
        let source = try String(contentsOf: Self.root.appendingPathComponent("Sources/CEmbeddedFiles/\(file)"), encoding: .utf8)
        let start = "#define NAME \"../\(folder)/files/"
        let listed = source.split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count).dropLast()) }
        #expect(listed.count == Set(listed).count)
        let found = try Self.names(in: folder)
        #expect(Set(listed) == found)
    }

    @Test("Each file of the web client is served as it is")
    func served() async throws {
        try await TestService.run { service in
            for name in try Self.names(in: "IntertwineService/WebClient") where name.hasSuffix(".mjs") && !Self.isOfOperators(name) {
                let response = try await service.client.get("/web-client/\(name)")
                let file = Self.root.appendingPathComponent("Sources/IntertwineService/WebClient/files/\(name)")
                let bytes = Array(try Data(contentsOf: file))
                #expect(response.status == 200 && response.body == bytes, "\(name)")
            }
        }
    }

    private static func isOfOperators(_ name: String) -> Bool {
        ["console/", "explain/", "items/", "reports/"].contains { name.hasPrefix($0) }
    }
}
