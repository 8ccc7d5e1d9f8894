// "States and transitions", lease and policy, against a simple model. MODEL_RUNS makes more of it, MODEL_SEED repeats one; `npm
// run fuzz -- control` goes on for the time that its options say.

import { randomInt } from 'node:crypto'
import { test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { runModel } from './run.ts'

const RUNS = Number(process.env.MODEL_RUNS ?? atDepth(15, 5))
const SEED = Number(process.env.MODEL_SEED ?? randomInt(2 ** 31))

test(
  `${RUNS} random histories of leases and policy are as the model says, seed ${SEED}`,
  async () => {
    await runModel(RUNS, SEED)
  },
  RUNS * 2_000,
)
