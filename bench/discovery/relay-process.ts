// `relay-process.ts COUNT RUNS`: one relay among so many that answer, in simulated time: what it asks in an hour, and what a
// descriptor costs. Signatures are made and checked by the relay's own code.
import { SignerRecovery } from '../../relay/src/core/auth/signer-recovery.ts'
import { readDescriptor } from '../../relay/src/features/discovery/descriptor-rules.ts'
import { DescriptorSignatures } from '../../relay/src/features/discovery/descriptor-signatures.ts'
import { alternateAll } from '../lib/alternate.ts'
import { AwaitedSignatures, Network, type Traffic } from './network.ts'
import { elapsedMs, pass, simulateTime } from './simulated-time.ts'

const HOUR_MS = 3_600_000
/** After this many milliseconds every relay is known, and was asked. */
const SETTLE_MS = HOUR_MS / 3

/** Cost is the processor time of one descriptor, in milliseconds. */
export interface Cost {
  mainMs: number
  /** The time of all threads. */
  wholeMs: number
}

export interface Figures extends Traffic {
  /** The first descriptor of an address, and a later one. */
  first: Cost
  later: Cost
}

const [count, runs] = process.argv.slice(2).map(Number) as [number, number]
simulateTime()
const recovery = new SignerRecovery()
const recover = recovery.recoverTextSigner.bind(recovery)
const network = new Network({ knowsAll: true })
for (let index = 0; index < count; index++) network.add()
const member = network.add()
const discovery = network.discover(member, network.members[0]!.origin, new AwaitedSignatures(recover))
discovery.start()
await until(elapsedMs() + SETTLE_MS)
const asked = { ...member.traffic }
await until(elapsedMs() + HOUR_MS)
const figures: Figures = {
  requests: member.traffic.requests - asked.requests,
  lists: member.traffic.lists - asked.lists,
  bytes: member.traffic.bytes - asked.bytes,
  listBytes: member.traffic.listBytes,
  ...(await costs()),
}
discovery.close()
await recovery.close()
process.send!(figures)
process.disconnect!()

async function until(ms: number): Promise<void> {
  while (elapsedMs() < ms) await pass()
}

/** The first check of each address recovers its key; later ones need it no more. */
async function costs(): Promise<{ first: Cost; later: Cost }> {
  const texts: string[] = []
  for (const { own } of network.members) texts.push(JSON.stringify(await own.current()))
  const kept = new DescriptorSignatures(recover)
  await check(texts, kept)
  return await alternateAll<'first' | 'later', keyof Cost>(runs, {
    first: () => check(texts, new DescriptorSignatures(recover)),
    later: () => check(texts, kept),
  })
}

async function check(texts: string[], signatures: DescriptorSignatures): Promise<Record<keyof Cost, number>> {
  const start = usage()
  for (const text of texts) {
    const { descriptor } = readDescriptor(JSON.parse(text), false)
    if (!(await signatures.isGenuine(descriptor))) throw new Error('a descriptor is forged')
  }
  const end = usage()
  return {
    mainMs: (end.main - start.main) / texts.length,
    wholeMs: (end.whole - start.whole) / texts.length,
  }
}

function usage(): { main: number; whole: number } {
  const sum = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
  return { main: sum(process.threadCpuUsage()), whole: sum(process.cpuUsage()) }
}
