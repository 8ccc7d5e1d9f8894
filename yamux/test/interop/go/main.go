// A peer on hashicorp's yamux, over TCP on the loopback interface, for go.test.ts.
//
//	peer server                         listens, prints its port, and echoes every stream of one session
//	peer client PORT STREAMS BYTES      has every one of its streams echoed, then says GoAway and waits for the end
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/hashicorp/yamux"
)

func main() {
	var err error
	if len(os.Args) == 2 && os.Args[1] == "server" {
		err = server()
	} else if len(os.Args) == 5 && os.Args[1] == "client" {
		err = client(os.Args[2], number(os.Args[3]), number(os.Args[4]))
	} else {
		err = fmt.Errorf("usage: peer server | peer client PORT STREAMS BYTES")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func server() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	session, err := yamux.Server(conn, quiet())
	if err != nil {
		return err
	}
	for {
		stream, err := session.Accept()
		if err != nil {
			return nil // the other side is done
		}
		go echo(stream)
	}
}

func echo(stream net.Conn) {
	io.Copy(stream, stream)
	stream.Close()
}

func client(port string, streams, size int) error {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	session, err := yamux.Client(conn, quiet())
	if err != nil {
		return err
	}
	if _, err := session.Ping(); err != nil {
		return err
	}
	results := make(chan error)
	for i := 0; i < streams; i++ {
		go func(seed int) { results <- roundTrip(session, size, byte(seed)) }(i)
	}
	for i := 0; i < streams; i++ {
		if err := <-results; err != nil {
			return err
		}
	}
	fmt.Println("echoed", session.NumStreams())
	go session.GoAway() // sends at once, but returns only with the session or after its write timeout
	<-session.CloseChan()
	return nil
}

// roundTrip half-closes after its bytes, and then reads them back up to the end.
func roundTrip(session *yamux.Session, size int, seed byte) error {
	stream, err := session.Open()
	if err != nil {
		return err
	}
	sent := make([]byte, size)
	for i := range sent {
		sent[i] = byte(i*31) + byte(i>>8) + seed
	}
	written := make(chan error, 1)
	go func() {
		_, err := stream.Write(sent)
		stream.Close()
		written <- err
	}()
	back, err := io.ReadAll(stream)
	if err != nil {
		return err
	}
	if err := <-written; err != nil {
		return err
	}
	if !bytes.Equal(back, sent) {
		return fmt.Errorf("stream %d: %d bytes came back, not the %d sent", seed, len(back), len(sent))
	}
	return nil
}

// quiet is the default configuration without its log, which mentions every late window update.
func quiet() *yamux.Config {
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard
	return config
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
