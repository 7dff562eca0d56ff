import IntertwineCells
import Testing

@Suite("Initials of names")
struct InitialsTests {
    @Test(
        "Initials are the letters of the first and last words, without diacritics",
        arguments: [
            ("Ada Lovelace", "AL"), ("Zoë", "Z"), ("ada king of lovelace", "AL"), ("Éric Ångström", "EA"), ("E\u{301}ric A\u{30A}", "EA"),
            ("Ärger Öl", "AO"), ("Ølaf Łukasz", "OL"), ("æther øre", "AO"), ("7 Zwerge", "7Z"), ("李 小龙", ""), ("Иван Petrov", "P"),
            ("<script>", ""), ("ß ª", ""), ("", ""), ("  ", ""),
        ])
    func initials(_ name: String, _ initials: String) {
        #expect(ImageGeometry(ImageBinding.Box(width: 1, height: 1), name: name).initials == initials)
    }
}
