// Writes the tables of small Go dialects into the folder above: glob.json, filepath.json, regexp2.json, cron.json,
// duration.json. Each table has the texts that its patterns were tried on, and rows that hold the inputs of a call and
// the value or error that Go gives.
//
// Run in this folder: go run .
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/gobwas/glob"
	"github.com/robfig/cron/v3"
)

type row map[string]any

func (r row) answer(value any, err error) row {
	if err != nil {
		r["error"] = err.Error()
	} else {
		r["value"] = value
	}
	return r
}

// globs lists, for each pattern, the texts that match.
func globs() []row {
	var rows []row
	for _, pattern := range globPatterns {
		for _, separators := range []string{"", "/"} {
			compiled, err := glob.Compile(pattern, []rune(separators)...)
			matching := []string{}
			for _, text := range globTexts {
				if err == nil && compiled.Match(text) {
					matching = append(matching, text)
				}
			}
			rows = append(rows, row{"pattern": pattern, "separators": separators}.answer(matching, err))
		}
	}
	return rows
}

// filepaths lists, for each pattern, the texts that match, and the texts for which the pattern is found to be bad.
func filepaths() []row {
	var rows []row
	for _, pattern := range filepathPatterns {
		matching, bad := []string{}, []string{}
		for _, text := range filepathTexts {
			matched, err := filepath.Match(pattern, text)
			if err != nil {
				bad = append(bad, text)
			} else if matched {
				matching = append(matching, text)
			}
		}
		rows = append(rows, row{"pattern": pattern, "value": map[string]any{"matching": matching, "bad": bad}})
	}
	return rows
}

// regexps lists, for each pattern, the texts that match.
func regexps() []row {
	var rows []row
	for _, pattern := range regexpPatterns {
		compiled, err := regexp2.Compile(pattern, 0)
		if err != nil {
			rows = append(rows, row{"pattern": pattern, "error": "refused"})
			continue
		}
		matching := []string{}
		for _, text := range regexpTexts {
			matched, err := compiled.MatchString(text)
			if err != nil {
				panic(err)
			}
			if matched {
				matching = append(matching, text)
			}
		}
		rows = append(rows, row{"pattern": pattern, "value": matching})
	}
	return rows
}

func crons() []row {
	var rows []row
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	for _, text := range schedules {
		schedule, err := parser.Parse(text)
		if err != nil {
			rows = append(rows, row{"schedule": text, "after": "2026-01-01T00:00:00Z"}.answer(nil, err))
			continue
		}
		for _, after := range afters {
			at, err := time.Parse(time.RFC3339Nano, after)
			if err != nil {
				panic(err)
			}
			var value any
			if next := schedule.Next(at.UTC()); !next.IsZero() {
				value = next.Format(time.RFC3339Nano)
			}
			rows = append(rows, row{"schedule": text, "after": after}.answer(value, nil))
		}
	}
	return rows
}

func durationRows() []row {
	var rows []row
	for _, text := range durations {
		duration, err := time.ParseDuration(text)
		value := map[string]any{"nanoseconds": int64(duration), "printed": duration.String()}
		rows = append(rows, row{"text": text}.answer(value, err))
	}
	return rows
}

func oneLine(value any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(line.Bytes())
}

// write prints one row a line.
func write(name string, texts []string, rows []row) {
	var out bytes.Buffer
	out.WriteString("{\"texts\":\n")
	out.Write(oneLine(texts))
	out.WriteString(",\n\"rows\":[\n")
	for i, row := range rows {
		out.Write(oneLine(row))
		if i+1 < len(rows) {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]}\n")
	if err := os.WriteFile(filepath.Join("..", name+".json"), out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	write("glob", globTexts, globs())
	write("filepath", filepathTexts, filepaths())
	write("regexp2", regexpTexts, regexps())
	write("cron", []string{}, crons())
	write("duration", []string{}, durationRows())
}
