import Foundation
import Testing

@testable import IntertwineClient

/// A test case of a file in `Conformance/cases`.
struct Conformance: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    let given: JSONValue
    let expect: JSONValue

    var testDescription: String { name }

    static func cases(_ file: String) -> [Conformance] {
        guard let data = try? Data(contentsOf: repository.appending(path: "Conformance/cases/\(file).json")),
            let value = try? JSONValue(parsing: data)
        else { return [] }
        return (value["cases"]?.array ?? []).compactMap { entry in
            guard let name = entry["name"]?.text, let given = entry["given"], let expect = entry["expect"] else { return nil }
            return Conformance(file: file, name: name, given: given, expect: expect)
        }
    }
}

let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
let repository = package.deletingLastPathComponent().deletingLastPathComponent()

/// Returns a cell for a test.
func cell(_ id: String, identifier: String = "X", text: String? = nil, actions: [String: JSONValue] = [:]) -> FeedCell {
    var all = actions
    if let text {
        all["configuration"] = .object([
            "type": .text("bind"), "bindings": .object(["title": .object(["type": .text("text"), "text": .text(text)])]),
        ])
    }
    let members: [String: JSONValue] = ["id": .text(id), "identifier": .text(identifier), "actions": .object(all)]
    guard let cell = FeedCell(.object(members)) else { fatalError("no cell") }
    return cell
}

func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

/// Returns a request action.
func request(_ method: String, _ href: String, body: JSONValue? = nil) -> JSONValue {
    var members: [String: JSONValue] = ["type": .text("request"), "method": .text(method), "href": .text(href)]
    members["body"] = body
    return .object(members)
}
