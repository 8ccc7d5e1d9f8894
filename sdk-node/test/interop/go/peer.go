// A datagram tunnel by quic-go, either end of it:
//
//	peer client PORT CA    the token is a line of standard input; every datagram is sent back
//	peer server CERT KEY   prints its port; a line of standard input, in hexadecimal digits, is a datagram to send
//
// Each line of standard output says what happened.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	quic "github.com/lucas-clemente/quic-go"
)

const heartbeatBytes = 3000

var config = &quic.Config{EnableDatagrams: true}

func main() {
	if os.Args[1] == "client" {
		client(os.Args[2], os.Args[3])
	} else {
		server(os.Args[2], os.Args[3])
	}
}

func client(port, caFile string) {
	ca := must(os.ReadFile(caFile))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	options := &tls.Config{RootCAs: roots, ServerName: "relay.localhost", NextProtos: []string{"svc-tunnel"}}
	connection := must(quic.DialAddr("127.0.0.1:"+port, options, config))
	stream := must(connection.OpenStreamSync(context.Background()))

	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	must(stream.Write(must(json.Marshal(map[string]string{"access_token": input.Text()}))))
	fmt.Printf("answer %s\n", readJSON(stream))

	must(stream.Write(make([]byte, heartbeatBytes)))
	back := must(io.ReadFull(stream, make([]byte, heartbeatBytes)))
	fmt.Printf("heartbeat %d\n", back)

	for {
		datagram, err := connection.ReceiveMessage()
		if err != nil {
			sayWhy(err)
			return
		}
		if err := connection.SendMessage(datagram); err != nil {
			log.Fatal(err)
		}
	}
}

func server(certFile, keyFile string) {
	certificate := must(tls.LoadX509KeyPair(certFile, keyFile))
	options := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"svc-tunnel"}}
	listener := must(quic.ListenAddr("127.0.0.1:0", options, config))
	var port string
	fmt.Sscanf(listener.Addr().String(), "127.0.0.1:%s", &port)
	fmt.Printf("port %s\n", port)

	connection := must(listener.Accept(context.Background()))
	stream := must(connection.AcceptStream(context.Background()))
	fmt.Printf("hello %s\n", readJSON(stream))
	must(stream.Write([]byte(`{"ok":true,"heartbeat":true}`)))
	go func() {
		fmt.Printf("heartbeat %d\n", must(io.CopyN(stream, stream, heartbeatBytes)))
	}()
	go func() {
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			if err := connection.SendMessage(must(hex.DecodeString(input.Text()))); err != nil {
				log.Fatal(err)
			}
		}
	}()
	for {
		datagram, err := connection.ReceiveMessage()
		if err != nil {
			sayWhy(err)
			return
		}
		fmt.Printf("datagram %x\n", datagram)
	}
}

func readJSON(from io.Reader) json.RawMessage {
	var message json.RawMessage
	if err := json.NewDecoder(from).Decode(&message); err != nil {
		log.Fatal(err)
	}
	return message
}

func sayWhy(err error) {
	var ended *quic.ApplicationError
	if !errors.As(err, &ended) {
		log.Fatal(err)
	}
	fmt.Printf("closed %d\n", ended.ErrorCode)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
