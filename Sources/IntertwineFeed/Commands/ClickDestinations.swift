import Synchronization

/// Where links lead that were clicked of late: many people click on few advertisements.
///
/// Good for one state of the store and one hour, as pages are: a URL that was changed, or an advertisement that is gone, is never served
/// from here. It holds tokens whose signature was found to be ours, and no others.
final class ClickDestinations: Sendable {
    /// A class: each click holds one for a while.
    final class Destination: Sendable {
        let token: CellToken
        let viewModel: CellViewModel

        init(token: CellToken, viewModel: CellViewModel) {
            self.token = token
            self.viewModel = viewModel
        }
    }

    struct State: Hashable {
        /// Read before the store is.
        var version: StoreVersion
        /// The hour that a view model's own tokens are of.
        var hour: UInt32
    }

    private struct Key: Hashable {
        var token: ExactText
        var hasViewer: Bool
    }

    /// Destinations kept; when there are more, all are forgotten.
    private static let capacity = 1_024

    private let known = Mutex<(state: State?, destinations: [Key: Destination])>((nil, [:]))

    func destination(of token: String, hasViewer: Bool, at state: State) -> Destination? {
        known.withLock { $0.state == state ? $0.destinations[Key(token: ExactText(token), hasViewer: hasViewer)] : nil }
    }

    func keep(_ destination: Destination, of token: String, hasViewer: Bool, at state: State) {
        known.withLock { known in
            if known.state != state || known.destinations.count >= Self.capacity { known = (state, [:]) }
            known.destinations[Key(token: ExactText(token), hasViewer: hasViewer)] = destination
        }
    }
}
