import Foundation
import Glibc
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Images in folders and buckets", .timeLimit(.untilStuck))
struct ImageSourceTests {
    private func place(_ prefix: String, _ store: ImageSource.Store) throws -> ImageSource {
        try #require(ImageSource(prefix: try FetchURL(prefix), store: store))
    }

    @Test("Files of a folder are served like origin responses: typed by content, cached, and revalidated")
    func folder() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/a b", withIntermediateDirectories: true)
        let path = folder.path + "/a b/1.png"
        try Data(TestImage.png(1)).write(to: URL(fileURLWithPath: path))
        let place = try place("http://pictures.example/x/", .folder(try #require(SandboxedDirectory(folder.path))))
        let house = try House([]) { $0.sources = [place] }
        let source = "http://pictures.example/x/a%20b/1.png?v=1"
        let got = try await house.get(source)
        #expect(got.status == 200 && got.body == TestImage.png(1) && got.headers["Content-Type"] == "image/png", "\(got)")
        #expect(try await house.get(source).outcome.outcome == .hit)
        house.pass(100_000)
        #expect(try await house.get(source).outcome.outcome == .revalidated)
        try Data(TestImage.png(2)).write(to: URL(fileURLWithPath: path))
        house.pass(100_000)
        #expect(try await house.get(source).body == TestImage.png(2))
        for name in ["none.png", String(repeating: "n", count: 300) + ".png"] {
            #expect(try await house.get("http://pictures.example/x/\(name)").status == 404)
        }
        #expect(try await house.get("http://pictures.example/y/1.png").failure?.code == "port-denied")
        await house.stop()
    }

    @Test("No path leads out of the folder: no dot segment, link or encoding; only files are read")
    func confined() async throws {
        let folder = TemporaryFolder()
        let inside = folder.path + "/inside"
        try FileManager.default.createDirectory(atPath: inside + "/sub", withIntermediateDirectories: true)
        try Data(TestImage.png()).write(to: URL(fileURLWithPath: folder.path + "/secret.png"))
        try Data(TestImage.png()).write(to: URL(fileURLWithPath: inside + "/good.png"))
        for (link, target) in [
            ("out.png", "../secret.png"), ("far.png", folder.path + "/secret.png"), ("up", ".."), ("near.png", "good.png"),
        ] {
            #expect(symlink(target, "\(inside)/\(link)") == 0)
        }
        #expect(mkfifo(inside + "/fifo", 0o600) == 0)
        let place = try place("http://pictures.example/", .folder(try #require(SandboxedDirectory(inside))))
        let house = try House([]) {
            $0.sources = [place]
            $0.limits.bodyBytes = 3_000
        }
        try Data(TestImage.png(1, bytes: 3_001)).write(to: URL(fileURLWithPath: inside + "/large.png"))
        #expect(try await house.get("http://pictures.example/good.png").status == 200)
        for (name, status) in [
            ("out.png", 403), ("far.png", 403), ("up/secret.png", 403), ("near.png", 403), ("%2e%2e/secret.png", 403),
            ("..%2fsecret.png", 403),
            ("sub/%2E%2E/%2E%2E/secret.png", 403), ("a%00b", 403), ("sub//good.png", 403), ("sub", 403), ("fifo", 403), ("", 403),
            ("good.png/x", 404), ("large.png", 502),
        ] {
            let got = try await house.get("http://pictures.example/\(name)")
            #expect(got.status == status && got.body.isEmpty, "\(name): \(got)")
        }
        #expect(SandboxedDirectory("relative") == nil)
        await house.stop()
    }

    /// The example that Amazon's documentation of signatures for S3 gives.
    @Test("A version 4 signature equals Amazon's example")
    func signature() {
        let credentials = S3Bucket.Credentials(accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let fields = [
            ("host", "examplebucket.s3.amazonaws.com"), ("range", "bytes=0-9"), ("x-amz-date", "20130524T000000Z"),
            ("x-amz-content-sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ]
        let authorization = S3Bucket.authorization(credentials, "us-east-1", path: "/test.txt", fields, "20130524T000000Z")
        #expect(authorization.hasSuffix("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"), "\(authorization)")
        #expect(authorization.contains("SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"))
    }

    @Test("An object of a bucket is requested with a signature that is not exposed", arguments: [true, false])
    func bucket(_ isSigned: Bool) async throws {
        let elsewhere = try Origin { _, connection in connection.answer(200, body: TestImage.png(2)) }
        defer { elsewhere.stop() }
        let origin = try Origin { request, connection in
            if request.path.hasSuffix("moved") { return connection.answer(307, ["Location: \(elsewhere.url("/x"))"]) }
            connection.answer(200, ["ETag: \"1\""], body: TestImage.png(1))
        }
        defer { origin.stop() }
        let credentials = isSigned ? S3Bucket.Credentials(accessKey: "key", secret: "secret", token: "token") : nil
        let bucket = S3Bucket(endpoint: try FetchURL(origin.url("/bucket/")), region: "eu-central-1", credentials: credentials)
        let place = try place("https://media.example/", .bucket(bucket))
        let house = try House([origin, elsewhere]) { $0.sources = [place] }
        #expect(try await house.get("https://media.example/a%2Bb/%C3%BC%20(1).png").body == TestImage.png(1))
        let request = try #require(origin.requests.first)
        #expect(request.path == "/bucket/a%2Bb/%C3%BC%20%281%29.png")
        #expect(
            (request.headers["authorization"]?.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=key/20270115/eu-central-1/s3/aws4_request, SignedHeaders=host;") == true) == isSigned)
        #expect(request.headers["x-amz-date"] == (isSigned ? "20270115T080000Z" : nil))
        #expect(request.headers["x-amz-security-token"] == (isSigned ? "token" : nil))
        // The key of an object is one name: slashes may follow each other, begin it and end it.
        for key in ["a//b.png", "/a.png", "a///b//", "a/"] {
            #expect(try await house.get("https://media.example/\(key)").body == TestImage.png(1), "\(key)")
            #expect(origin.requests.last?.path == "/bucket/\(key)")
        }
        #expect(try await house.get("https://media.example/").status == 403)
        #expect(try await house.get("https://media.example/moved").body == TestImage.png(2))
        #expect(
            elsewhere.requests.first?.headers["authorization"] == nil && elsewhere.requests.first?.headers["x-amz-security-token"] == nil)
        await house.stop()
    }
}
