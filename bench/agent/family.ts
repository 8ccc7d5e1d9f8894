// The family `agent`: the memory of an agent with ten tunnels and with fifty, each online at a real relay and visited once.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { root } from '../../tools/programs/command.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { median } from '../lib/alternate.ts'
import { type Entry, limited } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { memoryMb, Programs } from '../node/processes.ts'

const CLI = path.join(root, 'sdk-node/src/cli/main.ts')
/** With fewer, an agent does so little work that it does not collect what its start left. */
const FEW = 10
const MANY = 50
/** Megabytes that each tunnel may add, of those that the larger agent has more. */
const EACH_MAX_MB = 6
/** Milliseconds after which an idle agent has given back what its start took. */
const REST_MS = 15_000

export async function* agent({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const target = createServer((_, response) => void response.end('hello'))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  const { port } = target.address() as AddressInfo
  const memory: { few: number; many: number }[] = []
  try {
    for (let run = 0; run < runs; run++) {
      const few = await weigh(port, FEW)
      const many = await weigh(port, MANY)
      memory.push({ few, many })
      console.error(`  ${few.toFixed(0)} MB with ${FEW} tunnels, ${many.toFixed(0)} MB with ${MANY}`)
    }
  } finally {
    target.close()
  }
  const limit = median(memory.map(({ few }) => few)) + (MANY - FEW) * EACH_MAX_MB
  const question = { name: `memory of an agent with ${MANY} tunnels`, unit: 'MB', better: 'less' as const }
  yield limited(question, median(memory.map(({ many }) => many)), limit)
}

/** @returns megabytes of an agent with this many tunnels, when it has been idle for a while */
async function weigh(port: number, count: number): Promise<number> {
  // a relay of its own, since each one lets a source register this many leases a minute
  const relay = await BenchRelay.start()
  const state = path.join(relay.directory, 'agent')
  const config = `${state}.toml`
  const names = Array.from({ length: count }, (_, at) => `tunnel-${at}`)
  const tunnels = names.map((name) => `[[tunnel]]\nname = "${name}"\nhttp = ${port}\n`)
  const head = `relay = "${relay.url}"\nca = "${relay.caFile}"\n[agent]\ncontrol_addr = "127.0.0.1:0"\n`
  await writeFile(config, head + tunnels.join(''))
  const programs = new Programs()
  const options = ['--foreground', '--json', '--config', config, '--state-dir', state]
  const child = programs.start(process.execPath, [CLI, 'agent', 'run', ...options])
  try {
    let online = 0
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stdout!).on('line', (line) => {
        if (JSON.parse(line).event === 'online' && ++online === count) resolve()
      })
      child.once('exit', (code) => reject(new Error(`the agent ended with ${code}: ${programs.complaints}`)))
    })
    const ca = await relay.ca()
    for (const name of names) await visit(relay, ca, `${name}.${new URL(relay.url).hostname}`)
    await pause(REST_MS)
    return memoryMb(programs.pids)
  } finally {
    await programs.stop()
    await relay.stop()
  }
}

function visit({ port }: BenchRelay, ca: string, servername: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const where = {
    host: '127.0.0.1',
    port,
    servername,
    ca,
    agent: false,
    headers: { Host: `${servername}:${port}` },
  }
  request(where, (response) => {
    response.resume().on('end', resolve).on('error', reject)
  })
    .on('error', reject)
    .end()
  return promise
}
