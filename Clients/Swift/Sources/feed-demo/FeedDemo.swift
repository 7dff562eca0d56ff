import Foundation
import IntertwineClient

/// Shows a feed in a terminal: `feed-demo [URL] [--pages N] [--viewer NAME] [--follow]`.
@main
struct FeedDemo {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            try await show(options)
        } catch {
            FileHandle.standardError.write(Data("feed-demo: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func show(_ options: Options) async throws {
        let registry = textCells()
        var client = FeedClient(base: options.base, viewer: options.viewer)
        client.capabilities = registry.capabilities
        let list = FeedList(client: client, url: client.url(feed: options.feed))
        for _ in 0..<options.pages {
            guard try await list.loadNext() else { break }
        }
        for try await update in list.updates(every: 2) {
            print(lines(of: update, registry).joined(separator: "\n"))
            if !options.follows { break }
        }
    }

    private static func lines(of update: FeedUpdate, _ registry: CellRegistry<TextView>) -> [String] {
        var lines = [
            "— \(update.insertions.count) inserted, \(update.deletions.count) removed, \(update.moves.count) moved, "
                + "\(update.reconfigurations.count) reconfigured —"
        ]
        for section in update.sections {
            for cell in [section.header].compactMap({ $0 }) + section.cells {
                let size = registry.size(of: cell, within: 640)
                guard let view = registry.dequeue(cell) else { continue }
                registry.bind(cell, to: view)
                lines.append("\(Int(size.width))x\(Int(size.height))  ".padding(toLength: 10, withPad: " ", startingAt: 0) + view.text)
                registry.recycle(view, of: cell)
            }
        }
        return lines
    }
}

/// A view that shows a cell in a terminal.
final class TextView {
    var text = ""
}

private func described(_ binding: CellBinding) -> String? {
    switch binding.value {
    case .text(let text): text
    case .date(let date): date.formatted(.iso8601)
    case .number(let number): "\(number)"
    case .link(let url): url.absoluteString
    case .image, .media, nil: nil
    }
}

/// Returns the views of the sample feed's cells, and a fallback for all others.
func textCells() -> CellRegistry<TextView> {
    let registry = CellRegistry<TextView>()
    registry.register("CircularUserCollectionViewCell", make: TextView.init) { view, cell in
        view.text = "(\(cell.bindings["username"]?.text ?? "?"))"
    }
    registry.register("UserSnapshotCollectionViewCell", make: TextView.init) { view, cell in
        view.text = "[\(cell.bindings["username"]?.text ?? "?")]"
    }
    registry.register("AdvertisementCollectionViewCell", make: TextView.init) { view, cell in
        view.text = "ad  \(cell.id)"
    }
    registry.registerFallback(make: TextView.init) { view, cell in
        let parts = cell.bindings.sorted { $0.key < $1.key }.compactMap { described($1) }
        view.text = "\(cell.isSectionHeader ? "#" : "·") \(parts.isEmpty ? cell.id : parts.joined(separator: ", "))"
    }
    return registry
}

private struct Options {
    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    var base = URL(fileURLWithPath: "/")
    var feed: String?
    var viewer: String?
    var pages = 1
    var follows = false

    init(_ arguments: some Sequence<String>) throws {
        var address = "http://127.0.0.1:8080"
        var rest = Array(arguments)[...]
        func value(_ name: String) throws -> String {
            guard let value = rest.popFirst() else { throw UsageError(description: "\(name) requires a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--follow": follows = true
            case "--feed": feed = try value(argument)
            case "--viewer": viewer = try value(argument)
            case "--pages":
                guard let number = Int(try value(argument)), number > 0 else {
                    throw UsageError(description: "--pages requires a number of at least 1")
                }
                pages = number
            default:
                guard !argument.hasPrefix("-") else { throw UsageError(description: "unknown option \(argument)") }
                address = argument
            }
        }
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme) else {
            throw UsageError(description: "\(address) is not an http or https URL")
        }
        base = url
    }
}
