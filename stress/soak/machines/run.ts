// The soak of a relay on three machines, behind haproxy and with a Redis that keeps its data in a file: machines and Redis die
// and come back, machines leave in order, and every byte that a visitor gets is checked. Lost requests are those that no fault excuses.
import { readFile } from 'node:fs/promises'
import { findHaproxy } from '../../../tools/programs/haproxy.ts'
import { findRedis } from '../../../tools/programs/services.ts'
import { startMachines } from '../../../tools/relay/machines.ts'
import type { Random } from '../random.ts'
import { MachineFaults } from './faults.ts'
import { publishSites } from './sites.ts'
import { MachineVisitors } from './visitors.ts'

const MACHINES = 3
const VISITORS = 6
const REPORT_MS = 60_000
/** After the last fault each site serves at each machine within this: a busy machine takes long. */
const RECOVERY_MS = 120_000
const LOOK_MS = 500

/** @returns what is wrong; nothing when all held */
export async function soakMachines(minutes: number, random: Random): Promise<string[]> {
  if (findRedis() === undefined || findHaproxy() === undefined) {
    console.log('Skipped: it needs redis-server and haproxy')
    return []
  }
  const relay = await startMachines({ count: MACHINES })
  const ca = await readFile(relay.caFile, 'utf8')
  const sites = await publishSites(relay.url, ca)
  const faults = new MachineFaults(relay, random)
  const visitors = new MachineVisitors({ sites, relay, ca, faults, random })
  const tell = (): void => {
    const { served, excused, wrong, lost } = visitors
    console.log(
      `${served} served, ${excused} cut off with a machine, ${wrong.length} wrong, ${lost.length} lost; ` +
        `${faults.kills} machines and ${faults.redisKills} redises killed, ${faults.drains} machines left`,
    )
  }
  const report = setInterval(tell, REPORT_MS)
  const until = Date.now() + minutes * 60_000
  const problems: string[] = []
  try {
    await Promise.all([faults.run(until), ...Array.from({ length: VISITORS }, () => visitors.run(until))])
    await recover(visitors)
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  clearInterval(report)
  tell()
  await Promise.all(sites.map((site) => site.close()))
  await relay.stop()
  return [...visitors.wrong, ...visitors.lost, ...problems]
}

/** Waits, when all machines run, until each serves each site. */
async function recover(visitors: MachineVisitors): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS
  while (!(await visitors.areServedEverywhere())) {
    if (Date.now() > deadline) throw new Error('a machine does not serve every site after the end')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
