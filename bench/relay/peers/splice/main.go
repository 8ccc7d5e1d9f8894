// Joins TCP connections as a Go program would: `splice IDENTITY tcp:FROM:TO tls:FROM:TO…`. IDENTITY is a PEM file for TLS,
// which ends on the side of FROM. io.Copy between two *net.TCPConn splices in the kernel.
package main

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"os"
	"runtime"
	"strings"
)

type halfCloser interface {
	net.Conn
	CloseWrite() error
}

func main() {
	runtime.GOMAXPROCS(1)
	for _, way := range os.Args[2:] {
		parts := strings.Split(way, ":")
		if len(parts) != 3 {
			log.Fatalf("%q is not KIND:FROM:TO", way)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+parts[1])
		if err != nil {
			log.Fatal(err)
		}
		if parts[0] == "tls" {
			listener = tls.NewListener(listener, config(os.Args[1]))
		}
		go serve(listener, "127.0.0.1:"+parts[2])
	}
	select {}
}

func config(identity string) *tls.Config {
	certificate, err := tls.LoadX509KeyPair(identity, identity)
	if err != nil {
		log.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
}

func serve(listener net.Listener, to string) {
	for {
		visitor, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go join(visitor.(halfCloser), to)
	}
}

func join(visitor halfCloser, to string) {
	defer visitor.Close()
	dialed, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	service := dialed.(halfCloser)
	defer service.Close()
	back := make(chan struct{})
	go func() {
		copyAll(visitor, service)
		close(back)
	}()
	copyAll(service, visitor)
	<-back
}

func copyAll(to, from halfCloser) {
	io.Copy(to, from)
	to.CloseWrite()
}
