import IntertwineFeed
import IntertwinePrimitives

private let tellingBytes = Array(#"{}[]",:\/ untfa0123456789-+.eE"#.utf8) + [0, 0x0A, 0x0D, 0x1F, 0x7F, 0x80, 0xC3, 0xED, 0xEF, 0xF0, 0xFF]

private let user =
    #"{"kind":"user","id":"a","username":"Käthe \uD83D\uDE00","avatarUrl":"http://a/1.png","type":"regular","more":[1.5e3,null,{}]}"#
private let advertisement =
    #"{"kind":"ad","type":"image","title":"Tea","imageUrl":"https://a/2.png","clickthroughUrl":"https://a/?x=\u00e9"}"#

/// Files of items, as imports and `POST /admin/import` read them.
struct ItemFileFuzz: FuzzTarget {
    let name = "items"
    let corpus = [
        "[\(user),\(advertisement)]", "\(user)\n\(advertisement)\n", "\u{FEFF}[\n\(user) ,\n\(user)]", "[]", #"{"items":[\#(user)]}"#,
        "[1,[[]],\(user)]",
        [user, advertisement, user].map { $0.replacing("{", with: "{\n ").replacing(",", with: ",\n ") }.joined(separator: "\n"),
    ].map { Array($0.utf8) }
    let telling = tellingBytes

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        var reader = ItemReader(kinds: .standard)
        var found: [String] = []
        var fed = 0
        while true {
            switch reader.next() {
            case .item(let item): found.append(item.id)
            case .bad(let item): found.append("\(item.line): \(item.error)")
            case .unreadable(let fault): found.append("unreadable: \(fault)")
            case .finished: return "\(found)"
            case .needsBytes:
                if fed == input.count { reader.end() }
                let end = min(input.count, cut(fed))
                reader.append(input[fed..<end])
                fed = end
            }
        }
    }
}

/// Pages of remote sources.
struct RemotePageFuzz: FuzzTarget {
    let name = "remote pages"
    let corpus = [
        #"{"data":{"users":[\#(user),\#(user)]},"next":"abc"}"#, #"{"next":12,"data":{"users":[]}}"#,
        #"{"data":{"users":[{"id":1}],"users":[]}}"#,
        #"{"a":{"b":[[1,{"c":"\\"}]]},"data":{"x":0,"users":[\#(user)]},"next":null}"#,
    ].map { Array($0.utf8) }
    let telling = tellingBytes
    private let items: JSONPointer
    private let next: JSONPointer

    init() {
        guard let items = JSONPointer("/data/users"), let next = JSONPointer("/next") else { preconditionFailure("these are pointers") }
        (self.items, self.next) = (items, next)
    }

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        var found: [String] = []
        do {
            let page = try RemotePage(input, items: items, cursor: next)
            try page.forEachItem(of: UserKind(), nil) { found.append(String(describing: $0)) }
            return "\(found) \(page.cursor ?? "")"
        } catch {
            return "\(found) \(error)"
        }
    }
}
