/// Why a path is no picture's.
public enum ImageURLFault: Error, Sendable, Hashable {
    /// Not of the form of a picture's path at all: 404.
    case malformed
    /// Not minted here, or altered since: 403.
    case forged
    /// Genuine once: 410.
    case expired

    public var status: Int {
        switch self {
        case .malformed: 404
        case .forged: 403
        case .expired: 410
        }
    }
}
