// Prints the table corpus/golib/jsonnet.json: Jsonnet programs and what go-jsonnet, set up as Argo CD sets it up, makes of them.
//
// Run in this folder: go run . > ../jsonnet.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-jsonnet"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Code  bool   `json:"code,omitempty"`
}

// A program: main is app/main.jsonnet, the other files lie relative to the root.
type program struct {
	Main    string            `json:"main"`
	Files   map[string]string `json:"files,omitempty"`
	Libs    []string          `json:"libs,omitempty"`
	ExtVars []variable        `json:"extVars,omitempty"`
	TLAs    []variable        `json:"tlas,omitempty"`
}

type row struct {
	program
	Output  string          `json:"output,omitempty"`
	Objects json.RawMessage `json:"objects,omitempty"`
	Error   string          `json:"error,omitempty"`
}

func evaluate(p program) row {
	root, err := os.MkdirTemp("", "jsonnet")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	write := func(path, text string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	write("app/main.jsonnet", p.Main)
	for path, text := range p.Files {
		write(path, text)
	}
	vm := jsonnet.MakeVM()
	vm.SetTraceOut(io.Discard)
	for _, v := range p.TLAs {
		if v.Code {
			vm.TLACode(v.Name, v.Value)
		} else {
			vm.TLAVar(v.Name, v.Value)
		}
	}
	for _, v := range p.ExtVars {
		if v.Code {
			vm.ExtCode(v.Name, v.Value)
		} else {
			vm.ExtVar(v.Name, v.Value)
		}
	}
	paths := []string{filepath.Join(root, "app")}
	for _, lib := range p.Libs {
		paths = append(paths, filepath.Join(root, lib))
	}
	vm.Importer(&jsonnet.FileImporter{JPaths: paths})
	out := row{program: p}
	text, err := vm.EvaluateFile(filepath.Join(root, "app/main.jsonnet"))
	if err != nil {
		out.Error = fmt.Sprintf("Failed to evaluate jsonnet %q: %v", "main.jsonnet", strings.ReplaceAll(err.Error(), root, "<root>"))
		return out
	}
	out.Output = text
	var objects []*unstructured.Unstructured
	if err := json.Unmarshal([]byte(text), &objects); err != nil {
		var object unstructured.Unstructured
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			out.Error = fmt.Sprintf("Failed to unmarshal generated json %q: %v", "main.jsonnet", err)
			return out
		}
		objects = append(objects, &object)
	}
	out.Objects, err = json.Marshal(objects)
	if err != nil {
		panic(err)
	}
	return out
}

func main() {
	rows := func(programs []program) []row {
		out := make([]row, 0, len(programs))
		for _, p := range programs {
			out = append(out, evaluate(p))
		}
		return out
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(map[string]any{"programs": rows(programs()), "failures": rows(failures), "syntax": rows(syntax())})
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(out.Bytes()); err != nil {
		panic(err)
	}
}
