// A state directory whose disk a test fills up and frees again: a real one that is full, or a limit of the kernel.

import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TestDisk {
  directory: string
  /** Lets nothing more be written from now on. @param pid the process that meets this */
  fill(pid: number): void
  free(pid: number): void
  close(): void
}

const SIZE = '1m'
const PAGE = Buffer.alloc(4096)

/** @returns undefined where mounting is not permitted */
export function mountSmallDisk(): TestDisk | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'svc-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', directory])
  if (status !== 0) {
    rmSync(directory, { recursive: true })
    return undefined
  }
  const filler = join(directory, 'filler')
  return {
    directory,
    fill: () => {
      const file = openSync(filler, 'a')
      try {
        for (;;) writeSync(file, PAGE)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler),
    close: () => {
      spawnSync('umount', ['--lazy', directory])
      rmSync(directory, { recursive: true })
    },
  }
}

/** Makes a disk where mounting is not permitted: no file of the process may grow beyond its first byte (RLIMIT_FSIZE). */
export function limitFileSize(): TestDisk {
  const directory = mkdtempSync(join(tmpdir(), 'svc-disk-'))
  const limit = (pid: number, size: string): void => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', `${pid}`, `--fsize=${size}:unlimited`])
    if (status !== 0) throw new Error(`prlimit: ${stderr}`)
  }
  return {
    directory,
    fill: (pid) => limit(pid, '0'),
    free: (pid) => limit(pid, 'unlimited'),
    close: () => rmSync(directory, { recursive: true }),
  }
}
