// Git over HTTP and HTTPS through git's own http-backend, with the ways to authenticate that git hosts have.

package main

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"strings"
	"time"
)

// gitHTTPS is the configuration of a git server.
type gitHTTPS struct {
	// Root holds bare repositories NAME.git.
	Root string `json:"root"`
	// User and Password of basic authentication; everybody may read when neither they nor Bearer are given.
	User     string `json:"user"`
	Password string `json:"password"`
	// Bearer is a token that is accepted instead.
	Bearer string `json:"bearer"`
	// TLS serves HTTPS with a certificate of an authority that is announced.
	TLS bool `json:"tls"`
	// ClientCertificate makes clients show a certificate; one is announced.
	ClientCertificate bool `json:"clientCertificate"`
	// Forbid answers 403 to whoever is authenticated, and repeats the credentials in the body as some servers do.
	Forbid bool `json:"forbid"`
	// Silent accepts connections and never answers.
	Silent bool `json:"silent"`
	// Journal is a file that gets a line per request: method, path, and kind of authentication.
	Journal string `json:"journal"`
}

// gitHTTPSAnnouncement says how the server is reached.
type gitHTTPSAnnouncement struct {
	URL               string `json:"url"`
	Authority         string `json:"authority,omitempty"`
	ClientCertificate string `json:"clientCertificate,omitempty"`
	ClientKey         string `json:"clientKey,omitempty"`
}

func init() {
	register("git-https", startGitHTTPS)
}

func startGitHTTPS(raw json.RawMessage) (any, error) {
	var config gitHTTPS
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	handler, err := config.handler()
	if err != nil {
		return nil, err
	}
	var announcement gitHTTPSAnnouncement
	if !config.TLS {
		announcement.URL, err = serveHTTP(handler, nil)
		return announcement, err
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	identity, err := authority.identity(config.ClientCertificate)
	if err != nil {
		return nil, err
	}
	announcement.Authority = authority.PEM
	if config.ClientCertificate {
		announcement.ClientCertificate, announcement.ClientKey, err = authority.issue("client")
		if err != nil {
			return nil, err
		}
	}
	announcement.URL, err = serveHTTP(handler, identity)
	return announcement, err
}

// handler answers git's requests after it looked at their credentials.
func (config gitHTTPS) handler() (http.Handler, error) {
	journal, err := openJournal(config.Journal)
	if err != nil {
		return nil, err
	}
	backend, err := gitBackend(config.Root)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		header := request.Header.Get("Authorization")
		kind, _, _ := strings.Cut(header, " ")
		journal.write("%s %s %s", request.Method, request.URL.Path, kind)
		switch {
		case config.Silent:
			time.Sleep(time.Hour)
		case !config.admits(request):
			answer.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(answer, "credentials are needed", http.StatusUnauthorized)
		case config.Forbid:
			_, password, _ := request.BasicAuth()
			http.Error(answer, "not allowed: "+header+" "+password, http.StatusForbidden)
		default:
			backend.ServeHTTP(answer, request)
		}
	}), nil
}

func (config gitHTTPS) admits(request *http.Request) bool {
	if config.Password == "" && config.Bearer == "" {
		return true
	}
	user, password, isBasic := request.BasicAuth()
	if isBasic && config.Password != "" {
		return same(user, config.User) && same(password, config.Password)
	}
	token, isBearer := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	return isBearer && config.Bearer != "" && same(token, config.Bearer)
}

func same(left, right string) bool {
	return subtle.ConstantTimeCompare([]byte(left), []byte(right)) == 1
}

// gitBackend is git's CGI program for the repositories in a folder, and the large files beside them.
func gitBackend(root string) (http.Handler, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	return lfs(root, &cgi.Handler{
		Path: git,
		Args: []string{"-c", "safe.directory=*", "-c", "uploadpack.allowAnySHA1InWant=true", "http-backend"},
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	}), nil
}
