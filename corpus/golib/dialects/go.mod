module golib/dialects

go 1.26.0

require (
	github.com/dlclark/regexp2 v1.12.0
	github.com/gobwas/glob v0.2.3
	github.com/robfig/cron/v3 v3.0.2-0.20210106135023-bc59245fe10e
)
