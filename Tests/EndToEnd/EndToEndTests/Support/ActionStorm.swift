import Dispatch
import Foundation
import Synchronization
import TestSupport

/// Clients that click, select, dismiss and undo as fast as they are answered, each time as another viewer, until the service is gone.
final class ActionStorm: Sendable {
    /// Something that an answer said is done.
    struct Done: Hashable {
        /// As the ledger calls it.
        var kind: String
        var viewer: String
    }

    private struct State {
        var done: Set<Done> = []
        /// Where selections can still be undone, and by whom: their answers came, and nobody asked for it.
        var undoable: [(href: String, viewer: String)] = []
        var undone: [(href: String, viewer: String)] = []
    }

    private let click: String
    private let port: UInt16
    private let state = Mutex(State())
    private let enough = DispatchSemaphore(value: 0)
    private let group = DispatchGroup()

    /// - Parameters:
    ///   - click: the path of a clickthrough link.
    ///   - name: begins the viewers' names.
    ///   - enough: how many answers ``untilAnswered()`` waits for.
    init(port: UInt16, click: String, clients: Int, name: String, enough: Int) {
        self.port = port
        self.click = click
        for client in 0..<clients {
            DispatchQueue(label: "client \(client)").async(group: group) { [self] in
                // An answer that does not come, or not whole, promises nothing.
                try? run(name: "\(name)-c\(client)", enough: enough)
            }
        }
    }

    private func run(name: String, enough: Int) throws {
        let connection = try RawClient(port: port)
        for number in 0... {
            let viewer = "\(name)-n\(number)"
            switch number % 4 {
            case 0, 1:
                try ask(connection, "GET", click, viewer, 302)
                note("click", viewer, enough)
            case 2:
                let answer = try ask(connection, "POST", "/cells/user:u1/selection", viewer, 200)
                note("selection", viewer, enough)
                guard let href = try JSON(answer.text)["undo"]?["href"]?.text else { throw RawClientError.closed }
                try ask(connection, "DELETE", href, viewer, 200)
                note("undo", viewer, enough)
                state.withLock { $0.undone.append((href, viewer)) }
            default:
                let answer = try ask(connection, "POST", "/cells/user:u2/dismissal", viewer, 200)
                note("dismissal", viewer, enough)
                guard let href = try JSON(answer.text)["undo"]?["href"]?.text else { throw RawClientError.closed }
                state.withLock { $0.undoable.append((href, viewer)) }
            }
        }
    }

    @discardableResult
    private func ask(_ connection: RawClient, _ method: String, _ path: String, _ viewer: String, _ status: Int) throws -> RawResponse {
        let response = try RunningService.ask(connection, method, path, fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
        guard response.status == status else { throw RawClientError.closed }
        return response
    }

    private func note(_ kind: String, _ viewer: String, _ enough: Int) {
        let count = state.withLock { state in
            state.done.insert(Done(kind: kind, viewer: viewer))
            return state.done.count
        }
        if count == enough { self.enough.signal() }
    }

    /// Waits until so many requests have been answered; false where that took too long.
    func untilAnswered() -> Bool {
        enough.wait(timeout: .now() + 30) == .success
    }

    /// What was answered, once all clients have noticed that the service is gone; and one of the selections that can be undone, and one
    /// that was.
    func finish() -> (done: Set<Done>, undoable: (href: String, viewer: String)?, undone: (href: String, viewer: String)?) {
        group.wait()
        return state.withLock { ($0.done, $0.undoable.last, $0.undone.last) }
    }
}
