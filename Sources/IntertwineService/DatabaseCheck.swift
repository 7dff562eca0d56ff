internal import IntertwineStorage
internal import ServiceLifecycle

/// Checks the database files in the background: slowly, and again and again.
struct DatabaseCheck: ServiceLifecycle.Service {
    let files: [any CheckedFile]
    /// Bytes a second that the check of one file reads.
    private let rate = 4.0 * 1_048_576
    /// Between two checks of a file.
    private let pause = Duration.seconds(10)

    init(files: [any CheckedFile]) {
        self.files = files
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for file in files { group.addTask { await check(file) } }
            }
            // Without a file there is nothing to do until the end.
            while files.isEmpty, !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
        }
    }

    private func check(_ file: any CheckedFile) async {
        while !Task.isCancelled {
            let step = await file.checkSome()
            do {
                try await Task.sleep(for: step.isLast ? pause : .seconds(max(0.005, Double(step.bytes) / rate)))
            } catch {
                return
            }
        }
    }
}
