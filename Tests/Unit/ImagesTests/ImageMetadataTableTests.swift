import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Image metadata")
struct ImageMetadataTableTests {
    private static func facts(_ number: Int) -> ImageMetadata {
        ImageMetadata(
            width: 1_600 + number, height: 12_000, frames: 1, hasAlpha: number % 2 == 1, color: "#0a1b2c",
            thumbHash: (0..<25).map { UInt8(truncatingIfNeeded: number + $0) })
    }

    @Test("Metadata survives a restart, except in a damaged file, and is removed with its image")
    func files() throws {
        let folder = TemporaryFolder()
        let first = ImageMetadataTable(folder: folder.path, capacity: 100)
        let version = first.version
        for number in 0..<40 { first.learn("http://example.com/\(number)", Self.facts(number), of: "1") }
        #expect(first.version > version)
        first.close()
        let second = ImageMetadataTable(folder: folder.path, capacity: 100)
        second.close()
        for number in 0..<40 { #expect(second.facts(of: "http://example.com/\(number)") == Self.facts(number)) }
        second.forget(.source("http://example.com/5"))
        second.close()
        let third = ImageMetadataTable(folder: folder.path, capacity: 100)
        third.close()
        #expect(third.facts(of: "http://example.com/5") == nil && third.facts(of: "http://example.com/6") == Self.facts(6))
        var bytes = try #require(FileBytes.read(folder.path + "/facts"))
        bytes[72 * 3 + 20] ^= 1
        #expect(FileBytes.write(bytes, to: folder.path + "/facts") == nil)
        let fourth = ImageMetadataTable(folder: folder.path, capacity: 100)
        fourth.close()
        #expect(fourth.facts(of: "http://example.com/6") == nil)
        third.forget(.all)
        third.close()
        #expect(third.facts(of: "http://example.com/6") == nil && FileBytes.facts(of: folder.path + "/facts")?.bytes == 4)
    }

    @Test("The first metadata of a content is stored, and replaced for another content")
    func corrections() throws {
        let folder = TemporaryFolder()
        let source = "http://example.com/1"
        let first = ImageMetadataTable(folder: folder.path, capacity: 100)
        first.learn(source, Self.facts(1), of: "\"a\"")
        first.learn(source, Self.facts(2), of: "\"a\"")
        #expect(first.facts(of: source) == Self.facts(1) && first.revision == 0)
        first.close()
        let second = ImageMetadataTable(folder: folder.path, capacity: 100)
        second.close()
        second.learn(source, Self.facts(2), of: "\"a\"")
        #expect(second.facts(of: source) == Self.facts(1) && second.revision == 0)
        second.learn(source, Self.facts(1), of: "\"b\"")
        #expect(second.revision == 0)
        second.learn(source, Self.facts(3), of: "\"c\"")
        #expect(second.facts(of: source) == Self.facts(3) && second.revision == 1)
        second.forget(.source(source))
        #expect(second.facts(of: source) == nil && second.revision == 2)
    }

    @Test("Metadata is bounded in memory and on disk, and used entries stay")
    func bounds() throws {
        let folder = TemporaryFolder()
        let table = ImageMetadataTable(folder: folder.path, capacity: 100)
        for number in 0..<5_000 {
            table.learn("http://example.com/\(number)", Self.facts(number % 100), of: "\(number)")
            #expect(table.facts(of: "http://example.com/0") != nil)
        }
        table.close()
        #expect((0..<5_000).count { table.facts(of: "http://example.com/\($0)") != nil } <= 101)
        #expect(try #require(FileBytes.facts(of: folder.path + "/facts")?.bytes) <= 72 * 101)
    }
}
