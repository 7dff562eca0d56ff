import Glibc
import Testing

@testable import IntertwineHTTPServer

@Suite("Descriptors on an event loop")
struct DescriptorTests {
    @Test("Readiness is reported until the registration ends")
    func readiness() async throws {
        try await withLoop { loop in
            let ends = try Ends()
            let (events, event) = AsyncStream<UInt8>.makeStream()
            let handler = ClosureHandler(ready: { _, ready in
                if ready.contains(.readable), let byte = ends.receive() { event.yield(byte) }
            })
            try await loop.run { handler.registration = try loop.register(ends.one, for: .readable, handler: handler) }
            var iterator = events.makeAsyncIterator()
            for byte in UInt8(0)..<50 {
                ends.send(byte)
                #expect(await iterator.next() == byte)
            }
            try await loop.run { handler.registration.map(loop.deregister) }
            ends.send(99)
            try await look(of: loop)
            event.finish()
            #expect(await iterator.next() == nil)
        }
    }

    @Test("A descriptor that the handler of another ready one deregisters is not called", arguments: [false, true])
    func takenOut(isForgotten: Bool) async throws {
        try await withLoop { loop in
            let (one, two) = (try Ends(), try Ends())
            let calls = Confined<[Int]>([])
            let handlers = Confined<[ClosureHandler]>([])
            for number in 0..<2 {
                handlers.value.append(
                    ClosureHandler(ready: { _, _ in
                        calls.value.append(number)
                        for handler in handlers.value {
                            guard let registration = handler.registration else { continue }
                            if isForgotten { loop.forget(registration) } else { loop.deregister(registration) }
                        }
                    }))
            }
            try await loop.run {
                for (ends, handler) in zip([one, two], handlers.value) {
                    ends.send()
                    handler.registration = try loop.register(ends.one, for: .readable, handler: handler)
                }
            }
            try await look(of: loop)
            #expect(try await loop.run { calls.value.count } == 1)
        }
    }

    @Test("The interest of a descriptor can change in its handler")
    func changed() async throws {
        try await withLoop { loop in
            let ends = try Ends(ofConnection: true)
            let (events, event) = AsyncStream<ReadyEvents>.makeStream()
            let handler = ClosureHandler(ready: { handler, ready in
                event.yield(ready)
                guard let registration = handler.registration else { return }
                // Nothing has been read: it would be reported again.
                try? loop.update(registration, for: ready == .readable ? .writable : [])
            })
            try await loop.run { handler.registration = try loop.register(ends.one, for: .readable, handler: handler) }
            ends.send()
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .readable)
            #expect(await iterator.next() == .writable)
            try await look(of: loop)
            event.finish()
            #expect(await iterator.next() == nil)
            try await loop.run { handler.registration.map(loop.deregister) }
        }
    }

    @Test("A handler can be replaced on the same descriptor")
    func handedOver() async throws {
        try await withLoop { loop in
            let ends = try Ends()
            let (events, event) = AsyncStream<String>.makeStream()
            let second = ClosureHandler(ready: { handler, _ in
                _ = ends.receive()
                event.yield("second")
            })
            let first = ClosureHandler(ready: { handler, _ in
                event.yield("first")
                handler.registration.map(loop.deregister)
                handler.registration = nil
                second.registration = try? loop.register(ends.one, for: .readable, handler: second)
            })
            try await loop.run { first.registration = try loop.register(ends.one, for: .readable, handler: first) }
            ends.send()
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == "first")
            #expect(await iterator.next() == "second")
            ends.send()
            #expect(await iterator.next() == "second")
            try await loop.run { second.registration.map(loop.deregister) }
        }
    }

    @Test("Closing of the peer is reported: of a pipe, of one direction, of both")
    func closing() async throws {
        try await withLoop { loop in
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            close(ends[1])
            #expect(try await first(of: ends[0], on: loop) == .hungUp)
            close(ends[0])
            let half = try Ends(ofConnection: true)
            shutdown(half.other, Int32(SHUT_WR))
            #expect(try await first(of: half.one, on: loop) == [.readable, .peerClosed])
            shutdown(half.other, Int32(SHUT_RD))
            #expect(try await first(of: half.one, on: loop) == [.readable, .peerClosed, .hungUp])
        }
    }

    @Test("A descriptor that cannot be watched is refused without side effects")
    func refused() async throws {
        try await withLoop { loop in
            let ends = try Ends()
            let handler = ClosureHandler()
            func errno(of descriptor: Int32) async throws -> Int32? {
                try await loop.run {
                    do throws(EventLoopError) {
                        _ = try loop.register(descriptor, for: .readable, handler: handler)
                        return nil
                    } catch {
                        return error.errno
                    }
                }
            }
            let file = open("/proc/self/exe", O_RDONLY)
            defer { close(file) }
            #expect(try await errno(of: file) == EPERM)
            #expect(try await errno(of: -1) == EBADF)
            #expect(try await errno(of: ends.one) == nil)
            #expect(try await errno(of: ends.one) == EEXIST)
        }
    }

    @Test("A reused descriptor number has only its new handler")
    func reused() async throws {
        try await withLoop { loop in
            let (old, new) = (try Ends(ofConnection: true), try Ends())
            let (events, event) = AsyncStream<String>.makeStream()
            let first = ClosureHandler(ready: { _, _ in event.yield("old") })
            let second = ClosureHandler(ready: { _, _ in
                _ = new.receive()
                event.yield("new")
            })
            let number = dup(old.one)
            try await loop.run {
                let registration = try loop.register(number, for: .readable, handler: first)
                old.send()
                loop.deregister(registration)
                close(number)
                try #require(dup2(new.one, number) == number)
                second.registration = try loop.register(number, for: .readable, handler: second)
                // Its registration is over: neither moves the other's.
                try loop.update(registration, for: [])
                loop.deregister(registration)
            }
            new.send()
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == "new")
            try await loop.run { second.registration.map(loop.deregister) }
            close(number)
        }
    }

    @Test("An event of an ended registration never reaches the next user of its slot or descriptor")
    func generations() throws {
        var table = RegistrationTable()
        let (one, two) = (ClosureHandler(), ClosureHandler())
        let first = table.insert(one, descriptor: 7)
        #expect(table.remove(first) == 7)
        let second = table.insert(two, descriptor: 7)
        #expect(second.slot == first.slot)
        #expect(table.handler(of: Registration(token: first.token)) == nil)
        #expect(table.handler(of: Registration(token: second.token)) === two)
        #expect(table.remove(first) == nil)
        #expect(table.count == 1)
    }

    /// What a descriptor is ready for at first.
    private func first(of descriptor: Int32, on loop: EventLoop) async throws -> ReadyEvents? {
        let (events, event) = AsyncStream<ReadyEvents>.makeStream()
        let handler = ClosureHandler(ready: { handler, ready in
            event.yield(ready)
            handler.registration.map(loop.deregister)
        })
        try await loop.run {
            handler.registration = try loop.register(descriptor, for: [.readable, .peerClosed], handler: handler)
        }
        var iterator = events.makeAsyncIterator()
        return await iterator.next()
    }

    /// Returns when the loop has looked at all that is ready: when another descriptor, ready after the others, has been served.
    private func look(of loop: EventLoop) async throws {
        let ends = try Ends()
        ends.send()
        for _ in 0..<2 { #expect(try await first(of: ends.one, on: loop) == .readable) }
    }
}
