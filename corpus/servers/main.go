// servers is what litecd's tests talk to in place of git hosts, registries and proxies, all on the loopback interface.
//
//	servers NAME < CONFIG
//
// NAME is a kind of server; each file registers its own.  The first line on stdin is the server's configuration as JSON,
// so that passwords stand in no process's arguments.  Once it listens, the server prints one line of JSON that says
// where and what else a client must know, and it ends when stdin does: a test that dies leaves nothing behind.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

// A server reads its configuration, starts to listen, and returns what clients must know.
type server func(config json.RawMessage) (announcement any, err error)

// servers by name; filled by the init functions of the other files.
var servers = map[string]server{}

func register(name string, start server) {
	servers[name] = start
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var names []string
	for name := range servers {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(args) != 1 || servers[args[0]] == nil {
		return fmt.Errorf("usage: servers %s < CONFIG", strings.Join(names, "|"))
	}
	input := bufio.NewReader(os.Stdin)
	config, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no configuration on stdin: %w", err)
	}
	announcement, err := servers[args[0]](config)
	if err != nil {
		return err
	}
	line, err := json.Marshal(announcement)
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	_, err = io.Copy(io.Discard, input)
	return err
}

// listen opens a free port of the loopback interface.
func listen() (net.Listener, error) {
	return net.Listen("tcp", "127.0.0.1:0")
}

// serveHTTP serves a handler, over TLS when identity is given, and returns the URL.
func serveHTTP(handler http.Handler, identity *tls.Config) (string, error) {
	listener, err := listen()
	if err != nil {
		return "", err
	}
	url := "http://" + listener.Addr().String()
	if identity != nil {
		url = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, identity)
	}
	go http.Serve(listener, handler)
	return url, nil
}

// authority is a certificate authority that exists as long as the process.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is the authority's own certificate.
	PEM string
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate("litecd test authority")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: parsed, key: key, PEM: encode("CERTIFICATE", der)}, nil
}

// issue makes a certificate, for the loopback address and localhost, that serves both servers and clients.
func (a *authority) issue(name string) (certificatePEM, keyPEM string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := certificate(name)
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return "", "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", private), nil
}

// identity is a server's TLS configuration; clients must show a certificate of the authority when it says so.
func (a *authority) identity(requireClient bool) (*tls.Config, error) {
	certificatePEM, keyPEM, err := a.issue("server")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(certificatePEM), []byte(keyPEM))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if requireClient {
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AddCert(a.certificate)
	}
	return config, nil
}

func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// journal is a file with a line per request, for tests that ask what a server saw; nil writes nothing.
type journal struct {
	file *os.File
	lock sync.Mutex
}

func openJournal(path string) (*journal, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: file}, nil
}

func (j *journal) write(format string, args ...any) {
	if j == nil {
		return
	}
	j.lock.Lock()
	defer j.lock.Unlock()
	fmt.Fprintf(j.file, format+"\n", args...)
}
