// The family `start`: what a relay with nothing switched on costs to start, beside that of another checkout, such as an older one.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { V8_FLAGS } from '../../relay/src/core/config/v8-flags.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { startRelay } from '../../tools/relay/process.ts'
import { alternateAll, type MeasureAll } from '../lib/alternate.ts'
import { compared, type Entry, missing, type Question } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { memoryMb, processorSeconds } from '../node/processes.ts'

/** Milliseconds after which the relay has done what its start left to do. */
const REST_MS = 2_000
const AGAINST = process.env.BENCH_AGAINST
/** The target allows what a tick of the processor's clock and a page of memory make of it. */
const QUESTION = { better: 'less', peer: AGAINST ?? 'another checkout', target: 0.97 } as const
const QUESTIONS = {
  processor: { ...QUESTION, name: 'processor time of a start', unit: 's' },
  memory: { ...QUESTION, name: 'memory after a start', unit: 'MB' },
} satisfies Record<string, Question>

export async function* start({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const ours = weigh(root)
  const theirs = AGAINST === undefined ? undefined : weigh(AGAINST)
  const found = await alternateAll(runs, { ours, ...(theirs && { theirs }) } as Record<
    'ours' | 'theirs',
    typeof ours
  >)
  for (const figure of ['processor', 'memory'] as const) {
    const question = QUESTIONS[figure]
    yield theirs === undefined
      ? missing(question, found.ours[figure], 'BENCH_AGAINST=FOLDER, with its packages installed')
      : compared(question, found.ours[figure], found.theirs[figure])
  }
}

function weigh(checkout: string): MeasureAll<'processor' | 'memory'> {
  return async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-start-'))
    const relay = await startRelay({
      env: { SVC_URL: `https://relay.localhost:${await freePort()}`, IDENTITY_PATH: directory },
      // Without them, the relay would start Node a second time.
      program: [process.execPath, ...V8_FLAGS, path.join(checkout, 'relay/src/main.ts')],
      cwd: checkout,
    })
    try {
      await pause(REST_MS)
      return { processor: processorSeconds([relay.pid]), memory: memoryMb([relay.pid]) }
    } finally {
      await relay.stop()
      await rm(directory, { recursive: true })
    }
  }
}
