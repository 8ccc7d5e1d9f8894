// The child of the payments' crash test: verifies and settles payments for ever, and says in the file that it got as descriptor 3
// which it begins (`>`) and which is answered (`<`). It waits to be killed. `node payment-crash-writer.ts DIRECTORY SEED`

import { readFileSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { KEPT, READY } from './crash-model.ts'
import { facilitatorOf, LANES, nodeFileOf, paymentOf } from './payment-crash-model.ts'

const REPORT = 3
const [directory = '', seed = ''] = process.argv.slice(2)
const facilitator = await facilitatorOf(directory, readFileSync(nodeFileOf(directory), 'utf8'))
const say = (text: string): number => writeSync(REPORT, `${text}\n`)
let next = Number(seed)

flushCompileCache()
process.stdout.write(READY)
for (let lane = 0; lane < LANES; lane++) void payForEver()

async function payForEver(): Promise<void> {
  for (;;) {
    const n = next++
    const request = await paymentOf(n)
    say(`> ${n}`)
    const { isValid, invalidReason } = await facilitator.verify(request)
    if (!isValid) throw new Error(`${n} is refused: ${invalidReason}`)
    const { success, errorReason } = await facilitator.settle(request)
    if (!success) throw new Error(`${n} is not settled: ${errorReason}`)
    say(`< ${n}`)
    process.stdout.write(KEPT)
  }
}
