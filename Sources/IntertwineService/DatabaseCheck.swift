internal import IntertwineStorage
internal import ServiceLifecycle

/// Checks the database files for corruption in the background, slowly and repeatedly.
struct DatabaseCheck: ServiceLifecycle.Service {
    let files: [any CheckedFile]
    /// The read rate of a check in bytes per second and file.
    private let rate = 4.0 * 1_048_576
    /// The pause between two checks of a file.
    private let pause = Duration.seconds(10)

    init(files: [any CheckedFile]) {
        self.files = files
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for file in files { group.addTask { await check(file) } }
            }
            // Without files, the service idles until its end.
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
