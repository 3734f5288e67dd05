// GitHub as an app sees it: installations, their tokens, and repositories that those tokens open.

package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// github is the configuration of a GitHub.
type github struct {
	gitHTTPS
	// App and Installation are the numbers of an app and of its one installation, which Owner has.
	App          int64  `json:"app"`
	Installation int64  `json:"installation"`
	Owner        string `json:"owner"`
	// Token is what every token is, where a test must know it; they are random otherwise.
	Token string `json:"token"`
	// Expires is how many seconds tokens are good for.
	Expires int `json:"expires"`
}

// githubAnnouncement says how it is reached: the API is at URL, repositories are below it.
type githubAnnouncement struct {
	URL       string `json:"url"`
	Authority string `json:"authority"`
	// PKCS1 and PKCS8 are the app's private key.
	PKCS1 string `json:"pkcs1"`
	PKCS8 string `json:"pkcs8"`
}

func init() {
	register("github", startGitHub)
}

func startGitHub(raw json.RawMessage) (any, error) {
	var config github
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	identity, err := authority.identity(false)
	if err != nil {
		return nil, err
	}
	handler, err := config.githubHandler(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	url, err := serveHTTP(handler, identity)
	return githubAnnouncement{
		URL:       url,
		Authority: authority.PEM,
		PKCS1:     encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)),
		PKCS8:     encode("PRIVATE KEY", pkcs8),
	}, err
}

func (config github) githubHandler(key *rsa.PublicKey) (http.Handler, error) {
	journal, err := openJournal(config.Journal)
	if err != nil {
		return nil, err
	}
	backend, err := gitBackend(config.Root)
	if err != nil {
		return nil, err
	}
	var tokens sync.Map
	mux := http.NewServeMux()
	mux.HandleFunc("GET /app/installations", func(answer http.ResponseWriter, request *http.Request) {
		journal.write("installations")
		if err := config.verify(key, request); err != nil {
			http.Error(answer, err.Error(), http.StatusUnauthorized)
			return
		}
		list := []any{map[string]any{"id": config.Installation, "account": map[string]any{"login": config.Owner}}}
		json.NewEncoder(answer).Encode(list)
	})
	path := fmt.Sprintf("POST /app/installations/%d/access_tokens", config.Installation)
	mux.HandleFunc(path, func(answer http.ResponseWriter, request *http.Request) {
		journal.write("token")
		if err := config.verify(key, request); err != nil {
			http.Error(answer, err.Error(), http.StatusUnauthorized)
			return
		}
		bytes := make([]byte, 16)
		rand.Read(bytes)
		token := "ghs_" + hex.EncodeToString(bytes)
		if config.Token != "" {
			token = config.Token
		}
		tokens.Store(token, true)
		expires := time.Now().Add(time.Duration(config.Expires) * time.Second).UTC().Format(time.RFC3339)
		answer.WriteHeader(http.StatusCreated)
		json.NewEncoder(answer).Encode(map[string]string{"token": token, "expires_at": expires})
	})
	mux.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		user, password, _ := request.BasicAuth()
		if _, known := tokens.Load(password); !known || user != "x-access-token" {
			answer.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(answer, "Repository not found.", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(answer, request)
	})
	return mux, nil
}

// verify checks the statement with which an app says who it is.
func (config github) verify(key *rsa.PublicKey, request *http.Request) error {
	statement, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(statement, ".")
	if len(parts) != 3 {
		return fmt.Errorf("no statement")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature); err != nil {
		return err
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var said struct {
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
		Issuer  string `json:"iss"`
	}
	if err := json.Unmarshal(claims, &said); err != nil {
		return err
	}
	now := time.Now().Unix()
	if said.Issuer != fmt.Sprint(config.App) || said.Issued > now || said.Expires <= now || said.Expires > now+600 {
		return fmt.Errorf("the statement is not good now: %s", claims)
	}
	return nil
}
