// Prints the table corpus/golib/yaml.json: YAML inputs and what the libraries that Argo CD uses make of them.
//
// Run in this folder: go run . > ../yaml.json
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
)

type row struct {
	Input string  `json:"input"`
	Value *string `json:"value,omitempty"`
	Error string  `json:"error,omitempty"`
}

func answer(input string, value any, err error) row {
	if err != nil {
		return row{Input: input, Error: err.Error()}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return row{Input: input, Error: err.Error()}
	}
	printed := string(text)
	return row{Input: input, Value: &printed}
}

func parse(input string) row {
	var value any
	err := kubeyaml.Unmarshal([]byte(input), &value)
	return answer(input, value, err)
}

func strict(input string) row {
	var value any
	err := kubeyaml.UnmarshalStrict([]byte(input), &value)
	return answer(input, value, err)
}

// raw reads bytes that are written in hexadecimal.
func raw(input string) row {
	answer := parse(input)
	answer.Input = hex.EncodeToString([]byte(input))
	return answer
}

// stream reads all documents, leaving out empty ones.
func stream(input string) row {
	decoder := kubeyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(input)), 4096)
	values := []any{}
	for {
		raw := runtime.RawExtension{}
		if err := decoder.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				return answer(input, values, nil)
			}
			return answer(input, nil, err)
		}
		text := bytes.TrimSpace(raw.Raw)
		if len(text) == 0 || bytes.Equal(text, []byte("null")) {
			continue
		}
		var value any
		if err := kubeyaml.Unmarshal(text, &value); err != nil {
			return answer(input, nil, err)
		}
		values = append(values, value)
	}
}

func rows(inputs []string, read func(string) row) []row {
	out := make([]row, 0, len(inputs))
	for _, input := range inputs {
		out = append(out, read(input))
	}
	return out
}

func main() {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(map[string]any{
		"parse":  rows(append(scalars(), shapes...), parse),
		"strict": rows(strictInputs, strict),
		"stream": rows(streams, stream),
		"bytes":  rows(bytesInputs, raw),
	})
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(out.Bytes()); err != nil {
		panic(err)
	}
}
