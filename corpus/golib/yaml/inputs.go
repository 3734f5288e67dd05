package main

// scalars puts each text where a value stands.
func scalars() []string {
	texts := []string{
		"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "tRUE", "on", "On", "ON", "oN",
		"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
		"", "~", "null", "Null", "NULL", "nULL",
		"0", "1", "-1", "+1", "007", "0644", "0777", "08", "09", "018", "0o17", "0O17", "0o18", "0o", "0x1F", "0X1f", "-0x10", "+0x10",
		"0xg", "0x", "0b101", "0B101", "-0b11", "0b12", "1_000", "_1", "1_", "0_7", "0x_1", "1__0", "+", "-", "--1", "+-1",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "+18446744073709551615", "100000000000000000000000",
		"4611686018427387905.0", "4611686018427387904.0",
		".5", "-.5", "+.5", "1.", "1.0", "6.50", "1e3", "1E3", "1e+3", "1e-7", "1e21", "1e20", "1e400", ".5e999", "1.5e", "1e", ".e1", ".",
		"..", ".5_0", "._5", ".5_", "1.5_0", "-0.0", "0.0", "1.1.1", "123456789.123456789", "3.14159265358979323846", "1e-400",
		".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.Inf", ".nan", ".NaN", ".NAN", "inf", "nan", ".infinity",
		"12:30:45", "1:30", "190:20:30", "2001-12-14", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2001-13-01",
		"0.1", "1.10", "v1.2", "1.2.3", "1,000", "1 2", "0x1p-2", "1e3x", "=", "<<",
		"\"a\"", "'a'", "'it''s'", "\"\\u00e9\\x41\\n\\t\\0\\e\\_\\N\\L\\P\"", "\"\\/\"", "\"a\n  b\n\n  c\"", "\"a\\\n  b\"", "'1'", "\"true\"", "'~'", "\"\"",
		"\"\\ud83d\\ude00\"", "\"\\q\"", "\"\\xg1\"",
		"!!str 1", "!!str true", "!!str", "!!str ~", "!!int \"3\"", "!!int x", "!!int 1.5", "!!float 3", "!!float \"2.5\"", "!!float x",
		"!!bool yes", "!!bool \"true\"", "!!bool 1", "!!null ''", "!!null x", "!!null ~", "!!timestamp 2001-12-14", "!!timestamp 2001-12-14T21:59:43Z", "!!timestamp x", "!!timestamp 3",
		"!!binary aGVsbG8=", "!!binary \"aGVs\\nbG8=\"", "!!binary /w==", "!!binary x", "!foo bar", "!foo 12", "! 12", "! x", "!<tag:yaml.org,2002:str> 5", "!!foo 7", "!!merge <<", "!!set x",
		"|\n  a\n  b\n", "|-\n  a\n", "|+\n  a\n\n", ">\n  a\n  b\n\n  c\n", ">-\n  a\n   b\n  c\n", "|2\n    a\n", "|\n   a\n  b\n",
		"0b", "0b2", "0b1_0", "0o7_7", "0x1_F", "0X", "-0o17", "+0b11", "0_", "00", "000", "-00", "0644_1", "1_000.5", "1e1_0", "-1_000", "1_000_000_000_000_000_000_000", "0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff", "0x10000000000000000", "-0x8000000000000000", "-0x8000000000000001", "01777777777777777777777", "9007199254740993", "-9007199254740993", "9007199254740993.0", "1e15", "1e16", "1e18", "1e19", "-1e18", "123456789012345678901234567890", "-18446744073709551615", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "1.7976931348623159e308", "2e-324", "1e-6", "1e-5", "0.000001", "0.0000001", "1e22", "-1e21", "12e03", "1E-02", "1.e3", "1e3.5", "+.5", "-.5e1", "+1e3", "- 1", "1e", "0e0", "0.", "-0", "+0", "-0.0", "00.5", "08.5", "09e1", "1__", "._", ".", "+.nan", "-.nan", ".iNf", "+.infx", ".inf1", "-.Infinity", "0x.8", "1f", "0d1", "1:2:3", "1:2:3.5", "-1:30", "01:30", "1:", "12:30:45.5", "24:00", "1_2:3_4",
		"yES", "nO", "oFF", "Y ", "y#", "yes #c", "'yes'", "\"no\"", "trueish", "TRUE ", "~ #c", "~x", "Null ", "nul", "None", "nil", "NaN", "Infinity", "!!bool on", "!!bool 'on'", "!!bool y", "!!bool n", "!!bool oN", "!!null null", "!!null \"\"", "!!null 0", "!!int 0644", "!!int 0o17", "!!int 0x1F", "!!int 1_000", "!!int '0b1'", "!!int true", "!!int", "!!int 99999999999999999999", "!!int -5", "!!int 1e3", "!!float 1e3", "!!float .inf", "!!float .nan", "!!float 1_0.5", "!!float 0x10", "!!float true", "!!float", "!!str 0644", "!!str 1.0", "!!str yes", "!!str null", "!!str 2001-01-01", "!!str \"x\"", "!!str |\n  a\n", "!!binary |\n  aGVs\n  bG8=\n", "!!binary aGVsbG8", "!!binary ' aGk= '", "!!binary gIGC", "!!binary ''", "!!binary", "!!binary 1", "!!timestamp 2001-12-14 21:59:43", "!!timestamp 2001-1-1", "!!timestamp 12:00", "!!map x", "!!seq x", "!!omap x", "!!set 1", "!local yes", "!<x> yes", "!<tag:yaml.org,2002:int> 5", "!<tag:yaml.org,2002:bool> yes", "!<tag:yaml.org,2002:binary> aGk=", "!<!x> 1", "!!str [1]", "!!int {a: 1}", "!!map [1]", "!x [1, 2]", "!x {a: yes}",
		"2001-12-14T21:59:43", "2001-12-14T21:59:43Z", "2001-12-14T21:59:43.1Z", "20011214", "2001-12", "2001-12-32", "2001-02-30", "-2001-12-14",
		"|\n", "|-\n", "|+\n", "|\n\n  a\n", "|+\n  a\n\n\n", "|-\n  a\n\n\n", "|\n  a\n\n\n", "|\n  a  \n  b\n", "|\n  a\n\tb\n", "|1\n a\n", "|1-\n a\n", "|-1\n a\n", "|+1\n a\n\n", "|9\n         a\n", "|10\n  a\n", "|2\n  a\n   b\n", "|  # c\n  a\n", "| #c\n  a\n", "|#c\n  a\n", "|\n  # not a comment\n", "|\n  a: b\n  - c\n", "|\n  ---\n", "|\n  %x\n", ">\n", ">+\n  a\n\n", ">-\n  a\n\n", ">\n  a\n\n\n  b\n", ">\n  a\n    b\n\n    c\n  d\n", ">\n\n  a\n", ">\n  a\n  \n  b\n", ">1\n   a\n", "> a\n", "|\n  a\r\n  b\n", "\"a\n\n  b\"", "'a\n\n\n  b'", "\"a \\\n   b\"", "\"\\  a\"", "\"\\x7f\"", "\"\\u0000\"", "\"\\U0001F600\"", "\"\\U00110000\"", "\"\\ud800\"", "\"\\a\\b\\v\\f\\r\\ \\P\"", "\"a\tb\"", "'a\tb'", "a\t# c", "a \t b", "\t", " \ta", "a\n  b", "a\n  b\n\n  c", "a\n  # c\n  b", "a: b\n  c", "[a\n b]", "[a, b\n]", "{a\n: b}", "[a,\n\tb]", "{a: 1,\n\tb: 2}", "[ ]", "{ }", "[[]]", "[{}]", "[a: b, c]", "[? a : b]", "{? a : b}", "[a, , b]", "[a #c\n]", "{\"a\":1,'b':2}", "{a:1}", "{\"a\":1}", "{a: }", "{: a}", "[: a]", "[-]", "[- a]", "[?]", "{-: 1}", "{a: -}", "[!!str]", "[!!str , a]", "[&x a, *x]", "{&x a: *x}", "-", "- ", "--", "---", "...", "--- a", "? a", "?a", "? ", ":", ": ", "::", "a:", "a::b", "a :b", "a : b", "a# b", "#", "%", "@", "`", "|a", ">a", "&a", "&a b", "&a\n", "*a b", "!a", "!a b", "!", "! ", "!!", "!!a", "!a!b c", "!!!", "<<", "<<: x", "=", "= a", "é", "日本", "\u00a0", "\u00a0a", "\u200b", "\ufeff", "a\ufeffb", "\u2028", "a\u2028b", "\u0085", "a\u0085b", "\u007f", "\u0080", "\u009f", "\ue000", "\ufffd", "\uffff", "\ufffe", "\U0010ffff", "a\x00b", "a\x0bb", "a\x1bb",
		"@a", "`a", "%a", "&", "*", "!", "?", "-a", ":a", "a:b", "a: b", "a #c", "a#c", "#c", "[", "]", "{", "}", ",", "a,b", "[a", "{a", "'a", "\"a", "a\tb", "\ta",
	}
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		out = append(out, "k: "+text)
	}
	return out
}

var shapes = []string{
	"", " ", "\n", "# only a comment\n", "---\n", "...\n", "--- \na: 1\n", "a: 1\n...\nb: 2\n", "a: 1\n---\nb: [\n", "plain", "- 1\n- a\n", "[]", "{}",
	"a: 1\nb: {c: [1, 2, {d: e}]}\n", "a:\n- 1\n- 2\nb: 3\n", "a:\n  - 1\n  -\n  - b: 1\n    c: 2\n", "- - 1\n  - 2\n- - 3\n", "? a\n: b\n", "? a\n? b\n", "{a, b: 1, c}", "[a: 1, b]", "[1, 2,]", "{a: 1,}", "[,]",
	// Keys.
	"on: 1\n", "y: 1\nn: 2\n", "1: a\n", "0644: a\n", "1.5: a\n", "1e30: a\n", "1e20: a\n", "1e21: a\n", "0.00001: a\n", "0.1: a\n", "16777217.0: a\n", ".inf: a\n", ".nan: a\n", "~: a\n", "null: {x: [1, b]}\n", "'null': a\n", "18446744073709551615: a\n",
	"[1, 2]: a\n", "{a: 1}: b\n", "? [x]\n: b\n", "!!str 1: a\n", "!!binary aGk=: x\n", "2001-01-01: a\n", "\"a\\nb\": 1\n", "'': 1\n", ": 1\n", "&k a: *k\n", "&k a: 1\n*k : 2\n",
	// Duplicates and merges.
	"a: 1\na: 2\n", "a: 1\nb: 2\na: {c: 3}\n",
	"x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n", "x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}\n", "x: &x {a: 1}\nz: &z {a: 2, c: 3}\ny:\n  <<: [*x, *z]\n", "y:\n  <<: {a: 1}\n  b: 2\n", "y:\n  <<: [{a: 1}, {a: 2, b: 2}]\n",
	"y:\n  <<: 1\n", "y:\n  <<: [1]\n", "x: &x [1]\ny:\n  <<: *x\n", "x: &x 1\ny:\n  <<: [*x]\n", "y: {'<<': {a: 1}}\n", "y: {!!merge <<: {a: 1}}\n", "y: {<<: {<<: {a: 1}, b: 2}, c: 3}\n", "y: {<<: }\n", "x: &x {a: 1}\ny: {<<: *x, <<: {b: 2}}\n",
	// Anchors and aliases.
	"a: &a 1\nb: *a\n", "a: &a {b: 1}\nc: [*a, *a]\n", "a: *b\n", "a: &a [*a]\n", "a: &a {b: *a}\n", "a: &a 1\nb: &a 2\nc: *a\n", "a: &a\nb: *a\n", "a: &a !!str 5\nb: *a\n", "- &x\n  k: v\n- <<: *x\n  l: w\n", "a: &\n",
	// Text around documents.
	"\ufeff", "\ufeff\n", "\ufeff# c\na: 1\n", "\ufeff---\na: 1\n", "a: 1\n\ufeffb: 2\n", "\ufeff\ufeffa: 1\n", "\r\n", "\r", "a: 1\rb: 2\r", "a: 1\r\n\r\nb: |\r\n  x\r\n\r\n  y\r\n", "a: >\r\n  x\r\n  y\r\n", "- a\r\n- b\r\n", "a: 'x\r\n  y'\r\n", "--- # c\na: 1\n", "---   \na: 1\n", "---\ta: 1\n", "--- |\n  x\n", "--- {a: 1}\n", "---a: 1\n", "----\n", "# c\n---\na: 1\n", "%YAML 1.1 # c\n---\na: 1\n", "a: 1\n... # c\n", "a: 1\n...x\n", "a: 1\n.... \n", "...\na: 1\n", "---\n...\n---\na: 1\n", "---\n---\na: 1\n", "a: 1\n--- \n", " a: 1\n", "  a: 1\n b: 2\n", " - a\n - b\n", "\n\n\n", "# a\n# b\n", "null\n", "~\n", "yes\n", "0644\n", "1.0\n", "!!str 5\n", "'x'\n", "|\n  x\n", "&a x\n", "*a\n", "- - - a\n", "- a: 1\n  b: 2\n-\n  c: 3\n", "a:\n  -\n  - \n", "a:\n\n\n  b: 1\n", "a:   # c\n  b: 1\n", "a: # c\n", "a: 1 # c\nb: 2# d\n", "a: 1\n# c\n  # d\nb: 2\n", "a:\n# c\n- b\n", "? - a\n: b\n", "? a: 1\n: b\n", "? |\n  a\n: b\n", "? a\n:\n  - b\n", "\"a b\": 1\n'c d': 2\ne f: 3\n", "a b: 1\n", "a.b/c: 1\n", "a\tb: 1\n", "a : 1\n", "\"a\" : 1\n", "a: 1\n\n  \n\t\nb: 2\n", "a: 1\n \t\nb: 2\n", "a:\n  b: 1\n\tc: 2\n", "a: [\n1,\n2\n]\n", "a: {\nb: 1\n}\n", "a: [\n  1\n  ]\n", "a:\n- 1\n-2\n", "a:\n  b\n  c\n", "a: b\nc\n  d: e\n",
	// Keys that are no text.
	"yes: 1\n", "No: 1\n", "~: 1\n", "? ~\n: 1\n", "0x10: a\n", "0b11: a\n", "1_000: a\n", "-1: a\n", "+1: a\n", "1e3: a\n", "1e6: a\n", "123456.7: a\n", "1234567.8: a\n", "0.0001: a\n", "-0.0: a\n", "3.0: a\n", "12345678901: a\n", "9223372036854775808: a\n", "-.inf: a\n", "!!int '7': a\n", "!!float 7: a\n", "!!bool y: a\n", "!!null '': a\n", "!!str yes: a\n", "!x y: a\n", "true: a\nyes: b\n", "on: {off: {y: n}}\n", "[a]: 1\n", "{a: b}: 1\n", "[]: 1\n", "? {}\n: 1\n", "&a [x]: 1\n", "*a : 1\n", "2001-01-01: a\n", "12:30: a\n", "12:30:45: a\n",
	// Merges.
	"<<: {a: 1}\n", "<<: {a: 1}\na: 2\n", "a: 2\n<<: {a: 1}\n", "<<: []\n", "<<: [{a: 1}, {b: 2}]\n", "<<: [[{a: 1}]]\n", "<<: null\n", "<<: ''\n", "'<<': 1\n", "!!str <<: 1\n", "!!merge x: {a: 1}\n", "<<: !!map {a: 1}\n", "<<: &x {a: 1}\nb: *x\n", "x: &x {a: {b: 1}}\ny: {<<: *x, a: {c: 2}}\n", "x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, c: 3}\n", "x: &x {<<: *x}\n", "a: &a {b: 1}\n<<: *a\n", "x: &x {a: 1}\ny: &y {a: 2}\nz: {<<: *x, <<: *y}\n", "x: &x [ {a: 1} ]\ny: {<<: *x}\n", "- &a {x: 1}\n- {<<: *a, 1: 2}\n", "- <<\n", "<<\n", "k: {<<: {1: a, yes: b}}\n",
	// Anchors.
	"&a a: &b b\nc: *a\nd: *b\n", "a: &x [1, 2]\nb: *x\nc: [*x]\n", "a: &x\n  b: 1\nc: *x\n", "a: &x |\n  t\nb: *x\n", "a: &1 x\nb: *1\n", "a: &x-y_z x\nb: *x-y_z\n", "a: &x.y x\n", "a: &é x\n", "a: &x{ y\n", "a: *x\nb: &x 1\n", "a: &x 1\n---\nb: *x\n", "- &x a\n- &x b\n- *x\n", "a: *\n", "a: **x\n", "a: &&x y\n", "&x [*x]\n", "&x {a: *x}\n", "a: &x &y\n", "*x: 1\n", "a: !!str &x 5\nb: *x\n", "a: &x !!int '5'\nb: *x\n",
	// Errors and the lines they name.
	"a: b: c\n", "x: 1\na: b: c\n", "a: 1\n b: 2\n", "x: 0\na: 1\n b: 2\n", "a:\n  b: 1\n c: 2\n", "a\nb: 1\n", "a: 1\nb\n", "a: 1\nb\nc: 2\n", "- a\nb: 1\n", "a: 1\n- b\n", "a:\n  - b\n  c: 1\n",
	"a: [1, 2\n", "a: [1, 2\nb: 3\n", "x: 1\na: {b: 1\nc: 2\n", "a: \"b\n", "x: 1\ny: 2\na: 'b\nc: d\n", "a: [1 2]\n", "a: {b c}\n", "a: }\n", "x: 1\na: ]\n", "\ta: 1\n", "a:\n\tb: 1\n", "a: 1\n\tb: 2\n", "a: %x\n", "x: 1\na: @x\n", "x: 1\ny: `x\n",
	"a: |x\n  b\n", "a: |0\n", "a: !<x\n", "x: 1\na: !!\n", "a: &x &y 1\n", "a: !x !y 1\n", "a: *x y\n", "%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "\n%YAML 1.2\n---\na: 1\n", "%FOO\n---\na: 1\n", "%YAML\n---\n", "%TAG ! tag:x,2000:\n---\na: !b c\n", "a: 1\n%YAML 1.1\n",
	"key: {{ .Values.x }}\n", "{{ if x }}\na: 1\n", "a: 1\nb: {{ x }}\n", "a: x\x01y\n", "a: 1\nb: 2\nc: \x07\n", "a: \x7f\n", "a: \"\\/\"\n", "x: 1\na: \"b\\/\"\n", "x: 1\na: \"b\\\\/\"\n", "{\"url\": \"http:\\/\\/x\"}", "a: \"x\n  y\\/z\"\n",
	"? a: 1\nb\n", "a: 'b' c\n", "a: \"b\" c\n", "x: 1\na: \"b\" c\n", "a:b\n", "a:\n- b:\n  - c\n - d\n", "a: >\n  x\n y: 1\n", "- a: 1\n   b: 2\n", "\"a\": 1\n\"b\" 2\n", "a: 1\n\n\n\nb: [\n\n\n", "[a, b\n", "a: - b\n", "x: 1\na: - b\n", "-\n- \n", "a: ? b\n", "a: .inf\nb: 1\n", "a: [.nan]\n", "a: .inf\n~: 1\n",
	// Block scalars that the text ends in without a line end.
	"a: |\n  x", "a: |\n  x\n  ", "a: |-\n  x", "a: |+\n  x", "a: |+\n  x\n  ", "a: |+\n  x\n   ", "a: |\n  x\n   ", "a: >\n  x\n  y", "a: |", "a: |\n  x\n\n  ", "- |\n  x", "a: |+\n  x\n\n   ", "|\n x", "--- |\nx", "a:\n  - b: >\n     x", "a: |2\n   x", "a: |\n  x # c", "a: | # c\n  x",
	"a: >-\n  x\n\n  y\n ", "a: |\n  x\r", "a: |\n\n  x", "a: >+\n  x\n \n  ", "a: |\n  é\n  日本", "a: |\n  x\n# c", "a: |\n  x\nb: y", "a: |\n  x\nb: \"y", "\ufeffa: |\n  x", "x: 1\na: |\n  x\n\ty",
	// JSON.
	"{\"a\": 1, \"b\": [true, false, null, 1.5e3, \"x\\u00e9\\n\"]}", "{\"a\":1}", "{\"a\": \"\\ud83d\\ude00\"}", "\"x\"", "[1,2", "{\"a\":1} x", "{\"a\":\"b\tc\"}", "{\n\t\"a\": 1\n}",
	// Text.
	"a: é\nb: 日本\n", "\ufeffa: 1\n", "a: \u2028x\n", "a: \u0085x\n", "a: 1\r\nb: 2\r\n", "a: |\r\n  x\r\n  y\r\n", "a: <b>&\n", "a: b\u00a0c\n", "a: \U0001f600\n",
}

// Texts that are not UTF-8, and UTF-16.
var bytesInputs = []string{
	"a: \xff\n", "a: \xe9\n", "\xff", "\xc3", "a: \xc3", "a: \xc3(\n", "a: \xe2\x82\n", "a: \xe2\x28\xa1\n", "a: \xf0\x9f\x98\n", "a: \xed\xa0\x80\n", "a: \xc0\xaf\n", "a: \xf4\x90\x80\x80\n", "a: \x80\n", "x: 1\ny: 2\na: \xff\n", "# \xff\na: 1\n", "a: 1\n# \xff\n", "a: '\xff'\n", "a: 1\n---\nb: \xff\n",
	"\xff\xfea\x00:\x00 \x001\x00\n\x00", "\xfe\xff\x00a\x00:\x00 \x001\x00\n", "\xff\xfea\x00:\x00 \x00", "\xff\xfea", "\xff\xfe\x00\xd8a\x00", "\xef\xbb\xbfa: 1\n", "\xef\xbb", "\xef\xbb\xbf",
}

var strictInputs = []string{
	"a: 1\nb: 2\n", "a: 1\na: 2\n", "a: 1\nb: {c: 1, c: 2}\na: 3\n", "1: a\n1: b\n", "1: a\n'1': b\n", "on: 1\ntrue: 2\n", "x: &x {a: 1}\ny: {<<: *x, b: 2}\n", "a: \n  b: 1\n  b: 2\n", "1.5: a\n1.50: b\n",
}

var streams = []string{
	"a: |\n  x", "a: |+\n  x", "a: >\n  x\n  ", "a: |\n  x\n---\nb: |\n  y", "a: 1\n---\n- |\n x", "a: \"x", "a: 1\n---\nb: [", "{\"a\": 1}\n---\nb: |\n  x", "a: |\r\n  x\r\n  y", "a: x\r",
	"", "\n", "---\n", "a: 1\n", "a: 1\n---\nb: 2\n", "---\na: 1\n---\n---\n# nothing\n---\nb: 2\n", "a: 1\n--- # comment\nb: 2\n", "a: 1\n---  \t\nb: 2\n", "a: 1\n--- b: 2\n", "a: 1\n---b\n", "a: |\n  ---\n  b\n", "a: |\n---\nb: 1\n", "a: 1\n...\n---\nb: 2\n",
	"a: 1\r\n---\r\nb: 2\r\n", "----\n", "a: 1\n---", "\n\n\n---a: 1\n", "null\n---\n~\n---\na: 1\n", "a: 1\n---\nb: [\n", "x: 1\n---\ny: 1\nz: b: c\n", "- 1\n---\n- 2\n", "text\n---\n5\n", "%YAML 1.1\n---\na: 1\n",
	"{\"a\": 1}", "{\"a\": 1}{\"b\": 2}", "{\"a\": 1}\n{\"b\": 2}\n", "{\"a\": 1}\n---\n{\"b\": 2}\n", "  {\"a\": 1}\n---\nb: 2\n", "{a: 1}\n", "{a: 1}\n---\nb: 2\n", "{\"a\": 1}\n---\nb: 2\n---\nc: 3\n", "{\"a\": 1}\n\n---\n", "[{\"a\": 1}]\n", "a: \"x\n---\ny\"\n", "a: 18446744073709551615\nb: 1e21\nc: 1.0\n", "{\"a\": \"\\/\"}",
}
