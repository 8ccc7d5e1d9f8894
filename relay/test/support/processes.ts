// Reads the children and the memory of a process from Linux's /proc.

import { open, readdir, readFile } from 'node:fs/promises'

const CHUNK_BYTES = 1024 * 1024

/** Children whose command line contains `text`. */
export async function childrenOf(parent: number, text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
        return new RegExp(`^PPid:\\s${parent}$`, 'm').test(status) && command.includes(text) ? [pid] : []
      } catch {
        return []
      }
    }),
  )
  return found.flat()
}

export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** @returns the `needles` that occur in what the process may write to: its heap, stacks and buffers */
export async function foundInMemory(pid: number, needles: Record<string, Buffer>): Promise<string[]> {
  const regions = (await readFile(`/proc/${pid}/smaps`, 'utf8')).split(/(?=^[0-9a-f]+-[0-9a-f]+ )/m)
  const memory = await open(`/proc/${pid}/mem`)
  const found = new Set<string>()
  const longest = Math.max(...Object.values(needles).map(({ length }) => length))
  const buffer = Buffer.alloc(CHUNK_BYTES + longest)
  try {
    for (const region of regions) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(region) ?? []
      // most of the reserved memory was never used
      if (from === undefined || /^Rss:\s+0 kB$/m.test(region)) continue
      const end = Number.parseInt(to!, 16)
      for (let at = Number.parseInt(from!, 16); at < end; at += CHUNK_BYTES) {
        const chunk = buffer.subarray(0, Math.min(buffer.length, end - at))
        // a region may be gone by now, or not be memory
        const { bytesRead } = await memory.read(chunk, 0, chunk.length, at).catch(() => ({ bytesRead: 0 }))
        for (const [name, needle] of Object.entries(needles))
          if (chunk.subarray(0, bytesRead).includes(needle)) found.add(name)
      }
    }
  } finally {
    await memory.close()
  }
  return [...found]
}
