// A local server for what goes on: a page, a WebSocket that echoes in capitals, and a stream of events that a test sends.

import { createServer, type Server, type ServerResponse } from 'node:http'
import { WebSocketServer } from 'ws'
import { listening } from './exposed.ts'

export class LiveTarget {
  readonly #server: Server = createServer((request, response) => {
    if (request.url === '/events') this.#begin(response)
    else response.setHeader('Content-Type', 'text/html').end('<link rel="icon" href="data:,">')
  })
  readonly #streams = new Set<ServerResponse>()

  /** Resolves with its port. */
  start(): Promise<number> {
    const sockets = new WebSocketServer({ server: this.#server })
    sockets.on('connection', (socket) =>
      socket.on('message', (data, isBinary) =>
        socket.send(isBinary ? (data as Buffer) : String(data).toUpperCase()),
      ),
    )
    return listening(this.#server)
  }

  /** Sends an event to all who listen. @param lines its fields */
  send(...lines: string[]): void {
    for (const stream of this.#streams) stream.write(`${lines.join('\n')}\n\n`)
  }

  /** Ends the streams of events. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #begin(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    this.#streams.add(response)
    response.on('close', () => this.#streams.delete(response))
  }
}
