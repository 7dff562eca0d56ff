/// Why a request can not be understood. Always the end of its connection: after it nobody knows where the next request starts.
package struct HTTPParseError: Error, Hashable {
    /// The status of the answer.
    package let status: Int
    /// What is wrong, for the client. Never holds bytes of the request.
    package let detail: String

    init(_ status: Int, _ detail: StaticString) {
        self.status = status
        self.detail = detail.description
    }

    static func bad(_ detail: StaticString) -> HTTPParseError { HTTPParseError(400, detail) }
}
