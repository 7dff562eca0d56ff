import Foundation
import Testing

@testable import IntertwineClient

@Suite struct ImageLoaderTests {
    private static func imageCell(_ id: String, _ binding: [String: JSONValue]) -> FeedCell {
        var cancellation = request("DELETE", "/images/requests/{request}").object ?? [:]
        cancellation["templated"] = .boolean(true)
        return cell(
            id,
            actions: [
                "configuration": .object(["type": .text("bind"), "bindings": .object(["avatar": .object(binding)])]),
                "cancellation": .object(cancellation),
            ])
    }

    private func loader(_ server: FaultyServer, maxConcurrentRequests: Int = 4) -> ImageLoader {
        var settings = ImageLoader.Settings()
        settings.maxConcurrentRequests = maxConcurrentRequests
        return ImageLoader(client: FeedClient(base: server.base, retry: .never), settings: settings)
    }

    @Test func thePlaceholderComesFirstAndTheScaleFits() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, "bytes", fields: ["Content-Type: image/webp"]) }
        defer { server.stop() }
        let cell = Self.imageCell(
            "user:a",
            [
                "type": .text("image"), "href": .text("/images/s/x/40x40"), "color": .text("#a1b2c3"), "placeholder": .text("AQI="),
                "scales": .array([.number(1), .number(2), .number(3)]),
            ])
        let loader = loader(server)
        var parts: [CellImage] = []
        for await part in loader.images(for: cell, scale: 2) { parts.append(part) }
        #expect(
            parts == [
                .placeholder(part: "avatar", color: "#a1b2c3", thumbHash: Data([1, 2])),
                .image(part: "avatar", data: Data("bytes".utf8), type: "image/webp"),
            ])
        #expect(server.requests.map(\.target) == ["/images/s/x/40x40@2x"])
        #expect(server.requests.first?.fields["accept"]?.hasPrefix("image/avif, image/webp;q=0.9") == true)
        for await _ in loader.images(for: cell, scale: 2) {}
        #expect(server.requests.count == 1, "the image is cached")
    }

    @Test func requestsAreCoalescedAndCancelledWithTheLastWaiter() async throws {
        let server = FaultyServer { request, _ in request.method == "DELETE" ? FaultyServer.respond(204) : [.awaitClose] }
        defer { server.stop() }
        let loader = loader(server)
        let tasks = ["user:a", "user:b"].map { id in
            Task { for await _ in loader.images(for: Self.imageCell(id, ["type": .text("image"), "href": .text("/images/x")])) {} }
        }
        await server.events.first { _ in true }
        tasks[0].cancel()
        await tasks[0].value
        #expect(server.requests.count == 1, "another caller waits")
        tasks[1].cancel()
        await tasks[1].value
        var (hasClosed, hasCancelled) = (false, false)
        for await event in server.events {
            switch event {
            case .closed: hasClosed = true
            case .request(let request):
                #expect(request.target == "/images/requests/\(server.requests[0].fields["x-request-id"] ?? "")")
                hasCancelled = true
            }
            if hasClosed, hasCancelled { break }
        }
    }

    @Test func visibleImagesAreLoadedFirst() async throws {
        let server = FaultyServer { request, number in
            number == 0 ? [.hold] + FaultyServer.respond(200, "x") : FaultyServer.respond(200, "x")
        }
        defer { server.stop() }
        let loader = loader(server, maxConcurrentRequests: 1)
        func load(_ id: String, _ priority: ImagePriority) -> Task<Void, Never> {
            Task {
                for await _ in loader.images(
                    for: Self.imageCell(id, ["type": .text("image"), "href": .text("/images/\(id)")]), priority: priority)
                {}
            }
        }
        let first = load("first", .visible)
        await server.events.first { _ in true }
        var tasks = [first]
        for (count, (id, priority)) in [("far", ImagePriority.prefetched), ("near", .near), ("gone", .visible), ("seen", .near)]
            .enumerated()
        {
            tasks.append(load(id, priority))
            while await loader.queuedCount < count + 1 { await Task.yield() }
        }
        tasks[3].cancel()
        await tasks[3].value
        while await loader.queuedCount > 3 { await Task.yield() }
        await loader.setPriority(.visible, of: Self.imageCell("seen", [:]))
        server.release()
        for task in tasks { await task.value }
        #expect(server.requests.map(\.target) == ["/images/first", "/images/seen", "/images/near", "/images/far"])
    }

    @Test func prefetchedAndProcessedImagesAreCached() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, "bytes", fields: ["Content-Type: image/webp"]) }
        defer { server.stop() }
        var settings = ImageLoader.Settings()
        let (ends, end) = AsyncStream<Void>.makeStream()
        settings.processors = [
            { LoadedImage(data: $0.data + Data("!".utf8), type: "image/png") },
            { image in
                end.yield()
                guard server.requests.count == 1 else { throw CocoaError(.coderInvalidValue) }
                return image
            },
        ]
        let loader = ImageLoader(client: FeedClient(base: server.base, retry: .never), settings: settings)
        let cell = Self.imageCell("user:a", ["type": .text("image"), "href": .text("/images/x")])
        await loader.prefetch([cell])
        for await _ in ends { break }
        var parts: [CellImage] = []
        for await part in loader.images(for: cell) { parts.append(part) }
        #expect(parts == [.image(part: "avatar", data: Data("bytes!".utf8), type: "image/png")])
        #expect(server.requests.count == 1)
        parts = []
        await loader.removeAll()
        for await part in loader.images(for: cell) { parts.append(part) }
        guard case .failed(_, .invalidResponse)? = parts.first else { throw URLError(.unknown) }
    }

    @Test func cancelledPrefetchingEndsTheRequest() async throws {
        let server = FaultyServer { request, _ in request.method == "DELETE" ? FaultyServer.respond(204) : [.awaitClose] }
        defer { server.stop() }
        let loader = loader(server)
        let cell = Self.imageCell("user:a", ["type": .text("image"), "href": .text("/images/x")])
        await loader.prefetch([cell])
        await server.events.first { _ in true }
        await loader.cancelPrefetching([cell])
        await server.events.first { if case .closed = $0 { true } else { false } }
    }

    @Test func aMissingImageIsReported() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(404) }
        defer { server.stop() }
        var parts: [CellImage] = []
        for await part in loader(server).images(for: Self.imageCell("user:a", ["type": .text("image"), "href": .text("/images/x")])) {
            parts.append(part)
        }
        #expect(parts == [.failed(part: "avatar", .refused(FeedProblem(title: "The server answered 404", status: 404)))])
    }
}
