package main

import "strings"

const params = `{"name":"Web-App_1","branch":"feature/Login_Page #42","version":"v1.2.3-rc.1+b5","n":3,"half":1.5,"big":1000000,"neg":-7,"nil":null,"yes":true,"no":false,"empty":"","url":"https://me:pw@example.com:8443/a/b?x=1&y=2#frag","list":["b","a","c","a"],"nums":[3,1,2],"none":[],"map":{"k":"v","a":{"b":"c"},"n":1},"values":{"a":"1","b":"2"},"path":{"path":"apps/team-a/web","basename":"web","segments":["apps","team-a","web"]},"metadata":{"labels":{"env":"prod","kubernetes.io/zone":"eu"}},"yaml":"a: 1\nb: [x, y]\n","json":"{\"a\":[1,2,{\"b\":null}]}","text":"The quick brown fox jumps","uni":"héllo wörld","lines":"one\ntwo\nthree"}`

// missing is rendered once more under the other ways to treat a key that is not there.
var missing = lines(`
{{.x}}
{{.x.y}}
{{.map.x}}
{{.map.x.y}}
{{.values.x}}
{{index .map "x"}}
{{index .map "x" "y"}}
{{.x | default "d"}}
{{default "d" .map.x}}
{{if .x}}1{{else}}2{{end}}
{{with .x}}1{{else}}2{{end}}
{{range .x}}1{{else}}2{{end}}
{{$.x}}
{{.nil}}
{{.nil.x}}
{{get .map "x"}}
{{dig "a" "x" "d" .map}}
{{hasKey .map "x"}}
{{.x | quote}}
{{.x | toString}}
{{.x | upper}}
{{printf "%v %s %d" .x .x .x}}
{{eq .x "a"}}
{{eq .x nil}}
{{ne .x "a"}}
{{and .x .y}}
{{or .x .name}}
{{not .x}}
{{len .x}}
{{.x | toJson}}
`)

func lines(text string) []string {
	return strings.Split(strings.Trim(text, "\n"), "\n")
}

var templates = append(append(lines(language), lines(calls)...), append(missing, several...)...)

var several = []string{
	"a\n  {{- .name -}}\n  b", "{{range .list}}\n- {{.}}\n{{end}}", "{{range .list -}}\n- {{.}}\n{{end -}}", "\n\n{{.x.y.z}}\n{{.nil.x}}",
	"line\nother {{ .n | nofunc }}", "{{ .map\n| toJson }}", "{{/* a\ncomment */}}x", "{{if .yes}}\na\n{{- else}}\nb\n{{- end}}", "{{ \"a\nb\" }}", "{{ `a\nb` }}",
}

const language = `
plain
{{.name}}
{{ .name }}
{{- .name -}}
a {{- .name -}} b
a {{.name}} {{.n}} {{.half}} {{.big}} {{.neg}} {{.nil}} {{.yes}}
{{.list}}
{{.map}}
{{.none}}
{{.map.a.b}}
{{.map.k.x}}
{{.name.x}}
{{.n.x}}
{{.list.x}}
{{.}}
{{$}}
{{$x := .name}}{{$x}}
{{$x := 1}}{{$x = 2}}{{$x}}
{{$x}}
{{$x = 1}}
{{$x, $y := .list}}
{{if .yes}}a{{end}}
{{if .no}}a{{else}}b{{end}}
{{if .no}}a{{else if .yes}}b{{else}}c{{end}}
{{if $x := .name}}{{$x}}{{end}}
{{if not .no}}a{{end}}
{{with .map}}{{.k}}{{end}}
{{with .none}}a{{else}}b{{end}}
{{with .none}}a{{else with .map}}{{.k}}{{end}}
{{with $x := .map.a}}{{$x.b}}{{end}}
{{range .list}}{{.}},{{end}}
{{range $i, $e := .list}}{{$i}}={{$e}};{{end}}
{{range $e := .list}}{{$e}}{{end}}
{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}
{{range .map}}{{.}};{{end}}
{{range .none}}a{{else}}b{{end}}
{{range .list}}{{if eq . "c"}}{{break}}{{end}}{{.}}{{end}}
{{range .list}}{{if eq . "a"}}{{continue}}{{end}}{{.}}{{end}}
{{range 3}}{{.}}{{end}}
{{range $i := 3}}{{$i}}{{end}}
{{range $i, $j := 3}}{{$i}}{{end}}
{{range .n}}{{.}}{{end}}
{{range .name}}{{.}}{{end}}
{{range .yes}}{{.}}{{end}}
{{break}}
{{continue}}
{{define "a"}}<{{.}}>{{end}}{{template "a" .name}}
{{define "a"}}<{{.}}>{{end}}{{template "a"}}
{{block "a" .name}}[{{.}}]{{end}}
{{template "none"}}
{{define "a"}}{{template "a"}}{{end}}{{template "a"}}
{{define "a"}}{{.x.y}}{{end}}{{template "a" .map}}
{{define "a"}}{{fail "no"}}{{end}}{{template "a"}}
{{/* comment */}}a
{{- /* comment */ -}} a
{{1}} {{-1}} {{1.5}} {{0x10}} {{1e3}} {{0b11}} {{0o17}} {{017}} {{1_000}} {{'a'}} {{'\n'}}
{{1e10}} {{1e20}} {{1e21}} {{0.00001}} {{123456789.0}}
{{"a\tb\"c"}} {{"é"}} {{"\x41"}}
{{true}} {{false}}
{{nil}}
{{.name | nil}}
{{9223372036854775807}}
{{9223372036854775808}}
{{99999999999999999999}}
{{1x}}
{{.name
{{if .yes}}a
{{end}}
{{else}}
{{if .yes}}a{{else}}b{{else}}c{{end}}
{{if}}a{{end}}
{{range}}a{{end}}
{{with}}a{{end}}
{{}}
{{ }}
{{.name}
{{.name}}}
{{{.name}}}
{{nofunc .name}}
{{.name | nofunc}}
{{env "HOME"}}
{{expandenv "HOME"}}
{{getHostByName "a"}}
{{.name.}}
{{.name..x}}
{{..name}}
{{. name}}
{{.name "a"}}
{{.map.k "a"}}
{{"a" "b"}}
{{1 2}}
{{.name | "a"}}
{{.name | 1}}
{{.name | .n}}
{{.name | upper | lower}}
{{(.name)}}
{{(.map).k}}
{{(.map.a).b}}
{{(index .list 0)}}
{{(index .list 0) | upper}}
{{(}}
{{)}}
{{(.name}}
{{.name)}}
{{"unterminated}}
{{'a}}
{{/* open}}
{{ & }}
{{ @ }}
{{ .a-b }}
{{ .a, }}
{{ , }}
{{ = }}
{{ := }}
{{ $x : 1 }}
{{ | upper }}
{{ .name | }}
{{ .name || upper }}
{{ template .name }}
{{ template "a" }}
{{ define a }}{{end}}
{{ define "a" }}
{{ if .yes }}{{ define "a" }}{{ end }}{{ end }}
{{.name}}-{{.n}}-{{.list}}-{{.map}}
{{index .list 0}}
{{index .list 9}}
{{index .list -1}}
{{index .list "a"}}
{{index .list nil}}
{{index .map "a" "b"}}
{{index .map 1}}
{{index .name 0}}
{{index .metadata.labels "kubernetes.io/zone"}}
{{index .n 0}}
{{index nil 0}}
{{index .nil 0}}
{{index .map}}
{{index .nums 0.5}}
{{index .nums .n}}
{{index .path.segments 1}}
{{.path.path}} {{.path.basename}} {{.metadata.labels.env}}
{{slice .name 1 3}}
{{slice .name 1}}
{{slice .list 1 2}}
{{slice .list 1 9}}
{{slice .name 3 1}}
{{slice .n}}
{{slice .list 1 2 3}}
{{slice .name 1 2 3}}
{{len .name}} {{len .list}} {{len .map}}
{{len .n}}
{{len nil}}
{{len}}
{{len .name .name}}
{{call .name}}
{{call nil}}
{{call}}
{{print 1 2 "a" "b" 3}} {{print .n .half .big .nil}}
{{println "a" 1}}
{{printf "%s" .name}}
{{printf "%d" .n}}
{{printf "%d %5d|%-5d|%05d|%x|%X|%o|%b|%c|%q|%U" 65 65 65 65 65 65 65 65 65 65 65}}
{{printf "%s|%10s|%-10s|%.2s|%q|%x|%v|%T" .name .name .name .name .name .name .name .name}}
{{printf "%f|%.2f|%8.3f|%e|%g|%v|%T" .half .half .half .half .half .half .half}}
{{printf "%v %v %v %v" .list .map .nil .yes}}
{{printf "%+v %#v %#v %#v" .map .list .name .n}}
{{printf "%+v %+d" .map 1}}
{{printf "%t %t" .yes .name}}
{{printf "%d" .name}}
{{printf "%s" 1}}
{{printf "%s"}}
{{printf "%s" "a" "b"}}
{{printf "%z" 1}}
{{printf "%"}}
{{printf "%%"}}
{{printf "%[2]s %[1]s" "a" "b"}}
{{printf "%*d" 5 3}}
{{printf "%+d % d" 3 3}}
{{printf "%s %s" .list .map}}
{{printf "%q" .list}}
{{printf "%d" (int .n)}}
{{printf "%03d" (int .n)}}
{{printf "%v" (list 1 "a" nil)}}
{{printf "%s-%s" .name "x" | upper}}
{{printf 1}}
{{printf .n}}
{{printf}}
{{html "<a href='x'>&\"</a>"}} {{js "it's <\"\n"}} {{urlquery "a b&c/d"}}
{{eq 1 1}} {{eq "a" "a"}} {{eq .name "x"}} {{eq 1 2 1}} {{eq 1.0 1.0}} {{eq true true}}
{{eq 1 1.0}}
{{eq .n 3}}
{{eq .n 3.0}}
{{eq "a" 1}}
{{eq .list .list}}
{{eq .map .map}}
{{eq .nil nil}}
{{eq nil nil}}
{{eq 1}}
{{eq}}
{{eq .name nil}}
{{ne 1 2}} {{ne "a" "a"}}
{{ne 1}}
{{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 2 3}} {{lt "a" "b"}} {{lt 1.5 2.5}}
{{lt .n 5}}
{{lt (int .n) 5}}
{{lt true false}}
{{lt .list .list}}
{{gt nil 1}}
{{lt "a" 1}}
{{and}}
{{or}}
{{and .yes .name}} {{and .no .name}} {{or .no .name}} {{or .yes .name}} {{not .yes}}
{{and .no (fail "x")}} {{or .yes (fail "x")}}
{{not}}
{{not 1 2}}
{{.yes | ternary "a" "b"}}
{{if and .yes (eq .n 3.0)}}a{{end}}
{{if or .no (gt (int .n) 2)}}a{{end}}
`

const calls = `
{{upper .name}} {{lower .name}} {{title "hello world"}} {{untitle "Hello World"}}
{{title .uni}} {{upper .uni}} {{initials .text}} {{nospace .text}}
{{upper 1}}
{{upper .n}}
{{upper nil}}
{{upper .nil}}
{{upper .list}}
{{upper}}
{{upper "a" "b"}}
{{upper true}}
{{trim "  a "}} {{trimAll "-" "--a--"}} {{trimall "ab" "abcab"}} {{trimSuffix "-x" "a-x"}} {{trimPrefix "v" .version}}
{{trunc 3 .name}} {{trunc -3 .name}} {{trunc 100 .name}}
{{trunc "a" .name}}
{{trunc .n .name}}
{{substr 0 3 .name}} {{substr 2 -1 .name}} {{substr -1 3 .name}} {{substr 1 100 .name}}
{{substr 5 2 .name}}
{{repeat 3 "ab"}}
{{repeat -1 "ab"}}
{{replace "-" "." .name}} {{.branch | replace "/" "-" | lower}}
{{contains "App" .name}} {{hasPrefix "Web" .name}} {{hasSuffix "x" .name}}
{{quote .name}} {{quote 1 "a" nil}} {{squote .name 1}} {{quote .list}} {{quote .nil}}
{{cat "a" 1 nil "b"}} {{cat .name .n}}
{{indent 2 .lines}}|{{nindent 2 .lines}}
{{plural "one" "many" 1}} {{plural "one" "many" 2}}
{{toString .n}} {{toString .big}} {{toString .list}} {{toString .map}} {{toString nil}}
{{toStrings .list}} {{toStrings .nums}} {{toStrings "a"}}
{{join "," .list}} {{join "," .nums}} {{join "-" "a"}} {{join "," nil}} {{join "," .map}}
{{sortAlpha .list}} {{sortAlpha .nums}} {{sortAlpha "b"}}
{{splitList "/" .path.path}} {{split "/" .path.path}} {{(split "/" .path.path)._1}} {{splitn "/" 2 .path.path}}
{{(split "/" .path.path)._9}}
{{(splitn "/" 2 .path.path)._1}} {{splitList "" "abc"}}
{{fail "stop here"}}
{{fail .name}}
{{base .path.path}} {{dir .path.path}} {{clean "a/../b//c"}} {{ext "a/b.tar.gz"}} {{isAbs "/a"}} {{base ""}} {{dir ""}} {{dir "/a"}}
{{osBase "/a/b"}} {{osDir "/a/b"}} {{osClean "a//b"}} {{osExt "x.y"}} {{osIsAbs "a"}}
{{snakecase "FirstName"}} {{snakecase "HTTPServer"}} {{snakecase "first name"}} {{snakecase "a-b.c_d"}} {{snakecase "_Complex__Case_"}} {{snakecase "version2Beta"}}
{{snakecase .name}} {{snakecase .branch}} {{snakecase ""}} {{snakecase "ABC"}} {{snakecase "aB1c"}}
{{camelcase "http_server"}} {{camelcase "_camel_case"}} {{camelcase "no_https"}} {{camelcase "_complex__case_"}} {{camelcase "all"}} {{camelcase "a-b c"}}
{{camelcase .name}} {{camelcase .branch}} {{camelcase ""}} {{camelcase "fooBar"}}
{{kebabcase "FirstName"}} {{kebabcase "HTTPServer"}} {{kebabcase "NoHTTPS"}} {{kebabcase "GO_PATH"}} {{kebabcase "GO PATH"}} {{kebabcase "GO-PATH"}} {{kebabcase "HTTP2XX"}} {{kebabcase "http2xx"}}
{{kebabcase .name}} {{kebabcase .branch}} {{kebabcase "helloWorld10Times"}}
{{swapcase "This Is A.Test"}} {{swapcase .name}} {{swapcase .uni}}
{{abbrev 5 "hello world"}} {{abbrev 3 "hello"}} {{abbrev 100 "hello"}} {{abbrev 4 "hello"}}
{{abbrevboth 5 10 "1234 5678 9123"}} {{abbrevboth 1 10 "hello"}} {{abbrevboth 3 8 "1234567890123456"}}
{{wrap 10 .text}} {{wrapWith 5 "|" .text}} {{wrap 80 .text}} {{wrapWith 3 "-" "Helloworld"}}
{{semver .version}} {{(semver .version).Major}}.{{(semver .version).Minor}}.{{(semver .version).Patch}} {{(semver .version).Prerelease}} {{(semver .version).Metadata}} {{(semver .version).Original}}
{{semver "x"}}
{{semver "1"}} {{semver "1.2"}} {{semver "v1.2.3"}}
{{$v := semver "1.2.3"}}{{$v.Major}}-{{$v.Minor}}
{{(semver "1.2.3").Nope}}
{{semver "1.2.3" | toString}}
{{semverCompare ">=1.2.0" "1.2.3"}} {{semverCompare "^1.0" "2.0.0"}} {{semverCompare "~1.2.0 || >3" "4.0.0"}} {{semverCompare ">1.0.0" .version}} {{semverCompare ">=1.0.0-0" .version}}
{{semverCompare "x y" "1.2.3"}}
{{semverCompare ">1" "zz"}}
{{semverCompare "" "1.2.3"}}
{{urlParse .url}}
{{(urlParse .url).host}} {{(urlParse .url).hostname}} {{(urlParse .url).path}} {{(urlParse .url).query}} {{(urlParse .url).scheme}} {{(urlParse .url).userinfo}} {{(urlParse .url).fragment}}
{{urlParse "a/b"}} {{urlParse "mailto:a@b"}} {{urlParse ""}}
{{urlParse "http://[::1"}}
{{urlParse "http://a b/"}}
{{urlJoin (dict "scheme" "http" "host" "a:80" "path" "/p" "query" "q=1" "fragment" "f")}} {{urlParse .url | urlJoin}}
{{urlJoin (dict "host" "h" "userinfo" "u:p")}} {{urlJoin (dict "scheme" "mailto" "opaque" "x@y")}}
{{b64enc .name}} {{b64dec "V2ViLUFwcF8x"}} {{b64dec "!!"}} {{b64dec "abc"}} {{b32enc .name}} {{b32dec "K5SWELKBOBYF6MI="}} {{b32dec "1"}}
{{sha1sum .name}} {{sha256sum .name}} {{sha512sum "a"}} {{adler32sum .name}}
{{toJson .map}} {{toJson .list}} {{toJson .nil}} {{toJson .half}} {{toJson "<a>&"}} {{toRawJson "<a>&"}}
{{toPrettyJson .map}} {{toPrettyJson .none}} {{toPrettyJson "<"}}
{{fromJson .json}} {{(fromJson .json).a}} {{fromJson "{"}} {{toJson (fromJson .json)}}
{{mustFromJson "{"}}
{{mustFromJson "x"}}
{{mustToJson .map}} {{mustToRawJson .map}} {{mustToPrettyJson .nums}}
{{toYaml .map}}
{{toYaml .list}}
{{toYaml (list "y" "no" "~" "" "null" "1" "1.5" "0x1F" "1_000" "012" "1e3" ".5" "-" "- a" "a: b" "a:" "a #b" "#a" "'a'" "!x" "&a" "*a" "@a" "%a" "[a]" "{a}" "<<" "=" " a" "a " "2017-12-31" "12:30:45" "true" "é" "a\tb" "a\nb" "a\n\n" "\na" " a\nb" "?" "? a" ":" ".inf" "NaN" "+1" "1.2.3" "0b1" "0o7" "a,b" "|" ">" "\u0001" "--- a" "...")}}
{{toYaml (dict "a" (list (list 1 2) (dict "x" (list)) (dict)) "b" (dict "c" (dict "d" 1.5)) "yes" 1 "1" 2 "a b" 3 "" 4 "x: y" 5)}}
{{toYaml 1234567.5}} {{toYaml 1e21}} {{toYaml 0.00001}} {{toYaml true}} {{toYaml "2"}} {{toYaml "a\nb"}} {{toYaml (list "a very long line of words that goes on and on, well beyond the eighty columns at which YAML writers like to break lines")}}
{{toYaml .name}} {{toYaml .n}} {{toYaml .nil}} {{toYaml .none}}
{{toYaml .}}
{{fromYaml .yaml}} {{(fromYaml .yaml).b}} {{index (fromYaml .yaml).b 0}} {{fromYaml ""}}
{{fromYaml "a: b: c"}}
{{fromYaml "- a"}}
{{fromYaml "text"}}
{{fromYamlArray "- a\n- b"}} {{fromYamlArray ""}}
{{fromYamlArray "a: b"}}
{{default "d" .empty}} {{default "d" .name}} {{.no | default true}} {{default 5 0}} {{default "d"}}
{{empty .empty}} {{empty .n}} {{empty .none}} {{coalesce "" 0 nil "x"}} {{coalesce}} {{all 1 "a"}} {{all 1 ""}} {{any 0 "a"}} {{any}} {{all}}
{{ternary "a" "b" true}} {{ternary "a" "b" .no}}
{{ternary "a" "b" "x"}}
{{ternary "a" "b" .name}}
{{ternary "a" "b" .nil}}
{{list 1 2 "a"}} {{tuple 1 2}} {{list}}
{{first .list}} {{last .list}} {{rest .list}} {{initial .list}} {{first .none}} {{last .none}} {{rest .none}}
{{first .name}}
{{first nil}}
{{last .n}}
{{mustFirst .name}}
{{append .list "z"}} {{prepend .list "z"}} {{push .list 1}} {{concat .list .nums}} {{concat}} {{reverse .list}}
{{append .name "z"}}
{{concat .list "a"}}
{{uniq .list}} {{without .list "a"}} {{without .list "a" "b"}} {{has "a" .list}} {{has "z" .list}} {{has 3 .nums}} {{has 3.0 .nums}} {{compact (list 1 0 "" "a" nil)}}
{{has "a" .name}}
{{uniq .name}}
{{without .name "a"}}
{{compact .name}}
{{slice .list 1 3}} {{slice .list 1}} {{slice .list}}
{{mustSlice .list 1 3}} {{mustUniq .list}} {{mustHas "a" .list}} {{mustWithout .list "a"}} {{mustCompact .list}} {{mustReverse .list}} {{mustAppend .list 1}} {{mustPrepend .list 1}} {{mustRest .list}} {{mustInitial .list}} {{mustLast .list}} {{mustPush .list 2}}
{{chunk 2 .list}} {{chunk 3 .nums}} {{chunk 2 .none}} {{mustChunk 2 .list}}
{{chunk 0 .list}}
{{chunk 2 .name}}
{{dict "a" 1 "b" "x"}} {{dict}} {{dict "a"}} {{dict 1 2}}
{{$d := dict "a" 1}}{{$_ := set $d "b" 2}}{{$d}} {{$_ := unset $d "a"}}{{$d}}
{{get .map "k"}} {{get .map "zz"}} {{hasKey .map "k"}} {{keys .values | sortAlpha}} {{values .values | sortAlpha}} {{pick .map "k" "n"}} {{omit .map "k"}} {{pluck "k" .map .values (dict "k" 1)}}
{{get .name "k"}}
{{get nil "k"}}
{{hasKey .list "k"}}
{{dig "a" "b" "d" .map}} {{dig "a" "z" "d" .map}} {{dig "q" "d" .map}}
{{dig "k" "z" "d" .map}}
{{dig "a" .map}}
{{merge (dict "a" 1) (dict "a" 2 "b" 3)}} {{mergeOverwrite (dict "a" 1) (dict "a" 2 "b" 3)}} {{merge (dict "m" (dict "x" 1)) (dict "m" (dict "x" 2 "y" 3))}} {{mustMerge (dict) .values}} {{mustMergeOverwrite (dict "a" "9") .values}}
{{deepCopy .map}} {{mustDeepCopy .list}} {{deepEqual .list .list}} {{deepEqual .n 3}} {{deepEqual (list 1) (list 1)}}
{{kindOf .n}} {{kindOf .name}} {{kindOf .list}} {{kindOf .map}} {{kindOf .nil}} {{kindOf .yes}} {{kindOf 1}} {{kindIs "string" .name}}
{{typeOf .n}} {{typeOf .name}} {{typeOf .list}} {{typeOf .map}} {{typeOf .nil}} {{typeOf 1}} {{typeOf (int64 1)}} {{typeIs "string" .name}} {{typeIsLike "string" .name}} {{typeOf (semver "1.2.3")}}
{{regexMatch "^W.*1$" .name}} {{regexFind "[0-9]+" .branch}} {{regexFindAll "[a-z]+" .text -1}} {{regexFindAll "[a-z]+" .text 2}} {{regexReplaceAll "(\\w+)-(\\w+)" .name "${2}-$1"}} {{regexReplaceAllLiteral "a" "banana" "$1"}} {{regexSplit "[ -]" .text -1}} {{regexSplit " " .text 2}} {{regexQuoteMeta "a.b*c"}}
{{regexReplaceAll "[^a-zA-Z0-9]+" .branch "-"}} {{regexReplaceAll "(a)" "banana" "$1x"}} {{regexReplaceAll "(?P<l>a)" "banana" "<${l}>"}} {{regexFindAll "x" .text -1}} {{regexFindAll "a" "aaa" 0}} {{regexSplit "x" "axb" 0}}
{{regexMatch "(" "a"}}
{{mustRegexMatch "(" "a"}}
{{regexFind "[z" "a"}}
{{mustRegexFind "*" "a"}} 
{{mustRegexReplaceAll "a(?=b)" "ab" ""}}
{{mustRegexFindAll "[a-z" "a" -1}}
{{mustRegexSplit "a{2,1}" "a" -1}}
{{mustRegexReplaceAllLiteral "\\y" "a" "b"}}
{{mustRegexMatch "a)" "a"}}
{{mustRegexMatch "[b-a]" "a"}}
{{mustRegexMatch "a**" "a"}}
{{mustRegexMatch "a{1001}" "a"}}
{{mustRegexMatch "\\" "a"}}
{{atoi "12"}} {{atoi "x"}} {{int "7"}} {{int .half}} {{int .nil}} {{int64 "9"}} {{float64 "1.5"}} {{float64 .n}} {{int "1.9"}} {{int true}} {{toDecimal 777}} {{int64 .neg}} {{int .big}} {{int "0x10"}} {{int "010"}} {{int "1_000"}}
{{add 1 2 3}} {{add1 1}} {{sub 5 2}} {{mul 2 3 4}} {{div 7 2}} {{mod 7 2}} {{div -7 2}} {{mod -7 3}} {{max 1 5 3}} {{min 4 2}} {{biggest 1 2}} {{add .n "4" .half}} {{add}}
{{div 1 0}}
{{mod 1 0}}
{{addf 1.5 2}} {{add1f 1.5}} {{subf 5 1.5 1}} {{mulf 1.5 2 2}} {{divf 7 2}} {{maxf 1 2.5 2}} {{minf 1.5 2}} {{addf 0.1 0.2}} {{divf 1 3}} {{subf 3}} {{addf}} {{divf 10 4 2}}
{{divf 1 0}}
{{divf 0 0}}
{{mulf 1e10 10}} {{subf 0.3 0.1}} {{addf "1.1" 2}}
{{floor 1.7}} {{ceil 1.2}} {{round 1.2345 2}} {{round 1.5 0}} {{round 123.5555 3 0.5}} {{floor "2.9"}} {{floor -1.5}} {{round -1.5 0}} {{ceil .n}}
{{until 3}} {{until -3}} {{until 0}} {{untilStep 0 6 2}} {{untilStep 6 0 -2}} {{untilStep 0 5 0}} {{seq 3}} {{seq 2 4}} {{seq 0 2 6}} {{seq 5 1}} {{seq}} {{seq 1 2 3 4}} {{seq 0}} {{seq 5 -2 1}}
{{range until 3}}{{.}}{{end}}
{{range $i, $e := until 2}}{{$i}}{{$e}}{{end}}
{{normalize .name}} {{normalize "A.B_c--"}} {{normalize ""}} {{slugify .branch}} {{slugify 10 true .branch}} {{slugify 10 false .branch}} {{slugify 5 false "abc def ghi"}} {{slugify "é a & b"}}
{{slugify 8 true "one two three four"}} {{slugify 0 true "a b"}} {{slugify 100 "a b"}} {{slugify 23 false "Very long_name with words here"}}
{{normalize .n}}
{{slugify .n}}
{{slugify "a" "b"}}
{{hello}} {{nospace " a b "}}
{{.list | join "," | upper | quote}}
{{.path.segments | rest | join "-"}}
{{.path.segments | last}} {{index .path.segments 0 | title}}
{{.name | lower | replace "_" "-" | trunc 5 | trimSuffix "-"}}
{{printf "%s-%s" .name (.branch | normalize) | lower | trunc 20}}
{{toYaml .metadata | nindent 4}}
{{if eq (get .metadata.labels "env") "prod"}}main{{else}}develop{{end}}
{{dict "a" (list 1 2) "b" (dict "c" nil) | toJson}}
{{dict "a" (list 1 2) "b" (dict "c" nil) | toYaml}}
{{list 1.5 "a" true nil | toJson}}
{{duration 95}} {{duration "3600"}} {{duration 0}} {{duration "x"}} {{durationRound "2h10m5s"}} {{durationRound 3600}} {{durationRound "800h"}} {{durationRound "10000h"}} {{durationRound "59s"}} {{durationRound nil}}
{{(toDate "2006-01-02" "2017-12-31").Year}}
{{toDate "2006-01-02" "2017-12-31" | date "02/01/2006"}} {{toDate "2006-01-02" "2017-12-31" | unixEpoch}}
{{dateInZone "2006-01-02T15:04:05Z07:00" (toDate "2006-01-02" "2017-12-31") "UTC"}} {{htmlDateInZone 0 "UTC"}} {{dateInZone "Mon Jan 2 15:04:05 MST 2006" 1500000000 "UTC"}} {{dateInZone "06-1-2 3:4:5PM" 1500000000 "UTC"}}
{{mustToDate "2006-01-02" "x"}}
`
