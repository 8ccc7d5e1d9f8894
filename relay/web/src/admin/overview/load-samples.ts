// Collects the relay's load over the last minutes, while this tab is open.
import type { AdminLoadResponse, AdminMachine } from '@svc/protocol'

/** Ten minutes at one sample every three seconds. */
const SAMPLES_MAX = 200
const SECOND_MS = 1000

type ByteCount = 'visitor_received_bytes' | 'visitor_sent_bytes'

/** The load at one moment. Unknown rates are null. */
export interface Sample {
  /** Seconds since the epoch. */
  time: number
  load: AdminLoadResponse
  receivedRate: number | null
  sentRate: number | null
}

export function addSample(
  samples: readonly Sample[],
  load: AdminLoadResponse,
  at: number,
): readonly Sample[] {
  const time = at / SECOND_MS
  const last = samples.at(-1)
  const rate = (key: ByteCount): number | null => {
    if (last === undefined || time <= last.time) return null
    const bytes = bytesBetween(last.load, load, key)
    return bytes === null ? null : bytes / (time - last.time)
  }
  const sample = {
    time,
    load,
    receivedRate: rate('visitor_received_bytes'),
    sentRate: rate('visitor_sent_bytes'),
  }
  return [...samples, sample].slice(-SAMPLES_MAX)
}

/** Returns the bytes between two samples, or null when unknown. */
function bytesBetween(last: AdminLoadResponse, load: AdminLoadResponse, key: ByteCount): number | null {
  if (last.machines !== undefined && load.machines !== undefined)
    return bytesOfMachines(last.machines, load.machines, key)
  // The relay counts from its start, so fewer bytes mean a restart. So does a change between one and several machines.
  if (last.machines !== load.machines || load[key] < last[key]) return null
  return load[key] - last[key]
}

/** Counts only the machines in both samples, because the total also changes when a machine joins or leaves. */
function bytesOfMachines(
  last: readonly AdminMachine[],
  machines: readonly AdminMachine[],
  key: ByteCount,
): number {
  const runOf = ({ address, started_at }: AdminMachine): string => `${address} ${started_at}`
  const before = new Map(last.map((machine) => [runOf(machine), machine[key]]))
  // Each sample may come from another machine, which may have older figures.
  const bytesOf = (machine: AdminMachine): number =>
    Math.max(0, machine[key] - (before.get(runOf(machine)) ?? machine[key]))
  return machines.reduce((total, machine) => total + bytesOf(machine), 0)
}
