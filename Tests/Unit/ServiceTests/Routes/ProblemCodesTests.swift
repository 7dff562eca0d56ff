import Foundation
import Testing

@Suite("Problem types")
struct ProblemCodesTests {
    @Test("The reference of problems has exactly the problem types of the code")
    func reference() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../..").standardized
        let files = FileManager.default.enumerator(at: root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
        let sources = try #require(files)
        let declaration = try Regex(#"ProblemType\(\s*"([a-z-]+)""#)
        var declared: [String] = []
        for case let file as URL in sources where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            declared += text.matches(of: declaration).compactMap { $0.output[1].substring.map(String.init) }
        }
        let reference = try String(contentsOf: root.appendingPathComponent("Documentation/reference/problems.md"), encoding: .utf8)
        let described = reference.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        #expect(Set(declared).count == declared.count, "a type is declared twice")
        // Only commands and routes of an embedding program refuse, and the reference describes the product's own.
        #expect(Set(declared).subtracting(described) == ["refused"])
        #expect(Set(described).subtracting(declared).sorted() == [])
    }
}
