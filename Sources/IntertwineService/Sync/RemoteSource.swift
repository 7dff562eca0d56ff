internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage

struct RemoteSource: Sendable {
    static let nameLimit = 64

    var name: String
    var url: FetchURL
    var kind: any ItemKind
    var fields: FieldMapping?
    var conditions: [SourceCondition] = []
    var items: JSONPointer
    var key: String?
    var next: NextPage = .none
    var headers = HTTPFields()
    var interval: Duration = .seconds(300)
    var policy = BadItemPolicy.stop
    var removable = 0.5
    var pageLimit = 1_000
    var itemLimit = 2_000_000
    var byteLimit = 1 << 30
    var deadline: Duration = .seconds(300)

    static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    var shownURL: String { url.withoutQuery }
}
