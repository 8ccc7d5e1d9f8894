// Durability: `npm run crash [-- TIMES]` kills a process that writes policy and reservations, 200 times by default, at random
// moments, and checks after each that nothing is corrupt and no promised write is lost. Then it does the same to a process that
// publishes snapshots of the static cache, of which each must be whole or absent.
import { parseArgs } from 'node:util'
import { crashCache } from '../relay/test/support/cache-crash.ts'
import { crash } from '../relay/test/support/crash.ts'

const TIMES_DEFAULT = 200
const TIMES_MAX = 100_000

const times = readTimes() ?? usage()
const { crashes, kept } = await crash(times)
console.log(`${crashes} crashes; all of ${kept} promised writes were kept`)
const { published, cut } = await crashCache(times)
console.log(
  `${times} crashes, ${cut} within uploads; each snapshot was whole or absent, and ${published} publications were kept`,
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
