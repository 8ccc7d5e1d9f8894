// The local full node as an HTTP server of its own, which keeps its ledger in a file if it is given one.
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ChainOptions } from './chain.ts'
import { Ledger } from './ledger.ts'
import { SuiNode } from './node.ts'

export interface SuiNodeOptions extends ChainOptions {
  /** Default: any free port. */
  port?: number
  /** File in which the ledger is kept. Default: it is in memory alone. */
  file?: string
}

export interface RunningSuiNode {
  /** The address for clients, such as `http://127.0.0.1:9000`. */
  url: string
  node: SuiNode
  close(): Promise<void>
}

/** Starts a full node on the loopback interface. */
export async function startSuiNode({ port, file, ...options }: SuiNodeOptions = {}): Promise<RunningSuiNode> {
  const saved =
    file !== undefined && existsSync(file) ? Ledger.restore(readFileSync(file, 'utf8')) : undefined
  const node = new SuiNode({ ...(saved && { ledger: saved }), ...options })
  if (file !== undefined) node.chain.onChange = () => writeWhole(file, node.chain.ledger.save())
  const server = createServer((request, response) => void answer(node, request, response))
  server.listen(port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return { url, node, close }
}

/** A process that is killed leaves the file as it was, or as it is to be. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

async function answer(node: SuiNode, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController()
  outgoing.on('close', () => left.abort())
  try {
    const response = await node.handle(toRequest(incoming, left.signal))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(new Uint8Array(await response.arrayBuffer()))
  } catch {
    outgoing.destroy()
  }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = '/' } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers: { 'Content-Type': headers['content-type'] ?? '' },
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  } as RequestInit)
}
