// What holds at three machines of one relay whatever fails: no name has two owners, no reservation is lost, and no token works after
// its lease. MODEL_RUNS makes more of it, TEST_SEED repeats the choices of one; `npm run fuzz -- machines` goes on for longer.

import { test as every } from 'vitest'
import { atDepth, TEST_SEED, wholeOnly } from '../../../tools/test-depth.ts'
import { whyNoRedis } from '../support/cluster-relays.ts'
import { runMachines } from './machines.ts'

const test = wholeOnly(every, 'depth')

const RUNS = Number(process.env.MODEL_RUNS ?? atDepth(10, 1))

test.skipIf(whyNoRedis() !== undefined)(
  `${RUNS} random histories of three machines keep the rules, seed ${TEST_SEED} (skipped: ${whyNoRedis()})`,
  async () => {
    await runMachines(RUNS, TEST_SEED)
  },
  RUNS * 120_000,
)
