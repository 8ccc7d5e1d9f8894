// hashicorp's yamux over gorilla's WebSocket over crypto/tls: `carrier IDENTITY carrier:FROM:TO`.
// IDENTITY is a PEM file. Every stream that a client opens is joined to a TCP connection of its own.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/hashicorp/yamux"
)

// As large as what it is measured beside gives; yamux's own default of 256 KiB is slower.
const windowBytes = 4 * 1024 * 1024

const (
	copyBytes   = 64 * 1024
	headerBytes = 12
)

var upgrader = websocket.Upgrader{
	ReadBufferSize:  copyBytes,
	WriteBufferSize: headerBytes + copyBytes,
	Subprotocols:    []string{"svc.reverse.v1"},
	CheckOrigin:     func(*http.Request) bool { return true },
}

func main() {
	runtime.GOMAXPROCS(1)
	identity := os.Args[1]
	way := strings.Split(os.Args[2], ":")
	from, to := way[1], way[2]
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		socket, err := upgrader.Upgrade(response, request, nil)
		if err != nil {
			return
		}
		serve(&messages{socket: socket}, "127.0.0.1:"+to)
	})
	log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+from, identity, identity, handler))
}

func serve(transport io.ReadWriteCloser, to string) {
	config := yamux.DefaultConfig()
	config.MaxStreamWindowSize = windowBytes
	config.LogOutput = io.Discard
	session, err := yamux.Server(transport, config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return
		}
		go join(stream, to)
	}
}

func join(stream *yamux.Stream, to string) {
	defer stream.Close()
	if !admit(stream) {
		return
	}
	dialed, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	service := dialed.(*net.TCPConn)
	defer service.Close()
	back := make(chan struct{})
	go func() {
		io.CopyBuffer(struct{ io.Writer }{stream}, struct{ io.Reader }{service}, make([]byte, copyBytes))
		stream.Close()
		close(back)
	}()
	io.CopyBuffer(struct{ io.Writer }{service}, struct{ io.Reader }{stream}, make([]byte, copyBytes))
	service.CloseWrite()
	<-back
}

// A stream begins with two bytes of length and a capability, which nobody looks at here, and gets one byte in answer.
func admit(stream *yamux.Stream) bool {
	const accepted = 0
	length := make([]byte, 2)
	if _, err := io.ReadFull(stream, length); err != nil {
		return false
	}
	if _, err := io.CopyN(io.Discard, stream, int64(binary.BigEndian.Uint16(length))); err != nil {
		return false
	}
	_, err := stream.Write([]byte{accepted})
	return err == nil
}

// A WebSocket as a stream of bytes.
type messages struct {
	socket *websocket.Conn
	reader io.Reader
	// Of a data frame whose body comes with the next call.
	header []byte
}

func (m *messages) Read(bytes []byte) (int, error) {
	for {
		if m.reader == nil {
			_, reader, err := m.socket.NextReader()
			if err != nil {
				return 0, err
			}
			m.reader = reader
		}
		count, err := m.reader.Read(bytes)
		if err != io.EOF {
			return count, err
		}
		m.reader = nil
		if count > 0 {
			return count, nil
		}
	}
}

// yamux writes a frame's header and its body one after the other. They leave in one message, as ours do.
func (m *messages) Write(bytes []byte) (int, error) {
	const typeAt, typeData = 1, 0
	if m.header == nil && len(bytes) == headerBytes && bytes[typeAt] == typeData {
		m.header = append([]byte(nil), bytes...)
		return len(bytes), nil
	}
	message, err := m.socket.NextWriter(websocket.BinaryMessage)
	if err != nil {
		return 0, err
	}
	message.Write(m.header)
	message.Write(bytes)
	m.header = nil
	return len(bytes), message.Close()
}

func (m *messages) Close() error {
	m.socket.SetWriteDeadline(time.Now().Add(time.Second))
	return m.socket.Close()
}
