// A browser as a client: started once, with a page that asks us what to fetch and tells us what it got.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange, Outcome, Task } from './client.ts'
import { endGroup } from './process.ts'

export interface Launch {
  command: string
  args: string[]
  env: Record<string, string>
}

export interface Browser {
  exchange(task: Task): Exchange
  stop(): Promise<void>
}

/** The end of what the browser printed, for a person to read. */
const LOG_CHARACTERS: number = 4 * 1024

/** What the page is told to do. */
interface Order {
  url: string
  times: number
  upload: boolean
}

interface Report {
  sha256?: string
  error?: string
}

const PAGE = `<!doctype html><title>interop</title><script type="module">
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
async function carryOut({ url, times, upload }) {
  const body = upload ? await (await fetch('/upload')).arrayBuffer() : undefined
  let received
  for (let i = 0; i < times; i++) {
    const response = await fetch(url, { method: upload ? 'POST' : 'GET', body, cache: 'no-store' })
    received = await response.arrayBuffer()
  }
  return { sha256: hex(await crypto.subtle.digest('SHA-256', received)) }
}
for (;;) {
  const order = await (await fetch('/order')).json()
  const report = await carryOut(order).catch((error) => ({ error: String(error) }))
  await fetch('/report', { method: 'POST', body: JSON.stringify(report) })
}
</script>`

/** `launch` is told the page's address. */
export async function startBrowser(launch: (page: string) => Launch): Promise<Browser> {
  let child: ChildProcess | undefined
  let log = ''
  let order: Order | undefined
  let upload: Uint8Array = new Uint8Array()
  /** Of the page, when there is nothing to do. */
  let idle: ServerResponse | undefined
  let reported: (report: Report) => void = () => {}

  const hand = (response: ServerResponse, next: Order) => {
    order = undefined
    response.end(JSON.stringify(next))
  }
  const server = createServer(async (request, response) => {
    if (request.url === '/order') {
      if (order === undefined) idle = response
      else hand(response, order)
    } else if (request.url === '/upload') response.end(upload)
    else if (request.url === '/report') {
      response.end()
      reported(JSON.parse(await text(request)))
    } else response.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const start = () => {
    const { command, args, env } = launch(page)
    const started = spawn(command, args, { env: { ...process.env, ...env }, detached: true })
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk) => (log = (log + chunk).slice(-LOG_CHARACTERS)))
    started.on('error', (error) => reported({ error: error.message }))
    child = started
  }
  const stop = () => {
    if (child !== undefined) endGroup(child)
    child = undefined
    idle = undefined
  }
  process.once('exit', stop)

  return {
    exchange: (task) => {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
      reported = ({ sha256, error }) => {
        if (sha256 === undefined) reject(new Error(`the page reports: ${error}\n${log}`))
        else resolve({ sha256, log: '' })
      }
      upload = task.upload ?? new Uint8Array()
      const url = `https://localhost:${task.port}/`
      order = { url, times: task.resume ? 2 : 1, upload: task.upload !== undefined }
      if (child === undefined) start()
      if (idle !== undefined) hand(idle, order)
      idle = undefined
      // After an exchange it stays for the next one.
      let done = false
      promise.then(
        () => (done = true),
        () => {},
      )
      return { outcome: promise, leave: () => !done && stop() }
    },
    stop: async () => {
      stop()
      process.off('exit', stop)
      server.close()
      server.closeAllConnections()
    },
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
