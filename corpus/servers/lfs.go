// Git LFS: tells where large files are, and serves them.

package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
)

// lfs serves the files of root/NAME.lfs, named by their digests, beside the repository NAME.git.
func lfs(root string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if name, ok := strings.CutSuffix(request.URL.Path, ".git/info/lfs/objects/batch"); ok {
			lfsBatch(name, answer, request)
			return
		}
		if name, digest, ok := strings.Cut(request.URL.Path, ".lfs/"); ok {
			http.ServeFile(answer, request, filepath.Join(root, filepath.Clean(name)+".lfs", filepath.Base(digest)))
			return
		}
		next.ServeHTTP(answer, request)
	})
}

func lfsBatch(name string, answer http.ResponseWriter, request *http.Request) {
	type object struct {
		OID     string         `json:"oid"`
		Size    int64          `json:"size"`
		Actions map[string]any `json:"actions"`
	}
	var batch struct {
		Objects []object `json:"objects"`
	}
	if err := json.NewDecoder(request.Body).Decode(&batch); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	scheme := "http://"
	if request.TLS != nil {
		scheme = "https://"
	}
	for i := range batch.Objects {
		place := scheme + request.Host + name + ".lfs/" + batch.Objects[i].OID
		batch.Objects[i].Actions = map[string]any{"download": map[string]any{"href": place}}
	}
	answer.Header().Set("Content-Type", "application/vnd.git-lfs+json")
	json.NewEncoder(answer).Encode(map[string]any{"transfer": "basic", "objects": batch.Objects})
}
