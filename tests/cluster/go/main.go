// Command testcluster is a Kubernetes cluster in one binary, for the tests: its first argument names
// the component to run, the rest are that component's own flags.
//
// The Python package testcluster builds and starts it. It must never hold behavior of its own: what
// the tests meet here has to be what the released components do.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	// What the stock mains register: the JSON log format, client metrics, the version metric.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// components are constructors, not commands: each component registers flags and metrics in globals
// when it is made, so only the chosen one may be made.
var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              proxy.NewProxyCommand,
	// The kubelet sets up signal handling itself; a context that already has it panics.
	"kubelet": func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	if len(os.Args) < 2 {
		fail("no component named")
	}
	name := os.Args[1]
	os.Args = os.Args[1:] // a component finds its own name and flags where its own main would
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	newCommand, known := components[name]
	if !known {
		fail(fmt.Sprintf("unknown component %q", name))
	}
	os.Exit(cli.Run(newCommand()))
}

func fail(problem string) {
	fmt.Fprintln(os.Stderr, problem+"; say etcd, kube-apiserver, kube-controller-manager, "+
		"kube-scheduler, kube-proxy or kubelet")
	os.Exit(2)
}
