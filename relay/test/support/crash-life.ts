// One life of the writer of a crash test: it starts, writes for a while, and is killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

/** The longest time in milliseconds that the writer is left alone once it has said the milestone. */
const LIFE_MAX_MS = 60

interface Life {
  /** The folder that the writer writes to. */
  directory: string
  seed: number
  /** The text that the writer has written to standard output before it is killed at a random moment. */
  milestone: string
}

/**
 * @param script is started with the directory and the seed, and reports to descriptor 3
 * @returns the report. @throws Error when the writer ends by itself
 */
export async function liveAndDie(script: string, { directory, seed, milestone }: Life): Promise<string> {
  const path = `${directory}.report`
  const report = await open(path, 'w+')
  const child = spawn(process.execPath, [script, directory, `${seed}`], {
    stdio: ['ignore', 'pipe', 'inherit', report.fd],
  })
  try {
    await Promise.race([says(child.stdout!, milestone), endedEarly(child)])
    await setTimeout(Math.random() * LIFE_MAX_MS)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return await readFile(path, 'utf8')
  } finally {
    child.kill('SIGKILL')
    await report.close()
    await rm(path)
  }
}

async function says(output: Readable, milestone: string): Promise<void> {
  let text = ''
  while (!text.includes(milestone)) text += (await once(output, 'data'))[0]
}

async function endedEarly(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit')
  throw new Error(`the writer ended by itself: ${code ?? signal}`)
}
