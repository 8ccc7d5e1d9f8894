// The module that sites serve to payers is the payer's client of the SDK, and no older one.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENT_SCRIPT_FILE, clientScript } from '../client-script.ts'

test('client-script.ts is what `node scripts/client-script.ts` writes', async () => {
  expect(readFileSync(CLIENT_SCRIPT_FILE, 'utf8')).toBe(await clientScript())
})
