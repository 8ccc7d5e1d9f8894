// Pages can be bundled where the optional libraries of payments are not installed.
import path from 'node:path'
import { build, type InlineConfig } from 'vite'
import { expect, it } from 'vitest'
import examples, { withoutPayments } from '../../examples/vite.config.ts'
import { root } from '../../tools/programs/command.ts'

/** To Vite the libraries are not there. */
const LEAN: InlineConfig = {
  configFile: false,
  logLevel: 'silent',
  resolve: { alias: [{ find: /^@(?:mysten|x402)\//, replacement: 'not-installed-' }] },
}

const ENTRY = 'virtual:entry'

/** @returns the code of all chunks of a bundle */
async function bundle({ build: options, ...config }: InlineConfig): Promise<string> {
  const built = await build({ ...LEAN, ...config, build: { ...options, write: false } })
  if (!('output' in built)) throw new Error('the build is not one bundle')
  return built.output.map((part) => ('code' in part ? part.code : '')).join('\n')
}

function bundleModule(code: string): Promise<string> {
  const entry = {
    name: 'entry',
    resolveId: (id: string) => (id === ENTRY ? path.join(root, 'sdk-browser/entry.js') : undefined),
    load: (id: string) => (id.endsWith('/sdk-browser/entry.js') ? code : undefined),
  }
  return bundle({ root, plugins: [entry], build: { rolldownOptions: { input: ENTRY } } })
}

it('the handlers of the SDK need no library of payments, and their facilitator does', async () => {
  expect(await bundleModule("import { paid } from '@svc/sdk-browser/handlers'\nconsole.log(paid)")).toContain(
    'payment-required',
  )
  await expect(bundleModule("import '@svc/sdk-browser/payment'")).rejects.toThrow(/not-installed/)
})

it('the example that needs them says so, instead of making the build of the examples fail', async () => {
  const input = path.join(root, 'examples/paid/index.html')
  const plugins = [withoutPayments(false), examples.plugins]
  const code = await bundle({ ...examples, plugins, build: { rolldownOptions: { input } } })
  expect(code).toContain('built without the libraries of payments')
})
