/// How far a fetch has come.
public enum FetchStage: String, Sendable, Hashable, CaseIterable, Comparable {
    case resolving, connecting, headers, body

    private var order: Int {
        switch self {
        case .resolving: 0
        case .connecting: 1
        case .headers: 2
        case .body: 3
        }
    }

    public static func < (left: FetchStage, right: FetchStage) -> Bool { left.order < right.order }
}
