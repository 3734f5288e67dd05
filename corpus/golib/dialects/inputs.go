package main

var globPatterns = []string{
	"", "*", "**", "?", "a", "a*", "*a", "*a*", "a?c", "a*c", "a**c", "**/c", "a/**", "*/*", "*/**", "[a-c]", "[!a-c]", "[abc]", "[!abc]x", "[a-]", "[]", "[!]", "[", "[a", "[z-a]", "[a-c", "[a-bc]", "[^a]c", "[ab-c]", "[\\]]", "[!\\]a]b",
	"{a,b}", "{a,b}c", "a{b,c}*", "{a,{b,c}}d", "{a", "{a,b", "a}", "a,b", "{,a}b", "{a*,b?}c", "{*,a/c}", "\\*", "a\\*c", "a\\", "\\a\\b", "{a\\,b,c}", "***", "a***c", "??", "?*", "*?", "[ab]*", "*[bc]", "a[b/]c", "a?*c",
	"https://github.com/argoproj/*", "https://github.com/*/argo-cd", "https://github.com/**", "!a", "https://{a,b}.x/*", "*.example.com", "https://*.example.com/*", "team-*", "*-team", "apps", "*.k8s.io", "é*", "[é]",
}

var globTexts = []string{
	"", "a", "b", "c", "ab", "ac", "abc", "a/c", "a/b/c", "ab/c", "a*c", "a,b", "a}", "]", "xb", "bd", "cd", "acd", "/", "//", "-", "abcd", "é", "éa", "^c",
	"https://github.com/argoproj/argo-cd", "https://github.com/argoproj/argo-cd/x", "https://a.x/y", "foo.example.com", "https://foo.example.com/bar", "team-a", "my-team", "apps", "rbac.authorization.k8s.io",
}

var filepathPatterns = []string{
	"", "*", "**", "?", "a", "a*", "*a", "*a*", "a?c", "a*c", "a*b*c", "*/*", "[a-c]", "[^a-c]", "[abc]*", "[!a]", "[a-]", "[]", "[]a]", "[-a]", "[^]", "[", "[a", "a[", "a[b", "[z-a]", "[a-c", "[\\]]", "[\\-x]", "\\*", "a\\*c", "a\\", "\\", "[\\", "*[", "a*[", "{a,b}", "[a-b-c]", "[x-]", "***", "*.k8s.io", "Config*", "?*", "*?", "[*]", "[a*]c", "a/[b]",
}

var filepathTexts = []string{"", "a", "b", "c", "ab", "ac", "abc", "aXbYc", "a/c", "a/b", "a*c", "]", "-", "*", "{a,b}", "apps.k8s.io", "ConfigMap", "é", "/"}

var regexpPatterns = []string{
	"", "a", "^a", "a$", "^a$", "^abc$", "a|b", "^(a|b)$", "^(?:ab|a)c$", "a*", "^a*$", "^a+$", "^a?b$", "^a{2}$", "^a{2,}$", "^a{1,2}$", "a{", "a{x}", "a{,2}", "^a{2,1}$", "a**", "a+?", "^.*?b$", "^[abc]+$", "^[^abc]+$", "^[a-c-]+$", "^[]a]$", "[z-a]", "[a", "^[\\d-]+$", "\\d", "^\\w+$", "\\s", "\\bteam\\b", "\\Bam", "\\Aa", "c\\Z", "c\\z",
	"^((?!not-allowed).)*$", "^(?!kube-).+", "^(?=team).*a$", "(?<=team-)a", "(?<!team-)a$", "^(team|apps)-[a-z0-9]+$", "^(a)(b)\\2\\1$", "^(a)\\1$", "(a)\\2", "(?i)TEAM", "^(?i:T)eam", "(?-i)a", "(?s)a.b", "^a.b$", "(?m)^b$", "^b$", "(", ")", "a)", "*a", "+", "?", "a||b", "()", "^()$", "(a*)*b", "^(a*)+$", "^(a|b|ab)*c$", "\\.", "a\\.b", "\\q", "\\", "[\\", "\\x41", "\\u0041", "\\x4", "\\-", "^.+-(dev|stage|prod)$", "^team-(?!b).*", "^[a-z]([-a-z0-9]*[a-z0-9])?$", "\\/", "a/b", "^.{3}$", "^(?:.{1,3})$", "é", "^\\S+$", "^\\W$", "(?n)(a)\\1",
}

var regexpTexts = []string{
	"", "a", "b", "c", "ab", "aa", "abc", "abba", "aaa", "aab", "bb", "-", "]", "a b", "a\nb", "b\n", "abc\n", "a.b", "a/b", "A", "1", "team", "team-a", "team-b", "TEAM", "Team", "my-not-allowed-ns", "kube-system", "apps-dev", "x-stage", "aac", "{x}", "a{", "é",
}

var schedules = []string{
	"* * * * *", "0 * * * *", "*/15 * * * *", "5/10 * * * *", "10-20/5 * * * *", "0 0 * * *", "30 22 * * 1-5", "0 9 * * mon-fri", "0 9 * * MON,wed,Fri", "0 0 1 * *", "0 0 1 jan *", "0 0 29 2 *", "0 0 30 2 *", "0 0 31 * *", "0 0 13 * 5", "0 0 13 * ?", "? ? ? ? ?", "0 0 */2 * 1", "0 0 * * 0", "0 0 1,15 * *", "59 23 31 12 *", "0 0 1-7 * 1", "*/7 */5 * * *", "0 12 * feb,AUG sun", "1,2,3 4,5 * * *", ", * * * *", "1, 2 * * *", "*/1 * * * 3", "0 0 */1 * 2",
	"CRON_TZ=America/New_York 30 1 * * *", "CRON_TZ=America/New_York 30 2 * * *", "TZ=Europe/Berlin 30 2 * * *", "TZ=Asia/Kolkata 0 9 * * *", "CRON_TZ=UTC 0 9 * * *", "CRON_TZ=America/Sao_Paulo 0 0 * * *", "TZ=Australia/Lord_Howe 0 * * * *", "CRON_TZ=Nowhere/City 0 0 * * *", "TZ=Asia/Tokyo   0 0 * * *",
	"", " ", "* * * *", "* * * * * *", "0 0 0 * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 7", "* * * * 8", "5-1 * * * *", "fri-mon * * * *", "0 0 * * fri-mon", "*/0 * * * *", "1/2/3 * * * *", "1-2-3 * * * *", "a * * * *", "-1 * * * *", "1- * * * *", "- * * * *", "*-5 * * * *", "*/x * * * *", "@daily", "@every 1h", "TZ=UTC @daily", "1.5 * * * *", "* * * foo *", "99999999999999999999 * * * *", "*/-5 * * * *", "*-5-6 * * * *", "a-b-c * * * *", "** * * * *", "*/100 * * * *", "+5 * * * *",
}

var afters = []string{
	"2026-01-01T00:00:00Z", "2026-02-28T23:59:30Z", "2026-03-08T06:29:59Z", "2026-03-29T00:30:00Z", "2026-10-25T00:15:00Z", "2026-11-01T05:30:00Z", "2026-11-29T22:50:09.5Z", "2026-12-31T23:59:59.999Z", "2018-11-03T12:00:00Z",
}

var durations = []string{
	"0", "0s", "+0", "-0", "1s", "5m", "1h30m", "1.5h", "1h15m30.918273645s", "100ms", "2us", "2µs", "2μs", "3ns", "-1.5h", "+5s", "-.5s", ".5s", "5.s", "1.s", "0.000000001s", "0.0000000019s", "0.3333333333333333333h", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "-9223372036854775809ns", "2540400h10m10.000000000s", "9007199254.740993ms", "1h1h", "1000000h", "3000000h", "0.100000000000000000000h", "0.9223372036854775807h", "39h9m14.425s", "1ms1us1ns", "1m", "60m", "90s", "24h", "168h", "1500us", "1001ns", "999ms", "1000ms", "61.5s",
	"", "3", "-", "+", "s", ".", "-.", ".s", "+.s", "1d", "1w", "1x", "1 s", " 1s", "1s ", "1h 30m", "3000000000000h", "1e3s", "1,5s", "1h-5m", "--1s", "1S", "1.1.1s", "1µ", "99999999999999999999s", "1s\"x\"", "1hour", "é", "5é",
}

var urls = []string{
	"", "*", "**", "/", "//", "///", "///a", "//host", "//host/a", "a", "a/b", "./a", "a:b", "a/b:c", ":a", "a b", "1a:b", "http:", "http:/", "http:/a", "http://", "http:///a", "http://a", "HTTP://A/B", "https://github.com/argoproj/argo-cd", "https://github.com/argoproj/*", "https://github.com/**", "https://*.example.com/a", "https://{a,b}.com/x", "https://a.com/{b,c}/d", "https://a.com/[ab]", "https://a.com/a?c", "https://a.com/a?", "https://a.com/a??", "?", "?a", "#", "#a", "a#b c", "a#b?c", "https://a.com/x#",
	"https://user@a.com/x", "https://user:pass@a.com/x", "https://user:p%40ss@a.com/x", "https://us er@a.com", "https://u:p:q@a.com", "https://a@b@c.com/x", "https://@a.com", "https://a.com:443/x", "https://a.com:/x", "https://a.com:x/y", "https://a.com:44x", "https://[::1]/x", "https://[::1]:80/x", "https://[::1]x", "https://[::1", "https://a[b", "https://a%20b/x", "https://a.com/%20", "https://a.com/%2f", "https://a.com/%zz", "https://a.com/%2", "https://a.com/a b", "https://a.com/a%20b c", "https://a.com/a\\b", "https://a.com/\"q\"", "https://a.com/é", "https://é.com/a", "https://%C3%A9.com/a", "https://a.com/%c3%a9", "https://a.com/a+b&c=d;e,f:g@h!i$j'k(l)m*n",
	"ssh://git@github.com/argoproj/argo-cd", "ssh://git@github.com:22/argoproj/argo-cd", "git@github.com:argoproj/argo-cd", "git@github.com/argoproj/argo-cd", "ssh://git@github.com:argoproj/argo-cd", "file:///tmp/x", "file://host/x", "oci://ghcr.io/a/b", "ghcr.io/a/b", "localhost:5000/a", "registry.x:5000/a/b", "github.com:a", "a.b-c+d:e", "https://dev.azure.com/a/b/_git/c", "https://a.com//b", "https://a.com/./b/../c", "https://a.com/ ", "\t", "a\nb", "https://a.com/\x7f", "!https://a.com", "https://a.com/<b>", "https://a<b>.com/", "https://a.com/|", "mailto:a@b.c",
}
