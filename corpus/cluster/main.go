// testcluster is a whole Kubernetes control plane in one binary, for tests.
//
//	testcluster etcd DIR PORT                  an etcd that keeps its data in DIR and does not wait for the disk
//	testcluster kube-apiserver FLAGS           Kubernetes' own commands, with their own flags
//	testcluster kube-controller-manager FLAGS
//	testcluster kube-scheduler FLAGS
//
// The version must be baked in by linker flags (see the runner's src/tools.rs): tools parse what the API server answers.
package main

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = "usage: testcluster etcd DIR PORT | kube-apiserver FLAGS | kube-controller-manager FLAGS | kube-scheduler FLAGS"

func main() {
	if len(os.Args) < 2 {
		fail(usage)
	}
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	name := os.Args[1]
	if command, ok := commands[name]; ok {
		os.Args = os.Args[1:]
		os.Exit(cli.Run(command()))
	}
	if name != "etcd" || len(os.Args) != 4 {
		fail(usage)
	}
	if err := serveEtcd(os.Args[2], os.Args[3]); err != nil {
		fail(err)
	}
}

// serveEtcd runs a single etcd member until the process is ended.  Tests throw its data away, so it never syncs to disk.
func serveEtcd(dir, port string) error {
	clients, err := url.Parse("http://127.0.0.1:" + port)
	if err != nil {
		return err
	}
	peers := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Dir = dir
	config.ListenClientUrls = []url.URL{*clients}
	config.AdvertiseClientUrls = []url.URL{*clients}
	config.ListenPeerUrls = []url.URL{peers}
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		return fmt.Errorf("etcd was not ready after 30 seconds")
	}
	return <-server.Err()
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
