// Prints the table corpus/golib/template.json: Go templates and what they render to with the functions that Argo CD
// gives to ApplicationSets.
//
// Run in this folder: go run . > ../template.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/gosimple/slug"
	"sigs.k8s.io/yaml"
)

type row struct {
	Template string   `json:"t"`
	Options  []string `json:"o,omitempty"`
	Result   *string  `json:"r,omitempty"`
	Error    string   `json:"e,omitempty"`
}

type table struct {
	Params json.RawMessage `json:"params"`
	Rows   []row           `json:"rows"`
}

var unfit = regexp.MustCompile("[^-a-z0-9.]")

func normalize(name string) string {
	name = unfit.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(name[:min(len(name), 253)], "-.")
}

// slugify takes the most letters, whether to cut at words, and the name; the last argument is always the name.
func slugify(args ...any) string {
	most, smart, name := 50, true, ""
	for at, arg := range args {
		switch {
		case at == len(args)-1:
			name = arg.(string)
		case at == 0:
			most = arg.(int)
		case at == 1:
			smart = arg.(bool)
		}
	}
	slug.EnableSmartTruncate, slug.MaxLength = smart, most
	return slug.Make(normalize(name))
}

func toYaml(value any) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func fromYaml(text string) (map[string]any, error) {
	value := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return nil, err
	}
	return value, nil
}

func fromYamlArray(text string) ([]any, error) {
	value := []any{}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return nil, err
	}
	return value, nil
}

func functions() template.FuncMap {
	all := template.FuncMap(sprig.GenericFuncMap())
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	all["normalize"], all["slugify"] = normalize, slugify
	all["toYaml"], all["fromYaml"], all["fromYamlArray"] = toYaml, fromYaml, fromYamlArray
	return all
}

func render(text string, options []string) (string, error) {
	var values map[string]any
	if err := json.Unmarshal([]byte(params), &values); err != nil {
		return "", err
	}
	parsed, err := template.New("base").Funcs(functions()).Option(options...).Parse(text)
	if err != nil {
		return "", fmt.Errorf("failed to parse template %s: %w", text, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return "", fmt.Errorf("failed to execute go template %s: %w", text, err)
	}
	return out.String(), nil
}

func main() {
	time.Local = time.UTC
	answers := table{Params: json.RawMessage(params)}
	for _, options := range [][]string{nil, {"missingkey=error"}, {"missingkey=zero"}} {
		texts := templates
		if options != nil {
			texts = missing
		}
		for _, text := range texts {
			answer := row{Template: text, Options: options}
			if result, err := render(text, options); err != nil {
				answer.Error = err.Error()
			} else {
				answer.Result = &result
			}
			answers.Rows = append(answers.Rows, answer)
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(answers); err != nil {
		log.Fatal(err)
	}
}
