// What holds at three machines of one relay whatever fails: no name has two owners, no reservation is lost, and no token works after
// its lease. MODEL_RUNS makes more of it, MODEL_SEED repeats the choices of one; `npm run fuzz -- machines` goes on for longer.

import { randomInt } from 'node:crypto'
import { test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { whyNoEngine } from '../support/cluster-relays.ts'
import { runMachines } from './machines.ts'

const RUNS = Number(process.env.MODEL_RUNS ?? atDepth(10, 1))
const SEED = Number(process.env.MODEL_SEED ?? randomInt(2 ** 31))

test.skipIf(whyNoEngine() !== undefined)(
  `${RUNS} random histories of three machines keep the rules, seed ${SEED} (skipped: ${whyNoEngine()})`,
  async () => {
    await runMachines(RUNS, SEED)
  },
  RUNS * 120_000,
)
