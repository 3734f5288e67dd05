// A chart repository, which is a folder of files, and a proxy that chart repositories are reached through.

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// charts is the configuration of a chart repository.
type charts struct {
	// Root holds index.yaml and archives; what tests write there later is served too.
	Root string `json:"root"`
	// User and Password of basic authentication; everybody may read when both are empty.
	User     string `json:"user"`
	Password string `json:"password"`
	// TLS serves HTTPS with a certificate of an authority that is announced.
	TLS bool `json:"tls"`
	// ClientCertificate makes clients show a certificate; one is announced.
	ClientCertificate bool `json:"clientCertificate"`
	// ETag makes the server say "unchanged" to clients that ask for it.
	ETag bool `json:"etag"`
	// RedirectTo sends every request on to the same path there.
	RedirectTo string `json:"redirectTo"`
	// DelayMS is waited before each answer.
	DelayMS int `json:"delayMs"`
	// Journal is a file that gets a line per request: method, path, kind of authentication, code.
	Journal string `json:"journal"`
}

// tlsAnnouncement says how a server is reached.
type tlsAnnouncement struct {
	URL               string `json:"url"`
	Authority         string `json:"authority,omitempty"`
	ClientCertificate string `json:"clientCertificate,omitempty"`
	ClientKey         string `json:"clientKey,omitempty"`
}

func init() {
	register("charts", startCharts)
	register("http-proxy", startProxy)
}

func startCharts(raw json.RawMessage) (any, error) {
	var config charts
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	journal, err := openJournal(config.Journal)
	if err != nil {
		return nil, err
	}
	handler := http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		recorder := &codeRecorder{ResponseWriter: answer, code: http.StatusOK}
		time.Sleep(time.Duration(config.DelayMS) * time.Millisecond)
		config.answer(recorder, request)
		kind, _, _ := strings.Cut(request.Header.Get("Authorization"), " ")
		journal.write("%s %s %s %d", request.Method, request.URL.Path, kind, recorder.code)
	})
	return announce(handler, config.TLS, config.ClientCertificate)
}

func (config charts) answer(answer http.ResponseWriter, request *http.Request) {
	if config.RedirectTo != "" {
		http.Redirect(answer, request, config.RedirectTo+request.URL.Path, http.StatusFound)
		return
	}
	if config.User != "" || config.Password != "" {
		user, password, _ := request.BasicAuth()
		if !same(user, config.User) || !same(password, config.Password) {
			answer.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(answer, "credentials are needed", http.StatusUnauthorized)
			return
		}
	}
	name := filepath.Join(config.Root, filepath.Clean("/"+request.URL.Path))
	content, err := os.ReadFile(name)
	if err != nil {
		http.NotFound(answer, request)
		return
	}
	if config.ETag {
		sum := sha256.Sum256(content)
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		answer.Header().Set("ETag", tag)
		if request.Header.Get("If-None-Match") == tag {
			answer.WriteHeader(http.StatusNotModified)
			return
		}
	}
	answer.Write(content)
}

// announce serves a handler, over TLS where asked for.
func announce(handler http.Handler, withTLS, clientCertificate bool) (tlsAnnouncement, error) {
	var announcement tlsAnnouncement
	var err error
	if !withTLS {
		announcement.URL, err = serveHTTP(handler, nil)
		return announcement, err
	}
	authority, err := newAuthority()
	if err != nil {
		return announcement, err
	}
	identity, err := authority.identity(clientCertificate)
	if err != nil {
		return announcement, err
	}
	announcement.Authority = authority.PEM
	if clientCertificate {
		announcement.ClientCertificate, announcement.ClientKey, err = authority.issue("client")
		if err != nil {
			return announcement, err
		}
	}
	announcement.URL, err = serveHTTP(handler, identity)
	return announcement, err
}

type codeRecorder struct {
	http.ResponseWriter
	code int
}

func (r *codeRecorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

// proxyConfig is the configuration of a proxy.
type proxyConfig struct {
	// User and Password; everybody may use it when both are empty.
	User     string `json:"user"`
	Password string `json:"password"`
	// Target is where every request goes, whatever host it names: names of tests do not resolve.
	Target string `json:"target"`
	// Journal is a file that gets a line per request: method and host.
	Journal string `json:"journal"`
}

func startProxy(raw json.RawMessage) (any, error) {
	var config proxyConfig
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	journal, err := openJournal(config.Journal)
	if err != nil {
		return nil, err
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(config.User+":"+config.Password))
	handler := http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if config.User != "" && !same(request.Header.Get("Proxy-Authorization"), want) {
			journal.write("%s %s refused", request.Method, request.Host)
			answer.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
			http.Error(answer, "", http.StatusProxyAuthRequired)
			return
		}
		journal.write("%s %s", request.Method, request.Host)
		target := config.Target
		if target == "" {
			target = request.Host
		}
		if request.Method == http.MethodConnect {
			tunnel(answer, target)
			return
		}
		forward(answer, request, target)
	})
	return announce(handler, false, false)
}

func tunnel(answer http.ResponseWriter, target string) {
	server, err := net.Dial("tcp", target)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := answer.(http.Hijacker).Hijack()
	if err != nil {
		server.Close()
		return
	}
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(client, server)
	client.Close()
}

func forward(answer http.ResponseWriter, request *http.Request, target string) {
	onward := request.Clone(request.Context())
	onward.RequestURI = ""
	onward.URL.Scheme = "http"
	onward.URL.Host = target
	onward.Header.Del("Proxy-Authorization")
	response, err := http.DefaultTransport.RoundTrip(onward)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		answer.Header()[name] = values
	}
	answer.WriteHeader(response.StatusCode)
	io.Copy(answer, response.Body)
}
