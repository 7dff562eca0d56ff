internal import Foundation
package import IntertwineFeed
internal import IntertwinePrimitives

/// An event as `intertwine export events` prints it and `GET /admin/events` sends it.
package struct EventRow: Encodable {
    private let marker: Int64
    /// The time in RFC 3339 format, in UTC with milliseconds.
    private let at: String
    private let kind: String
    private let cell: String
    @Null private var viewer: String?
    private let verdict: String
    @Null private var address: String?
    @Null private var userAgent: String?
    @Null private var campaign: String?
    @Null private var feed: String?
    @Null private var section: String?
    @Null private var position: Int?
    @Null private var layout: String?
    @Null private var input: [String: InputValue]?

    init(_ recorded: RecordedEvent) {
        let (event, page) = (recorded.event, recorded.event.page)
        marker = recorded.sequence
        at = Timestamp.exactText(milliseconds: event.at)
        (kind, cell, verdict) = (event.kind.rawValue, event.cell, event.verdict.rawValue)
        viewer = event.viewer
        address = event.address
        userAgent = event.userAgent
        campaign = event.impressionContext?.campaign
        feed = page?.feed
        section = page?.section
        position = page?.position
        layout = page?.layout.rawValue
        input = event.input.flatMap { try? JSONDecoder().decode([String: InputValue].self, from: Data($0.json.utf8)) }
    }

    private enum InputValue: Codable {
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let integer = try? value.decode(Int64.self) {
                self = .integer(integer)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .flag(let flag): try value.encode(flag)
            case .integer(let integer): try value.encode(integer)
            case .number(let number): try value.encode(number)
            case .text(let text): try value.encode(text)
            }
        }
    }

    package static func lines(_ events: [RecordedEvent]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        var lines: [UInt8] = []
        for event in events {
            lines += try encoder.encode(EventRow(event))
            lines.append(0x0A)
        }
        return lines
    }
}
