import Synchronization

@testable import IntertwineFeed

struct TestFailure: Error, Hashable {}

/// The effects of test commands outside the context, like those of commands that call other systems.
final class Effects: Sendable {
    private let log = Mutex<[String]>([])

    var all: [String] { log.withLock { $0 } }

    func note(_ effect: String) {
        log.withLock { $0.append(effect) }
    }
}

/// Fails after a change to the context.
struct FailingCommand: Command {
    let name: String

    func perform(in context: inout CommandContext) async throws {
        context.record(.save)
        context.presentation = Presentation(screen: "never", arguments: [])
        await Task.yield()
        throw TestFailure()
    }
}

/// Has external effects, and undoes them by its record.
struct RemoteCommand: UndoableCommand {
    let name: String
    let effects: Effects
    var undoFails = false

    func perform(in context: inout CommandContext) async throws {
        await Task.yield()
        effects.note("+\(name)")
        context.recordUndo(Array("receipt of \(name)".utf8))
    }

    func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        await Task.yield()
        if undoFails { throw TestFailure() }
        effects.note("-\(String(decoding: record, as: UTF8.self))")
    }
}
