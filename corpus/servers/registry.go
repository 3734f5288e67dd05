// An OCI registry that holds what its configuration says, with the ways to authenticate that registries have.

package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// registryConfig is the configuration of a registry.
type registryConfig struct {
	// Auth is "", "basic" or "token".
	Auth     string `json:"auth"`
	User     string `json:"user"`
	Password string `json:"password"`
	// Realm is where tokens come from; the registry's own host when empty.
	Realm string `json:"realm"`
	// TLS serves HTTPS with a certificate of an authority that is announced.
	TLS bool `json:"tls"`
	// ClientCertificate makes clients show a certificate; one is announced.
	ClientCertificate bool `json:"clientCertificate"`
	// PageSize is how many tags a page has; 0 puts all on one.
	PageSize int `json:"pageSize"`
	// RedirectBlobs sends requests for blobs to another host, which refuses whoever shows it credentials.
	RedirectBlobs bool `json:"redirectBlobs"`
	// CorruptBlobs changes the last byte of each.
	CorruptBlobs bool `json:"corruptBlobs"`
	// Journal is a file that gets a line per request: method, path, kind of authentication, code.
	Journal string  `json:"journal"`
	Images  []image `json:"images"`
}

// image is a manifest, and what it names.
type image struct {
	Repository string   `json:"repository"`
	Tags       []string `json:"tags"`
	// Config is the media type of the configuration.
	Config string  `json:"config"`
	Layers []layer `json:"layers"`
}

type layer struct {
	MediaType string `json:"mediaType"`
	File      string `json:"file"`
}

type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// registryAnnouncement says how the registry is reached, and what it holds.
type registryAnnouncement struct {
	tlsAnnouncement
	// Host is host and port, as references name it.
	Host string `json:"host"`
	// Digests by repository:tag.
	Digests map[string]string `json:"digests"`
}

type registryServer struct {
	config    registryConfig
	url       string
	elsewhere string
	blobs     map[string][]byte
	manifests map[string][]byte
	tags      map[string]map[string]string
	lock      sync.Mutex
	tokens    map[string]string
}

func init() {
	register("registry", startRegistry)
}

func startRegistry(raw json.RawMessage) (any, error) {
	server := &registryServer{
		blobs: map[string][]byte{}, manifests: map[string][]byte{},
		tags: map[string]map[string]string{}, tokens: map[string]string{},
	}
	if err := json.Unmarshal(raw, &server.config); err != nil {
		return nil, err
	}
	announcement := registryAnnouncement{Digests: map[string]string{}}
	for _, image := range server.config.Images {
		digest, err := server.add(image)
		if err != nil {
			return nil, err
		}
		for _, tag := range image.Tags {
			announcement.Digests[image.Repository+":"+tag] = digest
		}
	}
	journal, err := openJournal(server.config.Journal)
	if err != nil {
		return nil, err
	}
	handler := http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		recorder := &codeRecorder{ResponseWriter: answer, code: http.StatusOK}
		server.answer(recorder, request)
		kind, _, _ := strings.Cut(request.Header.Get("Authorization"), " ")
		journal.write("%s %s %s %d", request.Method, request.URL.Path, kind, recorder.code)
	})
	if server.config.RedirectBlobs {
		if server.elsewhere, err = serveHTTP(http.HandlerFunc(server.answerElsewhere), nil); err != nil {
			return nil, err
		}
		// Another name for the same host is another host to a client.
		server.elsewhere = strings.Replace(server.elsewhere, "127.0.0.1", "localhost", 1)
	}
	announcement.tlsAnnouncement, err = announce(handler, server.config.TLS, server.config.ClientCertificate)
	server.url = announcement.URL
	_, announcement.Host, _ = strings.Cut(announcement.URL, "://")
	return announcement, err
}

func (s *registryServer) add(image image) (string, error) {
	manifest := struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}{SchemaVersion: 2, MediaType: manifestType, Config: s.blob(image.Config, []byte("{}"))}
	for _, layer := range image.Layers {
		content, err := os.ReadFile(layer.File)
		if err != nil {
			return "", err
		}
		manifest.Layers = append(manifest.Layers, s.blob(layer.MediaType, content))
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return "", err
	}
	digest := digestOf(text)
	s.manifests[digest] = text
	if s.tags[image.Repository] == nil {
		s.tags[image.Repository] = map[string]string{}
	}
	for _, tag := range image.Tags {
		s.tags[image.Repository][tag] = digest
	}
	return digest, nil
}

func (s *registryServer) blob(mediaType string, content []byte) descriptor {
	digest := digestOf(content)
	s.blobs[digest] = content
	return descriptor{MediaType: mediaType, Digest: digest, Size: len(content)}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (s *registryServer) answer(answer http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/token" {
		s.giveToken(answer, request)
		return
	}
	path, ok := strings.CutPrefix(request.URL.Path, "/v2/")
	if !ok {
		http.NotFound(answer, request)
		return
	}
	repository, kind, name := split(path)
	if !s.admits(request, repository) {
		s.challenge(answer, repository)
		return
	}
	switch kind {
	case "":
		fmt.Fprint(answer, "{}")
	case "tags":
		s.listTags(answer, request, repository)
	case "manifests":
		s.giveManifest(answer, request, repository, name)
	case "blobs":
		if s.elsewhere != "" {
			http.Redirect(answer, request, s.elsewhere+"/"+name, http.StatusTemporaryRedirect)
			return
		}
		s.giveBlob(answer, name)
	}
}

// split takes REPOSITORY/KIND/NAME apart.
func split(path string) (repository, kind, name string) {
	for _, kind := range []string{"tags", "manifests", "blobs"} {
		if at := strings.LastIndex(path, "/"+kind+"/"); at >= 0 {
			return path[:at], kind, path[at+len(kind)+2:]
		}
	}
	return "", "", ""
}

func (s *registryServer) admits(request *http.Request, repository string) bool {
	switch s.config.Auth {
	case "basic":
		user, password, _ := request.BasicAuth()
		return same(user, s.config.User) && same(password, s.config.Password)
	case "token":
		token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		s.lock.Lock()
		defer s.lock.Unlock()
		scope, known := s.tokens[token]
		return known && (repository == "" || strings.Contains(scope, "repository:"+repository+":pull"))
	}
	return true
}

func (s *registryServer) challenge(answer http.ResponseWriter, repository string) {
	challenge := `Basic realm="registry"`
	if s.config.Auth == "token" {
		realm := s.config.Realm
		if realm == "" {
			realm = s.url + "/token"
		}
		challenge = fmt.Sprintf(`Bearer realm="%s",service="registry.test"`, realm)
		if repository != "" {
			challenge += fmt.Sprintf(`,scope="repository:%s:pull"`, repository)
		}
	}
	answer.Header().Set("WWW-Authenticate", challenge)
	refuse(answer, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
}

func refuse(answer http.ResponseWriter, status int, code, message string) {
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(status)
	fmt.Fprintf(answer, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
}

func (s *registryServer) giveToken(answer http.ResponseWriter, request *http.Request) {
	user, password, _ := request.BasicAuth()
	if !same(user, s.config.User) || !same(password, s.config.Password) {
		refuse(answer, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
		return
	}
	token := rand.Text()
	s.lock.Lock()
	s.tokens[token] = strings.Join(request.URL.Query()["scope"], " ")
	s.lock.Unlock()
	fmt.Fprintf(answer, `{"token":%q}`, token)
}

func (s *registryServer) listTags(answer http.ResponseWriter, request *http.Request, repository string) {
	var tags []string
	for tag := range s.tags[repository] {
		tags = append(tags, tag)
	}
	if tags == nil {
		refuse(answer, http.StatusNotFound, "NAME_UNKNOWN", "repository name not known to registry")
		return
	}
	sort.Strings(tags)
	last := request.URL.Query().Get("last")
	for len(tags) > 0 && last != "" && tags[0] <= last {
		tags = tags[1:]
	}
	if size := s.config.PageSize; size > 0 && len(tags) > size {
		tags = tags[:size]
		answer.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?last=%s&n=%d>; rel="next"`, repository, tags[size-1], size))
	}
	json.NewEncoder(answer).Encode(map[string]any{"name": repository, "tags": tags})
}

func (s *registryServer) giveManifest(answer http.ResponseWriter, request *http.Request, repository, name string) {
	digest := name
	if !strings.HasPrefix(name, "sha256:") {
		digest = s.tags[repository][name]
	}
	text, known := s.manifests[digest]
	if !known {
		refuse(answer, http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown")
		return
	}
	answer.Header().Set("Content-Type", manifestType)
	answer.Header().Set("Docker-Content-Digest", digest)
	answer.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if request.Method != http.MethodHead {
		answer.Write(text)
	}
}

func (s *registryServer) giveBlob(answer http.ResponseWriter, digest string) {
	content, known := s.blobs[digest]
	if !known {
		refuse(answer, http.StatusNotFound, "BLOB_UNKNOWN", "blob unknown to registry")
		return
	}
	answer.Header().Set("Content-Type", "application/octet-stream")
	if s.config.CorruptBlobs && len(content) > 0 {
		content = append([]byte(nil), content...)
		content[len(content)-1] ^= 1
	}
	answer.Write(content)
}

func (s *registryServer) answerElsewhere(answer http.ResponseWriter, request *http.Request) {
	if request.Header.Get("Authorization") != "" {
		http.Error(answer, "credentials are not for this host", http.StatusBadRequest)
		return
	}
	s.giveBlob(answer, strings.TrimPrefix(request.URL.Path, "/"))
}
