import Testing

@testable import IntertwineFeed

@Suite("Numbers of items")
struct NumberTextTests {
    @Test(
        "equal numbers have one spelling, however they came",
        arguments: [
            (["0", "-0", "0.0", "-0.0e5"], "0"), (["12", "12.0", "1.2e1", "120e-1"], "12"), (["12.5", "125e-1"], "12.5"),
            (["9007199254740992", "9007199254740992.0"], "9007199254740992"), (["1e16", "10000000000000000"], "10000000000000000"),
            (["1e20", "100000000000000000000", "100000000000000000000.0"], "100000000000000000000"),
            (["-1e19", "-10000000000000000000"], "-10000000000000000000"), (["1e21", "1000000000000000000000"], "1e+21"),
        ])
    func canonical(texts: [String], expected: String) throws {
        for text in texts { #expect(NumberText.canonical(Array(text.utf8)[...])?.text == expected, "\(text)") }
    }

    @Test(
        "cells spell a number as it is stored",
        arguments: ["9007199254740992", "100000000000000000000", "-10000000000000000000", "1e+21", "12.5"])
    func written(text: String) throws {
        var writer = JSONWriter(capacity: 32)
        writer.write(try #require(Double(text)))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test("what no double holds is refused")
    func tooLarge() {
        #expect(NumberText.canonical(Array("1e309".utf8)[...]) == nil)
    }
}
