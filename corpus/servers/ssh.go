// Git over SSH, for one key.

package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// gitSSH is the configuration of a git server over SSH.
type gitSSH struct {
	// Root holds bare repositories NAME.git.
	Root string `json:"root"`
	// Journal is a file that gets a line per command.
	Journal string `json:"journal"`
	// Silent accepts connections and never speaks.
	Silent bool `json:"silent"`
}

// gitSSHAnnouncement says how the server is reached.
type gitSSHAnnouncement struct {
	// URL starts with ssh:// and names the user git.
	URL string `json:"url"`
	// KnownHosts is the server's line of a known_hosts file; OtherHost the same with another key.
	KnownHosts string `json:"knownHosts"`
	OtherHost  string `json:"otherHost"`
	// Keys are private keys that the server accepts, by type; Stranger is one that it does not.
	Keys     map[string]string `json:"keys"`
	Stranger string            `json:"stranger"`
}

func init() {
	register("git-ssh", startGitSSH)
}

func startGitSSH(raw json.RawMessage) (any, error) {
	var config gitSSH
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, err
	}
	journal, err := openJournal(config.Journal)
	if err != nil {
		return nil, err
	}
	keys, accepted, err := clientKeys()
	if err != nil {
		return nil, err
	}
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	strangerPEM, err := openSSH(stranger)
	if err != nil {
		return nil, err
	}
	host, other, err := hostKeys()
	if err != nil {
		return nil, err
	}
	server := &ssh.ServerConfig{
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() == "git" && accepted[string(key.Marshal())] {
				return nil, nil
			}
			return nil, fmt.Errorf("unknown key of %s", meta.User())
		},
	}
	server.AddHostKey(host)
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if !config.Silent {
				go config.serve(connection, server, journal)
			}
		}
	}()
	return gitSSHAnnouncement{
		URL:        "ssh://git@" + address,
		KnownHosts: knownhosts.Line([]string{address}, host.PublicKey()),
		OtherHost:  knownhosts.Line([]string{address}, other.PublicKey()),
		Keys:       keys,
		Stranger:   strangerPEM,
	}, nil
}

// serve speaks SSH on one connection until the client leaves.
func (config gitSSH) serve(connection net.Conn, server *ssh.ServerConfig, journal *journal) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, server)
	if err != nil {
		journal.write("refused")
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			offered.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go config.session(channel, requests, journal)
	}
}

func (config gitSSH) session(channel ssh.Channel, requests <-chan *ssh.Request, journal *journal) {
	defer channel.Close()
	for request := range requests {
		if request.Type != "exec" {
			// Variables such as GIT_PROTOCOL are refused, as sshd does unless told otherwise.
			request.Reply(false, nil)
			continue
		}
		var command struct{ Line string }
		if err := ssh.Unmarshal(request.Payload, &command); err != nil {
			request.Reply(false, nil)
			continue
		}
		request.Reply(true, nil)
		journal.write("%s", command.Line)
		status := config.run(command.Line, channel)
		channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

// run runs git-upload-pack 'PATH', the only command there is.
func (config gitSSH) run(line string, channel ssh.Channel) uint32 {
	path, ok := strings.CutPrefix(line, "git-upload-pack ")
	if !ok {
		fmt.Fprintln(channel.Stderr(), "ERROR: only reading is allowed.")
		return 1
	}
	path = filepath.Join(config.Root, filepath.Clean("/"+strings.Trim(path, "'")))
	command := exec.Command("git", "-c", "safe.directory=*", "upload-pack", path)
	command.Stdout, command.Stderr = channel, channel.Stderr()
	input, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return 1
	}
	// A client that keeps its side open must not keep the session open: Wait would wait for such a reader.
	go func() {
		io.Copy(input, channel)
		input.Close()
	}()
	if command.Wait() != nil {
		return 128
	}
	return 0
}

// clientKeys makes a key of each common type, in the forms that people paste into Secrets.
func clientKeys() (keys map[string]string, accepted map[string]bool, err error) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	keys, accepted = map[string]string{}, map[string]bool{}
	for name, key := range map[string]any{"ed25519": ed, "ecdsa": ec, "rsa": rs} {
		if keys[name], err = openSSH(key); err != nil {
			return nil, nil, err
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			return nil, nil, err
		}
		accepted[string(signer.PublicKey().Marshal())] = true
	}
	keys["pkcs1"] = encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs))
	return keys, accepted, nil
}

func hostKeys() (host, other ssh.Signer, err error) {
	var signers []ssh.Signer
	for range 2 {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			return nil, nil, err
		}
		signers = append(signers, signer)
	}
	return signers[0], signers[1], nil
}

func openSSH(key any) (string, error) {
	block, err := ssh.MarshalPrivateKey(key, "test")
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(block)), nil
}
