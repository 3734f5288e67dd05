// Writes the table of built-in Kubernetes types that src/diff reads (src/diff/schema/types.txt).
//
// In:  the Go types registered in client-go's scheme, CustomResourceDefinition and APIService, and the
//
//	structured-merge-diff schema that client-go embeds.
//
// Out: one line per kind (`group/version/Kind id`, followed by ` x` when client-go's scheme lacks the kind), an
//
//	empty line, then one line per struct. Structs of equal shape share a line.
//
// Run: go run . > ../../../src/diff/schema/types.txt
//
// A struct's line is its two-character id, `=Name` for types of core/v1, `~` when server-side apply treats the
// struct as one value, then its fields: `name:type` with these marks.
//
//	!   written even when zero            *   pointer
//	s b i I f   string, bool, int32, int64, float       y   bytes
//	q o t u d   Quantity, IntOrString, Time, MicroTime, Duration
//	r j         RawExtension or FieldsV1, arbitrary JSON
//	[X {X .id   list of X, map of X, struct
//	;m=KEY  strategic merge by KEY (empty: a list of scalars)   ;r replace   ;k retainKeys
//	;l=A,B  server-side apply merges by these keys   ;s a set   ;a one value   ;d=V default of a key
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// field is one JSON field of a struct; ref is the struct that the type expression ends in, if any.
type field struct {
	name, shape, marks string
	ref                reflect.Type
}

type structure struct {
	name   string
	atomic bool
	fields []field
}

var (
	merge   *smd.Schema
	structs = map[reflect.Type]*structure{}
	order   []reflect.Type
)

var leaves = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "q",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "o",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "t",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "u",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "d",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "r",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "r",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "j",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "j",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "j",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "j",
}

func main() {
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}})
	if err != nil {
		panic(err)
	}
	merge = typed.Schema()

	type root struct {
		gvk   schema.GroupVersionKind
		t     reflect.Type
		extra bool
	}
	var roots []root
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if _, ok := t.FieldByName("ObjectMeta"); !ok || gvk.Version == "__internal" {
			continue
		}
		roots = append(roots, root{gvk, t, false})
	}
	roots = append(roots,
		root{apiextensions.SchemeGroupVersion.WithKind("CustomResourceDefinition"), reflect.TypeOf(apiextensions.CustomResourceDefinition{}), true},
		root{apiregistration.SchemeGroupVersion.WithKind("APIService"), reflect.TypeOf(apiregistration.APIService{}), true})
	key := func(r root) string { return r.gvk.Group + "/" + r.gvk.Version + "/" + r.gvk.Kind }
	sort.Slice(roots, func(i, j int) bool { return key(roots[i]) < key(roots[j]) })
	for _, r := range roots {
		walk(r.t)
	}
	for _, t := range []any{corev1.PodSpec{}} {
		walk(reflect.TypeOf(t))
	}
	class := classes()
	ids := map[int]string{}
	var lines []string
	for _, t := range order {
		c := class[t]
		if _, ok := ids[c]; ok {
			continue
		}
		ids[c] = id(len(ids))
		lines = append(lines, "")
	}
	for _, t := range order {
		n := ids[class[t]]
		i := index(n)
		if lines[i] == "" {
			lines[i] = n + render(t, func(ref reflect.Type) string { return ids[class[ref]] })
		}
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	for _, r := range roots {
		fmt.Fprintf(w, "%s %s", key(r), ids[class[r.t]])
		if r.extra {
			fmt.Fprint(w, " x")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

func id(n int) string { return string([]byte{digits[n/36], digits[n%36]}) }

func index(s string) int { return strings.IndexByte(digits, s[0])*36 + strings.IndexByte(digits, s[1]) }

// walk records t and every struct below it.
func walk(t reflect.Type) {
	if _, ok := structs[t]; ok {
		return
	}
	s := &structure{}
	structs[t] = s
	order = append(order, t)
	if t.PkgPath() == "k8s.io/api/core/v1" {
		s.name = t.Name()
	}
	var declared map[string]smd.StructField
	if def, ok := merge.FindNamedType(typeName(t)); ok && def.Map != nil {
		s.atomic = def.Map.ElementRelationship == smd.Atomic
		declared = map[string]smd.StructField{}
		for _, f := range def.Map.Fields {
			declared[f.Name] = f
		}
	}
	collect(t, s, declared)
	sort.Slice(s.fields, func(i, j int) bool { return s.fields[i].name < s.fields[j].name })
	for _, f := range s.fields {
		if f.ref != nil {
			walk(f.ref)
		}
	}
}

func collect(t reflect.Type, s *structure, declared map[string]smd.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if tag[0] == "-" || f.Tag.Get("json") == "" && !f.Anonymous {
			continue
		}
		if f.Anonymous && tag[0] == "" {
			collect(f.Type, s, declared)
			continue
		}
		shape, ref := expression(f.Type)
		omit := false
		for _, o := range tag[1:] {
			omit = omit || o == "omitempty"
		}
		if !omit {
			shape = "!" + shape
		}
		s.fields = append(s.fields, field{tag[0], shape, marks(f, declared), ref})
	}
}

func expression(t reflect.Type) (string, reflect.Type) {
	if t.Kind() == reflect.Pointer {
		inner, ref := expression(t.Elem())
		return "*" + inner, ref
	}
	if leaf, ok := leaves[t.PkgPath()+"."+t.Name()]; ok {
		return leaf, nil
	}
	switch t.Kind() {
	case reflect.String:
		return "s", nil
	case reflect.Bool:
		return "b", nil
	case reflect.Int32:
		return "i", nil
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return "I", nil
	case reflect.Float64, reflect.Float32:
		return "f", nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y", nil
		}
		inner, ref := expression(t.Elem())
		return "[" + inner, ref
	case reflect.Map:
		inner, ref := expression(t.Elem())
		return "{" + inner, ref
	case reflect.Struct:
		return ".", t
	}
	panic("no code for " + t.String())
}

func marks(f reflect.StructField, declared map[string]smd.StructField) string {
	var out strings.Builder
	for _, s := range strings.Split(f.Tag.Get("patchStrategy"), ",") {
		switch s {
		case "merge":
			out.WriteString(";m=" + f.Tag.Get("patchMergeKey"))
		case "replace":
			out.WriteString(";r")
		case "retainKeys":
			out.WriteString(";k")
		}
	}
	d, ok := declared[strings.Split(f.Tag.Get("json"), ",")[0]]
	if !ok {
		return out.String()
	}
	if text, ok := d.Default.(string); ok && text != "" {
		out.WriteString(";d=" + text)
	}
	atom, ok := merge.Resolve(d.Type)
	if !ok {
		return out.String()
	}
	switch {
	case atom.List != nil && atom.List.ElementRelationship == smd.Associative && len(atom.List.Keys) > 0:
		out.WriteString(";l=" + strings.Join(atom.List.Keys, ","))
	case atom.List != nil && atom.List.ElementRelationship == smd.Associative:
		out.WriteString(";s")
	case atom.Map != nil && atom.Map.ElementRelationship == smd.Atomic && atom.Scalar == nil && d.Type.NamedType == nil:
		out.WriteString(";a")
	}
	return out.String()
}

func typeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, parts[1:]...), ".") + "." + t.Name()
}

// classes numbers the structs so that two of equal shape, down to their leaves, share a number.
func classes() map[reflect.Type]int {
	class := map[reflect.Type]int{}
	for _, t := range order {
		class[t] = 0
	}
	for count := 1; ; {
		next, seen := map[reflect.Type]int{}, map[string]int{}
		for _, t := range order {
			sig := fmt.Sprint(class[t]) + render(t, func(ref reflect.Type) string { return fmt.Sprint(class[ref]) })
			if _, ok := seen[sig]; !ok {
				seen[sig] = len(seen)
			}
			next[t] = seen[sig]
		}
		class = next
		if len(seen) == count {
			return class
		}
		count = len(seen)
	}
}

func render(t reflect.Type, ref func(reflect.Type) string) string {
	s := structs[t]
	var out strings.Builder
	if s.name != "" {
		out.WriteString("=" + s.name)
	}
	if s.atomic {
		out.WriteString("~")
	}
	for _, f := range s.fields {
		out.WriteString(" " + f.name + ":" + f.shape)
		if f.ref != nil {
			out.WriteString(ref(f.ref))
		}
		out.WriteString(f.marks)
	}
	return out.String()
}
