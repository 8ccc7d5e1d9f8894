// "States and transitions", lease and policy, against a simple model. MODEL_RUNS makes more of it, TEST_SEED repeats one; `npm
// run fuzz -- control` goes on for the time that its options say.

import { test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { runModel } from './run.ts'

const RUNS = Number(process.env.MODEL_RUNS ?? atDepth(15, 5))

test(
  `${RUNS} random histories of leases and policy are as the model says, seed ${TEST_SEED}`,
  async () => {
    await runModel(RUNS, TEST_SEED)
  },
  RUNS * 2_000,
)
