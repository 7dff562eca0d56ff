import ArgumentParser
import CoreFoundation
import Foundation
import Glibc
import IntertwineService

struct SettingOptions: ParsableArguments {
    @Option(help: "Configuration file (default: Config/intertwine.yaml or, if it is missing, /etc/intertwine/intertwine.yaml).")
    var config: String?

    @Option(help: "SQLite file of the items, or postgresql://HOST/NAME (store.database).")
    var database: String?

    @Option(name: .customLong("set"), help: ArgumentHelp("Value of a setting, such as ads.per-page=2.", valueName: "key=value"))
    var settings: [String] = []

    /// The path of the configuration file, even if it does not exist.
    var file: String {
        config ?? SettingSources.file(in: ProcessInfo.processInfo.environment) ?? SettingSources.defaultFile
    }

    var isReadOnce: Bool {
        var status = stat()
        return stat(file, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    func configuration(_ flags: [String: String?] = [:]) async throws -> ServiceConfiguration {
        try ServiceConfiguration(try await sources(flags))
    }

    func checkedConfiguration(_ flags: [String: String?] = [:]) async throws -> ServiceConfiguration {
        try ServiceConfiguration.checked(try await sources(flags))
    }

    private func sources(_ flags: [String: String?]) async throws -> SettingSources {
        var values = flags.compactMapValues { $0 }
        if let database { values["store.database"] = database }
        for setting in settings {
            guard let end = setting.utf8.firstIndex(of: UInt8(ascii: "=")), end != setting.startIndex else {
                throw ValidationError("--set: '\(setting)' is not key=value")
            }
            values[String(setting[..<end])] = String(setting[setting.utf8.index(after: end)...])
        }
        return try SettingSources(flags: values, file: config)
    }
}
