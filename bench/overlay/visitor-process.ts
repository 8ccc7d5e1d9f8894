// `visitor-process.ts CA`: a visitor on one host, who is told by lines of JSON what to measure, and answers with a number each.
import { lookup } from 'node:dns'
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { connect, createServer, type LookupFunction, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export type VisitorCommand =
  /** Asks so often on one connection. Answer: the median in milliseconds. */
  | { kind: 'ask'; url: string; times: number }
  /** Sends a byte to an echo so often on a plain connection. Answer: the median in milliseconds. */
  | { kind: 'echo'; host: string; port: number; localAddress: string; times: number }
  /** Becomes such an echo. Answer: 0 when it listens. */
  | { kind: 'listen'; host: string; port: number }

/** Hosts know the names of relays, and not those of sites. */
const lookupRelay: LookupFunction = (hostname, options, callback) =>
  lookup(hostname.slice(hostname.indexOf('.') + 1), options, callback)
const ca = readFileSync(process.argv[2] ?? '', 'utf8')
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, lookup: lookupRelay })

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().on('end', resolve).on('error', reject)
    }).on('error', reject)
  })
}

async function medianMs(times: number, once: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let time = 0; time < times; time++) {
    const start = performance.now()
    await once()
    all.push(performance.now() - start)
  }
  return all.toSorted((one, other) => one - other)[times >> 1]!
}

async function echo(command: Extract<VisitorCommand, { kind: 'echo' }>): Promise<number> {
  const socket: Socket = connect({ ...command, noDelay: true })
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return await medianMs(command.times, async () => {
      const answer = new Promise((resolve) => socket.once('data', resolve))
      socket.write('x')
      await answer
    })
  } finally {
    socket.destroy()
  }
}

async function run(command: VisitorCommand): Promise<number> {
  if (command.kind === 'echo') return await echo(command)
  if (command.kind === 'ask') return await medianMs(command.times, () => ask(command.url))
  const server = createServer({ noDelay: true }, (socket) => void socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => server.listen(command.port, command.host, resolve))
  return 0
}

createInterface(process.stdin).on('line', async (line) => {
  try {
    console.log(JSON.stringify({ value: await run(JSON.parse(line)) }))
  } catch (error) {
    console.log(JSON.stringify({ error: (error as Error).message }))
  }
})
