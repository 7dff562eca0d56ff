import Foundation
import IntertwineService
import ServiceLifecycle

/// Orders a dish with the guest's input. A sold-out dish is refused.
struct Order: InputCommand {
    struct Input: Codable {
        var portions: Int
        var note: String?
    }

    let name = "order"
    let needs: CommandRequirements = .viewer
    let inputFields = [FieldDeclaration("portions", .number, minimum: 1, maximum: 12, label: "Portions")]
    let refusals = [Refusal(.conflict, "The kitchen has too many orders.")]
    let orders: OrderQueue

    func perform(_ input: Input, in context: inout CommandContext) async throws {
        guard await orders.append(context.cell, input.portions, input.note) else { throw refusals[0] }
    }
}

/// The orders that the kitchen has not completed.
actor OrderQueue {
    struct Entry: Codable, Sendable {
        let number: Int
        let dish: String
        let portions: Int
        let note: String?
    }

    private static let limit = 3

    /// The dishes of new orders, for the printer.
    nonisolated let printed: AsyncStream<Entry>
    private let continuation: AsyncStream<Entry>.Continuation
    private var entries: [Entry] = []
    private var count = 0

    init() { (printed, continuation) = AsyncStream.makeStream() }

    var first: Entry? { entries.first }

    /// Appends an order; returns false if there are too many.
    func append(_ dish: String, _ portions: Int, _ note: String?) -> Bool {
        guard entries.count < Self.limit else { return false }
        count += 1
        let entry = Entry(number: count, dish: dish, portions: portions, note: note)
        entries.append(entry)
        continuation.yield(entry)
        return true
    }

    func remove(_ number: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
        entries.remove(at: index)
        return true
    }
}

/// Prints the orders: a service beside the feed.
struct OrderPrinter: Service {
    let orders: OrderQueue

    func run() async throws {
        for await order in orders.printed.cancelOnGracefulShutdown() {
            print("order \(order.number): \(order.portions) × \(order.dish)")
            fflush(nil)
        }
    }
}
