internal import IntertwineFeed
internal import IntertwineStorageCore

struct SectionKey: Hashable {
    static let prefix = "section_order_"

    let stream: StreamID
    let field: SortField

    /// It contains stream and field, so a change of either gives another index.
    /// Why: PostgreSQL truncates long names, so the name has a digest of the field too.
    var name: String {
        let digest = field.name.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let hex = String(digest, radix: 16)
        return "\(Self.prefix)\(stream.rawValue)_\(field.comparison.rawValue)_\(hex)_\(field.name.prefix(16))"
    }

    /// The expression is never NULL and always of one type. An item that lacks the field, because of another declaration at its write, is
    /// ordered like an empty value.
    var expression: String {
        switch field.comparison {
        case .text: "(intertwine_text(body, '\(field.name)') COLLATE \"C\")"
        case .number: "(intertwine_number(body, '\(field.name)'))"
        case .date: "(intertwine_moment(body, '\(field.name)') COLLATE \"C\")"
        }
    }

    var creation: String {
        "CREATE INDEX \"\(name)\" ON item (\(expression), position) WHERE lane = \(stream.rawValue)"
    }

    static func value(_ key: SortKey) -> SQLValue {
        switch key {
        case .number(let number): .number(number)
        case .text(let bytes): .utf8(bytes)
        }
    }

    func key(_ rows: PostgresRows, _ row: Int, _ column: Int) -> SortKey {
        switch field.comparison {
        case .text, .date: .text(rows.bytes(row, column))
        case .number: .number(rows.number(row, column))
        }
    }

    /// `json` refuses the NUL that JSON can write, so the functions read it as ``PostgresText`` does. Function names include their schema,
    /// because PostgreSQL finds no others when it checks an index by itself.
    static let functions = #"""
        CREATE FUNCTION intertwine_value(body text, field text) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        BEGIN
            IF strpos(body, '\u000') > 0 THEN
                body := regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0001', '\1\\u0001\\u0002', 'g');
                body := regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u0001\\u0001', 'g');
            END IF;
            RETURN body::json ->> field;
        END $$;
        CREATE FUNCTION intertwine_text(body text, field text) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        BEGIN
            RETURN coalesce(left(@schema@.intertwine_value(body, field), 64), '');
        END $$;
        CREATE FUNCTION intertwine_number(body text, field text) RETURNS double precision
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE value text := @schema@.intertwine_value(body, field);
        BEGIN
            IF value = 'true' THEN RETURN 1; END IF;
            value := substring(value FROM '^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)');
            -- What no double can hold.
            IF value ~ '[eE]\+?0*(?:3\d\d|[1-9]\d{3,})$' THEN RETURN CASE WHEN value LIKE '-%' THEN '-Infinity' ELSE 'Infinity' END; END IF;
            IF value ~ '[eE]-0*(?:3\d\d|[1-9]\d{3,})$' THEN RETURN 0; END IF;
            RETURN coalesce(value::double precision, 0);
        END $$;
        CREATE FUNCTION intertwine_moment(body text, field text) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE
            value text := @schema@.intertwine_value(body, field);
            seconds bigint;
            zone text[];
        BEGIN
            IF value IS NULL OR value !~ '^\d{4}-(?:0[1-9]|1[0-2])-\d\d' THEN RETURN '000000000000.000000000'; END IF;
            -- 400 years repeat themselves, and PostgreSQL has no year 0.
            seconds := 86400 * (make_date(substr(value, 1, 4)::int + 400, substr(value, 6, 2)::int, 1) - make_date(400, 1, 1)
                + substr(value, 9, 2)::int)::bigint;
            IF value ~ '^.{11}\d\d:\d\d:\d\d' THEN
                seconds := seconds + substr(value, 12, 2)::int * 3600 + substr(value, 15, 2)::int * 60 + substr(value, 18, 2)::int;
                zone := regexp_match(value, '([-+])(\d\d):(\d\d)$');
                IF zone IS NOT NULL THEN
                    seconds := seconds - (zone[1] || '1')::int * (zone[2]::int * 3600 + zone[3]::int * 60);
                END IF;
            END IF;
            RETURN lpad(seconds::text, 12, '0') || '.' || rpad(left(coalesce(substring(value FROM '^.{19}\.(\d+)'), ''), 9), 9, '0');
        END $$;
        """#
}
