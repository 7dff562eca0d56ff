internal import Foundation
internal import IntertwinePrimitives

extension ServiceConfiguration {
    /// Where operators' writes are recorded.
    var auditLog: String { store.path(of: "audit.log") }

    /// Does what a command of the command line was told to, with a line in the audit log of a service that may be running.
    ///
    /// - Parameters:
    ///   - subject: what it was told to do it with.
    ///   - body: says what it changed.
    /// - Throws: ``ConfigurationError`` or `StoreError` where it could not be recorded, and so was not done; what `body` throws.
    public func audited<Value>(
        _ command: String, _ subject: String, _ body: (AuditNote) async throws -> Value
    ) async throws -> Value {
        let log = try AuditLog(path: auditLog)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await log.record(who: "command:\(NSUserName())", method: command, path: subject, now: WallClock.now, body))
        } catch {
            result = .failure(error)
        }
        await log.close()
        return try result.get()
    }
}
