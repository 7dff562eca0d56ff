enum SectionKey {
    /// Function names include their schema, because PostgreSQL finds no others when it checks an index by itself. `json` refuses NUL.
    static let functions = #"""
        CREATE FUNCTION intertwine_value(body text, field text) RETURNS text
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        BEGIN
            RETURN replace(body, '\u0000', '\ufffd')::json ->> field;
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
