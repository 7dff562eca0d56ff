import Testing

@testable import IntertwineFeed

@Suite("Faults of a declaration")
struct KindErrorTests {
    typealias Change = @Sendable (inout KindDeclaration) -> Void

    struct Case: Sendable, CustomTestStringConvertible {
        var path: String
        var words: String
        var change: Change
        var testDescription: String { "\(path) \(words)" }

        init(_ path: String, _ words: String, _ change: @escaping Change) {
            (self.path, self.words, self.change) = (path, words, change)
        }
    }

    static func cell(_ change: @escaping @Sendable (inout CellDeclaration) -> Void) -> Change {
        { declaration in
            guard var cell = declaration.cells[.collection]?.first else { return }
            change(&cell)
            declaration.cells[.collection] = [cell]
        }
    }

    static func bind(_ form: BindingDeclaration.BindingFormat, _ source: String) -> Change {
        cell { $0.bindings = [BindingDeclaration("part", form, source)] }
    }

    static let cases = [
        Case("", "must be a letter") { $0.name = "2nd" }, Case("", "must be a letter") { $0.name = "" },
        Case("prefix", "must be a letter") { $0.prefix = "a:b" }, Case("types.1", "twice") { $0.variants = ["a", "a"] },
        Case("fields.type", "is reserved") { $0.fields.append(FieldDeclaration("type", .text)) },
        Case("fields.title", "two fields") { $0.fields.append(FieldDeclaration("title", .text)) },
        Case("fields.x", "min and max are for text and number") { $0.fields.append(FieldDeclaration("x", .date, maximum: 3)) },
        Case("fields.x", "whole numbers") { $0.fields.append(FieldDeclaration("x", .text, maximum: 0)) },
        Case("fields.x", "whole numbers") { $0.fields.append(FieldDeclaration("x", .text, maximum: 1e18)) },
        Case("fields.x", "whole numbers") { $0.fields.append(FieldDeclaration("x", .text, minimum: .nan)) },
        Case("fields.x", "greater") { $0.fields.append(FieldDeclaration("x", .number, minimum: 2, maximum: 1)) },
        Case("cells", "collection, table") { $0.cells = [.table: []] },
        Case("id", "required text field") { $0.id = "city" }, Case("destination", "unknown field") { $0.destination = "nowhere" },
        Case("destination", "is of the type text, but url is expected; allowed: signup") { $0.destination = "title" },
        Case("presentation", "screen is missing") { $0.presentation = PresentationDeclaration(screen: "", arguments: []) },
        Case("presentation.arguments.part", "unknown field") {
            $0.presentation = PresentationDeclaration(screen: "S", arguments: [BindingDeclaration("part", .text, "no")])
        },
        Case("cells.collection.0", "identifier", cell { $0.identifier = "" }),
        Case("cells.collection.0", "ASCII", cell { $0.identifier = "Zelle-ü" }),
        Case("cells.collection.0.size", "points", cell { $0.size.size.width = .infinity }),
        Case("cells.collection.0.size", "fraction", cell { $0.size.fraction = 2 }),
        Case("cells.collection.0.size", "aspect", cell { $0.size.aspectRatio = 0 }),
        Case("cells.collection.0.when.colour", "unknown field", cell { $0.conditions = [FieldCondition("colour", .present(true))] }),
        Case("cells.collection.0.when.type", "unknown field", cell { $0.conditions = [FieldCondition("type", .anyOf(["a"]))] }),
        Case("cells.collection.0.when.price", "a number", cell { $0.conditions = [FieldCondition("price", .anyOf(["cheap"]))] }),
        Case("cells.collection.0.when.soldOut", "true, false", cell { $0.conditions = [FieldCondition("soldOut", .anyOf(["yes"]))] }),
        Case(
            "cells.collection.0.when.title", "only a number",
            cell { $0.conditions = [FieldCondition("title", .between(minimum: 1, maximum: 2))] }),
        Case("cells.collection.0.bind.part", "unknown field", bind(.text, "no")),
        Case("cells.collection.0.bind.part", "is of the type url, but image is expected; allowed: image", bind(.image, "signup")),
        Case("cells.collection.0.bind.part", "allowed: starts", bind(.date, "title")),
        Case("cells.collection.0.bind.part", "allowed: price", bind(.number, "title")),
        Case("cells.collection.0.bind.part", "allowed: signup", bind(.link, "title")),
        Case("cells.collection.0.bind.part", "unknown field", bind(.image, "{{image}}")),
        Case("cells.collection.0.bind.part", "a link's template", bind(.link, "{{signup}}")),
        Case("cells.collection.0.bind.part", "in a template", bind(.text, "{{no}}")),
    ]

    @Test("Errors give the path, the reason and the allowed values", arguments: cases)
    func faults(table: Case) {
        var declaration = KindFixture.event
        table.change(&declaration)
        let fault = #expect(throws: KindError.self) { try DeclaredKind(declaration) }
        #expect(fault?.path.joined(separator: ".") == table.path)
        #expect(fault?.reason.contains(table.words) == true, "\(fault?.reason ?? "")")
    }

    @Test("Commands are checked when cells are registered")
    func commands() throws {
        func fault(_ declaration: KindDeclaration, hasViewers: Bool = true) throws -> KindError? {
            var factories = try CellFactories.standard()
            let kind = try DeclaredKind(declaration)
            return #expect(throws: KindError.self) { try factories.register(kind, hasViewers: hasViewers) }
        }
        var declaration = KindFixture.event
        declaration.actions = [.selection: ["analytics", "teleport"]]
        #expect(try fault(declaration)?.path == ["actions", "selection"])
        #expect(try fault(declaration)?.reason.contains("known are analytics") == true)
        declaration.actions = [.selection: ["present"]]
        #expect(try fault(declaration)?.reason.contains("needs a presentation") == true)
        declaration.actions = [.configuration: ["analytics"]]
        #expect(try fault(declaration)?.path == ["actions", "configuration"])
        declaration.actions = [.dismissal: ["dismiss"]]
        #expect(try fault(declaration, hasViewers: false)?.path == ["actions", "dismissal"])
        declaration.actions = [:]
        declaration.prefix = "user"
        #expect(try fault(declaration)?.path == ["prefix"])
    }
}
