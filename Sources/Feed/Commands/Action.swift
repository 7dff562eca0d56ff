/// What a client is told about a slot of a cell.
public enum Action: Sendable, Hashable {
    /// Fill the named parts of the cell.
    case bind([Binding])
    /// Send a request. Where `templated`, the href is a URI template (RFC 6570) whose variables the client fills in.
    case request(method: String, href: String, templated: Bool = false, body: ActionValue? = nil)
    /// Open a link.
    case link(href: String)
    /// What a custom command tells its clients; the members come after `type`.
    case custom(type: String, members: [ActionValue.Member])
}
