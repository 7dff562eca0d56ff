/// The methods the server tells apart before a request is made of the bytes.
public enum RequestMethod: Sendable {
    case get, head, post, put, patch, delete, options, connect, trace, other

    init(_ name: ByteView) {
        self =
            switch name.count {
            case 3 where name.isEqual("GET"): .get
            case 3 where name.isEqual("PUT"): .put
            case 4 where name.isEqual("HEAD"): .head
            case 4 where name.isEqual("POST"): .post
            case 5 where name.isEqual("PATCH"): .patch
            case 5 where name.isEqual("TRACE"): .trace
            case 6 where name.isEqual("DELETE"): .delete
            case 7 where name.isEqual("OPTIONS"): .options
            case 7 where name.isEqual("CONNECT"): .connect
            default: .other
            }
    }
}
