/// Why a server does not start. The description is one line for the operator.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidConfiguration(String)
    /// The host is not an address of this machine in numbers.
    case unknownAddress(String)
    /// Somebody else listens there.
    case addressInUse(String)
    /// Anything else the kernel refuses.
    case cannotListen(String)

    public var description: String {
        switch self {
        case .invalidConfiguration(let reason): reason
        case .unknownAddress(let host): "can not listen on \(host): it is not an address of this machine"
        case .addressInUse(let address): "can not listen on \(address): the port is in use"
        case .cannotListen(let reason): "can not listen on \(reason)"
        }
    }
}
