/// The counts of an item are members of the body that pages read, with names such as `counts.likes`, which no field has. They have a column of
/// their own. Why: imports and sources compare and replace bodies.
package enum CountedItem {
    package static let body =
        "CASE WHEN counts IS NULL THEN body "
        + "ELSE substr(body, 1, length(body) - 1) || CASE body WHEN '{}' THEN '' ELSE ',' END || counts || '}' END"
}
