import Testing

@testable import IntertwinePrimitives

@Suite("Accepted values with weights (RFC 9110, 12.4.2)")
struct WeightedMembersTests {
    /// Each member as its name, `=` and its weight; `?` for a weight that is none.
    private func read(_ field: String, limit: Int = 32) -> String {
        let bytes = Array(field.utf8)
        var members: [String] = []
        bytes.span.forEachWeightedMember(limit: limit) { name, weight in
            members.append(String(decoding: name) + "=" + (weight.map(String.init) ?? "?"))
            return true
        }
        return members.joined(separator: " ")
    }

    @Test(
        "Names, and weights in thousandths",
        arguments: [
            ("", ""), (" , ,", ""), ("gzip", "gzip=1000"), ("de;q=0.5,\t*;q=0 ", "de=500 *=0"), ("a ; Q=0.125 ; x", "a=125"),
            ("text/html;level=1;q=0.7", "text/html=700"), ("a;q=1.000, b;q=1., c;q=0.", "a=1000 b=1000 c=0"), (";q=1, a", "a=1000"),
            ("a;x=\"1,2;q=0\";q=0.3, b", "a=300 b=1000"), ("a;x=\"open, b;q=0", "a=1000"), ("a;q=0.5;q=0.1", "a=500"),
        ])
    func members(_ field: String, _ members: String) { #expect(read(field) == members) }

    @Test(
        "An invalid weight is reported as missing", arguments: ["", "2", "1.5", "-1", "x", ".5", "0.x", "0.5x", "00", "1e-1", " 0.5"])
    func faults(_ weight: String) { #expect(read("a;q=\(weight)").hasPrefix("a=?")) }

    @Test(
        "Too many digits still distinguish zero from other weights", arguments: [("0.0000", 0), ("0.00001", 1), ("0.12399", 123)])
    func digits(_ weight: String, _ thousandths: Int) { #expect(read("a;q=\(weight)") == "a=\(thousandths)") }

    @Test("Members beyond the limit are ignored")
    func limit() {
        #expect(read("a,b,,c,d", limit: 4) == "a=1000 b=1000 c=1000")
        #expect(read((0..<1_000).map(String.init).joined(separator: ",")).split(separator: " ").count == 32)
    }
}
