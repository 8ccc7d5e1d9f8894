// The family `agent`: the memory of an agent with one tunnel and with fifty, each online at a real relay and visited once.
import { rm, writeFile } from 'node:fs/promises'
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
const MANY = 50
/** Megabytes that each tunnel beyond the first may add. */
const EACH_MAX_MB = 6
/** Milliseconds after which an idle agent has given back what its start took. */
const REST_MS = 15_000

export async function* agent({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const target = createServer((_, response) => void response.end('hello'))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  const { port } = target.address() as AddressInfo
  const each: number[] = []
  try {
    for (let run = 0; run < runs; run++) {
      const one = await weigh(relay, port, 1, run)
      const many = await weigh(relay, port, MANY, run)
      each.push((many - one) / (MANY - 1))
      console.error(`  ${one.toFixed(0)} MB with 1 tunnel, ${many.toFixed(0)} MB with ${MANY}`)
    }
  } finally {
    target.close()
    await relay.stop()
  }
  const question = {
    name: `memory of each tunnel beyond the first, of ${MANY}`,
    unit: 'MB',
    better: 'less' as const,
  }
  yield limited(question, median(each), EACH_MAX_MB)
}

/** @returns megabytes of an agent with so many tunnels, when it has been idle for a while */
async function weigh(relay: BenchRelay, port: number, count: number, run: number): Promise<number> {
  const state = path.join(relay.directory, `agent-${run}-${count}`)
  const config = `${state}.toml`
  const names = Array.from({ length: count }, (_, at) => `r${run}-n${count}-t${at}`)
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
    await rm(state, { recursive: true, force: true })
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
