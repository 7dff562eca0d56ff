import Foundation
import IntertwineClient
import SwiftUI

/// The rows of a feed. They are published on the main actor, so that views can show them.
@MainActor final class FeedModel: ObservableObject {
    /// A cell with a key that is unique in the list. An ad can be on several pages, so its id is not.
    struct Row: Identifiable {
        let id: Int
        let cell: FeedCell
    }

    @Published private(set) var rows: [Row] = []
    @Published private(set) var message: String?
    private let list: FeedList

    init(server: URL) {
        list = FeedList(client: FeedClient(base: server))
    }

    /// Loads the next page, and publishes all loaded cells.
    func loadNext() async {
        do {
            try await list.loadNext()
            rows = await list.sections.flatMap { section in zip(section.keys, section.cells).map(Row.init) }
            message = nil
        } catch {
            message = "The feed cannot be loaded: \(error)"
        }
    }
}
