// Durability: `npm run crash [-- TIMES]` kills a process that writes policy and reservations, 200 times by default, at random
// moments, and checks after each that nothing is corrupt and no promised write is lost. Then it does the same to a process that
// publishes snapshots of the static cache, of which each must be whole or absent, and to one that settles payments, of which each
// may move money once, and must be answered.
import { parseArgs } from 'node:util'
import { crashCache } from '../relay/test/support/cache-crash.ts'
import { crash } from '../relay/test/support/crash.ts'
import { crashPayments } from '../relay/test/support/payment-crash.ts'

const TIMES_DEFAULT = 200
const TIMES_MAX = 100_000

const times = readTimes() ?? usage()
const { crashes, kept } = await crash(times)
console.log(`${crashes} crashes; all of ${kept} promised writes were kept`)
const { published, cut } = await crashCache(times)
console.log(
  `${times} crashes, ${cut} within uploads; each snapshot was whole or absent, and ${published} publications were kept`,
)
const { answered, asked, moved } = await crashPayments(times)
console.log(
  `${times} crashes between verify and settle; money moved once for each of ${answered} answered payments, and for ${asked} others, which were asked for: ${moved} of them had been paid`,
)

function readTimes(): number | undefined {
  try {
    const { positionals } = parseArgs({ allowPositionals: true })
    const [text = String(TIMES_DEFAULT), ...rest] = positionals
    const times = Number(text)
    return rest.length === 0 && Number.isInteger(times) && times > 0 && times <= TIMES_MAX ? times : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error(`Usage: npm run crash [-- TIMES]; TIMES from 1 to ${TIMES_MAX}`)
  process.exit(2)
}
