// createFacilitator refuses wrong options, and names the command where the libraries are not installed.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createFacilitator, type FacilitatorOptions } from '../src/index.ts'
import { MemoryJournal } from './memory-journal.ts'
import { PAY_TO } from './payments.ts'

const OPTIONS: FacilitatorOptions = { network: 'sui:testnet', payTo: PAY_TO, journal: new MemoryJournal() }

const WRONG: [what: string, options: object][] = [
  ['another network', { network: 'sui:devnet' }],
  ['an address of Ethereum', { payTo: `0x${'a'.repeat(40)}` }],
  ['the address of zeros', { payTo: `0x${'0'.repeat(64)}` }],
  ['a node that is no URL', { endpoints: ['fullnode'] }],
  ['nine nodes', { endpoints: Array.from({ length: 9 }, (_, index) => `https://node${index}.example`) }],
]
test.each(WRONG)('%s is refused', async (_what, options) => {
  await expect(createFacilitator({ ...OPTIONS, ...options })).rejects.toMatchObject({
    code: 'invalid_settings',
  })
})

/** Node finds neither library then, as after an install without optional dependencies. */
const WITHOUT_LIBRARIES = `
  import { registerHooks } from 'node:module'
  const isAway = (name) => name.startsWith('@mysten/') || name.startsWith('@x402/')
  registerHooks({
    resolve: (name, context, next) => {
      if (isAway(name)) throw Object.assign(new Error('no ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    },
  })
  const { createFacilitator, facilitatorAt } = await import(${JSON.stringify(path.resolve(import.meta.dirname, '../src/index.ts'))})
  facilitatorAt('https://relay.example/api/x402')
  const journal = { note() {}, find() {}, open: () => [] }
  await createFacilitator({ network: 'sui:testnet', payTo: '${PAY_TO}', journal }).catch(({ code, message }) => console.log(code, message))
`

test('without the libraries everything else works, and createFacilitator names the command and the versions', () => {
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', WITHOUT_LIBRARIES], {
    encoding: 'utf8',
  })
  const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8'))
  const { '@x402/core': core, '@mysten/sui': sui } = manifest.optionalDependencies
  expect(out).toMatch(/^library_missing /)
  expect(out).toContain(`npm install @x402/core@${core} @mysten/sui@${sui}`)
})
