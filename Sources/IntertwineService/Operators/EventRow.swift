internal import Foundation
package import IntertwineFeed
internal import IntertwinePrimitives

/// An event as `intertwine export events` prints it and `GET /admin/events` sends it.
package struct EventRow: Encodable {
    private enum CodingKeys: CodingKey {
        case marker, at, kind, cell, viewer, verdict, address, userAgent, campaign, feed, section, position, layout, input
    }

    private let marker: Int64
    /// The time in RFC 3339 format, in UTC with milliseconds.
    private let at: String
    private let kind: String
    private let cell: String
    private let viewer: String?
    private let verdict: String
    private let address: String?
    private let userAgent: String?
    private let campaign: String?
    private let page: ImpressionContext?
    private let input: [String: InputValue]?

    init(_ recorded: RecordedEvent) {
        let event = recorded.event
        marker = recorded.sequence
        at = Timestamp.exactText(milliseconds: event.at)
        (kind, cell, viewer) = (event.kind.rawValue, event.cell, event.viewer)
        (verdict, address, userAgent) = (event.verdict.rawValue, event.address, event.userAgent)
        (campaign, page) = (event.impressionContext?.campaign, event.page)
        input = event.input.flatMap { try? JSONDecoder().decode([String: InputValue].self, from: Data($0.json.utf8)) }
    }

    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(marker, forKey: .marker)
        try row.encode(at, forKey: .at)
        try row.encode(kind, forKey: .kind)
        try row.encode(cell, forKey: .cell)
        try row.encode(viewer, forKey: .viewer)
        try row.encode(verdict, forKey: .verdict)
        try row.encode(address, forKey: .address)
        try row.encode(userAgent, forKey: .userAgent)
        try row.encode(campaign, forKey: .campaign)
        try row.encode(page?.feed, forKey: .feed)
        try row.encode(page?.section, forKey: .section)
        try row.encode(page?.position, forKey: .position)
        try row.encode(page?.layout.rawValue, forKey: .layout)
        try row.encode(input, forKey: .input)
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
