import ArgumentParser
import Foundation
import Glibc
import IntertwineService

/// The options that say where settings come from; the same for every subcommand.
struct SettingOptions: ParsableArguments {
    @Option(help: "Configuration file (default: Config/intertwine.yaml, or else /etc/intertwine/intertwine.yaml).")
    var config: String?

    @Option(help: "SQLite file of the items, or postgresql://HOST/NAME (store.database).")
    var database: String?

    @Option(name: .customLong("set"), help: ArgumentHelp("Any setting, such as ads.per-page=2.", valueName: "key=value"))
    var settings: [String] = []

    /// The configuration file that is read, whether it is there or not.
    var file: String {
        config ?? SettingSources.file(in: ProcessInfo.processInfo.environment) ?? SettingSources.defaultFile
    }

    /// Whether the file is a pipe: to be read again, it would have to be written again.
    var isReadOnce: Bool {
        var status = stat()
        return stat(file, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// - Parameter flags: of the subcommand, by key.
    func configuration(_ flags: [String: String?] = [:]) async throws -> ServiceConfiguration {
        try ServiceConfiguration(try await sources(flags))
    }

    /// The same for whoever needs all of the configuration: where a setting is wrong, what is wrong in the files is told as well.
    func checkedConfiguration(_ flags: [String: String?] = [:]) async throws -> ServiceConfiguration {
        try ServiceConfiguration.checked(try await sources(flags))
    }

    private func sources(_ flags: [String: String?]) async throws -> SettingSources {
        var values = flags.compactMapValues { $0 }
        values["store.database"] = database
        for setting in settings {
            guard let end = setting.utf8.firstIndex(of: UInt8(ascii: "=")), end != setting.startIndex else {
                throw ValidationError("--set takes key=value, not '\(setting)'")
            }
            values[String(setting[..<end])] = String(setting[setting.utf8.index(after: end)...])
        }
        return try await SettingSources(flags: values, file: config)
    }
}
