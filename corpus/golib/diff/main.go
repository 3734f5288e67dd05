// Writes what the Go libraries answer to the questions that src/diff answers itself (../diff.jsonl).
//
// In:  objects derived from a few manifests by seeded random edits; quantities; jq expressions.
// Out: for each question the answer of apimachinery, structured-merge-diff, gojq or resource.Quantity.
//
// Run: go run . > ../diff.jsonl
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type object = map[string]any

func parse(text string) object {
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	return o
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

var r = rand.New(rand.NewSource(7))

func clone(v any) any {
	var out any
	_ = json.Unmarshal(encode(v), &out)
	return out
}

// edit changes one random thing below v and returns it. Identities stay.
func edit(v any, key string) any {
	switch t := v.(type) {
	case object:
		keys := make([]string, 0, len(t))
		for k := range t {
			if k != "apiVersion" && k != "kind" && !(key == "metadata" && k == "name") {
				keys = append(keys, k)
			}
		}
		sort.Strings(keys)
		if len(keys) == 0 {
			return t
		}
		k := keys[r.Intn(len(keys))]
		if _, leaf := t[k].(string); r.Intn(7) == 0 && k != "spec" && k != "metadata" && k != "template" && k != "containers" && (leaf || r.Intn(2) == 0) && !identity[k] {
			delete(t, k)
			return t
		}
		if !identity[k] {
			t[k] = edit(t[k], k)
		}
		return t
	case []any:
		if len(t) == 0 {
			return t
		}
		i := r.Intn(len(t))
		switch r.Intn(5) {
		case 0:
			return append(t[:i:i], t[i+1:]...)
		case 1:
			j := r.Intn(len(t))
			t[i], t[j] = t[j], t[i]
			return t
		case 2:
			if m, ok := t[i].(object); ok {
				if _, ok := m["name"]; ok {
					c := clone(m).(object)
					c["name"] = fmt.Sprint(m["name"], "-x", r.Intn(3))
					if _, ok := c["containerPort"]; ok {
						c["containerPort"] = float64(1000 + r.Intn(9))
					}
					if _, ok := c["port"]; ok {
						c["port"] = float64(1000 + r.Intn(9))
					}
					return append(t, c)
				}
			}
			t[i] = edit(t[i], key)
			return t
		default:
			t[i] = edit(t[i], key)
			return t
		}
	case string:
		return fmt.Sprint(t, r.Intn(9))
	case float64:
		return t + float64(1+r.Intn(3))
	case bool:
		return !t
	}
	return v
}

var identity = map[string]bool{"name": true, "containerPort": true, "port": true, "mountPath": true, "type": true, "protocol": true}

func edited(text string, times int) object {
	o := parse(text)
	for range times {
		edit(o, "")
	}
	return o
}

var bases = []string{
	`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","labels":{"x":"1","y":"2"},"annotations":{"n":"1","m":"2"},"finalizers":["a/b","c/d","e/f"]},"spec":{"replicas":2,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"serviceAccountName":"s","nodeSelector":{"k":"v","l":"w"},"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","value":"c"}],"imagePullSecrets":[{"name":"p1"},{"name":"p2"}],"volumes":[{"name":"v1","configMap":{"name":"c"}},{"name":"v2","emptyDir":{}},{"name":"v3","secret":{"secretName":"z"}}],"containers":[{"name":"m","image":"i:1","args":["1","2","3"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],"ports":[{"name":"h","containerPort":80,"protocol":"TCP"},{"name":"g","containerPort":81,"protocol":"UDP"}],"volumeMounts":[{"name":"v1","mountPath":"/a"},{"name":"v2","mountPath":"/b"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"readinessProbe":{"httpGet":{"path":"/","port":80},"periodSeconds":5}},{"name":"s","image":"j:1"}]}}}}`,
	`{"apiVersion":"v1","kind":"Service","metadata":{"name":"w","labels":{"a":"b"}},"spec":{"selector":{"a":"b"},"type":"ClusterIP","ports":[{"name":"a","port":80,"targetPort":8080,"protocol":"TCP"},{"name":"b","port":81,"targetPort":"http","protocol":"UDP"}],"externalIPs":["1.1.1.1","2.2.2.2"]}}`,
	`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"a":"1"}},"data":{"a":"1","b":"2","c":"3"}}`,
	`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"1","b":"2"}}}}`,
	`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"s"},"secrets":[{"name":"a"},{"name":"b"}],"imagePullSecrets":[{"name":"p"},{"name":"q"}]}`,
	`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i"},"spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"w","port":{"number":80}}}}]}}],"tls":[{"hosts":["a","b"],"secretName":"t"}]}}`,
}

// answer is a value or the text of an error.
func answer(v []byte, err error) object {
	if err != nil {
		return object{"error": err.Error()}
	}
	return object{"value": json.RawMessage(v)}
}

func strategic() []object {
	var out []object
	for i := range 72 {
		base := bases[i%len(bases)]
		n := 1 + i%5
		original, modified, current := edited(base, n), edited(base, n), edited(base, n)
		kind := (&unstructured.Unstructured{Object: original}).GroupVersionKind()
		typ, _ := scheme.Scheme.New(kind)
		meta, _ := strategicpatch.NewPatchMetaFromStruct(typ)
		patch, err := strategicpatch.CreateThreeWayMergePatch(encode(original), encode(modified), encode(current), meta, true)
		entry := object{"original": original, "modified": modified, "current": current, "patch": answer(patch, err)}
		if err == nil {
			entry["applied"] = answer(strategicpatch.StrategicMergePatch(encode(current), patch, typ))
		}
		out = append(out, entry)
	}
	return out
}

func jsonMerge() []object {
	var out []object
	for i := range 24 {
		base := bases[i%len(bases)]
		original, modified, current := edited(base, 3), edited(base, 3), edited(base, 3)
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(encode(original), encode(modified), encode(current))
		entry := object{"original": original, "modified": modified, "current": current, "patch": answer(patch, err)}
		if err == nil {
			entry["applied"] = answer(jsonpatch.MergePatch(encode(current), patch))
		}
		out = append(out, entry)
	}
	return out
}

type same struct{}

func (same) Convert(o *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return o, nil
}
func (same) IsMissingVersionError(error) bool { return false }

// ownership applies, as argocd-controller, first `before` and then, after others edited the result, `target`.
func ownership() []object {
	var out []object
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	typedOf := func(o object) (*typed.TypedValue, error) {
		return converter.ObjectToTyped(&unstructured.Unstructured{Object: clone(o).(object)})
	}
	for i := range 60 {
		base := bases[i%len(bases)]
		before, target := edited(base, 1+i%4), edited(base, 1+i%4)
		version := fieldpath.APIVersion(before["apiVersion"].(string))
		updater := &merge.Updater{Converter: same{}}
		empty := object{"apiVersion": before["apiVersion"], "kind": before["kind"]}
		start, _ := typedOf(empty)
		first, err := typedOf(before)
		if err != nil {
			continue
		}
		live, managers, err := updater.Apply(start, first, version, fieldpath.ManagedFields{}, "argocd-controller", true)
		if err != nil || live == nil {
			continue
		}
		touched := live.AsValue().Unstructured().(object)
		other := clone(touched).(object)
		for range i % 4 {
			edit(other, "")
		}
		theirs, err := typedOf(other)
		if err != nil {
			continue
		}
		live, managers, err = updater.Update(live, theirs, version, managers, "editor")
		if err != nil {
			continue
		}
		config, err := typedOf(target)
		if err != nil {
			out = append(out, object{"live": other, "target": target, "merged": object{"error": err.Error()}})
			continue
		}
		u := &unstructured.Unstructured{Object: clone(live.AsValue().Unstructured()).(object)}
		var entries []any
		for _, name := range []string{"argocd-controller", "editor"} {
			set, ok := managers[name]
			if !ok {
				continue
			}
			raw, _ := set.Set().ToJSON()
			operation := "Update"
			if set.Applied() {
				operation = "Apply"
			}
			var fields any
			_ = json.Unmarshal(raw, &fields)
			entries = append(entries, object{"manager": name, "operation": operation, "apiVersion": string(version), "fieldsV1": fields})
		}
		merged, _, err := updater.Apply(live, config, version, managers, "argocd-controller", true)
		entry := object{"live": u.Object, "managedFields": entries, "target": target}
		switch {
		case err != nil:
			entry["merged"] = object{"error": err.Error()}
		case merged == nil:
			entry["merged"] = object{"value": nil}
		default:
			entry["merged"] = object{"value": merged.AsValue().Unstructured()}
		}
		out = append(out, entry)
	}
	return out
}

func quantities() []object {
	var out []object
	for _, text := range []string{"0", "00", "1", "1000m", "0.5", ".5", "5.", "1024Mi", "1025Mi", "1.5Gi", "0.5Ki", "0.1Gi", "1e3", "12e6", "12E6", "12E", "1E", "100k", "1000k", "1000000", "123456789", "+5", "-5", "-1000m", "1n", "0.1n", "1u", "1000u", "1.001", "1.0001", "0.0000000001", "9223372036854775807", "9223372036854775808", "8Ei", "16Ei", "1000Ki", "1024Ki", "8Ki", "9Ki", "1536Mi", "2048Gi", "0Mi", "0.0", "00.5", "01", "007", "1e-3", "5e-1", "100e0", "15e1", "1.5e3", "3Pi", "1000Ti", "1500m", "1005m", "abc", "1.2.3", "1 ", " 1", "1mm", "e3", "1e", "", "-", "1Ki5", "10000000000000000000", "1000000000000000000000Ki"} {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			out = append(out, object{"text": text})
			continue
		}
		out = append(out, object{"text": text, "canonical": q.String()})
	}
	return out
}

func canonical() []object {
	var out []object
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":null,"labels":null,"annotations":{}},"spec":{"hostNetwork":false,"nodeName":"","tolerations":[],"containers":[{"name":"m","resources":{"requests":{"cpu":0.5,"memory":1024}},"livenessProbe":{"httpGet":{"port":"80"},"initialDelaySeconds":0},"env":[{"name":"A","value":""}],"securityContext":{"privileged":false}}],"activeDeadlineSeconds":null,"volumes":null}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"m","colour":"red","resources":{"requests":{"cpu":"1000m"}}}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"m","imagepullpolicy":"Always","resources":{"requests":{"cpu":"1000m"}}}]}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":"2","template":{"spec":{"containers":[{"name":"m","resources":{"limits":{"cpu":"1000m"}}}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":0,"paused":false,"strategy":{},"selector":null,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":null,"securityContext":{}}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":null}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"YQ==","b":""},"type":""}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"not base64"},"type":""}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"","ports":[{"port":80,"targetPort":0,"nodePort":0},{"port":81,"targetPort":"http","protocol":""}],"sessionAffinity":""}}`,
		`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":"* * * * *","suspend":false,"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","args":[],"command":null}]}}}}},"status":{}}`,
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"minAvailable":"50%","selector":{}}}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[]}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":null,"b":""},"immutable":false}`,
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}},"storageClassName":""}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"c"},"spec":{"renewTime":"2024-01-02T03:04:05.1Z"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","deletionTimestamp":"2024-01-02T03:04:05+02:00"},"spec":{"containers":[]}}`,
	} {
		o := parse(text)
		u := &unstructured.Unstructured{Object: o}
		item, _ := scheme.Scheme.New(u.GroupVersionKind())
		fresh := reflect.New(reflect.TypeOf(item).Elem()).Interface()
		decoder := json.NewDecoder(bytes.NewReader(encode(o)))
		decoder.DisallowUnknownFields()
		result := any(o)
		if err := decoder.Decode(&fresh); err == nil {
			body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fresh)
			if err != nil {
				panic(err)
			}
			result = keep(o, body)
		}
		out = append(out, object{"object": json.RawMessage(text), "canonical": result})
	}
	return out
}

// keep drops what the input does not name (gitops-engine's RemoveMapFields).
func keep(given, value any) any {
	switch g := given.(type) {
	case object:
		if v, ok := value.(object); ok {
			out := object{}
			for k, inner := range g {
				if found, ok := v[k]; ok {
					out[k] = keep(inner, found)
				}
			}
			return out
		}
	case []any:
		if v, ok := value.([]any); ok {
			out := make([]any, 0, len(v))
			for i, item := range v {
				if i < len(g) {
					item = keep(g[i], item)
				}
				out = append(out, item)
			}
			return out
		}
	}
	return value
}

func expressions() []object {
	input := `{"spec":{"replicas":1,"list":[1,2,3,4],"containers":[{"name":"a","image":"1","env":[{"name":"X","value":"1"},{"name":"Y"}]},{"name":"b","image":"2"}],"deep":{"a":{"b":{"c":1}}}},"metadata":{"annotations":null,"labels":{"gen-a":"1","gen-b":"2","c":"3"}},"data":{"j":"{\"a\":1,\"b\":2}","t":"text"}}`
	var out []object
	for _, text := range []string{
		".spec.replicas", ".spec.nothing", ".spec.nothing.deep", ".spec.list[0]", ".spec.list[-1]", ".spec.list[9]", ".spec.list[0,2]", ".spec.list[1:3]", ".spec.list[:2]", ".spec.list[2:]",
		".spec.containers[].image", ".spec.containers[] | select(.name == \"a\") | .env", ".spec.containers[] | select(.name == \"a\") | .env[] | select(.name == \"X\")", ".spec.containers[].env[]?", ".spec.containers[].env[].value", ".spec.none[]?", ".spec.none[]", ".metadata.annotations.x", ".metadata.annotations[\"a/b\"]?", ".metadata.labels | keys", ".metadata.labels[\"c\"]", ".metadata.labels[.metadata.labels | keys[] | select(startswith(\"gen-\"))]",
		".spec.deep.a.b.c", ".spec.deep | .. | objects | .c", ".spec.deep..", "..", ".spec[\"deep\"][\"a\"]", ".spec.list", ".spec.list | first", ".spec.list | last", ".spec.containers | map(.image)", ".data.t | .[0:1]", ".data[0]", ".spec.list.foo", ".spec.list | length", "empty", ".spec.replicas, .spec.list", ".spec | to_entries", ".spec | .replicas, .list", ".spec | paths", "if .spec.replicas == 1 then .spec.list else .data end", ".spec.containers[0] // .data", ".x) | .data.j |= (fromjson | del(.a) | tojson", ".spec.containers[] | select(.env | any(.name == \"Y\"))", ".spec.containers[] | select(has(\"env\"))", ".spec.containers[] | select(.name | test(\"^b\"))", ".spec.list[] | select(. > 2)", ".spec.containers[.spec.containers | length - 1]", "getpath([\"spec\",\"deep\",\"a\"])", ".metadata | .labels.c?", ".spec.containers[1].image = \"3\"", ".a as $x | .spec.replicas", "def f: .spec.replicas; f", "error", ".spec.list[\"a\"]?", ".metadata.labels | with_entries(select(.key == \"c\"))", "$ENV", "limit(1; .spec.list[])", "first(.spec.list[])", ".spec.containers[] | .env[0]", "recurse | select(type == \"number\")", ".spec.list[1:][0]", ".spec.deep.a | .b?, .c?",
	} {
		entry := object{"expression": text, "input": json.RawMessage(input)}
		query, err := gojq.Parse("del(" + text + ")")
		var code *gojq.Code
		if err == nil {
			code, err = gojq.Compile(query)
		}
		if err != nil {
			entry["compile"] = err.Error()
			out = append(out, entry)
			continue
		}
		iter := code.Run(parse(input))
		first, ok := iter.Next()
		if _, bad := first.(error); ok && !bad {
			if _, more := iter.Next(); !more {
				entry["output"] = first
			}
		}
		out = append(out, entry)
	}
	return out
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	for _, section := range []struct {
		name    string
		entries []object
	}{{"strategic", strategic()}, {"jsonMerge", jsonMerge()}, {"ownership", ownership()}, {"quantity", quantities()}, {"canonical", canonical()}, {"jq", expressions()}} {
		for _, entry := range section.entries {
			entry["question"] = section.name
			if err := encoder.Encode(entry); err != nil {
				panic(err)
			}
		}
	}
}
