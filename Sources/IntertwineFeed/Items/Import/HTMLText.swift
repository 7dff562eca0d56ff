internal import IntertwinePrimitives

enum HTMLText {
    static func text(of html: String) -> String {
        guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") || $0 < 0x20 || $0 == 0x20 }) else {
            return html
        }
        var text = ""
        var space = ""
        var rest = Substring(html)
        // RSS has HTML in such sections.
        if html.contains("<![CDATA[") { rest = Substring(html.replacing("<![CDATA[", with: "").replacing("]]>", with: "")) }
        func append(_ characters: some StringProtocol) {
            if !text.isEmpty { text += space }
            space = ""
            text += characters
        }
        while let first = rest.unicodeScalars.first {
            switch first {
            case "<":
                guard let name = skipTag(&rest) else {
                    append("<")
                    rest.unicodeScalars.removeFirst()
                    continue
                }
                if breaking.contains(name) { space = "\n" } else if separating.contains(name), space.isEmpty { space = " " }
            case "&": append(character(&rest))
            case " ", "\t", "\n", "\r", "\u{C}":
                if space.isEmpty { space = " " }
                rest.unicodeScalars.removeFirst()
            default:
                let end = rest.unicodeScalars.firstIndex { "<& \t\n\r\u{C}".unicodeScalars.contains($0) } ?? rest.endIndex
                append(rest[..<end])
                rest = rest[end...]
            }
        }
        return text
    }

    private static let basic: Set<String> = ["AMP", "GT", "LT", "QUOT", "amp", "gt", "lt", "quot"]
    private static let longestName = 24
    private static let breaking: Set<String> = [
        "br", "p", "div", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "table", "blockquote", "pre", "section", "article",
        "header", "footer", "figure", "figcaption", "hr", "dd", "dt", "dl",
    ]
    private static let separating: Set<String> = ["td", "th", "option"]
    private static let hidden: Set<String> = ["script", "style", "template", "noscript", "iframe", "svg", "head"]

    private static func skipTag(_ rest: inout Substring) -> String? {
        if rest.hasPrefix("<!--") {
            rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
            return ""
        }
        let isEnd = rest.dropFirst().first == "/"
        let inner = rest.dropFirst(isEnd ? 2 : 1)
        guard let first = inner.first, first.isASCII, first.isLetter || first == "!" || first == "?" else { return nil }
        let name = inner.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }.lowercased()
        var quote: Character?
        var end = inner.startIndex
        while end < inner.endIndex, quote != nil || inner[end] != ">" {
            if quote == inner[end] { quote = nil } else if quote == nil, inner[end] == "\"" || inner[end] == "'" { quote = inner[end] }
            end = inner.index(after: end)
        }
        rest = end < inner.endIndex ? inner[inner.index(after: end)...] : ""
        if !isEnd, hidden.contains(name) {
            rest = content(of: rest, from: name)
        }
        return name
    }

    private static func content(of text: Substring, from name: String) -> Substring {
        var rest = text.utf8
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            let tag = rest[start...].dropFirst()
            if tag.first == UInt8(ascii: "/"), tag.dropFirst().prefix(name.utf8.count).elementsEqual(name.utf8, by: { $0 | 0x20 == $1 }) {
                return Substring(rest[start...])
            }
            rest = tag
        }
        return ""
    }

    private static func character(_ rest: inout Substring) -> String {
        let inner = rest.dropFirst()
        var scalar: Unicode.Scalar?
        var end = inner.startIndex
        if inner.first == "#" {
            let isHexadecimal = inner.dropFirst().first.map { $0 == "x" || $0 == "X" } ?? false
            let digits = inner.dropFirst(isHexadecimal ? 2 : 1).prefix { $0.isASCII && (isHexadecimal ? $0.isHexDigit : $0.isNumber) }
            if !digits.isEmpty {
                let code = UInt32(digits, radix: isHexadecimal ? 16 : 10) ?? .max
                let windows = (0x80..<0xA0).contains(code) ? Windows1252.high[Int(code) - 0x80] : nil
                scalar = windows ?? (code == 0 ? nil : Unicode.Scalar(code)) ?? "\u{FFFD}"
            }
            end = digits.endIndex
        } else {
            // Browsers read the names of Latin-1 also without a semicolon, before other letters.
            var name = inner.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(longestName)
            scalar = entities[String(name)]
            while scalar == nil, name.count > 2 {
                name = name.dropLast()
                scalar = entities[String(name)].flatMap {
                    $0.value >= 0xA0 && $0.value <= 0xFF && name != "half" || basic.contains(String(name)) ? $0 : nil
                }
            }
            end = name.endIndex
        }
        guard let scalar else {
            rest = inner
            return "&"
        }
        rest = inner[end...]
        if rest.first == ";" { rest = rest.dropFirst() }
        return String(Character(scalar))
    }

    private static let entities: [String: Unicode.Scalar] = Dictionary(
        names.split { $0 == " " || $0 == "\n" }.compactMap { entity in
            let parts = entity.split(separator: "=")
            return UInt32(parts[1], radix: 16).flatMap(Unicode.Scalar.init).map { (String(parts[0]), $0) }
        }, uniquingKeysWith: { $1 })

    private static let names = """
        AMP=26 LT=3C GT=3E QUOT=22 COPY=A9 REG=AE apos=27 nbsp=A0 Tab=9 NewLine=A excl=21 num=23 dollar=24 percnt=25 lpar=28 rpar=29 ast=2A
        plus=2B comma=2C period=2E sol=2F colon=3A semi=3B equals=3D quest=3F commat=40 lsqb=5B lbrack=5B bsol=5C rsqb=5D rbrack=5D Hat=5E
        lowbar=5F grave=60 lcub=7B lbrace=7B vert=7C verbar=7C rcub=7D rbrace=7D hyphen=2010 dash=2010 horbar=2015 star=2606 starf=2605
        check=2713 cross=2717 phone=260E female=2640 male=2642 numero=2116 incare=2105 half=BD
        quot=22 amp=26 lt=3C gt=3E nbsp=A0 iexcl=A1 cent=A2 pound=A3 curren=A4 yen=A5 brvbar=A6 sect=A7 uml=A8 copy=A9 ordf=AA laquo=AB
        not=AC shy=AD reg=AE macr=AF deg=B0 plusmn=B1 sup2=B2 sup3=B3 acute=B4 micro=B5 para=B6 middot=B7 cedil=B8 sup1=B9 ordm=BA
        raquo=BB frac14=BC frac12=BD frac34=BE iquest=BF Agrave=C0 Aacute=C1 Acirc=C2 Atilde=C3 Auml=C4 Aring=C5 AElig=C6 Ccedil=C7
        Egrave=C8 Eacute=C9 Ecirc=CA Euml=CB Igrave=CC Iacute=CD Icirc=CE Iuml=CF ETH=D0 Ntilde=D1 Ograve=D2 Oacute=D3 Ocirc=D4 Otilde=D5
        Ouml=D6 times=D7 Oslash=D8 Ugrave=D9 Uacute=DA Ucirc=DB Uuml=DC Yacute=DD THORN=DE szlig=DF agrave=E0 aacute=E1 acirc=E2 atilde=E3
        auml=E4 aring=E5 aelig=E6 ccedil=E7 egrave=E8 eacute=E9 ecirc=EA euml=EB igrave=EC iacute=ED icirc=EE iuml=EF eth=F0 ntilde=F1
        ograve=F2 oacute=F3 ocirc=F4 otilde=F5 ouml=F6 divide=F7 oslash=F8 ugrave=F9 uacute=FA ucirc=FB uuml=FC yacute=FD thorn=FE yuml=FF
        OElig=152 oelig=153 Scaron=160 scaron=161 Yuml=178 fnof=192 circ=2C6 tilde=2DC Alpha=391 Beta=392 Gamma=393 Delta=394 Epsilon=395
        Zeta=396 Eta=397 Theta=398 Iota=399 Kappa=39A Lambda=39B Mu=39C Nu=39D Xi=39E Omicron=39F Pi=3A0 Rho=3A1 Sigma=3A3 Tau=3A4
        Upsilon=3A5 Phi=3A6 Chi=3A7 Psi=3A8 Omega=3A9 alpha=3B1 beta=3B2 gamma=3B3 delta=3B4 epsilon=3B5 zeta=3B6 eta=3B7 theta=3B8
        iota=3B9 kappa=3BA lambda=3BB mu=3BC nu=3BD xi=3BE omicron=3BF pi=3C0 rho=3C1 sigmaf=3C2 sigma=3C3 tau=3C4 upsilon=3C5 phi=3C6
        chi=3C7 psi=3C8 omega=3C9 thetasym=3D1 upsih=3D2 piv=3D6 ensp=2002 emsp=2003 thinsp=2009 zwnj=200C zwj=200D lrm=200E rlm=200F
        ndash=2013 mdash=2014 lsquo=2018 rsquo=2019 sbquo=201A ldquo=201C rdquo=201D bdquo=201E dagger=2020 Dagger=2021 bull=2022
        hellip=2026 permil=2030 prime=2032 Prime=2033 lsaquo=2039 rsaquo=203A oline=203E frasl=2044 euro=20AC image=2111 weierp=2118
        real=211C trade=2122 alefsym=2135 larr=2190 uarr=2191 rarr=2192 darr=2193 harr=2194 crarr=21B5 lArr=21D0 uArr=21D1 rArr=21D2
        dArr=21D3 hArr=21D4 forall=2200 part=2202 exist=2203 empty=2205 nabla=2207 isin=2208 notin=2209 ni=220B prod=220F sum=2211
        minus=2212 lowast=2217 radic=221A prop=221D infin=221E ang=2220 and=2227 or=2228 cap=2229 cup=222A int=222B there4=2234 sim=223C
        cong=2245 asymp=2248 ne=2260 equiv=2261 le=2264 ge=2265 sub=2282 sup=2283 nsub=2284 sube=2286 supe=2287 oplus=2295 otimes=2297
        perp=22A5 sdot=22C5 lceil=2308 rceil=2309 lfloor=230A rfloor=230B lang=2329 rang=232A loz=25CA spades=2660 clubs=2663 hearts=2665
        diams=2666
        Amacr=100 amacr=101 Abreve=102 abreve=103 Aogon=104 aogon=105 Cacute=106 cacute=107 Ccirc=108 ccirc=109 Cdot=10A cdot=10B
        Ccaron=10C ccaron=10D Dcaron=10E dcaron=10F Dstrok=110 dstrok=111 Emacr=112 emacr=113 Edot=116 edot=117 Eogon=118 eogon=119
        Ecaron=11A ecaron=11B Gcirc=11C gcirc=11D Gbreve=11E gbreve=11F Gdot=120 gdot=121 Gcedil=122 Hcirc=124 hcirc=125 Hstrok=126
        hstrok=127 Itilde=128 itilde=129 Imacr=12A imacr=12B Iogon=12E iogon=12F Idot=130 imath=131 inodot=131 IJlig=132 ijlig=133
        Jcirc=134 jcirc=135 Kcedil=136 kcedil=137 kgreen=138 Lacute=139 lacute=13A Lcedil=13B lcedil=13C Lcaron=13D lcaron=13E
        Lmidot=13F lmidot=140 Lstrok=141 lstrok=142 Nacute=143 nacute=144 Ncedil=145 ncedil=146 Ncaron=147 ncaron=148 napos=149 ENG=14A
        eng=14B Omacr=14C omacr=14D Odblac=150 odblac=151 OElig=152 oelig=153 Racute=154 racute=155 Rcedil=156 rcedil=157 Rcaron=158
        rcaron=159 Sacute=15A sacute=15B Scirc=15C scirc=15D Scedil=15E scedil=15F Scaron=160 scaron=161 Tcedil=162 tcedil=163
        Tcaron=164 tcaron=165 Tstrok=166 tstrok=167 Utilde=168 utilde=169 Umacr=16A umacr=16B Ubreve=16C ubreve=16D Uring=16E uring=16F
        Udblac=170 udblac=171 Uogon=172 uogon=173 Wcirc=174 wcirc=175 Ycirc=176 ycirc=177 Yuml=178 Zacute=179 zacute=17A Zdot=17B
        zdot=17C Zcaron=17D zcaron=17E caron=2C7 Hacek=2C7 Breve=2D8 breve=2D8 DiacriticalDot=2D9 dot=2D9 ring=2DA ogon=2DB dblac=2DD
        DiacriticalDoubleAcute=2DD approx=2248 bigstar=2605 boxh=2500 checkmark=2713 copysr=2117 emsp13=2004 frac13=2153 frac15=2155
        frac18=215B hairsp=200A half=BD iff=21D4 ldquor=201E leftarrow=2190 lsquor=201A mldr=2026 nldr=2025 NoBreak=2060 numsp=2007
        puncsp=2008 rdquor=201D rightarrow=2192 rsquor=2019 ZeroWidthSpace=200B
        """
}
