internal import Dispatch
internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives

/// Pictures that lie in a folder of this machine: read on a queue of their own, and then as if an origin had sent them.
extension Flights {
    private static let reader = DispatchQueue(label: "intertwine.images.files")

    func readFile(_ folder: ConfinedFolder, _ name: String, for download: Download) {
        download.asked = configuration.clock()
        let (number, limit) = (download.number, configuration.limits.bodyBytes)
        Self.reader.async { [weak self, loop] in
            let file: Result<ConfinedFolder.File, ConfinedFolder.Failure>
            do throws(ConfinedFolder.Failure) {
                file = .success(try folder.read(name, limit: limit))
            } catch {
                file = .failure(error)
            }
            guard let flights = self else { return }
            loop.execute { flights.assumeIsolated { $0.read(file, number) } }
        }
    }

    private func read(_ file: Result<ConfinedFolder.File, ConfinedFolder.Failure>, _ number: UInt64) {
        guard let download = byNumber[number], !download.flight.stage.isOver else { return }
        switch file {
        case .failure(.notFound): fail(download, ImageFailure(.upstream(status: 404)))
        case .failure(.denied): fail(download, ImageFailure(.upstream(status: 403)))
        case .failure(.tooLarge): fail(download, ImageFailure(.fetch(.bodyTooLarge)))
        case .success(let file): deliver(file, download)
        }
    }

    private func deliver(_ file: ConfinedFolder.File, _ download: Download) {
        var headers = FetchHeaders(["ETag": file.tag, "Last-Modified": HTTPDate.text(file.modified)])
        if download.stale?.validators.etag == file.tag {
            _ = received(FetchHead(status: 304, headers: headers, url: download.url), download.number)
            return ended(nil, download.number)
        }
        headers.append("Content-Length", String(file.bytes.count))
        guard received(FetchHead(status: 200, headers: headers, url: download.url), download.number),
            file.bytes.withUnsafeBytes({ received($0, download.number) })
        else { return ended(.rejected, download.number) }
        ended(nil, download.number)
    }
}
